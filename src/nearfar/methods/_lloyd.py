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

from nearfar._tools.arrays import Floats, Labels
from nearfar.methods._grams import ProductGram, SummableGram
from nearfar.methods._seeding import DECIMALS, plus_plus

__all__ = ["Run", "Stop", "best_run", "lloyd", "repair", "sampled_starts"]

SAMPLE = 20_000  # objects on which starts are found when there are more than twice as many
ENOUGH = (
    20  # objects of the sample that a column must have on average, or the sample does not represent the whole
)


@dataclass(frozen=True)
class Stop:
    """When to stop: after ``max_iter`` steps, or when one lowers the objective by less than ``tol`` of it."""

    max_iter: int
    tol: float


class Run(NamedTuple):
    """One run of k-means: labels, the objective of that partition, steps, and whether it converged.

    labels : (n,) array, or a handle of them for every block of rows.
    """

    labels: Any
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


class ClusterSums(NamedTuple):
    """Sizes |c| and inner sums W[c] of the clusters."""

    sizes: NDArray[np.int64]
    within: Floats


def lloyd(gram: SummableGram, labels: Labels, k: int, stop: Stop) -> Run:
    """Kernel k-means from starting labels until it converges."""
    labels = labels.copy()
    total = float(gram.diagonal.sum())
    sums = gram.sums(labels, k)
    before = np.inf
    for n_iter in range(1, stop.max_iter + 1):
        clusters = clusters_of(sums, labels)
        inertia = total - explained(clusters)
        if before - inertia < stop.tol * abs(inertia):
            return Run(labels, inertia, n_iter, True)
        before = inertia
        squares = assign(sums, gram.diagonal, clusters)
        new = repair(nearest(squares), squares.min(axis=1), k)
        moved = np.flatnonzero(new != labels)
        if not len(moved):
            return Run(labels, inertia, n_iter, True)
        if 2 * len(moved) > len(labels):
            sums = gram.sums(new, k)
        else:
            gram.move(sums, moved, labels[moved], new[moved])
        labels = new
    return Run(labels, total - explained(clusters_of(sums, labels)), stop.max_iter, False)


def sampled_starts(
    gram: ProductGram,
    k: int,
    n_starts: int,
    stop: Stop,
    rng: np.random.Generator,
    sample: int | None = None,
) -> list[Labels]:
    """Starting labels by k-means++; of very many objects that share enough columns, by k-means on a sample.

    ``sample`` says how many objects that has; without it, that is decided here.
    """
    factored = gram.factored
    n, q = factored.size, max(factored.width, 1)
    count = SAMPLE if sample is None else sample
    enough = sample is not None or factored.n_entries / q * count / n >= ENOUGH
    if n <= (2 * count if sample is None else count) or not enough:
        return plus_plus(gram, k, n_starts, rng)
    chosen = np.sort(rng.choice(n, count, replace=False))
    drawn = gram.take(chosen)
    starts = []
    for labels in plus_plus(drawn, k, n_starts, rng):
        settled = lloyd(drawn, labels, k, stop).labels
        clusters = clusters_of(drawn.sums(settled, k), settled)
        starts.append(nearest(assign(gram.sums_over(drawn, settled, k), np.zeros(n), clusters)))
    return starts


def assign(sums: Floats, diagonal: Floats, clusters: ClusterSums) -> Floats:
    """(n, k) squared distances of objects to the clusters; an empty cluster is infinitely far.

    In: sums (n, k) and diagonal (n,). New objects: give 0 as diagonal, the order is the same.
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
    chosen: NDArray[np.intp] = np.argmin(np.round(squares, DECIMALS), axis=1)
    return chosen.astype(np.int32)


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


def clusters_of(sums: Floats, labels: Labels) -> ClusterSums:
    """Sizes and inner sums of the clusters."""
    k = sums.shape[1]
    inner = sums[np.arange(len(labels)), labels]
    within: Any = np.bincount(labels, weights=inner, minlength=k)
    return ClusterSums(np.bincount(labels, minlength=k), within)


def explained(clusters: ClusterSums) -> float:
    """What the clusters take off the sum of K'(x, x): sum over c of W[c] / |c|."""
    return float((clusters.within / np.maximum(clusters.sizes, 1)).sum())
