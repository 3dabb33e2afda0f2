"""Lloyd's iteration for kernel k-means on sums of K' over clusters.

With R[x, c] = sum of K'(x, y) over y in c and W[c] = sum of R[x, c] over x in c,
d^2(x, c) = K'(x, x) - 2 R[x, c] / |c| + W[c] / |c|^2, and the objective is sum K'(x, x) - sum_c W[c] / |c|.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nearfar.kernel.factored import is_sparse
from nearfar.methods._seeding import DECIMALS, plus_plus
from nearfar.methods._spaces import Floats, Labels, ProductSpace, Space

__all__ = [
    "Clusters",
    "Run",
    "Stop",
    "assign",
    "best_run",
    "clusters_of",
    "draw_sample",
    "explained",
    "lloyd",
    "nearest",
    "repair",
    "sample_clusters",
    "sampled_starts",
]

SAMPLE = 20_000  # objects on which starts are found when there are more than twice as many
ENOUGH = (
    20  # objects of the sample that a column must have on average, or the sample is no picture of the whole
)


@dataclass(frozen=True)
class Stop:
    """When to stop: after ``max_iter`` steps, or when one lowers the objective by less than ``tol`` of it."""

    max_iter: int
    tol: float


class Run(NamedTuple):
    """One run of k-means: labels, the objective of that partition, steps, and whether it came to rest."""

    labels: Labels
    inertia: float
    n_iter: int
    converged: bool


def best_run(runs: Sequence[Run]) -> Run:
    """The run with the lowest objective; of equals, but for rounding, the first.

    >>> best_run([Run(np.zeros(1), 3.0, 1, True), Run(np.ones(1), 3.0 - 1e-15, 1, True)]).labels
    array([0.])
    """
    lowest = min(run.inertia for run in runs)
    return next(run for run in runs if run.inertia <= lowest + 1e-9 * abs(lowest) + 1e-12)


class Clusters(NamedTuple):
    """Sizes |c| and inner sums W[c] of the clusters."""

    sizes: NDArray[np.int64]
    within: Floats


def lloyd(space: Space, labels: Labels, k: int, stop: Stop) -> Run:
    """Kernel k-means from starting labels until it rests."""
    labels = labels.copy()
    total = float(space.diagonal.sum())
    sums = space.sums(labels, k)
    before = np.inf
    for n_iter in range(1, stop.max_iter + 1):
        clusters = clusters_of(sums, labels)
        inertia = total - explained(clusters)
        if before - inertia < stop.tol * abs(inertia):
            return Run(labels, inertia, n_iter, True)
        before = inertia
        squares = assign(sums, space.diagonal, clusters)
        new = repair(nearest(squares), squares.min(axis=1), k)
        moved = np.flatnonzero(new != labels)
        if not len(moved):
            return Run(labels, inertia, n_iter, True)
        if 2 * len(moved) > len(labels):
            sums = space.sums(new, k)
        else:
            space.move(sums, moved, labels[moved], new[moved])
        labels = new
    return Run(labels, total - explained(clusters_of(sums, labels)), stop.max_iter, False)


def sampled_starts(
    space: ProductSpace, k: int, n_starts: int, stop: Stop, rng: np.random.Generator
) -> list[Labels]:
    """Starting labels by k-means++; of very many objects that share enough columns, by k-means on a sample."""
    n, q = space.rows.shape
    chosen = draw_sample(n, space.rows.nnz / max(q, 1) if is_sparse(space.rows) else n, rng)
    if chosen is None:
        return plus_plus(space, k, n_starts, rng)
    return [
        nearest(assign(space.sums_over(chosen, rested, k), np.zeros(n), clusters))
        for rested, clusters in sample_clusters(space.take(chosen), k, n_starts, stop, rng)
    ]


def draw_sample(n: int, per_column: float, rng: np.random.Generator) -> NDArray[np.int64] | None:
    """The objects to start from, ascending; None where all are taken.

    In: per_column, how many of the n objects a column has on average.
    """
    if n <= 2 * SAMPLE or per_column * SAMPLE / n < ENOUGH:
        return None
    return np.sort(rng.choice(n, SAMPLE, replace=False))


def sample_clusters(
    sample: ProductSpace, k: int, n_starts: int, stop: Stop, rng: np.random.Generator
) -> list[tuple[Labels, Clusters]]:
    """Labels that k-means on a sample settles on, and its clusters, from every start by k-means++."""
    found = []
    for labels in plus_plus(sample, k, n_starts, rng):
        rested = lloyd(sample, labels, k, stop).labels
        found.append((rested, clusters_of(sample.sums(rested, k), rested)))
    return found


def assign(sums: Floats, diagonal: Floats, clusters: Clusters) -> Floats:
    """(n, k) squared distances of a block of objects to the clusters; an empty cluster is infinitely far.

    In: sums (n, k) and diagonal (n,) of the block. New objects: give 0 as diagonal, the order is the same.
    """
    sizes = np.maximum(clusters.sizes, 1)
    squares: Floats = diagonal[:, None] - sums * (2 / sizes) + clusters.within / sizes**2
    squares[:, clusters.sizes == 0] = np.inf
    return squares


def nearest(squares: Floats) -> Labels:
    """(n,) the nearest cluster; of several that are equally near, but for rounding, the first.

    >>> nearest(np.array([[2.0 + 1e-15, 2.0]]))
    array([0], dtype=int32)
    """
    places: NDArray[np.intp] = np.argmin(np.round(squares, DECIMALS), axis=1)
    return places.astype(np.int32)


def repair(labels: Labels, squares: Floats, k: int, sizes: NDArray[np.int64] | None = None) -> Labels:
    """Give every empty cluster the object farthest from its centre, from a cluster that can spare one.

    Where all objects sit on their centres there is nothing to give, and the cluster stays empty. ``sizes`` are
    those of the clusters where ``labels`` are only those of the 2k objects farthest from their centres: more are
    never looked at, for a cluster that cannot spare one has but one.

    >>> repair(np.array([0, 0, 0], dtype=np.int32), np.array([0.1, 0.9, 0.2]), 2)
    array([0, 1, 0], dtype=int32)
    """
    sizes = np.bincount(labels, minlength=k) if sizes is None else sizes.copy()
    empty = np.flatnonzero(sizes == 0)
    if not len(empty):
        return labels
    labels = labels.copy()
    farthest = iter(np.argsort(-squares, kind="stable"))
    floor = 1e-12 * max(float(squares.max()), 0.0)
    for c in empty:
        for x in farthest:
            if squares[x] <= floor:
                return labels
            if sizes[labels[x]] > 1:
                sizes[labels[x]] -= 1
                labels[x] = c
                sizes[c] = 1
                break
    return labels


def clusters_of(sums: Floats, labels: Labels) -> Clusters:
    """Sizes and inner sums; over blocks of objects both add up."""
    k = sums.shape[1]
    inner = sums[np.arange(len(labels)), labels]
    within: Any = np.bincount(labels, weights=inner, minlength=k)
    return Clusters(np.bincount(labels, minlength=k), within)


def explained(clusters: Clusters) -> float:
    """What the clusters take off the sum of K'(x, x): sum over c of W[c] / |c|."""
    return float((clusters.within / np.maximum(clusters.sizes, 1)).sum())
