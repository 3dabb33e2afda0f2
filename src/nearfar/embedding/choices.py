"""Answers as choices among pairs, and one compiled pass over them: the likelihood and its gradient, O(m + p d).

Whoever answers chooses the most similar of some pairs of objects, with probability ``e^s / sum e^s`` over the pairs, s
their similarities. An odd-one-out chooses one pair of three, a triplet one of two; in a grid every object that was picked
is chosen before all that were not. The likelihood needs points only through the similarities of the p distinct pairs that
were shown (at most 3 m, at most n^2 / 2): they are computed first, then all choices, then the gradient as ``A X`` with A
the symmetric matrix of the slopes of pairs. Blocks depend on the data alone and are added in order, so that the number of
threads changes no bit.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nearfar._tools.compiled import compiled
from nearfar._tools.threads import blocks, n_threads, run
from nearfar.embedding.loop import Loop, Points, merge
from nearfar.triplets import Triplets
from nearfar.triplets.ids import Ids

MAX_BLOCKS = 4  # each keeps a slope of every pair


class Choices(NamedTuple):
    """Choices among pairs of objects (``one`` < ``other``).

    Choice t is among the pairs ``options[start[t] : start[t + 1]]``, the chosen one first, and counts ``weight[t]``.
    """

    one: NDArray[np.int32]
    other: NDArray[np.int32]
    start: NDArray[np.int64]
    options: NDArray[np.int32]
    weight: NDArray[np.float64]


def odd_one_out_rows(answers: Triplets) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows (a, b, odd) and (b, a, odd) of one statement: two arrays of row numbers, one entry per odd-one-out."""
    if answers.statement is None:
        return np.zeros(0, np.intp), np.zeros(0, np.intp)
    low, high = np.minimum(answers.anchor, answers.near), np.maximum(answers.anchor, answers.near)
    order = np.lexsort((answers.anchor, answers.far, high, low, answers.statement_ids))
    same = np.ones(max(len(order) - 1, 0), dtype=bool)
    for column in (answers.statement_ids, low, high, answers.far):
        same &= column[order[1:]] == column[order[:-1]]
    same &= answers.anchor[order[1:]] != answers.anchor[order[:-1]]
    at = np.flatnonzero(same)
    at = at[np.diff(at, prepend=-2) > 1]  # each row in one of them
    first, second = order[at], order[at + 1]
    by_row = np.argsort(np.minimum(first, second))
    return np.minimum(first, second)[by_row], np.maximum(first, second)[by_row]


def choices(answers: Triplets, weights: NDArray[np.float64] | None = None) -> Choices:
    """What was chosen, and among what; a choice counts as its answers do on average."""
    weights = np.ones(len(answers)) if weights is None else weights
    first, second = odd_one_out_rows(answers)
    # pairs of one object stay in the cache
    near_by = np.argsort(answers.array[first].min(axis=1), kind="stable")
    first, second = first[near_by], second[near_by]
    rest = np.delete(np.arange(len(answers)), np.concatenate([first, second]))
    # rows of one statement about one picked object follow each other
    columns = (answers.near, answers.anchor, answers.statement_ids)
    rest = rest[np.lexsort(tuple(column[rest] for column in columns))]
    new = np.any([np.diff(column[rest], prepend=-1) != 0 for column in columns], axis=0)
    begins = np.flatnonzero(new)
    sizes = np.diff(begins, append=len(rest)) + 1
    n, (a, i, j) = answers.n_objects, (answers.anchor, answers.near, answers.far)
    odd = np.stack([_code(a[first], i[first], n), _code(a[first], j[first], n), _code(i[first], j[first], n)])
    rejected = _code(a[rest], j[rest], n)
    single = np.insert(rejected, begins, _code(a[rest], i[rest], n)[begins]) if len(rest) else rejected
    pairs = Ids.encode(np.concatenate([odd.T.ravel(), single]))
    start = np.concatenate([[0], np.cumsum(np.concatenate([np.full(len(first), 3), sizes]))])
    mean = np.add.reduceat(weights[rest], begins) / (sizes - 1) if len(rest) else np.zeros(0)
    weight = np.concatenate([(weights[first] + weights[second]) / 2, mean])
    one, other = np.divmod(pairs.names, n)
    return Choices(one.astype(np.int32), other.astype(np.int32), start, pairs.codes, weight)


def _code(a: NDArray[Any], b: NDArray[Any], n: int) -> NDArray[np.int64]:
    code: NDArray[np.int64] = np.minimum(a, b).astype(np.int64) * n + np.maximum(a, b)
    return code


class ChoiceLoop(Loop):
    """Sums -log likelihood over choices, similarity the inner product of two points."""

    def __init__(self, answers: Triplets, weights: NDArray[np.float64] | None = None) -> None:
        self.data = merge(answers, weights)
        self.choices = made = choices(answers, weights)
        pairs, n = len(made.one), answers.n_objects
        ends = (np.concatenate([made.one, made.other]), np.concatenate([made.other, made.one]))
        around: Any = csr_array((np.tile(np.arange(pairs, dtype=np.int32), 2), ends), shape=(n, n))
        self._around = (around.indptr, around.indices, around.data)
        count = max(1, min(MAX_BLOCKS, len(made.weight) // 8192))  # below, a thread costs more than it saves
        self._blocks = blocks(len(made.weight), count)
        self._slopes = np.zeros((len(self._blocks), pairs))

    def __call__(self, points: Points) -> tuple[float, Points]:
        """-log likelihood at ``points``, (n, d) and contiguous, and its gradient."""
        one, other, *made = self.choices
        parts = n_threads() if len(self._blocks) > 1 else 1  # each writes what no other does
        alike, lost, gradient = np.empty(len(one)), np.empty(len(self.choices.weight)), np.empty_like(points)
        run(_products, [(points, one, other, *part, alike) for part in blocks(len(one), parts)])
        given = enumerate(self._blocks)
        run(_choose, [(alike, *made, *part, self._slopes[b], lost) for b, part in given])
        slopes = self._slopes[0] if len(self._slopes) == 1 else self._slopes.sum(axis=0)
        rows = blocks(len(points), parts)
        run(_multiply, [(points, *self._around, slopes, *part, gradient) for part in rows])
        return float(np.vdot(self.choices.weight, lost)), gradient


@compiled(fastmath={"contract", "reassoc"})
def _products(points: Any, one: Any, other: Any, start: int, stop: int, out: Any) -> None:
    """In: points, pairs. Out: inner products of pairs start to stop."""
    for p in range(start, stop):
        x, y = points[one[p]], points[other[p]]
        total = 0.0
        for c in range(points.shape[1]):
            total += x[c] * y[c]
        out[p] = total


@compiled(error_model="numpy")
def _choose(
    s: Any, edges: Any, options: Any, weight: Any, start: int, stop: int, slopes: Any, lost: Any
) -> None:
    """In: similarities, choices start to stop. Out: slopes of pairs, losses -log e^chosen / sum e^option."""
    slopes[:] = 0.0
    odds = np.empty(np.diff(edges[start : stop + 1]).max())
    for t in range(start, stop):
        first, last = edges[t], edges[t + 1]
        chosen, size = s[options[first]], 1.0
        for k in range(first + 1, last):
            odds[k - first] = math.exp(min(s[options[k]] - chosen, 500.0))
            size += odds[k - first]
        lost[t] = math.log(size)
        share = weight[t] / size
        for k in range(first + 1, last):
            slopes[options[k]] += share * odds[k - first]
        slopes[options[first]] += share - weight[t]


@compiled()
def _multiply(
    points: Any, begins: Any, others: Any, pairs: Any, slopes: Any, start: int, stop: int, out: Any
) -> None:
    """In: points, the pairs around every object, slopes. Out: rows start to stop of the gradient A X."""
    for a in range(start, stop):
        row = out[a]
        row[:] = 0.0
        for k in range(begins[a], begins[a + 1]):
            slope, x = slopes[pairs[k]], points[others[k]]
            for c in range(row.size):
                row[c] += slope * x[c]
