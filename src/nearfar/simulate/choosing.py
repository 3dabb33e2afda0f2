"""What somebody who sees the distances chooses, for each kind of question."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearfar._tools.arrays import Floats
from nearfar.design import Questions
from nearfar.simulate.distances import Measure

__all__ = ["choose", "distances_shown"]

Chosen = tuple[NDArray[np.int64], NDArray[np.bool_]]  # (m, pick) positions, (m,) whether it was a tie

PAIRS = ((0, 1), (0, 2), (1, 2))  # of a trio; pair p leaves out the object 2 - p


def distances_shown(questions: Questions, measure: Measure) -> Floats:
    """(m, w) distances from the anchor to each option; for trios those of the pairs (0, 1), (0, 2), (1, 2)."""
    if questions.anchored:
        columns = [measure(questions.anchor, option) for option in questions.options.T]
    else:
        columns = [measure(questions.array[:, i], questions.array[:, j]) for i, j in PAIRS]
    return np.stack(columns, axis=1)


def choose(
    questions: Questions,
    apart: Floats,
    flip: float,
    flips: np.random.Generator,
    coins: np.random.Generator,
) -> Chosen:
    """Positions chosen by distance, turned round with probability ``flip``; ties go by ``coins``."""
    if questions.kind == "near":
        return _nearer(apart, flip, flips, coins)
    if questions.kind == "grid":
        return _nearest(apart, questions.pick, flip, flips, coins)
    return _outside(apart if questions.kind == "odd" else -apart, flip, flips, coins)


def _nearer(apart: Floats, flip: float, flips: np.random.Generator, coins: np.random.Generator) -> Chosen:
    one, other = apart.T
    tie = one == other
    swap = (one > other) ^ (flips.random(len(apart)) < flip)
    swap[tie] = coins.random(int(tie.sum())) < 0.5
    return swap[:, None].astype(np.int64), tie


def _outside(apart: Floats, flip: float, flips: np.random.Generator, coins: np.random.Generator) -> Chosen:
    """The object outside the pair with the smallest value."""
    extreme = apart == apart.min(axis=1, keepdims=True)
    tie = extreme.sum(axis=1) > 1
    weight = extreme.astype(float)
    weight[tie] *= 1 + coins.random((int(tie.sum()), 3))
    choice = 2 - weight.argmax(axis=1)
    wrong = flips.random(len(apart)) < flip
    choice[wrong] = (choice[wrong] + flips.integers(1, 3, size=int(wrong.sum()))) % 3
    return choice[:, None], tie


def _nearest(
    apart: Floats, pick: int, flip: float, flips: np.random.Generator, coins: np.random.Generator
) -> Chosen:
    """The ``pick`` options with the smallest distances; a flipped one is exchanged for one not picked."""
    order = np.lexsort((coins.random(apart.shape), apart), axis=1)
    ranked = np.take_along_axis(apart, order, axis=1)
    tie = ranked[:, pick - 1] == ranked[:, pick]
    rest = flips.permuted(order[:, pick:], axis=1)
    width = min(pick, rest.shape[1])
    picked = order[:, :pick].copy()
    wrong = flips.random((len(apart), width)) < flip
    picked[:, :width] = np.where(wrong, rest[:, :width], picked[:, :width])
    return picked, tie
