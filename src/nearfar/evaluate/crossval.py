"""Held-out credits: what models expect of answers that they were not fitted on, of all of these and of growing numbers.

Beside them stands the pair memory, which knows nothing about objects, only how often an option has won as seen from the
same anchor. A model that does not beat it has learnt no more than those pairs: either they come back so often that
remembering them is enough, or the split let screens through.
"""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from nearfar import words
from nearfar._tools.arrays import Codes, Floats, dense_codes
from nearfar._tools.progress import step
from nearfar._tools.records import Record
from nearfar.errors import InputError, NearfarWarning
from nearfar.evaluate.bootstrap import Draws, Estimate, Scope
from nearfar.evaluate.priors import settle
from nearfar.evaluate.splits import Split, kfold, split_units
from nearfar.space.models import FitCache, Model, empty_space, parse_model
from nearfar.space.space import Space
from nearfar.triplets import Triplets

MAX_OBJECTS = 3_000  # that the score kernel is fitted to by the way


class Fit(NamedTuple):
    """A fitted space, the seconds it took (with those of features it found ready), and the warnings it gave."""

    space: Space
    seconds: float = 0.0
    heard: frozenset[str] = frozenset()


def fit_timed(model: Model, train: Triplets, cache: FitCache | None = None) -> Fit:
    """Fit a model to training answers, if there are any; nearfar's warnings are caught, all others pass."""
    if not len(train):
        return Fit(empty_space(model.name, train, model.n_components))
    cache = cache or FitCache(train)
    cache.saved = 0.0
    start = time.perf_counter()
    model = settle(model, train, cache)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", NearfarWarning)
        space = model.fit(train, cache)
        seconds = time.perf_counter() - start + cache.saved
    for w in caught:
        if not issubclass(w.category, NearfarWarning):
            warnings.warn_explicit(w.message, w.category, w.filename, w.lineno, source=w.source)
    heard = {w.category.__name__ for w in caught if issubclass(w.category, NearfarWarning)}
    return Fit(space, seconds, frozenset(heard))


@dataclass(frozen=True, eq=False)
class Credits:
    """Held-out credits of models on the same answers.

    ``values`` : (models, answers) 1 where the model expects the answer, 0 where it expects the other, 0.5 for a tie, NaN where
    an answer does not count; ``margins`` : (models, answers) how clearly it is expected; ``seconds`` : (models, folds) of the fits; ``heard`` : per model, in how many fits each kind of
    warning was given.
    """

    models: tuple[Model, ...]
    values: NDArray[np.float32]
    margins: NDArray[np.float32]
    seconds: Floats
    heard: tuple[Counter[str], ...]

    @property
    def accuracies(self) -> Floats:
        """(models,) mean credit."""
        return np.asarray(np.nanmean(self.values, axis=1, dtype=np.float64))

    def take(self, rows: Sequence[int]) -> Credits:
        """Those of some of the models."""
        models, heard = tuple(self.models[k] for k in rows), tuple(self.heard[k] for k in rows)
        return Credits(models, self.values[rows], self.margins[rows], self.seconds[rows], heard)

    def joined(self, other: Credits) -> Credits:
        """Those of these models and of others on the same answers."""
        values, margins = np.vstack([self.values, other.values]), np.vstack([self.margins, other.margins])
        seconds = np.vstack([self.seconds, other.seconds])
        return Credits(self.models + other.models, values, margins, seconds, self.heard + other.heard)


def cross_validate(answers: Triplets, models: Sequence[Model], splits: Sequence[Split]) -> Credits:
    """Fit every model to the training answers of every fold and judge it by the test answers; each answer is tested once."""
    margins = np.full((len(models), len(answers)), np.nan, dtype=np.float32)
    seconds = np.zeros((len(models), len(splits)))
    heard: list[Counter[str]] = [Counter() for _ in models]
    with step(f"comparing {len(models)} models", total=len(splits) * len(models)) as advance:
        for fold, (train, test) in enumerate(splits):
            cache, held_out = FitCache(answers[train], models), answers[test]
            asked = held_out.anchor, held_out.near, held_out.far
            for k, model in enumerate(models):
                fit = fit_timed(model, cache.answers, cache)
                margins[k, test] = fit.space.margins(*asked, by_law=True)
                seconds[k, fold] = fit.seconds
                heard[k].update(fit.heard)
                advance(1)
    values = ((1 + np.sign(margins)) / 2).astype(np.float32)
    return Credits(tuple(models), values, margins, seconds, tuple(heard))


def score_credits(train: Triplets, test: Triplets) -> Floats:
    """(m,) what the score kernel of some answers expects of others."""
    return fit_timed(parse_model("score"), train).space.credits(test)


def quick_credits(answers: Triplets) -> Floats | None:
    """(m,) held-out credits of the score kernel; None where there are too few answers or too many objects."""
    units = split_units(answers)
    if answers.n_objects > MAX_OBJECTS or units.count < 5:
        return None
    splits = list(kfold(answers, 5, by=units))
    return np.asarray(cross_validate(answers, [parse_model("score")], splits).values[0], dtype=np.float64)


def pair_memory_credits(answers: Triplets, splits: Iterable[Split]) -> Floats:
    """(m,) 1 where win rates of pairs (anchor, option) in training predict an answer, 0 where the other, 0.5 for a tie.

    The rate is (wins + 1) / (comparisons + 2), one half for a pair that was never compared.
    """
    anchor = answers.anchor.astype(np.int64) * answers.n_objects
    codes = np.unique(np.stack([anchor + answers.near, anchor + answers.far]), return_inverse=True)[1]
    near, far = codes.reshape(2, -1)
    size = int(codes.max(initial=-1)) + 1
    credits = np.full(len(answers), 0.5)
    for train, test in splits:
        won, lost = np.bincount(near[train], minlength=size), np.bincount(far[train], minlength=size)
        rate = (won + 1) / (won + lost + 2)
        credits[test] = (1 + np.sign(rate[near[test]] - rate[far[test]])) / 2
    return credits


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

    def to_frame(self) -> pl.DataFrame:
        """The measured points, as a polars data frame."""
        return pl.DataFrame(self.points, schema=list(CurvePoint._fields), orient="row")


def make_curve(model: str, used: Floats, credits: Floats, draws: Draws, n_answers: int) -> LearningCurve:
    """The curve of what ``grow`` gives, with NaN for answers that do not count."""
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
