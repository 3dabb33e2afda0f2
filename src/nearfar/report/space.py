"""What the kernel says about the objects: tree, cuts, matrix, neighbours, outliers."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearfar.errors import NearfarWarning
from nearfar.features import FeatureMap
from nearfar.kernel.factored import factor, is_sparse
from nearfar.kernel.shift import smallest_eigenvalue
from nearfar.methods import cut, linkage, medoid, neighbours, outliers
from nearfar.report.facts import Clustering, Matrix, Neighbour, Tree
from nearfar.triplets import Triplets

__all__ = ["Space", "choose_objects", "make_space"]

MOST_OBJECTS = 2_000
MOST_CELLS = 400  # rows of the matrix that is shown
MOST_CLUSTERS = 12
NEIGHBOURS = 8
HALF = 0.5  # of the best silhouette is still a clustering worth reading
SHAPELESS = 0.03  # below it there are no clusters at all
GRADUAL = 0.25  # below it, objects change gradually rather than fall into groups
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Space:
    """The objects on the page (``shown``, indices of all objects) as the kernel sees them.

    phi : Phi of the shown objects; informed : (n,) which of them have a row; kernel : (n, n) K', shifted.
    """

    shown: NDArray[np.intp]
    phi: Any
    informed: NDArray[np.bool_]
    kernel: Floats
    coverage: dict[str, float]
    tree: Tree | None
    matrix: Matrix | None
    neighbours: tuple[tuple[Neighbour, ...], ...]
    unusual: Floats
    flagged: tuple[int, ...]


def choose_objects(n: int, seed: int = 0) -> NDArray[np.intp]:
    """All objects, or as many as a page can show, drawn at random and in their order.

    >>> choose_objects(3), len(choose_objects(5000))
    (array([0, 1, 2]), 2000)
    """
    if n <= MOST_OBJECTS:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).permutation(n)[:MOST_OBJECTS])


def make_space(answers: Triplets, kernel: str, *, k: int | None = None, seed: int = 0) -> Space:
    """Fit the kernel to all answers and look at the objects that the page shows."""
    features = FeatureMap(kernel)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NearfarWarning)  # the page itself says what they say
        whole = features.fit_transform(answers)
    shown = choose_objects(answers.n_objects, seed)
    phi: Any = whole if len(shown) == answers.n_objects else whole[shown]
    informed = features.informed_[shown]
    values = _kernel(phi)
    rows = np.flatnonzero(informed)
    tree = _tree(phi, rows, values, k) if len(rows) > 2 else None
    near, unusual, flagged = _near(phi, rows, len(shown))
    return Space(
        shown=shown,
        phi=phi,
        informed=informed,
        kernel=values,
        coverage=features.coverage_,
        tree=tree,
        matrix=_matrix(values, tree) if tree else None,
        neighbours=near,
        unusual=unusual,
        flagged=flagged,
    )


def _kernel(phi: Any) -> Floats:
    """K' = Phi Phi' with the diagonal reduced over the informed objects."""
    product: Any = phi @ phi.T
    values = np.asarray(product.toarray() if is_sparse(product) else product, dtype=np.float64)
    parts = factor(phi)
    if parts.size:
        values[parts.rows, parts.rows] -= smallest_eigenvalue(parts)
    return values


def _tree(phi: Any, rows: NDArray[np.intp], values: Floats, k: int | None) -> Tree:
    """The tree over informed objects and its cuts into 2 to 12 clusters."""
    from scipy.cluster.hierarchy import leaves_list

    merges = linkage(phi[rows])
    distances = _distances(values[np.ix_(rows, rows)])
    most = min(MOST_CLUSTERS, len(rows) - 1)
    wanted = sorted({*range(2, most + 1), *([k] if k is not None and k < len(rows) else [])})
    place = leaves_list(np.asarray(merges))
    cuts = tuple(_cut(merges, size, place, distances, _Rows(phi[rows], rows, len(values))) for size in wanted)
    chosen, why = _choose(cuts, k)
    return Tree(
        method="complete",
        members=tuple(rows.tolist()),
        leaves=tuple(rows[place].tolist()),
        merges=tuple((int(a), int(b), float(h), int(s)) for a, b, h, s in np.asarray(merges).tolist()),
        cuts=cuts,
        k=chosen,
        k_why=why,
    )


@dataclass(frozen=True, eq=False)
class _Rows:
    """Phi of the informed objects, and which of the n shown objects they are."""

    phi: Any
    rows: NDArray[np.intp]
    n: int


def _cut(merges: Any, k: int, place: NDArray[Any], distances: Floats, known: _Rows) -> Clustering:
    """Labels in the order of the leaves, so that cluster 1 stands first in the tree."""
    found = np.asarray(cut(merges, k))
    _, first = np.unique(found[place], return_index=True)
    rank = np.argsort(np.argsort(first))
    own = rank[found]
    labels = np.full(known.n, -1)
    labels[known.rows] = own
    return Clustering(
        k=k,
        labels=tuple(labels.tolist()),
        medoids=tuple(known.rows[medoid(known.phi, own).indices].tolist()),
        silhouette=_silhouette(distances, own, k),
    )


def _distances(values: Floats) -> Floats:
    diagonal = values.diagonal()
    return np.sqrt(np.maximum(diagonal[:, None] + diagonal[None, :] - 2 * values, 0))


def _silhouette(distances: Floats, labels: NDArray[Any], k: int) -> float:
    """Mean over objects of (b - a) / max(a, b): a to the own cluster, b to the nearest other; 0 for a single."""
    member = np.eye(k)[labels]
    sizes = member.sum(axis=0)
    sums = distances @ member
    at = np.arange(len(labels))
    a = sums[at, labels] / np.maximum(sizes[labels] - 1, 1)
    means = sums / sizes
    means[at, labels] = np.inf
    b = means.min(axis=1)
    widest = np.maximum(a, b)
    known = (sizes[labels] > 1) & (widest > 0)
    return float(np.mean(np.where(known, (b - a) / np.where(widest > 0, widest, 1), 0.0)))


def _choose(cuts: tuple[Clustering, ...], k: int | None) -> tuple[int, str]:
    best = max(cuts, key=lambda found: found.silhouette)
    if k is not None and any(found.k == k for found in cuts):
        own = next(found for found in cuts if found.k == k)
        return k, f"{k} clusters were asked for (mean silhouette {own.silhouette:.2f})."
    if best.silhouette < SHAPELESS:
        chosen = cuts[min(len(cuts) - 1, 4)]
        return chosen.k, (
            f"No cut into 2 to {cuts[-1].k} forms clusters (the best mean silhouette is {best.silhouette:.2f}): the "
            f"objects change gradually, or the answers are too few to tell. {chosen.k} are shown as a reading aid."
        )
    holding = [found for found in cuts if found.silhouette >= HALF * best.silhouette]
    chosen = max(holding, key=lambda found: found.k)
    text = (
        f"{chosen.k} is the finest cut, up to {cuts[-1].k}, whose clusters hold together at least half as well as "
        f"those of the best cut (mean silhouette {chosen.silhouette:.2f}; best {best.silhouette:.2f} at {best.k})."
    )
    if best.silhouette < GRADUAL:
        text += " No cut has a silhouette above 0.25: the objects change gradually rather than fall into groups, and the clusters are a reading aid."
    return chosen.k, text


def _matrix(values: Floats, tree: Tree) -> Matrix:
    order = np.array(tree.leaves)
    ordered = values[np.ix_(order, order)]
    block = -(-len(order) // MOST_CELLS)
    if block > 1:
        edges = np.arange(0, len(order), block)
        sizes = np.diff([*edges, len(order)])
        sums = np.add.reduceat(np.add.reduceat(ordered, edges, axis=0), edges, axis=1)
        ordered = sums / np.outer(sizes, sizes)
    rounded = np.round(ordered, 3).tolist()
    return Matrix(tree.leaves, block, tuple(tuple(row) for row in rounded))


def _near(
    phi: Any, rows: NDArray[np.intp], n: int
) -> tuple[tuple[tuple[Neighbour, ...], ...], Floats, tuple[int, ...]]:
    """Neighbours of every object, how unusual it is, and the objects that stand out, the oddest first."""
    if len(rows) < 2:
        return tuple(() for _ in range(n)), np.full(n, np.nan), ()
    k = min(NEIGHBOURS, len(rows) - 1)
    found = neighbours(phi, k)
    near = tuple(
        tuple(
            Neighbour(int(other), round(float(value), 4))
            for other, value in zip(found.indices[x], found.similarities[x], strict=True)
            if other >= 0
        )
        for x in range(n)
    )
    odd = outliers(phi, k)
    return near, odd.scores, tuple(odd.flagged.tolist())
