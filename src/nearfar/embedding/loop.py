"""One compiled pass over the answers: the sum of a loss and its gradient at given points, O(m d).

Identical answers are one row with a weight; rows are sorted by blocks of objects, so that the points they are about
stay close at hand. Rows are cut into blocks whose number depends on the data alone, each block sums into its own gradient, and
blocks are added in order: the result does not depend on the number of threads.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nearfar._tools.compiled import compiled
from nearfar._tools.threads import n_threads, run
from nearfar.embedding import losses
from nearfar.io.quadruplets import Quadruplets
from nearfar.triplets import Triplets

Points = NDArray[np.float64]

AT_A_TIME = 1024  # answers per round of gather, loss, scatter: their distances stay in the fastest memory


class Merged(NamedTuple):
    """Distinct answers and how often each was given, sorted by blocks of near and of far, then by (anchor, near, far)."""

    anchor: NDArray[np.int32]
    near: NDArray[np.int32]
    far: NDArray[np.int32]
    weight: NDArray[np.float64]
    n_objects: int


def merge(answers: Triplets, weights: NDArray[np.float64] | None = None) -> Merged:
    """Make identical answers one row with the sum of their ``weights`` (1 each without).

    Three indices are sorted as one number; more than two million objects are too many for it, and stay as they are.

    >>> merge(Triplets.from_array([[2, 1, 0], [0, 1, 2], [2, 1, 0]])).weight
    array([1., 2.])
    """
    n = answers.n_objects
    if weights is not None:
        answers, weights = answers[weights > 0], weights[weights > 0]
    bits = max(1, (n - 1).bit_length())
    if bits > 21:
        weights = np.ones(len(answers)) if weights is None else weights
        return Merged(answers.anchor, answers.near, answers.far, weights, n)
    # by blocks of 4,096 near and far objects, which stay in the cache, then by anchor, whose points come in a row
    low = min(bits, 12)
    high, rest = bits - low, (1 << low) - 1
    key = answers.near.astype(np.int64) >> low
    parts = answers.far >> low, answers.anchor, answers.near & rest, answers.far & rest
    for part, width in zip(parts, (high, bits, low, low), strict=True):
        key = key << width | part
    if weights is None:
        key.sort()  # the key is the answer: sorting it is much faster than ordering answers by it
    else:
        order = np.argsort(key, kind="stable")
        key, weights = key[order], weights[order]
    first = np.flatnonzero(np.diff(key, prepend=-1))
    weight = np.diff(first, append=len(key)) if weights is None else np.add.reduceat(weights, first)
    key = key[first]
    far = (key >> 2 * low + bits & ((1 << high) - 1)) << low | key & rest
    near = key >> 2 * low + bits + high << low | key >> low & rest
    anchor = key >> 2 * low & ((1 << bits) - 1)
    anchor, near, far = (column.astype(np.int32) for column in (anchor, near, far))
    return Merged(anchor, near, far, weight.astype(np.float64), n)


def halves(given: Quadruplets, weights: Points | None) -> Merged:
    """Two rows for each, (a, b, nobody) and (c, nobody, d): what start and pull count; nobody is one object more."""
    a, b, c, d = given.array.T
    nobody = np.full(len(given), given.n_objects, np.int32)
    each = np.ones(len(given)) if weights is None else weights
    anchor, near, far = (np.concatenate(pair) for pair in ((a, c), (b, nobody), (nobody, d)))
    return Merged(anchor, near, far, np.concatenate([each, each]), given.n_objects + 1)


class Loop:
    """Sums a loss over answers."""

    def __init__(self, data: Merged, kind: int, parameter: float, n_components: int) -> None:
        m, n = len(data.anchor), data.n_objects
        # below 8,192 answers starting a thread costs more than it saves; each block zeroes and adds a gradient of its own
        count = max(1, min(16, m // 8192, m // (8 * max(1, n))))
        self.data, self.kind, self.parameter = data, kind, float(parameter)
        self._edges = np.array([m * i // count for i in range(count + 1)], dtype=np.int64)
        self._gradients = np.zeros((count, n, n_components))
        self._sums = np.zeros(count)

    def __call__(self, points: Points) -> tuple[float, Points]:
        """The sum of the loss at ``points``, (n, d) and contiguous, and its gradient."""
        given = (self.kind, self.parameter, points, *self.data[:4], self._edges)
        count = len(self._sums)
        stride = min(n_threads(), count) if count > 1 else 1
        run(_blocks, [(*given, first, stride, self._sums, self._gradients) for first in range(stride)])
        gradient = self._gradients[0].copy() if count == 1 else self._gradients.sum(axis=0)
        return float(self._sums.sum()), gradient


class PairLoop(Loop):
    """Sums a loss over quadruplets, d(a, b) < d(c, d), given as ``halves``: it asks for two squared distances, of any pairs."""

    def __init__(self, data: Merged, kind: int, parameter: float, n_components: int) -> None:
        super().__init__(data, kind, parameter, n_components)
        m, n = len(data.anchor) // 2, data.n_objects
        ends = (data.anchor[:m], data.near[:m]), (data.anchor[m:], data.far[m:])
        rows, signs = np.tile(np.arange(m), 2), np.repeat([1.0, -1.0], m)
        self._pairs = [csr_array((signs, (rows, np.concatenate(pair))), shape=(m, n)) for pair in ends]

    def __call__(self, points: Points) -> tuple[float, Points]:
        """The sum of the loss at ``points``, (n + 1, d), and its gradient."""
        gaps = [pairs @ points for pairs in self._pairs]
        near, far = (np.einsum("md,md->m", gap, gap) for gap in gaps)
        total = losses_of(self.kind, self.parameter, near, far, self.data.weight[: len(near)])
        slopes = zip(self._pairs, gaps, (near, far), strict=True)
        return total, sum(pairs.T @ (slope[:, None] * gap) for pairs, gap, slope in slopes)


@compiled()
def _blocks(
    kind: int, parameter: float, points: Any, anchor: Any, near: Any, far: Any, weight: Any,
    edges: Any, first: int, stride: int, sums: Any, gradients: Any,
) -> None:  # fmt: skip
    """In: loss, points (n, d), answers, block edges. Out: sums and gradients of blocks first, first + stride, ..."""
    flat = points.ravel()
    d = np.uint64(points.shape[1])  # unsigned indices spare the check for negative ones
    one, other = np.empty(AT_A_TIME), np.empty(AT_A_TIME)
    for block in range(first, edges.size - 1, stride):
        gradient = gradients[block].ravel()
        gradient[:] = 0.0
        total = 0.0
        for start in range(edges[block], edges[block + 1], AT_A_TIME):
            stop = min(start + AT_A_TIME, edges[block + 1])
            rows = (anchor[start:stop], near[start:stop], far[start:stop])
            _gather(flat, d, rows, one, other)
            total += losses_of(kind, parameter, one, other, weight[start:stop])
            _scatter(flat, d, rows, one, other, gradient)
        sums[block] = total


@compiled()
def _gather(flat: Any, d: Any, rows: Any, one: Any, other: Any) -> None:
    """In: points, answers. Out: squared distances anchor-near (one) and anchor-far (other)."""
    anchor, near, far = rows
    for t in range(anchor.size):
        a, i, j = np.uint64(anchor[t]) * d, np.uint64(near[t]) * d, np.uint64(far[t]) * d
        left, right = 0.0, 0.0
        for c in range(d):
            u, v = flat[a + c] - flat[i + c], flat[a + c] - flat[j + c]
            left += u * u
            right += v * v
        one[t], other[t] = left, right


@compiled()
def _scatter(flat: Any, d: Any, rows: Any, one: Any, other: Any, gradient: Any) -> None:
    """In: points, answers, twice the slopes in near (one) and far (other). In and out: gradient."""
    anchor, near, far = rows
    for t in range(anchor.size):
        slope, tilt = one[t], other[t]
        if slope == 0.0 and tilt == 0.0:
            continue
        a, i, j = np.uint64(anchor[t]) * d, np.uint64(near[t]) * d, np.uint64(far[t]) * d
        for c in range(d):
            u, v = slope * (flat[a + c] - flat[i + c]), tilt * (flat[a + c] - flat[j + c])
            gradient[a + c] += u + v
            gradient[i + c] -= u
            gradient[j + c] -= v


@compiled(inline="always")
def _summed(loss: Any, parameter: float, one: Any, other: Any, weight: Any) -> Any:
    """As ``losses_of``, of one loss."""
    total = 0.0
    for t in range(weight.size):
        value, slope, tilt = loss(one[t], other[t], parameter)
        total += weight[t] * value
        one[t], other[t] = 2.0 * weight[t] * slope, 2.0 * weight[t] * tilt
    return total


# nnan: distances are finite numbers, so min and max need not look for NaN and the loops can be vectorised.
@compiled(error_model="numpy", fastmath={"contract", "reassoc", "nsz", "nnan"})
def losses_of(kind: int, parameter: float, one: Any, other: Any, weight: Any) -> Any:
    """In: loss, weights. In and out: squared distances near (one) and far (other) become twice their slopes."""
    if kind == losses.GNMDS:
        return _summed(losses.gnmds, parameter, one, other, weight)
    if kind == losses.CKL:
        return _summed(losses.ckl, parameter, one, other, weight)
    if kind == losses.STE:
        return _summed(losses.ste, parameter, one, other, weight)
    if kind == losses.TSTE:
        return _summed(losses.tste, parameter, one, other, weight)
    if kind == losses.SOE:
        return _summed(losses.soe, parameter, one, other, weight)
    return _summed(losses.lapse, parameter, one, other, weight)
