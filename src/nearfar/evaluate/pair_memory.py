"""The pair-memory baseline: predict by how often an option has won, as seen from the same anchor, in training.

It knows nothing about objects, only pairs (anchor, option), and so cannot say anything about a pair it has not seen.
A model that does not beat it has learnt no more than those pairs: either they come back so often that remembering
them is enough, or the split let screens through.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearfar.evaluate.splits import Split
from nearfar.triplets import Triplets

__all__ = ["PAIR_MEMORY", "PairMemory", "pair_memory_credits"]

PAIR_MEMORY = "pair memory"


class PairMemory:
    """Win rates (wins + 1) / (comparisons + 2) of every pair (anchor, option) in some answers."""

    def __init__(self, answers: Triplets) -> None:
        self._n = np.int64(answers.n_objects)
        near, far = self._codes(answers.anchor, answers.near), self._codes(answers.anchor, answers.far)
        self._pairs, codes = np.unique(np.concatenate([near, far]), return_inverse=True)
        asked = np.bincount(codes, minlength=len(self._pairs))
        won = np.bincount(codes[: len(near)], minlength=len(self._pairs))
        self._rates = (won + 1) / (asked + 2)

    def _codes(self, anchor: NDArray[Any], option: NDArray[Any]) -> NDArray[np.int64]:
        return np.asarray(anchor.astype(np.int64) * self._n + option)

    def rates(self, anchor: NDArray[Any], option: NDArray[Any]) -> NDArray[np.float64]:
        """(m,) win rates; one half for a pair that was never compared."""
        codes = self._codes(anchor, option)
        if not len(self._pairs):
            return np.full(len(codes), 0.5)
        at = np.minimum(np.searchsorted(self._pairs, codes), len(self._pairs) - 1)
        return np.where(self._pairs[at] == codes, self._rates[at], 0.5)

    def margins(self, anchor: NDArray[Any], one: NDArray[Any], other: NDArray[Any]) -> NDArray[np.float64]:
        """(m,) positive where ``one`` is expected to be nearer, 0 for a tie."""
        return self.rates(anchor, one) - self.rates(anchor, other)


def pair_memory_credits(answers: Triplets, splits: Iterable[Split]) -> NDArray[np.float64]:
    """(m,) 1 where the pairs in training predict an answer, 0 where they predict the other one, 0.5 for a tie.

    >>> answers = Triplets.from_array([[0, 1, 2], [0, 1, 3], [0, 4, 1]], n_objects=5)
    >>> pair_memory_credits(answers, [Split(np.array([0, 1]), np.array([2])), Split(np.array([2]), np.array([0, 1]))])
    array([0., 0., 0.])
    """
    credits = np.full(len(answers), 0.5)
    for train, test in splits:
        held = answers[test]
        credits[test] = (
            1 + np.sign(PairMemory(answers[train]).margins(held.anchor, held.near, held.far))
        ) / 2
    return credits
