"""How alike the map of another study would be: split-half correlations of distances."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nearfar import words
from nearfar._tools.arrays import Codes, dense_codes
from nearfar._tools.records import Record
from nearfar.evaluate.bootstrap import Scope
from nearfar.evaluate.crossval import fit_timed
from nearfar.evaluate.splits import respondents, split_units
from nearfar.space.models import Model
from nearfar.triplets import Triplets


@dataclass(frozen=True)
class Reliability(Record):
    """Expected correlations of the distances on the map of this study with those of another one.

    Parameters
    ----------
    participants : another study with as many other participants; NaN where nothing is said about others, and for booklets.
    questions : another study with as many other questions.
    spread : standard deviation, between participants, of the share of their answers that is predicted, chance taken off;
        NaN where participants are not known.
    model : whose map.
    """

    participants: float
    questions: float
    spread: float
    model: str

    def __str__(self) -> str:
        return str(words.reliability(self))


def measure_reliability(
    answers: Triplets, model: Model, credit: NDArray[np.floating], scope: Scope, seed: int
) -> Reliability:
    """Fit a model to halves of the participants, and of the units; ``credit`` : (m,) held-out credits.

    In simulated studies of booklets, few participants, or fewer than five different questions per object it was wrong by more
    than 0.1 in half of them: there it is NaN.
    """
    people, units = respondents(answers), split_units(answers).codes
    enough = len(np.unique(answers.question_ids)) >= 5 * answers.n_objects
    others = enough and scope.participants == "new" and scope.questions != "same sets"
    new_people = split_half(answers, model, people, seed=seed) if others else np.nan
    new_questions = split_half(answers, model, units, seed=seed) if enough else np.nan
    spread = between_participants(credit, people) if answers.participant is not None else np.nan
    return Reliability(new_people, new_questions, spread, model.name)


def split_half(answers: Triplets, model: Model, groups: Codes, *, n_splits: int = 2, seed: int = 0) -> float:
    """Mean split-half correlation of distances, stepped up to whole studies (Spearman-Brown, 2r / (1 + r)).

    ``groups`` : (m,) what is split: participants, or trios. NaN with fewer than four groups.
    """
    groups, rng = dense_codes(groups), np.random.default_rng([seed, 1910])
    count = int(groups.max(initial=-1)) + 1
    if count < 4:
        return np.nan
    correlations = []
    for _ in range(n_splits):
        first = (rng.permutation(count) < count / 2)[groups]
        spaces = [fit_timed(model, answers[half]).space for half in (first, ~first)]
        known = np.flatnonzero(spaces[0].informed & spaces[1].informed)[:2_000]
        upper = np.triu_indices(len(known), 1)
        one, other = (space.take(known).distances()[upper] for space in spaces)
        if len(known) > 2 and one.std() > 0 and other.std() > 0:
            correlations.append(float(np.corrcoef(one, other)[0, 1]))
    r = max(0.0, float(np.mean(correlations))) if correlations else np.nan
    return 2 * r / (1 + r)


def between_participants(credit: NDArray[np.floating], people: Codes) -> float:
    """Standard deviation of participants' own accuracy: that of their means, less what chance alone gives.

    >>> rng = np.random.default_rng(0)
    >>> people = np.repeat(np.arange(200), 50)
    >>> skill = rng.choice([0.6, 0.8], size=200)[people]
    >>> round(between_participants(rng.random(10_000) < skill, people), 2)
    0.1
    """
    credit = np.asarray(credit, dtype=np.float64)
    known = np.isfinite(credit)
    people, credit = dense_codes(people[known]), credit[known]
    count = np.bincount(people)
    mean = np.bincount(people, weights=credit) / count
    within = np.bincount(people, weights=(credit - mean[people]) ** 2)
    enough = count > 4
    if enough.sum() < 2:
        return np.nan
    chance = np.mean((within / np.maximum(count - 1, 1) / count)[enough])
    return float(np.sqrt(max(0.0, float(np.var(mean[enough], ddof=1) - chance))))
