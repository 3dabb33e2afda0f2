"""The one engine of intervals: participants and units are drawn with replacement, and their weights multiplied.

An answer depends on who gave it and on what was asked (the trio, or the screen), and both are a sample. The
pigeonhole bootstrap (Owen 2007, "The pigeonhole bootstrap", Annals of Applied Statistics 1) draws both independently:
an answer of participant p about unit u has the weight ``w_p * w_u``. The same draws give the interval of every mean,
of differences between models, the test against guessing, and the choice of a model.

The noise of single answers is counted by participant, by unit and by both. So intervals are wide where it is most of the
spread, which makes up for what no resampling of credits sees: the training answers that folds share.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nearfar._tools.arrays import Codes, Floats, dense_codes
from nearfar._tools.records import Record
from nearfar.evaluate.splits import Units, respondents, split_units
from nearfar.triplets import Triplets

MIN_PARTICIPANTS = 10  # with fewer (effective) participants nothing is said about others


@dataclass(frozen=True)
class Estimate(Record):
    """A value with its 95 % interval; limits that are not known are NaN.

    >>> Estimate(0.8, 0.7, 0.9).to_dict()
    {'value': 0.8, 'low': 0.7, 'high': 0.9}
    """

    value: float
    low: float = np.nan
    high: float = np.nan


@dataclass(frozen=True)
class Scope(Record):
    """Of whom, and of which questions, a figure speaks.

    Parameters
    ----------
    participants : "new": others like those asked; "same": these only, because they are fewer than 10; "unknown": the
        answers do not say who gave them.
    questions : "new": others like those asked; "within booklets": within the sets of a blocked design; "adaptive": these only;
        "same": these, because every participant answered all of them.
    n_participants : how many answered, 0 where that is not known.
    n_random : how many answers to random questions a figure comes from, where others are beside them; else 0.
    """

    participants: Literal["new", "same", "unknown"] = "unknown"
    questions: Literal["new", "within booklets", "adaptive", "same"] = "new"
    n_participants: int = 0
    n_random: int = 0


class Draws:
    """Bootstrap weights of the participants and units of m answers.

    ``unit`` : (m,) what was drawn as a whole when questions were made: the trio, or the statement; ``participant`` : (m,) who
    answered, None where participants are not drawn; ``scope`` : of whom the results speak.

    >>> rng = np.random.default_rng(0)
    >>> draws = Draws(np.arange(2000))
    >>> share = draws.estimate(rng.random(2000) < 0.8)
    >>> round(share.value, 3), round(share.low, 2), round(share.high, 2)
    (0.794, 0.78, 0.81)
    """

    def __init__(
        self, unit: ArrayLike, participant: Any = None, *, scope: Scope | None = None, n_draws: int = 500,
        seed: int = 0,
    ) -> None:  # fmt: skip
        rng = np.random.default_rng([seed, 2007])  # a stream that made answers do not share
        self.scope = scope or Scope()
        unit = np.asarray(unit)
        self._unit, self._unit_weights = _draw_groups(unit, n_draws, rng)
        who = np.zeros(len(unit), dtype=np.int64) if participant is None else np.asarray(participant)
        self._person, self._person_weights = _draw_groups(who, n_draws, rng)
        self.df = min(map(effective_groups, [unit] if participant is None else [unit, who])) - 1

    # ---------------------------------------------------------------- weighted means

    def means(self, values: ArrayLike) -> Floats:
        """(k, draws) weighted means of the rows of (k, m) values; values that are NaN are left out."""
        return self._means(values, self._person_weights, self._unit_weights)

    def left_out_means(self, values: ArrayLike) -> Floats:
        """(k, draws) means of the answers that a draw leaves out: of participants, or units, that were not drawn."""
        people, units = self._person_weights > 0, self._unit_weights > 0
        return self._means(values, people.astype(np.float32), units.astype(np.float32), left_out=True)

    def _means(
        self, values: ArrayLike, people: NDArray[Any], units: NDArray[Any], left_out: bool = False
    ) -> Floats:
        """sum_cells w_p w_u s / sum_cells w_p w_u n, s and n the sum and number of values of a (participant, unit) cell."""
        values = np.atleast_2d(np.asarray(values, dtype=np.float64))
        known = np.isfinite(values)
        ratios = np.empty((len(values), people.shape[1]))
        weight = np.zeros(0)
        for k, (row, mask) in enumerate(zip(values, known, strict=True)):
            total = self._sums(np.where(mask, row, 0.0), people, units)
            if k == 0 or not np.array_equal(mask, known[k - 1]):
                weight = self._sums(mask.astype(np.float64), people, units)
                weight = mask.sum() - weight if left_out else weight
            total = row[mask].sum() - total if left_out else total
            ratios[k] = total / np.where(weight > 0, weight, np.nan)
        return ratios

    def _sums(self, values: Floats, people: NDArray[Any], units: NDArray[Any]) -> Floats:
        from scipy.sparse import csr_array

        cells = csr_array((values, (self._person, self._unit)), shape=(len(people), len(units)))
        return np.asarray(np.einsum("pb,pb->b", people, cells @ units))

    # ---------------------------------------------------------------- results

    def estimate(self, values: ArrayLike) -> Estimate:
        """The mean of (m,) values between 0 and 1, with an interval within 0 to 1 (symmetric in the logit).

        Where all values are alike there is no spread to go by: then it is the exact interval of as many coins as there are
        (effective) participants or units.
        """
        values = np.asarray(values, dtype=np.float64)
        if not np.isfinite(values).any():
            return Estimate(np.nan)
        mean, error = float(np.nanmean(values)), float(np.nanstd(self.means(values)))
        width = self._width(error)
        if np.isnan(width):
            return Estimate(mean)
        if not 0 < mean < 1 or error == 0:
            slack = 1 - 0.025 ** (1 / (self.df + 1))
            return Estimate(mean, max(0.0, mean - slack), min(1.0, mean + slack))
        width /= mean * (1 - mean)
        odds = mean / (1 - mean) * np.exp(np.clip([-width, width], -300, 300))
        low, high = (odds / (1 + odds)).tolist()
        return Estimate(mean, low, high)

    def difference(self, one: ArrayLike, other: ArrayLike) -> Estimate:
        """The mean of ``one`` less that of ``other``, (m,) values of the same answers, each NaN where it is not known."""
        both = np.stack([np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)])
        drawn, (first, second) = self.means(both), _row_means(both)
        value = float(first - second)
        width = self._width(float(np.nanstd(drawn[0] - drawn[1])))
        return Estimate(value, value - width, value + width)

    def _width(self, error: float) -> float:
        """Half of the 95 % interval of a standard error; NaN where the spread is not known."""
        from scipy.stats import t

        return float(t.ppf(0.975, self.df)) * error if self.df > 0 else np.nan

    def clearly_better(self, values: NDArray[Any], by: float = 0.0, level: float = 0.95) -> NDArray[np.bool_]:
        """(k, k) whether the model of a column is better than that of a row, by more than ``by``; all pairs at once.

        A difference counts that exceeds, in standard errors, what the draws make of the largest of all of them.
        """
        means, drawn = _row_means(values), self.means(values)
        apart = means[None, :] - means[:, None]
        off = drawn[None, :] - drawn[:, None] - apart[..., None]
        error = np.nanstd(off, axis=2)
        if not (self.df > 0 and np.isfinite(error).all()):
            return np.zeros_like(apart, dtype=bool)
        spread = np.abs(off) / np.maximum(error, 1e-12)[..., None]  # 0 for two models that never differ
        critical = np.nanquantile(spread.max(axis=(0, 1)), level)
        return np.asarray(apart - by > critical * error + 1e-12)

    def p_guessing(self, values: NDArray[Any]) -> float:
        """p of no model being above one half, corrected for the number of models: by the largest of their t values.

        Where a model predicts all answers there is no spread: then it is that of as many coins as there are (effective) groups.
        """
        means, drawn = _row_means(values), self.means(values)
        error = np.nanstd(drawn, axis=1)
        known = np.isfinite(error) & (error > 0)
        if self.df > 0 and (means == 1).any():
            return float(min(1.0, len(means) * 0.5 ** (self.df + 1)))
        if not (self.df > 0 and known.any()):
            return 1.0
        largest = ((means - 0.5)[known] / error[known]).max()
        off = (drawn - means[:, None])[known] / error[known, None]
        held = np.isfinite(off).any(axis=0)  # a draw may hold no answer at all
        by_chance = np.nanmax(off[:, held], axis=0)
        return float((1 + np.sum(by_chance >= largest)) / (1 + len(by_chance)))

    def variance_parts(self, values: ArrayLike) -> tuple[float, float]:
        """The variance of a mean by participants drawn, and by units drawn."""
        alike = [np.ones_like(weights) for weights in (self._person_weights, self._unit_weights)]
        people = self._means(values, self._person_weights, alike[1])
        units = self._means(values, alike[0], self._unit_weights)
        return float(np.nanvar(people)), float(np.nanvar(units))


def make_draws(
    answers: Triplets, units: Units | None = None, *, design: str | None = None, n_draws: int = 500,
    seed: int = 0,
) -> Draws:  # fmt: skip
    """Draws of the participants and units of a collection.

    Where participants are not known, or fewer than 10, statements are drawn in their place, and results speak of the
    same participants.

    >>> answers = Triplets.from_array([[0, 1, 2], [0, 2, 1], [1, 0, 3]], participant=["ann", "bob", "ann"])
    >>> make_draws(answers).scope
    Scope(participants='same', questions='new', n_participants=2, n_random=0)
    """
    units = units or split_units(answers)
    questions: dict[str | None, Any] = {"blocked": "within booklets", "adaptive": "adaptive"}
    by_person = units.kind == "participant"  # who are drawn anyway, so trios beside them
    scope = Scope(questions="same" if by_person else questions.get(design, "new"))
    who = answers.statement_ids
    if answers.participant is not None and len(answers.participant.known):
        people = respondents(answers)
        enough = round(effective_groups(people)) >= MIN_PARTICIPANTS
        who = people if enough else who
        number = len(answers.participant.known)
        scope = replace(scope, participants="new" if enough else "same", n_participants=number)
    codes = dense_codes(answers.trio_ids) if by_person else units.codes
    return Draws(codes, who, scope=scope, n_draws=n_draws, seed=seed)


def effective_groups(codes: NDArray[Any]) -> float:
    """How many groups of equal size would be worth as much as these: (sum n_g)^2 / sum n_g^2.

    >>> effective_groups(np.array([0, 0, 1, 1])), effective_groups(np.array([0] * 98 + [1, 2]))
    (2.0, 1.0410160316468873)
    """
    sizes = np.bincount(codes).astype(np.float64)
    return float(sizes.sum() ** 2 / np.sum(sizes**2)) if len(codes) else 0.0


def _draw_groups(
    codes: NDArray[Any], n_draws: int, rng: np.random.Generator, most: int = 2_000
) -> tuple[Codes, NDArray[np.float32]]:
    """Codes of groups, more than ``most`` joined at random, and (groups, draws) how often each is drawn."""
    codes = dense_codes(codes)
    count = int(codes.max(initial=-1)) + 1
    if count > most:
        codes, count = (rng.permutation(count) % most)[codes], most
    if count < 2:  # nothing to draw
        return codes, np.ones((count, n_draws), dtype=np.float32)
    return codes, rng.multinomial(count, np.full(count, 1 / count), size=n_draws).T.astype(np.float32)


def _row_means(values: NDArray[Any]) -> Floats:
    return np.asarray(np.nanmean(values, axis=1, dtype=np.float64))
