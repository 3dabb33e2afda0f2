"""Accuracy against the number of answers, and what more answers would bring."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nearfar.checks import seed_number
from nearfar.errors import InputError
from nearfar.evaluate._power_law import PowerLaws, fit_power_laws
from nearfar.evaluate.ceiling import NoiseCeiling, noise_ceiling
from nearfar.evaluate.crossval import fit_timed
from nearfar.evaluate.splits import kfold, split_units
from nearfar.evaluate.uncertainty import clustered_mean_error, error_clusters
from nearfar.progress import step
from nearfar.space.models import parse_model
from nearfar.triplets import Triplets, as_triplets

__all__ = ["CurvePoint", "Forecast", "LearningCurve", "learning_curve"]

SHARES = tuple(2.0 ** (-k / 2) for k in range(8, -1, -1))  # a sixteenth to all of the training answers
RESAMPLES = 500
GROUPS = 250  # clusters are resampled in at most so many groups
LITTLE = 0.01  # a gain that hardly anybody would collect twice the answers for
TOO_EARLY = 0.6  # share of resamples whose last doubling brought more than the one before it
FEW_PER_OBJECT = (
    60  # answers that speak about an object, on average, below which curves still accelerate in simulations
)


class CurvePoint(NamedTuple):
    """Held-out accuracy of a model fitted to ``answers`` answers (a mean over the parts)."""

    answers: float
    accuracy: float
    standard_error: float
    ties: float


class Forecast(NamedTuple):
    """An expected accuracy, with the interval that holds 90 of 100 resamples of parts, people and exponents."""

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
    now : expected accuracy of a model fitted to all answers (each part left some out).
    doubled : expected accuracy with twice as many.
    gain : what doubling would bring, with its interval. None, as the two before, with less than four sizes or where it
        is too early to say. None of the three is above the ceiling.
    ceiling : what repeated questions say about the best possible accuracy.
    early : whether the curve still accelerates, or answers are too few to see whether it does.
    """

    model: str
    points: tuple[CurvePoint, ...]
    n_answers: int
    now: Forecast | None
    doubled: Forecast | None
    gain: Forecast | None
    ceiling: NoiseCeiling
    early: bool = False

    @property
    def verdict(self) -> str:
        """One of "levelled off", "still rising", "too early to say", "at chance", "unclear".

        Levelled off: at most 0.01 is to be gained from twice the answers, even at the upper end of the interval.
        Still rising: more than that is to be gained at the best guess, and something at the lower end.
        Too early to say: the last doubling brought more than the one before it, or fewer than 60 answers speak about
        an object on average: the curve has not bent yet, or cannot be seen to.
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
            why = (
                "too early to say what more answers would bring: the curve has not clearly begun to level off"
                if self.early
                else "too few sizes to say what more answers would bring"
            )
            return "\n".join([*lines, why])
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
    model: Any = "tste-2",
    *,
    sizes: Sequence[float] | None = None,
    cv: int = 5,
    seed: Any = 0,
    ceiling: NoiseCeiling | None = None,
) -> LearningCurve:
    """Fit a model to growing numbers of answers and judge each by the same held-out answers.

    In every one of ``cv`` honest parts the training answers grow by whole trios (or statements that span several),
    each set inside the next. ``a - b m^-c`` through the measured accuracies says what more answers would bring; its
    interval comes from resampling parts and participants (else trios, or statements that span several). It extends
    the curve of this model: another model may gain more.

    Parameters
    ----------
    answers : what was answered.
    model : a name such as "score" or "ste-2", or an object with ``fit_transform(answers)``, as for ``compare``.
    sizes : numbers of answers, or shares of the training answers (at most 1); default: a sixteenth to all.
    cv : number of parts.
    seed : None, an integer or a numpy Generator; fixes parts, growth and resampling.
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
    judged = parse_model(model)
    units = split_units(answers).codes
    parts = [
        (_growing(units, train, [seed, k]), test)
        for k, (train, test) in enumerate(kfold(answers, cv, seed=seed))
    ]
    wanted = _sizes(sizes, min(len(order) for (order, _), _ in parts))
    credits, clusters = np.empty((len(wanted), len(answers))), error_clusters(answers)
    groups = Groups.of(clusters, len(wanted), len(parts), seed)
    used = np.zeros(len(wanted))
    with step(f"learning curve of {judged.name}", total=len(parts) * len(wanted)) as advance:
        for part, ((order, ends), test) in enumerate(parts):
            for k, size in enumerate(wanted):
                # whole units: the end that is nearest to the size asked for
                end = ends[np.argmin(np.abs(ends - size))]
                space = fit_timed(judged, answers[np.sort(order[:end])]).space
                credits[k, test] = space.credits(answers[test])
                groups.add(k, part, test, credits[k, test])
                used[k] += end / len(parts)
                advance(1)
    points = tuple(
        CurvePoint(float(m), float(c.mean()), clustered_mean_error(c, clusters), float((c == 0.5).mean()))
        for m, c in zip(used, credits, strict=True)
    )
    accuracies = [point.accuracy for point in points]
    known = noise_ceiling(answers) if ceiling is None else ceiling
    resampled = groups.resampled()
    thin = 3 * len(answers) < FEW_PER_OBJECT * answers.n_objects
    early = thin or _accelerates(used, accuracies, resampled)
    cap = 1.0 if known.outer is None else known.outer[1]
    now, doubled, gain = (
        (None, None, None) if early else _forecasts(used, accuracies, resampled, len(answers), cap)
    )
    return LearningCurve(judged.name, points, len(answers), now, doubled, gain, known, early)


def _growing(
    units: NDArray[np.int64], train: NDArray[np.intp], seed: list[int]
) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Training rows, unit by unit in random order, and the number of rows at the end of every unit."""
    codes = np.unique(units[train], return_inverse=True)[1]
    place = np.random.default_rng(seed).permutation(int(codes.max(initial=-1)) + 1)[codes]
    order = train[np.argsort(place, kind="stable")]
    return order, np.cumsum(np.bincount(place)) if len(order) else np.zeros(1, dtype=np.int64)


def _sizes(sizes: Sequence[float] | None, most: int) -> list[int]:
    """Numbers of training answers, ascending and different."""
    given = np.asarray(SHARES if sizes is None else list(sizes), dtype=np.float64)
    if given.ndim != 1 or not len(given) or not np.all(given > 0):
        raise InputError(
            f"sizes: got {sizes!r}, expected numbers of answers or shares between 0 and 1",
        )
    counts = np.where(given <= 1, np.round(given * most), given).astype(int)
    if counts.max() > most:
        raise InputError(
            f"sizes: {counts.max()} answers are more than the {most} that a part leaves for training",
        )
    return sorted(set(counts[counts > 0].tolist()))


def _forecasts(
    used: NDArray[np.float64],
    accuracies: list[float],
    resampled: NDArray[np.float64],
    n_answers: int,
    cap: float,
) -> tuple[Forecast | None, Forecast | None, Forecast | None]:
    """Expected accuracy with all answers, with twice as many, and the difference, none above ``cap``."""
    top = used >= used[-1] / 4.5  # far down, curves bend the other way
    if len(np.unique(used[top])) < 4:  # whole trios may make different sizes the same
        return None, None, None
    best = fit_power_laws(used[top], np.array([accuracies])[:, top])
    others = fit_power_laws(used[top], resampled[:, top], np.random.default_rng(0))
    most = max(cap, accuracies[-1])

    def at(laws: PowerLaws, m: float) -> NDArray[np.float64]:
        return np.minimum(laws.at(m), most)

    def forecast(m: float, of: Any) -> Forecast:
        low, high = np.quantile(of(others), [0.04, 0.96]) if len(resampled) else (np.nan, np.nan)
        return Forecast(m, float(of(best)[0]), float(low), float(high))

    return (
        forecast(n_answers, lambda laws: at(laws, n_answers)),
        forecast(2 * n_answers, lambda laws: at(laws, 2 * n_answers)),
        forecast(2 * n_answers, lambda laws: at(laws, 2 * n_answers) - at(laws, n_answers)),
    )


def _accelerates(used: NDArray[np.float64], accuracies: list[float], resampled: NDArray[np.float64]) -> bool:
    """Whether the last doubling brought more than the one before it, as far as resamples can tell.

    Then the curve has not bent yet, and nothing measured says where it will.
    """
    before = np.interp(np.log(used[-1]) - np.log([4.0, 2.0]), np.log(used), np.arange(len(used)))
    if used[-1] / used[0] < 4:
        return False

    def gains(curves: NDArray[np.float64]) -> NDArray[np.float64]:
        low, middle = (
            np.stack([np.interp(place, np.arange(len(used)), curve) for curve in curves]) for place in before
        )
        return np.asarray((curves[:, -1] - middle) - (middle - low))

    own = gains(np.array([accuracies]))[0]
    likely = np.mean(gains(resampled) > 0) if len(resampled) else float(own > 0)
    still_rising = accuracies[-1] - np.array(accuracies)[used <= used[-1] / 2 + 1][-1] > LITTLE
    return bool(likely >= TOO_EARLY and still_rising)


@dataclass
class Groups:
    """Credits by size, part and group of clusters, to redo a curve as if other people had answered.

    sums, counts : (sizes, parts, groups) credits and answers; group : (m,) group of each answer.
    """

    group: NDArray[np.int64]
    sums: NDArray[np.float64]
    counts: NDArray[np.float64]
    rng: np.random.Generator

    @classmethod
    def of(cls, clusters: NDArray[np.int64], n_sizes: int, n_parts: int, seed: int) -> Groups:
        """At most ``GROUPS`` random groups of the clusters of answers."""
        rng = np.random.default_rng([seed, n_parts])
        n_clusters = int(clusters.max(initial=-1)) + 1
        of_cluster = rng.permutation(n_clusters) % min(GROUPS, n_clusters)
        shape = (n_sizes, n_parts, min(GROUPS, n_clusters))
        return cls(of_cluster[clusters], np.zeros(shape), np.zeros(shape), rng)

    def add(self, size: int, part: int, test: NDArray[np.intp], credit: NDArray[np.float64]) -> None:
        """Credits of the answers in rows ``test``."""
        n_groups = self.sums.shape[2]
        self.sums[size, part] += np.bincount(self.group[test], weights=credit, minlength=n_groups)
        self.counts[size, part] += np.bincount(self.group[test], minlength=n_groups)

    def resampled(self) -> NDArray[np.float64]:
        """(resamples, sizes) accuracies with groups and parts drawn again; no rows where there is one group only.

        Drawing groups lets the people vary who are predicted, drawing parts the answers that were fitted. Each is
        drawn apart and the two changes added: drawn together, the noise of single answers would count three times.
        """
        if self.sums.shape[2] < 2:
            return np.zeros((0, len(self.sums)))
        measured = self.sums.sum(axis=(1, 2)) / self.counts.sum(axis=(1, 2))
        by_people = self._drawn(self.sums.sum(axis=1), self.counts.sum(axis=1))
        by_parts = self._drawn(self.sums.sum(axis=2), self.counts.sum(axis=2))
        resampled: NDArray[np.float64] = by_people + by_parts - measured
        return resampled

    def _drawn(self, sums: NDArray[np.float64], counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """(resamples, sizes) accuracies with columns of (sizes, columns) credits and answers drawn again."""
        columns = sums.shape[1]
        drawn = self.rng.multinomial(columns, np.full(columns, 1 / columns), size=RESAMPLES)
        accuracies: NDArray[np.float64] = (drawn @ sums.T) / (drawn @ counts.T)
        return accuracies


def _line(what: str, forecast: Forecast) -> str:
    return (
        f"{what} ({forecast.answers:,.0f}): {forecast.accuracy:.3f} "
        f"(90 % interval {forecast.low:.3f} to {forecast.high:.3f})"
    )
