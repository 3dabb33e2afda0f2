"""Accuracy against the number of answers, and what more answers, or more participants, would bring."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nearfar import words
from nearfar._tools.arrays import Codes, Floats, dense_codes
from nearfar._tools.progress import step
from nearfar._tools.records import Record
from nearfar.errors import InputError
from nearfar.evaluate.bootstrap import Draws, Estimate, Scope
from nearfar.evaluate.crossval import fit_timed
from nearfar.evaluate.splits import Split
from nearfar.space.models import Model
from nearfar.triplets import Triplets

SMALL_GAIN = 0.01  # hardly anybody would collect twice the answers for less


class CurvePoint(NamedTuple):
    """Held-out accuracy of a model fitted to ``answers`` answers (a mean over the folds), with its 95 % interval."""

    answers: float
    accuracy: float
    low: float
    high: float
    ties: float


class Precision(NamedTuple):
    """How wide the interval of the accuracy would be with so many participants, as half of its width."""

    participants: int
    half_width: float


@dataclass(frozen=True, repr=False)
class LearningCurve(Record):
    """Accuracy against the number of answers.

    Parameters
    ----------
    model : its name.
    points : accuracy measured at growing numbers of answers, on the same held-out answers.
    n_answers : how many answers there are in all.
    last_gain : what the last doubling of the training answers brought; None with fewer than two sizes.
    next_gain : what twice the answers are expected to bring: half of the last gain. Its interval goes from a quarter to two
        thirds of the limits of the last gain. None for adaptive questions, which are not more of the same.
    precision : the interval of the accuracy with 1, 2 and 4 times the participants; empty where those are not known.
    scope : of whom, and of which questions, all of it speaks.
    """

    model: str
    points: tuple[CurvePoint, ...]
    n_answers: int
    last_gain: Estimate | None
    next_gain: Estimate | None
    precision: tuple[Precision, ...]
    scope: Scope

    @property
    def verdict(self) -> Literal["levelled off", "still rising", ""]:
        """Whether more answers would help; "" where the interval does not tell.

        Levelled off: at most 0.01 is to be gained from twice the answers, even at the upper end of the interval. Still
        rising: more than that is expected, and something at the lower end.
        """
        gain = self.next_gain
        if gain is None or self.points[-1].low <= 0.5:
            return ""
        if gain.high <= SMALL_GAIN:
            return "levelled off"
        return "still rising" if gain.value > SMALL_GAIN and gain.low > 0 else ""

    def __repr__(self) -> str:
        return f"LearningCurve({self.model!r}, {len(self.points)} sizes, {self.verdict or 'no verdict'})"

    def __str__(self) -> str:
        return words.curve_text(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and text, for JSON."""
        return {**super().to_dict(), "verdict": self.verdict}

    def to_frame(self) -> Any:
        """The measured points, as a polars data frame."""
        import polars as pl

        return pl.DataFrame(self.points, schema=list(CurvePoint._fields), orient="row")


def make_curve(
    model: str, used: Floats, credits: Floats, draws: Draws, n_answers: int, *, scored: Any = None
) -> LearningCurve:
    """The curve of what ``grow`` gives; ``scored`` : (m,) answers that count, where not all do."""
    if scored is not None:
        credits = np.where(scored, credits, np.nan)
    points = []
    for count, credit in zip(used.tolist(), credits, strict=True):
        own = draws.estimate(credit)
        points.append(CurvePoint(count, own.value, own.low, own.high, float(np.mean(credit == 0.5))))
    half = int(np.argmin(np.abs(used - used[-1] / 2)))
    doubled = len(used) > 1 and 1.8 < used[-1] / used[half] < 2.2
    last = draws.difference(credits[-1], credits[half]) if doubled else None
    people, units = draws.variance_parts(credits[-1])
    precision, following, now = list[Precision](), None, points[-1]
    if draws.scope.participants == "new" and people + units > 0:
        for more in (1, 2, 4):  # times the participants; the questions stay as they are
            narrower = np.sqrt((people / more + units) / (people + units))
            half_width = float((now.high - now.low) / 2 * narrower)
            precision.append(Precision(draws.scope.n_participants * more, half_width))
    if last is not None and draws.scope.questions != "adaptive":
        low = last.low / (4 if last.low > 0 else 2)
        following = Estimate(max(0.0, last.value / 2), low, max(0.0, last.high * 2 / 3))
    return LearningCurve(model, tuple(points), n_answers, last, following, tuple(precision), draws.scope)


def grow(
    answers: Triplets, model: Model, splits: Sequence[Split], *, statements: Codes, full: NDArray[Any],
    sizes: Sequence[float] | None = None, seed: int = 0,
) -> tuple[Floats, Floats]:  # fmt: skip
    """Fit a model to growing numbers of answers: the numbers (a mean over the folds), and (sizes, m) held-out credits.

    ``statements`` : (m,) what comes at a time where the collection grows; ``full`` : (m,) held-out credits of the model fitted
    to all training answers; ``sizes`` : as for ``learning_curve``.
    """
    orders = [_growing(statements, train, [seed, fold]) for fold, (train, _) in enumerate(splits)]
    most = min(len(order) for order, _ in orders)
    wanted = _sizes(sizes, most)
    credits, used = np.tile(full.astype(np.float64), (len(wanted), 1)), np.zeros(len(wanted))
    with step(f"learning curve of {model.name}", total=len(splits) * len(wanted)) as advance:
        for (order, ends), (train, test) in zip(orders, splits, strict=True):
            for k, size in enumerate(wanted):
                end = len(train) if size == most else ends[np.argmin(np.abs(ends - size))]
                used[k] += end / len(splits)
                if end < len(train):
                    space = fit_timed(model, answers[np.sort(order[:end])]).space
                    credits[k, test] = space.credits(answers[test])
                advance(1)
    return used, credits


def _growing(
    statements: Codes, train: NDArray[np.intp], seed: list[int]
) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Training rows, statement by statement in random order, and the number of rows at the end of every one."""
    codes = dense_codes(statements[train])
    rank = np.random.default_rng(seed).permutation(int(codes.max(initial=-1)) + 1)[codes]
    order = train[np.argsort(rank, kind="stable")]
    return order, np.cumsum(np.bincount(rank)) if len(order) else np.zeros(1, dtype=np.int64)


def _sizes(sizes: Sequence[float] | None, most: int) -> list[int]:
    """Numbers of training answers, ascending and different."""
    given = np.asarray([1 / 8, 1 / 4, 1 / 2, 1] if sizes is None else list(sizes), dtype=np.float64)
    if given.ndim != 1 or not len(given) or not np.all(given > 0):
        raise InputError(f"sizes: got {sizes!r}, expected numbers of answers or shares between 0 and 1")
    if not most:
        reason = "because its questions stand in every statement; collect answers to more questions"
        raise InputError(f"answers: a fold leaves none for training, {reason}")
    counts = np.where(given <= 1, np.round(given * most), given).astype(int)
    if counts.max() > most:
        raise InputError(f"sizes: {counts.max()} answers are more than the {most} left for training")
    return sorted(set(counts[counts > 0].tolist()))
