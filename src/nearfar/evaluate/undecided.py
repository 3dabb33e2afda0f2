"""Recognise questions that were chosen because earlier answers had not decided them, as adaptive designs do.

What is held out then was chosen by the answers that models are fitted to, so accuracy on it says little about other questions. Two
options of such a question have won more equally often, in other answers, or lie at more equal distances on their map, than options of
the same anchor that are put together at random.
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

# Standard deviations. Simulated designs that do not look at answers have -2.1 and more, those that ask the least decided of four
# questions nearly always -4 and less, by the measure that they choose by.
CHOSEN = -3.0
_FOUND: WeakKeyDictionary[Triplets, bool] = WeakKeyDictionary()  # an analysis asks a dozen times
DEALS = 40
FEWEST = 50  # trios
MOST = 20_000  # answers looked at


def excess_of_decision(answers: Triplets) -> float:
    """How decided questions are, less how decided they would be with options dealt at random, in standard deviations.

    Half of the trios say how often an option wins as seen from an anchor, and where objects lie on a map; of the other half, questions are
    compared with the same anchors and options dealt anew, without trios of the first half. The lower of both measures; NaN for statements of several triplets, and where nothing can be dealt.

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
        by_wins, on_map = (_excess(answers, measure) for measure in (PairMemory, parse_model("soe-2").fit))
    return float(np.fmin(by_wins, on_map))


def chosen_undecided(answers: Triplets) -> bool:
    """Whether questions were chosen for being undecided, by earlier answers or by hand."""
    if answers not in _FOUND:
        _FOUND[answers] = excess_of_decision(answers) < CHOSEN
    return _FOUND[answers]


def _excess(answers: Triplets, measure: Callable[[Triplets], Any]) -> float:
    """By one measure: something with margins, made of one half and then of the other."""
    rng, found = np.random.default_rng(0), []
    halves = holdout(answers, 0.5, by="trio")
    for one, other in (halves, halves[::-1]):
        asked = answers[other]
        asked = asked[np.unique(asked.question_ids, return_index=True)[1]]
        found.append(_decided(measure(answers[one]), asked, np.unique(answers[one].trio_ids), rng))
    observed, *dealt = np.mean(found, axis=0)
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
