"""Recognise questions that were chosen because earlier answers had not decided them, as adaptive designs do.

What is held out then was chosen by the answers that models are fitted to, so accuracy on it says little about other questions. Two
options of such a question have won more equally often, in other answers, or lie at more equal distances on their map, than options of
the same anchor that are put together at random. Later answers move the map, so that a question which was undecided when it was chosen may
not look so any more: a map of the answers before it tells, where the file kept their order.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from nearfar.errors import NearfarWarning
from nearfar.evaluate.pair_memory import PairMemory
from nearfar.evaluate.splits import holdout, some_units, split_units
from nearfar.space.models import parse_model
from nearfar.triplets import Triplets

__all__ = ["chosen_undecided", "excess_of_decision"]

# Standard deviations. Simulated designs that do not look at answers have -2.6 and more, but for one of 1,520 collections of the fourth
# family; those that ask the least decided of four questions nearly always -4 and less, by the measure that they choose by.
CHOSEN = -3.0
_FOUND: WeakKeyDictionary[Triplets, bool] = WeakKeyDictionary()  # an analysis asks a dozen times
DEALS = 40
FEWEST = 50  # trios
MOST = 20_000  # answers looked at
PARTS = 5  # of the answers in their order; each but the first is looked at on a map of those before it
SORTED = 0.25  # of the variance of winning lies between parts: none does by chance, a half or more in a file sorted by near


def excess_of_decision(answers: Triplets) -> float:
    """How decided questions are, less how decided they would be with options dealt at random, in standard deviations.

    Half of the trios say how often an option wins as seen from an anchor, and where objects lie on a map; of the other half, questions are
    compared with the same anchors and options dealt anew, without trios of the first half. The same with a map of the answers so far and the
    questions that come next. The lowest of the three measures; NaN for statements of several triplets, and where nothing can be dealt.

    >>> rng = np.random.default_rng(0)
    >>> at, rows = rng.random(15), np.argsort(rng.random((4000, 15)))[:, :3]
    >>> lead = np.abs(at[rows[:, 0]] - at[rows[:, 2]]) - np.abs(at[rows[:, 0]] - at[rows[:, 1]])
    >>> rows[lead < 0] = rows[lead < 0][:, [0, 2, 1]]
    >>> hard = rows[np.abs(lead) < 0.2]
    >>> [excess_of_decision(Triplets.from_array(some, n_objects=15)) < CHOSEN for some in (rows, hard)]
    [False, True]
    """
    if split_units(answers).kind != "trio" or len(np.unique(answers.statement_ids)) < len(answers):
        return np.nan
    if len(answers) > MOST:
        answers = answers[some_units(answers, MOST)]
    if split_units(answers, "trio").count < FEWEST:
        return np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NearfarWarning)
        fit = parse_model("soe-2").fit
        found = [
            _excess(_halves(answers), PairMemory),
            _excess(_halves(answers), fit),
            _excess(_next(answers), fit),
        ]
    return float(np.fmin.reduce(found))


def chosen_undecided(answers: Triplets) -> bool:
    """Whether questions were chosen for being undecided, by earlier answers or by hand."""
    if answers not in _FOUND:
        _FOUND[answers] = excess_of_decision(answers) < CHOSEN
    return _FOUND[answers]


def _halves(answers: Triplets) -> list[tuple[Triplets, Triplets]]:
    """Half of the trios and the other half, and the other way round."""
    one, other = (answers[half] for half in holdout(answers, 0.5, by="trio"))
    return [(one, other), (other, one)]


def _next(answers: Triplets) -> list[tuple[Triplets, Triplets]]:
    """The answers so far, and those that come next to trios that have not come up; by their times, if all are known.

    Nothing where the order depends on what was answered, as that of a file sorted by near.
    """
    times = answers.answered_at
    if times is not None and np.isfinite(times).all():
        answers = answers[np.argsort(times, kind="stable")]
    part = np.arange(len(answers)) * PARTS // len(answers)
    if _won_by_part(answers, part) > SORTED:
        return []
    found = []
    for k in range(1, PARTS):
        before, after = answers[part < k], answers[part == k]
        after = after[~np.isin(after.trio_ids, np.unique(before.trio_ids))]
        if len(after):
            found.append((before, after))
    return found


def _won_by_part(answers: Triplets, part: NDArray[np.int64]) -> float:
    """The share of the variance of whether an option wins that lies between parts, less what chance gives (omega squared)."""
    option = np.concatenate([answers.near, answers.far]).astype(np.int64)
    won = np.repeat([1.0, 0.0], len(answers))
    total, options = _within(won, option)
    within, cells = _within(won, option * PARTS + np.tile(part, 2))
    if total == 0 or cells == len(won):
        return 1.0
    return float((total - within - (cells - options) * within / (len(won) - cells)) / total)


def _within(values: NDArray[np.float64], group: NDArray[np.int64]) -> tuple[float, int]:
    """Sum of squares around the mean of each group, and how many groups there are."""
    _, codes, count = np.unique(group, return_inverse=True, return_counts=True)
    mean = np.bincount(codes, weights=values) / count
    return float(np.sum((values - mean[codes]) ** 2)), len(count)


def _excess(parts: list[tuple[Triplets, Triplets]], measure: Callable[[Triplets], Any]) -> float:
    """By one measure, something with margins: made of the first of each two parts, for the questions of the second."""
    rng, found, weights = np.random.default_rng(0), [], []
    for before, asked in parts:
        asked = asked[np.unique(asked.question_ids, return_index=True)[1]]
        found.append(_decided(measure(before), asked, np.unique(before.trio_ids), rng))
        weights.append(len(asked))
    if not found:
        return np.nan
    observed, *dealt = np.average(found, axis=0, weights=weights)
    spread = float(np.std(dealt))
    return float((observed - np.mean(dealt)) / spread) if spread > 0 else np.nan


def _decided(known: Any, asked: Triplets, taken: NDArray[np.int64], rng: np.random.Generator) -> list[float]:
    """Mean margin between two options: of the questions, then of each deal, over the mean of all deals."""
    order = np.argsort(np.repeat(asked.anchor, 2), kind="stable")
    anchor = np.repeat(asked.anchor, 2)[order]
    option = np.column_stack([asked.near, asked.far]).ravel()[order]
    found = []
    for deal in range(1 + DEALS):
        if deal:
            option = option[np.lexsort((rng.random(len(option)), anchor))]
        rows = np.column_stack([anchor[::2], option[::2], option[1::2]])
        rows = rows[(option[::2] != option[1::2])]
        new = Triplets.from_array(rows, n_objects=asked.n_objects)
        new = new[~np.isin(new.trio_ids, taken)]
        margin = known.margins(new.anchor, new.near, new.far)
        found.append(float(np.nan_to_num(np.abs(margin)).mean()) if len(new) else 0.0)
    mean = float(np.mean(found[1:]))
    return [value / mean if mean > 0 else 1.0 for value in found]
