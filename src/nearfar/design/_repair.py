"""Exchanges that turn rows of objects at random into distinct rows of distinct objects, each as often as before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["key_of", "repair"]

PATIENCE = 200  # proposals per row that is not sound, before a new start
ROUNDS = 10  # of dealing all unsound rows anew, which is fast while there are many
FEW = 20  # unsound rows that are left to exchanges one by one


def key_of(row: Sequence[int], widths: Sequence[int]) -> tuple[int, ...]:
    """The same for two rows that hold the same objects in each group of columns."""
    key: list[int] = []
    for size in widths:
        key += sorted(row[len(key) : len(key) + size])
    return tuple(key)


def repair(
    drawn: NDArray[np.int64],
    widths: Sequence[int],
    rng: np.random.Generator,
    gone: Collection[tuple[int, ...]] = (),
    same: Sequence[int] | None = None,
) -> bool:
    """Exchange objects between rows, in place, until all rows are sound; False after too many attempts.

    A fault is an object that stands twice in a row, or a row that stands there already or is gone. Exchanges stay
    within a group of columns, so that the counts stay even, and never raise the number of faults. Rows are the same by
    the groups ``same``, or by those within which objects are exchanged.
    """
    same = widths if same is None else same
    _deal_again(drawn, widths, same, rng, gone)
    wrong = _unsound(drawn, same, gone).tolist()
    if not wrong:
        return True
    rows = drawn.tolist()
    sound = _Exchanges(rows, widths, same, gone).repair(wrong, rng)
    drawn[:] = rows
    return sound


def _deal_again(
    drawn: NDArray[np.int64],
    widths: Sequence[int],
    same: Sequence[int],
    rng: np.random.Generator,
    gone: Collection[tuple[int, ...]],
) -> None:
    """Deal the objects of unsound rows anew among these rows, as long as that helps."""
    before = len(drawn) + 1
    ends = np.cumsum(widths).tolist()
    for _ in range(ROUNDS):
        wrong = _unsound(drawn, same, gone)
        if not FEW < len(wrong) < before:
            return
        before = len(wrong)
        for size, end in zip(widths, ends, strict=True):
            part = drawn[wrong, end - size : end]
            drawn[wrong, end - size : end] = rng.permutation(part.ravel()).reshape(part.shape)


def _keys(drawn: NDArray[np.int64], same: Sequence[int]) -> NDArray[np.int64]:
    """(m, width) the key of each row."""
    ends = np.cumsum(same)[:-1].tolist()
    return np.concatenate([np.sort(group, axis=1) for group in np.split(drawn, ends, axis=1)], axis=1)


def _unsound(
    drawn: NDArray[np.int64], same: Sequence[int], gone: Collection[tuple[int, ...]]
) -> NDArray[np.int64]:
    """Numbers of the rows with a fault; of rows that are the same, all but one."""
    keys = _keys(drawn, same)
    base = int(drawn.max(initial=0)) + 1
    within = np.sort(drawn, axis=1)
    fault = (within[:, 1:] == within[:, :-1]).any(axis=1)
    every = np.concatenate([np.array(list(gone), dtype=np.int64).reshape(-1, drawn.shape[1]), keys])
    if base ** drawn.shape[1] < 2**62:
        codes = every @ base ** np.arange(drawn.shape[1], dtype=np.int64)
        order = np.argsort(codes, kind="stable")
        twice = codes[order[1:]] == codes[order[:-1]]
    else:
        order = np.lexsort(every.T)
        twice = (every[order[1:]] == every[order[:-1]]).all(axis=1)
    repeated = order[1:][twice] - len(gone)  # a stable order: those gone come first and are not rows
    fault[repeated[repeated >= 0]] = True
    return np.flatnonzero(fault)


class _Exchanges:
    """Rows while objects are exchanged between them."""

    def __init__(
        self,
        rows: list[list[int]],
        widths: Sequence[int],
        same: Sequence[int],
        gone: Collection[tuple[int, ...]],
    ) -> None:
        self.rows, self.same = rows, same
        self.keys: list[tuple[int, ...]] = list(map(tuple, _keys(np.array(rows), same).tolist()))
        self.seen = Counter(self.keys)
        self.seen.update(gone)
        group_of = np.repeat(np.arange(len(widths)), widths)
        self.positions = [np.flatnonzero(group_of == group).tolist() for group in group_of]

    def repair(self, wrong: list[int], rng: np.random.Generator) -> bool:
        rows, m = self.rows, len(self.rows)
        draws = _numbers(rng)
        attempts = 0 if m > 1 else PATIENCE * (m + 20)  # a single row has no partner
        while wrong:
            i = wrong.pop()
            while self.faults(i):
                attempts += 1
                if attempts > PATIENCE * (m + 20):
                    return False
                a, j = int(next(draws) * len(self.positions)), int(next(draws) * m)
                b = self.positions[a][int(next(draws) * len(self.positions[a]))]
                if i == j or rows[i][a] == rows[j][b]:
                    continue
                before = self.faults(i) + self.faults(j)
                self.exchange(i, a, j, b)
                if self.faults(i) + self.faults(j) > before:
                    self.exchange(i, a, j, b)
                elif self.faults(j):
                    wrong.append(j)
        return True

    def faults(self, i: int) -> int:
        key = self.keys[i]
        return len(key) - len(set(key)) + (self.seen[key] > 1)

    def exchange(self, i: int, a: int, j: int, b: int) -> None:
        self.rows[i][a], self.rows[j][b] = self.rows[j][b], self.rows[i][a]
        for row in (i, j):
            self.seen[self.keys[row]] -= 1
            self.keys[row] = key_of(self.rows[row], self.same)
            self.seen[self.keys[row]] += 1


def _numbers(rng: np.random.Generator) -> Iterator[float]:
    """Random numbers from 0 to 1, drawn many at a time because one at a time is slow."""
    while True:
        yield from rng.random(1000).tolist()
