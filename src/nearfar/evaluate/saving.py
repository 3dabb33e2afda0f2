"""What adaptive questions save, measured inside a study: its control participants get random questions only.

A model is fitted to the random answers, and to as many answers of the participants with adaptive questions, from the first on. Both
predict random questions of participants that were left out. If adaptive answers are more accurate by d, and the second half of the
random answers adds s, then 2^(d / s) times as many random answers would predict as well as the adaptive ones.

Two things vary: who is predicted (by the spread over participants), and whose answers the models are fitted to (by the spread
between models of half of the participants and of the other half). The interval of the ratio is Fieller's.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection
from dataclasses import dataclass
from math import log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from nearfar._tools.arrays import Floats, Ints
from nearfar._tools.records import Record
from nearfar.errors import NearfarWarning
from nearfar.evaluate.bootstrap import Estimate
from nearfar.evaluate.metrics import answer_credits
from nearfar.triplets import Triplets, random_rows

FOLDS, REPEATS = 8, 4  # of participants
MIN_CONTROL = 5  # participants of either kind; nothing is said with fewer
MIN_ANSWERS = 5  # to be compared, of either kind and per object
USUAL_STUDY = 40  # participants, at which harm is seen soonest
Z90 = 1.645
# How much of the variance of a model of half of the answers is left in the difference of two models of all of them (a quarter
# in each), and in what the second half adds; set by 48 simulated studies of normally distributed objects.
VARIANCE_LEFT = np.array([[0.5, -0.06], [-0.06, 0.06]])


@dataclass(frozen=True)
class Saving(Record):
    """What adaptive questions have saved so far.

    Parameters
    ----------
    times : how many times more random answers predict as well as the adaptive ones, with its 90 % interval; None where it is
        not clear that more answers predict better.
    difference : accuracy of adaptive less that of random answers, on random questions, with its 90 % interval.
    n_answers : how many of either kind were compared.
    n_adaptive, n_control : participants with adaptive questions, and with random ones only.
    """

    times: Estimate | None
    difference: Estimate
    n_answers: int
    n_adaptive: int
    n_control: int

    @property
    def harms(self) -> bool:
        """Whether adaptive questions are clearly worse, however often one looks."""
        people = self.n_adaptive + self.n_control
        return at_any_time(self.difference, people, USUAL_STUDY, level=0.9).high < 0


def saving(answers: Triplets, control: Collection[str], *, seed: int = 0) -> Saving | None:
    """Measure what adaptive questions have saved; None with too few participants or answers to tell.

    answers : with participants and ``rule``, in the order of ``answered_at`` or else of the rows.
    control : names of the participants who get random questions only.
    """
    drawn, who = random_rows(answers), answers.participant
    if drawn is None or who is None:
        return None
    is_control = np.isin(np.asarray(who), list(control))
    n_control, n_adaptive = (len(np.unique(who.codes[rows])) for rows in (is_control, ~is_control))
    if n_control < MIN_CONTROL or n_adaptive < MIN_CONTROL:
        return None
    measured = _measure(answers, drawn, is_control, seed)
    if measured is None or measured[2] < MIN_ANSWERS * answers.n_objects:
        return None
    (difference, doubling), covariance, size = measured
    half = Z90 * sqrt(covariance[0, 0])
    rows_each = len(answers) / len(np.unique(answers.statement_ids))
    estimate = Estimate(difference, difference - half, difference + half)
    times = _ratio(difference, doubling, covariance)
    return Saving(times, estimate, round(size / rows_each), n_adaptive, n_control)


def _ratio(difference: float, doubling: float, covariance: Floats) -> Estimate | None:
    """2^(difference / doubling): the ratios r with |difference - r doubling| within its interval (Fieller, 1954)."""
    a = doubling**2 - Z90**2 * covariance[1, 1]
    b = difference * doubling - Z90**2 * covariance[0, 1]
    c = difference**2 - Z90**2 * covariance[0, 0]
    if doubling <= 0 or a <= 0:
        return None
    root = sqrt(max(b**2 - a * c, 0.0))
    logs = np.clip([difference / doubling, (b - root) / a, (b + root) / a], -9, 9)
    return Estimate(*(2.0**logs).tolist())


def _measure(
    answers: Triplets, drawn: NDArray[np.bool_], is_control: NDArray[np.bool_], seed: int
) -> tuple[list[float], Floats, float] | None:
    """Difference of the accuracies and gain of a doubling, their (2, 2) covariance, and how many answers were fitted to."""
    codes: Any = answers.participant.codes  # type: ignore[union-attr]
    times = np.arange(len(answers)) if answers.answered_at is None else answers.answered_at
    order, rng = np.argsort(times, kind="stable"), np.random.default_rng([seed, 32])
    adaptive, pool = order[~is_control[order]], np.flatnonzero(drawn)
    credits, sizes, apart = np.zeros((6, len(answers))), [], []
    fold = np.zeros(len(answers), dtype=np.int64)
    for turn in range(REPEATS * FOLDS):
        if turn % FOLDS == 0:
            for arm in (is_control, ~is_control):
                fold[arm] = _dealt(codes[arm], FOLDS, rng)
        test = np.flatnonzero(drawn & (fold == turn % FOLDS))
        free = (fold != turn % FOLDS) & ~np.isin(answers.trio_ids, answers.trio_ids[test])
        one, other = adaptive[free[adaptive]], rng.permuted(pool[free[pool]])
        n = min(len(one), len(other))
        trained = [one[:n], other[:n]]
        halves = [(rows, _dealt(codes[rows], 2, rng)) for rows in trained]
        trained += [rows[half == side] for rows, half in halves for side in (0, 1)]
        if not len(test) or min(map(len, trained)) < 2:
            return None
        each = np.array([_credits(answers, rows, test) for rows in trained])
        credits[:, test] += each / REPEATS
        sizes.append(n)
        for gap in (each[2] - each[3], each[4] - each[5]):
            apart.append(gap.mean() ** 2 - _spread(gap[None], codes[test])[0, 0])
    of_adaptive, of_random, _, _, *of_halves = credits[:, pool]
    values = np.stack([of_adaptive - of_random, of_random - np.mean(of_halves, axis=0)])
    of_half = max(float(np.mean(apart)), 0.0) / 2  # variance of the accuracy of half of the answers
    return (
        values.mean(axis=1).tolist(),
        _spread(values, codes[pool]) + of_half * VARIANCE_LEFT,
        float(np.mean(sizes)),
    )


def _dealt(codes: Ints, parts: int, rng: np.random.Generator) -> Ints:
    """(m,) part of each answer; participants are dealt to the parts in random order."""
    people = np.unique(codes, return_inverse=True)[1]
    return (rng.permutation(int(people.max(initial=-1)) + 1) % parts)[people]


def _credits(answers: Triplets, rows: Ints, test: Ints) -> Floats:
    from nearfar.embedding import STE

    with warnings.catch_warnings(action="ignore", category=NearfarWarning):
        points = STE(4).fit(answers[rows]).embedding_
    return np.asarray(answer_credits(answers[test], points=points))


def _spread(values: Floats, people: Ints) -> Floats:
    """(k, k) covariance of the means of (k, m) values, whose participants are drawn."""
    off = values - values.mean(axis=1, keepdims=True)
    sums = np.array([np.bincount(people, weights=row) for row in off])
    n = len(np.unique(people))
    covariance: Floats = sums @ sums.T / values.shape[1] ** 2 * (n / max(n - 1, 1))
    return covariance


def at_any_time(estimate: Estimate, n_participants: int, aim: int, *, level: float = 0.95) -> Estimate:
    """Widen an interval of a level so that it holds at every look at once, while participants come in.

    It becomes an asymptotic confidence sequence (Waudby-Smith et al., 2024), tightest at ``aim`` participants.

    >>> at_any_time(Estimate(0.8, 0.76, 0.84), 50, 50)
    Estimate(value=0.8, low=0.738..., high=0.861...)
    """
    alpha = 1 - level
    weight = n_participants / aim * (-2 * log(alpha) + log(-2 * log(alpha)) + 1)  # n rho^2
    factor = sqrt(2 * (weight + 1) / weight * log(sqrt(weight + 1) / alpha)) / float(ndtri(1 - alpha / 2))
    value = estimate.value
    return Estimate(value, value - factor * (value - estimate.low), value + factor * (estimate.high - value))
