"""``nearfar tree``: a tree of the objects by agglomerative linkage."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from nearfar.cli._options import METHOD, Given, takes
from nearfar.cli._prepared import Prepared, prepared
from nearfar.cli._writing import check_outputs, write_all
from nearfar.errors import TooLargeError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["tree"]


class Method(StrEnum):
    """What the distance between two groups is."""

    complete = "complete"
    average = "average"
    single = "single"


@takes(*METHOD, "images")
def tree(
    given: Given,
    method: Method = typer.Option(
        Method.complete, help="Distance of two groups: of the farthest pair, the mean, the nearest."
    ),
    clusters: int | None = typer.Option(
        None, "--clusters", "-k", min=1, help="Cut the tree into so many clusters."
    ),
    leaves: int | None = typer.Option(
        None,
        min=2,
        help="Cluster first, then link so many clusters: for more objects than their distances fit into memory.",
    ),
) -> None:
    """Grow a tree of the objects by agglomerative linkage on distances in the space of the model.

    A table has a row per join, lowest first: what was joined, at which height, how many objects it holds. With
    --clusters the table has a row per object and its cluster instead (1 is the largest). .npz holds SciPy's linkage
    matrix, .nwk the tree in Newick's format. A picture shows names, with pictures of the objects (--images, or column
    image of the object list) before them. Objects without a usable answer are joined last, above the root.
    With --leaves the leaves are clusters of objects (by kernel k-means), named after their medoids in a picture;
    --clusters of the same number lists their objects.

    Example:  nearfar tree answers.csv -k 4 -o tree.svg -o clusters.csv
    """
    check_outputs(given.output, (".nwk",))
    with prepared(given) as ready:
        given.tell(ready.headline)
        grown = _of_objects(ready, method) if leaves is None else _of_clusters(ready, method, leaves)
        labels = None if clusters is None else grown.cut(clusters)
        write_all(
            given,
            table=lambda: _joins(grown) if labels is None else _members(ready, labels[grown.leaf_of]),
            arrays=lambda: _arrays(ready, grown, labels),
            picture=lambda: _picture(grown, labels, given.title),
            text=lambda: _newick(grown),
        )


@dataclass(frozen=True)
class _Grown:
    """A tree and its leaves, which are objects or clusters of them.

    tree : SciPy's matrix, with the leaves that are uninformed. names, display_names : of the leaves, in tables and pictures.
    leaf_of : (n,) the leaf that every object hangs on. images : leaf -> picture of the object it is named after.
    """

    tree: Any
    names: tuple[str, ...]
    display_names: tuple[str, ...]
    leaf_of: Any
    images: dict[int, Path]

    def cut(self, k: int) -> Any:
        """The cluster of every leaf, the one with most objects 0; -1 for the uninformed."""
        import numpy as np

        from nearfar.methods import cut

        found = cut(self.tree, k)
        of_objects = found[self.leaf_of]
        number = np.empty(k + 1, dtype=np.int64)
        number[np.argsort(-np.bincount(of_objects[of_objects >= 0], minlength=k), kind="stable")] = range(k)
        number[-1] = -1
        return number[found]


def _of_objects(ready: Prepared, method: Method) -> _Grown:
    import numpy as np

    try:
        tree = ready.space.tree(method.value)
    except TooLargeError as error:
        raise TooLargeError(f"{str(error).partition(';')[0]}; give --leaves 200 to cluster first") from error
    return _Grown(tree, ready.names, ready.display_names, np.arange(len(ready.names)), ready.images)


def _of_clusters(ready: Prepared, method: Method, leaves: int) -> _Grown:
    """A tree of clusters, and of the uninformed objects above its root."""
    import numpy as np

    from nearfar.methods import with_uninformed

    found = ready.space.cluster_tree(leaves, method.value)
    count, unknown = len(found.sizes), found.uninformed
    alone = count + np.arange(len(unknown))
    leaf_of = found.labels.astype(np.int64)
    leaf_of[unknown] = alone
    medoids = ready.space.medoids(found.labels).indices
    middle = [ready.display_names[x] for x in medoids]
    return _Grown(
        with_uninformed(found.tree, np.arange(count), alone),
        (*(f"cluster {c + 1}" for c in range(count)), *(ready.names[x] for x in unknown)),
        (
            *(
                f"{name} + {size - 1}" if size > 1 else name
                for name, size in zip(middle, found.sizes, strict=True)
            ),
            *(ready.display_names[x] for x in unknown),
        ),
        leaf_of,
        {leaf: ready.images[x] for leaf, x in enumerate(medoids.tolist()) if x in ready.images},
    )


def _joins(grown: _Grown) -> pl.DataFrame:
    import numpy as np
    import polars as pl

    tree, n = grown.tree, len(grown.names)
    sizes = np.bincount(grown.leaf_of, minlength=n).tolist()
    for left, right in tree[:, :2].astype(int).tolist():
        sizes.append(sizes[left] + sizes[right])

    def called(node: float) -> str:
        return grown.names[int(node)] if node < n else f"join {int(node) - n + 1}"

    return pl.DataFrame(
        {
            "join": [f"join {row + 1}" for row in range(n - 1)],
            "left": [called(node) for node in tree[:, 0]],
            "right": [called(node) for node in tree[:, 1]],
            "height": tree[:, 2].tolist(),
            "size": sizes[n:],
        }
    )


def _members(ready: Prepared, labels: Any) -> pl.DataFrame:
    import polars as pl

    columns = ready.columns()
    columns["cluster"] = [int(label) + 1 if label >= 0 else None for label in labels]
    columns["informed"] = (labels >= 0).tolist()
    return pl.DataFrame(columns)


def _arrays(ready: Prepared, grown: _Grown, labels: Any) -> dict[str, Any]:
    import numpy as np
    from scipy.cluster.hierarchy import leaves_list

    tree = grown.tree
    arrays = {
        "linkage": tree,
        "objects": ready.names,
        "leaves": leaves_list(tree),
        "leaf_of": grown.leaf_of,
        "uninformed": np.flatnonzero(np.isin(grown.leaf_of, tree.uninformed)),
    }
    return arrays if labels is None else {**arrays, "cluster": labels[grown.leaf_of] + 1}


def _newick(grown: _Grown) -> str:
    """((a:1,b:1):0.5,c:1.5); with quoted names and the lengths of branches."""
    tree, n = grown.tree, len(grown.names)
    heights = [0.0] * n + [float(height) for height in tree[:, 2]]
    text = ["'" + name.replace("'", "''") + "'" for name in grown.names]
    for row in range(n - 1):
        a, b = int(tree[row, 0]), int(tree[row, 1])
        top = heights[n + row]
        text.append(f"({text[a]}:{top - heights[a]:.6g},{text[b]}:{top - heights[b]:.6g})")
        text[a] = text[b] = ""
    return f"{text[-1]};\n"


def _picture(grown: _Grown, labels: Any, title: str) -> Any:
    from nearfar.report.figures import tree_figure

    return tree_figure(
        grown.tree,
        grown.display_names,
        labels=labels,
        images=grown.images,
        uninformed=grown.tree.uninformed,
        title=title,
    )
