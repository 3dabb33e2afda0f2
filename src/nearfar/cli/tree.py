"""``nearfar tree``: a tree of the objects by agglomerative linkage."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from nearfar.cli._options import METHOD, PRINT, Given, own, takes
from nearfar.cli._prepared import Prepared, prepared
from nearfar.cli._writing import check_file, check_outputs, write_all
from nearfar.errors import InputError, TooLargeError


@takes(*METHOD, "images")
def tree(
    given: Given,
    method: Literal["complete", "average", "single"] = own(
        "complete", "Distance of two clusters: of the farthest pair, the mean, of the nearest pair."
    ),
    clusters: int | None = own(None, "Cut the tree into so many.", "--clusters", "-k", min=1),
    leaves: int | None = own(None, "First make so many clusters, then link these.", min=2),
    members: str | None = own(None, "Write the cluster of every object.", metavar="FILE"),
    root: Literal["left", "top"] = own("left", "Where the root is.", panel=PRINT),
) -> None:
    """Build a tree of the objects by agglomerative linkage.

    Distances are those in the space of the model. A table has a row per join, lowest first: what was joined, at which height, how
    many objects it holds. .npz holds SciPy's linkage matrix, .nwk the tree in Newick's format. Objects without a usable answer are
    joined last, above the root. --members has a row per object and its cluster (1 is the largest).

    With --leaves the leaves are clusters of objects (by kernel k-means), named after their medoids in a picture;
    --clusters of the same number, with --members, lists their objects.

    Example:  nearfar tree answers.csv -k 4 -o tree.svg --members clusters.csv
    """
    check_outputs(given, (".nwk",))
    if members is not None and clusters is None:
        raise InputError("--members: are those of clusters; give --clusters, too")
    from nearfar.io.table_writing import check_table_path, write_table
    from nearfar.report.figures import print_tree

    check_table_path(members or "-")
    check_file(members or "-")

    with prepared(given) as ready:
        given.tell(ready.headline)
        grown = _of_objects(ready, method) if leaves is None else _of_clusters(ready, method, leaves)
        labels = None if clusters is None else grown.cut(clusters)
        drawn: Any = {"method": method, "clusters": labels, "orientation": root, "images": grown.images}
        drawn["model"] = ready.space.model
        write_all(
            given,
            table=grown.joins,
            arrays=lambda: _arrays(ready, grown, labels),
            picture=lambda look: print_tree(look, grown.tree, grown.display_names, **drawn),
            text=lambda: _newick(grown),
        )
        if members is not None and labels is not None:
            own = labels[grown.leaf_of]
            numbers = [int(label) + 1 if label >= 0 else None for label in own]
            write_table(ready.table((own < 0).nonzero()[0], cluster=numbers), members)


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

        labels = cut(self.tree, k)
        of_objects = labels[self.leaf_of]
        number = np.empty(k + 1, dtype=np.int64)
        number[np.argsort(-np.bincount(of_objects[of_objects >= 0], minlength=k), kind="stable")] = range(k)
        number[-1] = -1
        return number[labels]

    def joins(self) -> Any:
        """A row per join, as in the bundle of a report."""
        import numpy as np

        from nearfar.methods.trees import joins

        return joins(self.tree, self.names, np.bincount(self.leaf_of, minlength=len(self.names)).tolist())


def _of_objects(ready: Prepared, method: str) -> _Grown:
    import numpy as np

    try:
        tree = ready.space.tree(method)
    except TooLargeError as error:
        raise TooLargeError(f"{str(error).partition(';')[0]}; give --leaves 200 to cluster first") from error
    return _Grown(tree, ready.names, ready.display_names, np.arange(len(ready.names)), ready.images)


def _of_clusters(ready: Prepared, method: str, leaves: int) -> _Grown:
    """A tree of clusters, and of the uninformed objects above its root."""
    import numpy as np

    from nearfar.methods import with_uninformed

    clusters = ready.space.cluster_tree(leaves, method)
    count, unknown = len(clusters.sizes), clusters.uninformed
    alone = count + np.arange(len(unknown))
    leaf_of = clusters.labels.astype(np.int64)
    leaf_of[unknown] = alone
    medoids = ready.space.medoids(clusters.labels).indices
    middle = [ready.display_names[x] for x in medoids]
    called = [f"{name} + {n - 1}" if n > 1 else name for name, n in zip(middle, clusters.sizes, strict=True)]
    return _Grown(
        with_uninformed(clusters.tree, np.arange(count), alone),
        (*(f"cluster {c + 1}" for c in range(count)), *(ready.names[x] for x in unknown)),
        (*called, *(ready.display_names[x] for x in unknown)),
        leaf_of,
        {leaf: ready.images[x] for leaf, x in enumerate(medoids.tolist()) if x in ready.images},
    )


def _arrays(ready: Prepared, grown: _Grown, labels: Any) -> dict[str, Any]:
    import numpy as np
    from scipy.cluster.hierarchy import leaves_list

    tree, leaf_of = grown.tree, grown.leaf_of
    arrays = {"linkage": tree, "objects": ready.names, "leaves": leaves_list(tree), "leaf_of": leaf_of}
    arrays["uninformed"] = np.flatnonzero(np.isin(leaf_of, tree.uninformed))
    return arrays if labels is None else {**arrays, "cluster": labels[leaf_of] + 1}


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
