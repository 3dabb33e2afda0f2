"""Trees of objects: complete, average and single linkage on the kernel's distances, in SciPy's format."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from nearfar._tools.arrays import Floats
from nearfar._tools.checks import Seed, check_choice, check_count
from nearfar._tools.memory import check_bytes
from nearfar._tools.progress import step
from nearfar.errors import InputError
from nearfar.kernel.factored import Factored
from nearfar.kernel.phi import PhiLike, as_array, rounded
from nearfar.kernel.shift import check_diagonal, smallest_eigenvalue
from nearfar.methods._rows import phi_rows, too_many_clusters
from nearfar.methods.principal_axes import PrincipalAxes

METHODS = ("complete", "average", "single")
BLOCK_BYTES = 1 << 26
OPTIMAL_LIMIT = 400  # the best order takes up to n^3: a second here, minutes at 1,500
# uninformed objects join at this many times the root's height, which no measured height is
UNINFORMED_HEIGHT = np.pi / 3


class Tree(np.ndarray[Any, Any]):
    """SciPy's linkage matrix (n - 1, 4), which also knows the objects nothing is known about.

    Examples
    --------
    >>> tree = linkage(np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 0.0]]))
    >>> tree.shape, tree.uninformed
    ((2, 4), array([2]))
    """

    @property
    def uninformed(self) -> NDArray[np.intp]:
        """(u,) indices of objects with a zero row; they are joined last, above the root, as the heights tell."""
        return uninformed_leaves(np.asarray(self))


def with_uninformed(Z: Floats, informed: NDArray[np.intp], uninformed: NDArray[np.intp]) -> Tree:
    """A tree over the informed ones of some leaves -> one over all, the others joined one by one above its root.

    Their height distinguishes them from measured joins, so that ``uninformed_leaves`` finds them again.

    Examples
    --------
    >>> tree = with_uninformed(np.array([[0.0, 1.0, 0.5, 2.0]]), np.array([0, 2]), np.array([1, 3]))
    >>> tree.uninformed
    array([1, 3])
    """
    n, known = len(informed) + len(uninformed), len(informed)
    whole = np.zeros((n - 1, 4))
    names = np.concatenate([informed, n + np.arange(max(known - 1, 0))])
    root = int(names[-1]) if known else int(uninformed[0])
    if known > 1:
        whole[: known - 1] = Z
        whole[: known - 1, :2] = names[Z[:, :2].astype(int)]
    rest = uninformed if known else uninformed[1:]
    for row, x in enumerate(rest, start=max(known - 1, 0)):
        whole[row] = root, x, _height_above(whole, known), row + 2
        root = n + row
    return whole.view(Tree)


def uninformed_leaves(Z: Floats) -> NDArray[np.intp]:
    """The leaves of a tree that ``with_uninformed`` joined above its root; none where something else made it."""
    n = len(Z) + 1
    joins_root = np.append(Z[:1, 0] < n, Z[1:, 0] == np.arange(n, 2 * n - 2))
    above = joins_root & (Z[:, 1] < n) & (Z[:, 2] == Z[-1:, 2])
    # the first of the joins of a leaf and all below it, at the height of the last one
    first = len(Z) - int(np.logical_and.accumulate(above[::-1]).sum())
    for known in (first + 1, 0) if first == 0 else (first + 1,):
        if first < len(Z) and Z[-1, 2] == _height_above(Z, known):
            leaves = Z[first:, 1] if known else np.concatenate([Z[:1, 0], Z[:, 1]])
            return np.sort(leaves.astype(np.intp))
    return np.zeros(0, dtype=np.intp)


def _height_above(Z: Floats, known: int) -> float:
    """Where uninformed objects join above a root over so many informed ones."""
    if known == 0:
        return 2 * UNINFORMED_HEIGHT
    height = float(Z[known - 2, 2]) if known > 1 else 0.0
    return UNINFORMED_HEIGHT * height if height > 0 else UNINFORMED_HEIGHT


def linkage(phi: PhiLike, method: str = "complete", *, diagonal: str = "shift") -> Tree:
    """Make an agglomerative tree of the objects; heights are distances sqrt(K'(x,x) + K'(y,y) - 2 K'(x,y)).

    With ``diagonal="shift"`` all squared distances fall by 2s: complete and single linkage keep their shape,
    a height h becomes sqrt(h^2 - 2s); average linkage is computed on the shifted distances.

    Parameters
    ----------
    phi : (n, p) ndarray, sparse or RowBlocks; rows are objects.
    method : "complete" (the farthest pair of two groups decides), "average" or "single".
    diagonal : "shift" or "keep".

    Returns
    -------
    Tree : SciPy's (n - 1, 4) linkage matrix, with ``uninformed``; its leaves have the shortest way through all of them, or
        of more than 400 objects the order along the first coordinate of a map. Feed it to ``scipy.cluster.hierarchy`` or to ``cut``.

    Examples
    --------
    >>> phi = np.array([[1.0, 0.0], [0.0, 1.0], [0.8, 0.6]])
    >>> linkage(phi, diagonal="keep").round(2)
    array([[2.  , 0.  , 0.63, 2.  ],
           [1.  , 3.  , 1.41, 3.  ]])
    """
    check_choice(method, "method", METHODS)
    shifted = check_diagonal(diagonal)
    rows = phi_rows(phi)
    if rows.n_rows < 2:
        raise InputError(f"phi: a tree needs at least two objects, got {rows.n_rows}")
    factored = Factored(rows)
    _check_fits(factored.size)
    first = PrincipalAxes(1, diagonal="keep")
    with step("tree"):
        distances = pair_distances(factored, smallest_eigenvalue(factored) if shifted else 0.0)
        Z = _linked(distances, method, lambda: first.fit_transform(factored.phi).to_array()[factored.rows, 0])
    return with_uninformed(Z, factored.rows, factored.uninformed)


def link_points(points: Floats, method: str = "complete") -> Floats:
    """SciPy's linkage of centred points, its leaves ordered as ``linkage`` orders them.

    >>> link_points(np.array([[-1.0], [0.0], [1.5]]))[:, 2]
    array([1. , 2.5])
    """
    check_choice(method, "method", METHODS)
    _check_fits(len(points))
    distances = scipy.spatial.distance.pdist(points)
    return _linked(distances, method, lambda: points @ np.linalg.svd(points.T @ points)[2][0])


def _linked(distances: Floats, method: Any, position: Callable[[], Floats]) -> Floats:
    """SciPy's linkage, turned so that neighbouring leaves are alike, or along ``position()`` where there are many."""
    if not len(distances):
        return np.zeros((0, 4))
    Z = scipy.cluster.hierarchy.linkage(distances, method)
    if len(Z) >= OPTIMAL_LIMIT:
        return along(Z, position())
    return np.asarray(scipy.cluster.hierarchy.optimal_leaf_ordering(Z, distances), dtype=np.float64)


def along(Z: Floats, position: Floats) -> Floats:
    """Turn every branch so that the half with the smaller mean position comes first.

    >>> along(np.array([[0.0, 1.0, 0.5, 2.0]]), np.array([3.0, 1.0]))
    array([[1. , 0. , 0.5, 2. ]])
    """
    n = len(position)
    sums = np.concatenate([position, np.zeros(len(Z))])
    sizes = np.concatenate([np.ones(n), Z[:, 3]])
    turned = Z.copy()
    for row in range(len(Z)):
        a, b = int(Z[row, 0]), int(Z[row, 1])
        sums[n + row] = sums[a] + sums[b]
        if sums[b] / sizes[b] < sums[a] / sizes[a]:
            turned[row, :2] = b, a
    return turned


def pair_distances(factored: Factored, shift: float = 0.0) -> Floats:
    """SciPy's condensed (n(n-1)/2,) distances between the informed rows, a few rows at a time.

    Squares that are equal but for rounding are made equal: which pair is joined first must not hang on how the
    products were summed.
    """
    n, dtype = factored.size, factored.phi.dtype
    diagonal, shared = factored.diagonal, factored.shared.to_array()
    condensed = np.empty(n * (n - 1) // 2)
    height = max(1, BLOCK_BYTES // (8 * max(n, 1)))
    lost, filled = float(rounded(np.array(2 * shift), dtype)), 0
    for start in range(0, n, height):
        products = as_array(shared[start : start + height] @ shared[start:].T)
        for row in range(products.shape[0]):
            x = start + row
            squares = diagonal[x] + diagonal[x + 1 :] - 2 * products[row, row + 1 :]
            squares = rounded(squares, dtype) - lost
            condensed[filled : filled + n - x - 1] = np.sqrt(np.maximum(squares, 0))
            filled += n - x - 1
    return condensed


def _check_fits(n: int) -> None:
    """SciPy works on a copy, so twice the distances must fit."""
    remedy = (
        f"cluster first and link the centres: nearfar.methods.link_clusters(phi, n_clusters={min(200, n)})"
    )
    check_bytes(8 * n * n, f"linkage: the {n * (n - 1) // 2:,} distances of {n:,} objects need", remedy)


@dataclass(frozen=True)
class ClusterTree:
    """A tree over clusters, for more objects than distances fit.

    Attributes
    ----------
    tree : SciPy's linkage matrix over the clusters; heights are distances between their centres.
    labels : (n,) cluster of every object: the leaf of the tree it hangs on.
    sizes : (k,) informed objects in every cluster.
    uninformed : indices of objects with a zero row.

    Examples
    --------
    >>> phi = np.array([[1.0, 0.0], [0.8, 0.6], [0.6, 0.8], [0.0, 1.0]])
    >>> small = link_clusters(phi, 2)
    >>> small.tree.shape, small.sizes
    ((1, 4), array([3, 1]))
    """

    tree: Tree
    labels: NDArray[np.int32]
    sizes: NDArray[np.int64]
    uninformed: NDArray[np.intp]


def link_clusters(
    phi: PhiLike, n_clusters: int = 100, method: str = "complete", *, diagonal: str = "shift", seed: Seed = 0
) -> ClusterTree:
    """Cluster first by KernelKMeans, then link the centres: a tree over clusters, whatever the number of objects.

    Squared distances between centres are ``|m_a - m_b|^2 - s/|a| - s/|b|``, those of the shifted kernel.

    Examples
    --------
    >>> phi = np.eye(3)[[0, 0, 1, 1, 2, 2, 2]]
    >>> small = link_clusters(phi, n_clusters=3)
    >>> small.labels, small.tree.shape
    (array([1, 1, 2, 2, 0, 0, 0], dtype=int32), (2, 4))
    """
    check_choice(method, "method", METHODS)
    check_count(n_clusters, "n_clusters", least=2)
    from nearfar.methods.kernel_kmeans import KernelKMeans

    model = KernelKMeans(n_clusters, diagonal=diagonal, random_state=seed).fit(phi)
    filled = np.flatnonzero(model.sizes_)
    centres: Any = model.centres_[filled]
    inner = as_array(centres @ centres.T).astype(np.float64, copy=False)
    lengths = inner.diagonal() - model.shift_ / model.sizes_[filled]
    a, b = np.triu_indices(len(filled), 1)
    distances = np.sqrt(np.maximum(lengths[a] + lengths[b] - 2 * inner[a, b], 0))
    centred = inner - inner.mean(axis=0)
    centred -= centred.mean(axis=1, keepdims=True)
    Z = _linked(distances, method, lambda: np.linalg.eigh(centred)[1][:, -1])
    return ClusterTree(Z.view(Tree), model.labels_, model.sizes_[filled], model.uninformed_)


def cut(tree: NDArray[np.float64], n_clusters: int) -> NDArray[np.int32]:
    """Cut a tree into the clusters that it has below its n_clusters - 1 highest joins.

    (n,) labels; clusters are numbered by size, the largest 0. Uninformed objects (of a tree made by ``linkage``, also
    as a plain array) belong to no cluster: -1.

    Examples
    --------
    >>> phi = np.array([[1.0, 0.0], [0.0, 1.0], [0.8, 0.6]])
    >>> cut(linkage(phi), 2)
    array([0, 1, 0], dtype=int32)
    """
    Z = np.asarray(tree)
    n = len(Z) + 1
    uninformed = uninformed_leaves(Z)
    informed = n - len(uninformed)
    if check_count(n_clusters, "n_clusters") > informed:
        raise too_many_clusters(n_clusters, informed, n)
    names = np.arange(2 * n - 1)  # cluster of every node, itself until it is joined
    for joined in range(informed - n_clusters):
        names[Z[joined, :2].astype(int)] = n + joined
    for node in range(n + informed - n_clusters - 1, -1, -1):
        names[node] = names[names[node]]
    labels = np.full(n, -1, dtype=np.int32)
    known = np.setdiff1d(np.arange(n), uninformed, assume_unique=True)
    _, first, codes, sizes = np.unique(
        names[known], return_index=True, return_inverse=True, return_counts=True
    )
    number = np.empty(len(sizes), dtype=np.int32)
    number[np.lexsort((first, -sizes))] = np.arange(len(sizes))
    labels[known] = number[codes]
    return labels


def joins(tree: Any, names: Sequence[str], sizes: Sequence[int] | None = None) -> Any:
    """A data frame with a row per join, lowest first: what was joined, at which height, how many objects it holds.

    ``sizes`` : how many objects each leaf stands for.
    """
    import polars as pl

    n, held = len(names), [1] * len(names) if sizes is None else list(sizes)
    rows = []
    for row, (left, right, height, _) in enumerate(np.asarray(tree).tolist()):
        held.append(held[int(left)] + held[int(right)])
        one, other = (names[int(node)] if node < n else f"join {int(node) - n + 1}" for node in (left, right))
        rows.append((f"join {row + 1}", one, other, height, held[-1]))
    schema = dict.fromkeys(("join", "left", "right"), pl.String) | {"height": pl.Float64, "size": pl.Int64}
    return pl.DataFrame(rows, schema, orient="row")
