"""The chosen space on the page: tree, cuts, matrix, neighbours, outliers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nearfar import words
from nearfar._tools.arrays import Floats
from nearfar.evaluate.clusters import ClusterTree
from nearfar.report.facts import Clustering, Matrix, Neighbour, TreeFacts
from nearfar.space import Space

__all__ = ["Shown", "show_space"]

MOST_CELLS = 400  # rows of the matrix that is shown
NEIGHBOURS = 8


@dataclass(frozen=True, eq=False)
class Shown:
    """The space of the objects on the page, and what is shown of it; objects go by their index on the page."""

    space: Space
    tree: TreeFacts | None
    matrix: Matrix | None
    neighbours: tuple[tuple[Neighbour, ...], ...]
    unusual: Floats
    flagged: tuple[int, ...]


def show_space(space: Space, grouping: ClusterTree | None, most_cells: int = MOST_CELLS) -> Shown:
    """Tree, matrix, neighbours and outliers of a space as plain data."""
    tree = None if grouping is None else _tree(grouping)
    near, unusual, flagged = _near(space)
    return Shown(
        space=space,
        tree=tree,
        matrix=None if tree is None else _matrix(space.kernel(), tree, most_cells),
        neighbours=near,
        unusual=unusual,
        flagged=flagged,
    )


def _tree(grouping: ClusterTree) -> TreeFacts:
    merges = np.asarray(grouping.tree).tolist()
    return TreeFacts(
        method="complete",
        members=tuple(grouping.rows.tolist()),
        leaves=tuple(grouping.leaves.tolist()),
        merges=tuple((int(a), int(b), float(h), int(s)) for a, b, h, s in merges),
        cuts=tuple(
            Clustering(
                cut.n_clusters, tuple(cut.labels.tolist()), tuple(cut.medoids.tolist()), cut.silhouette
            )
            for cut in grouping.cuts
        ),
        k=grouping.n_clusters,
        k_why=str(words.clusters(grouping.count, grouping.n_clusters)),
    )


def _matrix(K: Floats, tree: TreeFacts, most_cells: int) -> Matrix:
    order = np.array(tree.leaves)
    ordered = K[np.ix_(order, order)]
    block = -(-len(order) // most_cells)
    if block > 1:
        edges = np.arange(0, len(order), block)
        sizes = np.diff([*edges, len(order)])
        sums = np.add.reduceat(np.add.reduceat(ordered, edges, axis=0), edges, axis=1)
        ordered = sums / np.outer(sizes, sizes)
    rounded = np.round(ordered, 3).tolist()
    return Matrix(tree.leaves, block, tuple(tuple(row) for row in rounded))


def _near(space: Space) -> tuple[tuple[tuple[Neighbour, ...], ...], Floats, tuple[int, ...]]:
    """Neighbours of every object, how unusual it is, and the objects that stand out, the oddest first."""
    n = len(space)
    if int(space.informed.sum()) < 2:
        return tuple(() for _ in range(n)), np.full(n, np.nan), ()
    found = space.nearest(NEIGHBOURS)
    near = tuple(
        tuple(
            Neighbour(int(other), round(float(value), 4))
            for other, value in zip(found.indices[x], found.similarities[x], strict=True)
            if other >= 0
        )
        for x in range(n)
    )
    odd = space.outliers(NEIGHBOURS)
    return near, odd.scores, tuple(odd.flagged.tolist())
