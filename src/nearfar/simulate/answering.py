"""Answers to questions of any kind from points, distances or a function, with flips, noise and ties."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from nearfar._tools.arrays import Floats
from nearfar._tools.checks import Seed, brief, check_rows, generator
from nearfar._tools.distances import squared_distances
from nearfar._tools.progress import step
from nearfar.design import Booklets, Questions
from nearfar.errors import InputError
from nearfar.triplets import Triplets

Pairwise = Callable[[NDArray[Any], NDArray[Any]], ArrayLike]
Measure = Callable[[NDArray[Any], NDArray[Any]], Floats]
Chosen = tuple[NDArray[np.int64], NDArray[np.bool_]]  # (m, pick) positions, (m,) whether it was a tie

AT_ONCE = 1 << 18  # questions answered at a time, which bounds the memory
PAIRS = ((0, 1), (0, 2), (1, 2))  # of a trio; pair p leaves out the object 2 - p


@dataclass(frozen=True)
class SimulatedAnswers:
    """What was answered.

    Attributes
    ----------
    triplets : the answers; those of booklets say who gave them.
    ties : how many questions were ties (dropped, or answered at random).
    choice : (m,) position chosen among the options of each question, (m, pick) where several are; -1 where dropped.

    >>> from nearfar import design
    >>> result = answers(design.random_questions(4, 4), points=[[0.0], [1.0], [3.0], [7.0]])
    >>> len(result.triplets), result.ties, result.choice.shape
    (4, 0, (4,))
    """

    triplets: Triplets
    ties: int
    choice: NDArray[np.integer]


def answers(
    questions: Questions | Booklets,
    *,
    points: ArrayLike | None = None,
    distances: ArrayLike | None = None,
    distance: Pairwise | None = None,
    flip: ArrayLike = 0.0,
    noise: ArrayLike = 0.0,
    ties: Literal["drop", "random"] = "drop",
    seed: Seed = 0,
) -> SimulatedAnswers:
    """Answer questions of any kind by distance.

    "near" and "grid": the options with the smallest distances from the anchor. "odd": the one outside the closest
    pair. "central": the one outside the farthest pair. Give one of ``points``, ``distances`` and ``distance``.

    Parameters
    ----------
    questions : what is asked, from ``nearfar.design``; check questions of booklets are answered too, but give no triplet.
    points : (n, d) coordinates of all objects, compared by Euclidean distance.
    distances : (n, n) distances; row is the anchor. Infinite ones are allowed, two of them tie. Trios have no anchor:
        they are compared by the mean of both directions.
    distance : function of two equally long arrays of indices (anchors, others) that returns their distances.
    flip : each answer is turned round with this probability, independently of all others and of the distances: to
        one of the two other objects of a trio, each with half the chance; each pick of a grid to an option not picked.
        One number, or one for each question, as people differ; likewise
    noise : standard deviation of the logarithm of a distance as somebody sees it, drawn anew for each distance in each
        question: close calls go wrong more often than clear ones.
    ties : what happens where both distances are equal: "drop" the question, or answer at "random".
    seed : whole number or numpy Generator.

    >>> from nearfar import design
    >>> result = answers(design.random_questions(3, 3), points=[[0.0], [1.0], [2.0]])
    >>> sorted(result.triplets.array.tolist()), result.ties
    ([[0, 1, 2], [2, 1, 0]], 1)
    >>> answers(design.trio_questions(["red", "pink", "blue"]), points=[[0.0], [1.0], [5.0]]).triplets.array.tolist()
    [[0, 1, 2], [1, 0, 2]]
    """
    asked = questions if isinstance(questions, Questions) else questions.questions
    m = len(asked)
    flip = _of_each(flip, m, 1.0, "flip: expected a probability")
    noise = _of_each(noise, m, np.finfo(float).max, "noise: expected a standard deviation >= 0")
    if ties not in ("drop", "random"):
        raise InputError(f"ties: expected 'drop' or 'random', got {ties!r}")
    if distances is not None and not asked.anchored:
        distances = (np.asarray(distances) + np.asarray(distances).T) / 2
    measure = pair_distances(len(asked.objects), points, distances, distance)
    # Streams of their own, so that the flips stay the same whatever is done about ties.
    rng = generator(seed)
    flips, coins = rng.spawn(2)
    looks = rng.spawn(1)[0] if noise.any() else None
    choice = np.empty((m, asked.pick), dtype=np.int8 if asked.options.shape[1] < 128 else np.int32)
    n_ties = 0
    with step("simulating answers", total=m) as advance:
        for start in range(0, m, AT_ONCE):
            rows = slice(start, min(start + AT_ONCE, m))
            batch = asked[rows]
            # from the anchor to each option; in a trio, of the pairs
            ends = [(0, i) for i in range(1, batch.array.shape[1])] if asked.anchored else PAIRS
            apart = np.stack([measure(batch.array[:, i], batch.array[:, j]) for i, j in ends], axis=1)
            if looks is not None:
                apart = apart * np.exp(noise[rows, None] * looks.standard_normal(apart.shape))
            picked, tie = _choose(batch, apart, flip[rows], flips, coins)
            n_ties += int(tie.sum())
            if ties == "drop":
                # check questions name an object twice, and are answered in any case
                ordered = np.sort(batch.array, axis=1)
                picked[tie & (ordered[:, 1:] != ordered[:, :-1]).all(axis=1)] = -1
            choice[rows] = picked
            advance(len(batch))
    chosen = choice if asked.pick > 1 else choice[:, 0]
    return SimulatedAnswers(questions.answered(chosen), n_ties, chosen)


def _of_each(value: ArrayLike, m: int, most: float, expected: str) -> Floats:
    """A number for every question, given as one for all or as one each."""
    values = np.asarray(value, dtype=np.float64)
    if values.shape not in ((), (m,)) or not ((values >= 0) & (values <= most)).all():
        raise InputError(f"{expected}, got {brief(value)}")
    return np.broadcast_to(values, m)


def _choose(questions: Questions, apart: Floats, flip: Floats, flips: Generator, coins: Generator) -> Chosen:
    """Positions chosen by distance, turned round with probability ``flip``; ties go by ``coins``."""
    if questions.kind == "near":
        one, other = apart.T
        tie = one == other
        swap = (one > other) ^ (flips.random(len(apart)) < flip)
        swap[tie] = coins.random(int(tie.sum())) < 0.5
        return swap[:, None].astype(np.int64), tie
    if questions.kind == "grid":
        return _nearest(apart, questions.pick, flip, flips, coins)
    return _outside(apart if questions.kind == "odd" else -apart, flip, flips, coins)


def _outside(apart: Floats, flip: Floats, flips: Generator, coins: Generator) -> Chosen:
    """The object outside the pair with the smallest value."""
    extreme = apart == apart.min(axis=1, keepdims=True)
    tie = extreme.sum(axis=1) > 1
    weight = extreme.astype(float)
    weight[tie] *= 1 + coins.random((int(tie.sum()), 3))
    choice = 2 - weight.argmax(axis=1)
    wrong = flips.random(len(apart)) < flip
    choice[wrong] = (choice[wrong] + flips.integers(1, 3, size=int(wrong.sum()))) % 3
    return choice[:, None], tie


def _nearest(apart: Floats, pick: int, flip: Floats, flips: Generator, coins: Generator) -> Chosen:
    """The ``pick`` options with the smallest distances; a flipped one is exchanged for one not picked."""
    order = np.lexsort((coins.random(apart.shape), apart), axis=1)
    ranked = np.take_along_axis(apart, order, axis=1)
    tie = ranked[:, pick - 1] == ranked[:, pick]
    rest = flips.permuted(order[:, pick:], axis=1)
    width = min(pick, rest.shape[1])
    picked = order[:, :pick].copy()
    wrong = flips.random((len(apart), width)) < flip[:, None]
    picked[:, :width] = np.where(wrong, rest[:, :width], picked[:, :width])
    return picked, tie


# -------------------------------------------------------------------- distances


def pair_distances(
    n: int, points: ArrayLike | None, distances: ArrayLike | None, distance: Pairwise | None
) -> Measure:
    """The one function (anchors, others) -> distances that the caller described."""
    ways = {"points": points, "distances": distances, "distance": distance}
    given = [name for name, value in ways.items() if value is not None]
    if len(given) != 1:
        got = " and ".join(given) or "none"
        raise InputError(f"simulate.answers: expected one of points, distances and distance, got {got}")
    if points is not None:
        rows = check_rows(points, n, "points")
        return lambda i, j: np.sqrt(squared_distances(rows, i, j))
    if distances is not None:
        matrix = check_rows(distances, n, "distances", finite=False)
        if matrix.shape != (n, n):
            raise InputError(f"distances: expected shape ({n}, {n}), got {matrix.shape}")
        return lambda i, j: matrix[i, j]
    return lambda i, j: _checked(distance(i, j) if distance else [], len(i), "distance")


def _checked(values: ArrayLike, m: int, name: str) -> Floats:
    result = np.asarray(values, dtype=np.float64)
    got = "NaN" if np.isnan(result).any() else ""
    if result.shape != (m,):
        got = f"shape {result.shape}; np.vectorize helps with one for numbers"
    if got:
        wanted = f"a function that returns {m} distances for two arrays of {m}"
        raise InputError(f"{name}: expected {wanted}, got {got}")
    return result
