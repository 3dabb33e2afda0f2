"""Accuracy against the number of answers, and what more answers would bring."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nearfar._tools.arrays import Floats
from nearfar._tools.checks import Seed, seed_number
from nearfar._tools.progress import step
from nearfar.errors import InputError
from nearfar.evaluate._saturation import SaturatingCurves, draw_curves
from nearfar.evaluate.auto import parse_or_choose
from nearfar.evaluate.ceiling import NoiseCeiling, noise_ceiling
from nearfar.evaluate.crossval import fit_timed
from nearfar.evaluate.sets import asked_in_sets
from nearfar.evaluate.splits import kfold, split_units
from nearfar.evaluate.uncertainty import Covariance, Groups, covariance_of_means, error_groups
from nearfar.space.models import EMBEDDINGS
from nearfar.triplets import Triplets, as_triplets

__all__ = ["CurvePoint", "CurveVerdict", "Forecast", "LearningCurve", "learning_curve"]

CurveVerdict = Literal["levelled off", "still rising", "too early to say", "at chance", "unclear"]

SHARES = tuple(2.0 ** (-k / 2) for k in range(8, -1, -1))  # a sixteenth to all of the training answers
REACH = 6  # the curve is fitted to sizes from a sixth of the largest on
LITTLE = 0.01  # a gain that hardly anybody would collect twice the answers for
TOO_EARLY = 0.25  # probability that the curve still accelerates
# a gain depends on which answers come next: at least so much, more with few statements (times the root of their number), and more where
# the rise over the last doubling is not sure itself (as a share of its standard error)
NEXT_ANSWERS, NEXT_FEW, NEXT_RISE = 0.002, 0.12, 0.4
# gains over what the law says, in the logarithm: embeddings level off a little sooner
OFF_THE_LAW, OFF_THE_LAW_OF_SCORE = -0.3, -0.05
REFITTED = 0.35  # the same for the accuracy with all answers: the folds had other ones
FEW_PER_OBJECT = (
    60  # answers that concern an object, on average, below which curves still accelerate in simulations
)


class CurvePoint(NamedTuple):
    """Held-out accuracy of a model fitted to ``answers`` answers (a mean over the folds)."""

    answers: float
    accuracy: float
    standard_error: float
    ties: float


class Forecast(NamedTuple):
    """An expected accuracy (the median), with its 90 % interval."""

    answers: float
    accuracy: float
    low: float
    high: float


@dataclass(frozen=True, repr=False)
class LearningCurve:
    """Accuracy against the number of answers.

    Parameters
    ----------
    model : its name.
    points : accuracy measured at growing numbers of answers, on the same held-out answers.
    n_answers : how many answers there are in all.
    now : expected accuracy of a model fitted to all answers (each fold left some out).
    doubled : expected accuracy with twice as many.
    gain : what doubling would bring, with its interval. None, as the two before, with less than four sizes, where it
        is too early to say, of a model without a ``known_law``, or where questions were ``chosen``. None of the three is above the
        ceiling.
    ceiling : what repeated questions say about the best possible accuracy.
    early : whether the curve still accelerates, or answers are too few to see whether it does.
    few_people : how many people there are where they are too few to speak of others: all of it is about more answers of the same
        people then; else 0.
    in_sets : whether questions were asked within sets of objects, such as booklets: all of it is about more answers of the same people
        within these.
    chosen : whether questions were chosen for being undecided, as adaptive designs do: accuracies are those on such questions.
    unknown_people : whether the answers do not say who gave them: the accuracies are those of the same people.
    known_law : whether curves of this model were shown to follow the law of the forecast: of score and the embeddings. Those of k1, k2
        and the PCA of a kernel level off sooner than it says, so nothing is forecast of these, nor of models of one's own.
    """

    model: str
    points: tuple[CurvePoint, ...]
    n_answers: int
    now: Forecast | None
    doubled: Forecast | None
    gain: Forecast | None
    ceiling: NoiseCeiling
    early: bool = False
    few_people: int = 0
    in_sets: bool = False
    chosen: bool = False
    unknown_people: bool = False
    known_law: bool = True

    @property
    def verdict(self) -> CurveVerdict:
        """Whether more answers would help.

        Levelled off: at most 0.01 is to be gained from twice the answers, even at the upper end of the interval.
        Still rising: more than that is to be gained at the best guess, and something at the lower end.
        Too early to say: it is likely that the curve still accelerates, or fewer than 60 answers concern an object
        on average: the curve has not bent yet, or cannot be seen to.
        At chance: nothing was learnt yet, so nothing can be said about what comes.
        """
        last = self.points[-1]
        if not last.accuracy - 0.5 > max(LITTLE, 2 * last.standard_error):
            return "at chance"
        if self.early:
            return "too early to say"
        if self.gain is None or np.isnan(self.gain.high):
            return "unclear"
        if self.gain.high <= LITTLE:
            return "levelled off"
        return "still rising" if self.gain.accuracy > LITTLE and self.gain.low > 0 else "unclear"

    def __repr__(self) -> str:
        return f"LearningCurve({self.model!r}, {len(self.points)} sizes, {self.verdict})"

    def __str__(self) -> str:
        lines = [
            f"{self.model}: held-out accuracy by number of answers",
            "  answers  accuracy  ± error    ties",
        ]
        lines += [
            f"{p.answers:9,.0f}  {p.accuracy:8.3f}  {p.standard_error:7.3f}  {p.ties:6.1%}"
            for p in self.points
        ]
        if self.now is None or self.doubled is None or self.gain is None:
            why = {
                "at chance": "at chance: nothing was learnt yet, so nothing can be said about more answers",
                "too early to say": "too early to say what more answers would bring: the curve has not clearly begun to "
                "level off",
            }
            unclear = "too few sizes to say what more answers would bring"
            if not self.known_law:
                unclear = (
                    f"what more answers would bring {self.model} is not forecast: only score and embeddings are known to follow the "
                    "law of the forecast"
                )
            elif self.chosen:
                unclear = (
                    "questions were chosen for being undecided: these are accuracies on such questions, and what more answers would "
                    "bring is not forecast"
                )
            lines.append(why.get(self.verdict, unclear))
        else:
            if self.few_people:
                lines.append(
                    f"{self.few_people} people are too few to speak of others: more answers of the same people are expected to bring"
                )
            if self.in_sets:
                lines.append(
                    "questions were asked within sets of objects: for the same sets and people, more answers of these are expected to "
                    "bring"
                )
            if self.unknown_people:
                lines.append("who answered is not known: these are accuracies for the same people")
            lines += [
                _line("expected with all answers", self.now),
                _line("expected with twice as many", self.doubled),
                f"{self.verdict}: doubling would bring {self.gain.accuracy:+.3f} "
                f"(90 % interval {self.gain.low:+.3f} to {self.gain.high:+.3f})",
            ]
        bracket = self.ceiling.bracket
        known = "unknown" if bracket is None else f"between {bracket[0]:.3f} and {bracket[1]:.3f}"
        return "\n".join([*lines, f"best possible accuracy: {known}"])

    def to_frame(self) -> Any:
        """The measured points, as a polars data frame."""
        import polars as pl

        return pl.DataFrame(self.points, schema=list(CurvePoint._fields), orient="row")


def learning_curve(
    answers: Triplets | ArrayLike,
    model: Any = "auto",
    *,
    sizes: Sequence[float] | None = None,
    cv: int = 5,
    seed: Seed = 0,
    ceiling: NoiseCeiling | None = None,
) -> LearningCurve:
    """Fit a model to growing numbers of answers and judge each by the same held-out answers.

    In every one of ``cv`` honest folds the training answers grow as a collection does, by whole statements, each set inside the next;
    questions that were asked again and again are asked less often in a smaller set. Curves that start at chance and saturate are drawn
    through the measured accuracies, by how well they fit, and say what more answers would bring. They extend the curve of this model: another model may gain more. Where
    people are too few to speak of others, they are about more answers of the same people; where questions were asked within sets of
    objects, about more answers of the same people within the same sets. Nothing is forecast where questions were chosen for being
    undecided.

    Parameters
    ----------
    answers : what was answered.
    model : a name such as "score" or "ste-2", or an object with ``fit_transform(answers)``, as for ``compare``; "auto" is
        the one that ``nf.analyse`` chooses by all answers, at every size.
    sizes : numbers of answers, or shares of the training answers (at most 1); default: a sixteenth to all.
    cv : number of folds.
    seed : None, an integer or a numpy Generator; fixes folds, growth and resampling.
    ceiling : that of these answers, where it is known already.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows = np.array([rng.permutation(20)[:3] for _ in range(1000)])  # objects 0..19 on a line
    >>> d = np.abs(rows[:, :1] - rows[:, 1:])
    >>> rows[d[:, 0] > d[:, 1]] = rows[d[:, 0] > d[:, 1]][:, [0, 2, 1]]
    >>> curve = learning_curve(rows, "score")
    >>> curve.points[0].accuracy < curve.points[-1].accuracy < curve.doubled.accuracy
    True
    """
    answers, seed = as_triplets(answers), seed_number(seed)
    judged = parse_or_choose(answers, model, seed)
    said = _said_together(answers)
    folds = [
        (_growing(said, train, [seed, k]), test)
        for k, (train, test) in enumerate(kfold(answers, cv, seed=seed))
    ]
    wanted = _sizes(sizes, min(len(order) for (order, _), _ in folds))
    credits, used = np.empty((len(wanted), len(answers))), np.zeros(len(wanted))
    with step(f"learning curve of {judged.name}", total=len(folds) * len(wanted)) as advance:
        for (order, ends), test in folds:
            for k, size in enumerate(wanted):
                # whole statements: the end that is nearest to the size asked for
                end = ends[np.argmin(np.abs(ends - size))]
                space = fit_timed(judged, answers[np.sort(order[:end])]).space
                credits[k, test] = space.credits(answers[test])
                used[k] += end / len(folds)
                advance(1)
    known = noise_ceiling(answers) if ceiling is None else ceiling
    return _judge(judged.name, answers, used, credits, folds=len(folds), ceiling=known, seed=seed)


def _judge(
    model: str,
    answers: Triplets,
    used: Floats,
    credits: Floats,
    *,
    folds: int,
    ceiling: NoiseCeiling,
    seed: int,
) -> LearningCurve:
    """What the (sizes, answers) credits of a model that was fitted to ``used`` answers say."""
    n_answers, groups = len(answers), error_groups(answers)
    levels = covariance_of_means(credits, groups, folds)
    # The folds, and who was asked, move all sizes together: in simulations the rise over a doubling errs 0.8 to 1.2 times as much
    # as trios alone let expect, and 0.55 to 0.95 times as much as with people and folds counted in.
    rises = covariance_of_means(credits, Groups(None, groups.unit))
    points = tuple(
        CurvePoint(float(m), float(mean), float(np.sqrt(variance)), float((c == 0.5).mean()))
        for m, mean, variance, c in zip(used, levels.means, levels.matrix.diagonal(), credits, strict=True)
    )
    most = max(1.0 if ceiling.outer is None else ceiling.outer[1], points[-1].accuracy)
    rng = np.random.default_rng([seed, folds])
    off = OFF_THE_LAW_OF_SCORE if model == "score" else OFF_THE_LAW
    curves = _curves(used, rises, most, off, rng) if levels.df > 0 else None
    thin = 3 * n_answers < FEW_PER_OBJECT * answers.n_objects
    known_law = model == "score" or model.rpartition("-")[0] in EMBEDDINGS
    foreseeable = known_law and not groups.chosen
    early = foreseeable and (thin or (curves is not None and curves.accelerates(n_answers) >= TOO_EARLY))
    now = doubled = gain = None
    if curves is not None and not early and foreseeable:
        said = len(np.unique(_statements(answers)))
        chance = float(np.sqrt(NEXT_ANSWERS**2 + NEXT_FEW**2 / said + NEXT_RISE**2 * _last_rise(used, rises)))
        now, doubled, gain = _forecasts(curves, points[-1], levels.df, n_answers, said, most, chance, rng)
    return LearningCurve(
        model,
        points,
        n_answers,
        now,
        doubled,
        gain,
        ceiling,
        early,
        few_people=groups.few_people,
        in_sets=asked_in_sets(answers),
        chosen=groups.chosen,
        unknown_people=answers.participant is None,
        known_law=known_law,
    )


def _last_rise(used: Floats, rises: Covariance) -> float:
    """The variance of what the last doubling brought."""
    half = int(np.argmin(np.abs(used - used[-1] / 2)))
    return float(max(0.0, rises.matrix[-1, -1] + rises.matrix[half, half] - 2 * rises.matrix[half, -1]))


def _curves(
    used: Floats, measured: Covariance, most: float, off_the_law: float, rng: np.random.Generator
) -> SaturatingCurves | None:
    """Curves through the larger sizes; None where there are fewer than four different ones."""
    # whole statements may make different sizes the same
    top = np.flatnonzero((used >= used[-1] / REACH) & (np.diff(used, prepend=0.0) > 0))
    if len(top) < 4:
        return None
    largest = Covariance(measured.means[top], measured.matrix[np.ix_(top, top)], measured.df)
    return draw_curves(used[top], largest, most, off_the_law, rng)


def _statements(answers: Triplets) -> NDArray[np.int64]:
    """(m,) statement of every answer; where statement ids are lost, what splits keep together stands for them."""
    units = split_units(answers)
    return units.codes if units.screens is not None else answers.statement_ids


def _said_together(answers: Triplets) -> NDArray[np.int64]:
    """(m,) what comes at a time where a collection grows: a statement.

    Within sets of objects, which several people go through, it is a question with all its answers.
    """
    return split_units(answers).codes if asked_in_sets(answers) else _statements(answers)


def _growing(
    said: NDArray[np.int64], train: NDArray[np.intp], seed: list[int]
) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Training rows, statement by statement in random order, and the number of rows at the end of every one."""
    codes = np.unique(said[train], return_inverse=True)[1]
    rank = np.random.default_rng(seed).permutation(int(codes.max(initial=-1)) + 1)[codes]
    order = train[np.argsort(rank, kind="stable")]
    return order, np.cumsum(np.bincount(rank)) if len(order) else np.zeros(1, dtype=np.int64)


def _sizes(sizes: Sequence[float] | None, most: int) -> list[int]:
    """Numbers of training answers, ascending and different."""
    given = np.asarray(SHARES if sizes is None else list(sizes), dtype=np.float64)
    if given.ndim != 1 or not len(given) or not np.all(given > 0):
        raise InputError(
            f"sizes: got {sizes!r}, expected numbers of answers or shares between 0 and 1",
        )
    if not most:
        raise InputError(
            "answers: a fold leaves none for training, because its questions stand in every statement; "
            "collect answers to more questions"
        )
    counts = np.where(given <= 1, np.round(given * most), given).astype(int)
    if counts.max() > most:
        raise InputError(
            f"sizes: {counts.max()} answers are more than the {most} that a fold leaves for training",
        )
    return sorted(set(counts[counts > 0].tolist()))


def _forecasts(
    curves: SaturatingCurves,
    last: CurvePoint,
    df: float,
    n_answers: int,
    said: int,
    most: float,
    chance: float,
    rng: np.random.Generator,
) -> tuple[Forecast, Forecast, Forecast]:
    """Expected accuracy with all answers, with twice as many, and the difference, none above ``most``.

    ``last`` : measured at the largest size. The height is taken from it, with its own error, and only the way from there on
    from the curves: the shape of a law says too much about the height, and the error of the height is none of the gain's.
    ``said`` : number of statements. ``chance`` : standard deviation of a gain, by which answers come next.
    """
    draws = len(curves.rise)
    level = last.accuracy + last.standard_error * rng.standard_t(df, size=draws)
    refitted = REFITTED / np.sqrt(said) * rng.standard_normal(draws)
    now = np.minimum(level + curves.gain(last.answers, n_answers) + refitted, most)
    middle = float(np.median(now))
    gain = curves.gain(n_answers, 2 * n_answers) + chance * rng.standard_normal(draws)
    gain = np.minimum(gain, max(0.0, most - middle))
    further = middle + max(0.0, float(np.median(gain)))

    def forecast(m: float, value: float, of: Floats) -> Forecast:
        low, high = np.quantile(of, [0.05, 0.95])
        return Forecast(m, value, float(low), float(high))

    return (
        forecast(n_answers, middle, now),
        forecast(2 * n_answers, further, np.minimum(now + gain, most)),
        forecast(2 * n_answers, further - middle, gain),
    )


def _line(what: str, forecast: Forecast) -> str:
    return (
        f"{what} ({forecast.answers:,.0f}): {forecast.accuracy:.3f} "
        f"(90 % interval {forecast.low:.3f} to {forecast.high:.3f})"
    )
