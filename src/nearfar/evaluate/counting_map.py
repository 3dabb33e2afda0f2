"""The map that groups are counted in: it allows for lapses, and has as many dimensions as held-out answers ask for.

A model that predicts best need not show gaps: where some answers are given at random, most losses draw groups together, and every
dimension too many fills the gaps with noise. The likelihood of held-out answers is much more sensitive to the number of dimensions
than the share that is predicted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from nearfar._tools.arrays import Floats
from nearfar._tools.progress import step
from nearfar.embedding.lapses import LapseMap, fit_lapses
from nearfar.evaluate.bootstrap import make_draws
from nearfar.evaluate.splits import Split
from nearfar.triplets import Triplets

__all__ = ["likeliest_dimension", "map_for_counting"]

DIMENSIONS = (2, 3, 4, 5, 6, 8, 10)  # one dimension is hard to search: objects cannot pass each other
CLEARLY = 2.0  # standard errors that answers must be likelier than by guessing


def map_for_counting(answers: Triplets, judged: Triplets, splits: Sequence[Split]) -> LapseMap | None:
    """The map of all ``answers``; None where no number of dimensions predicts the ``judged`` ones better than guessing."""
    dimension = likeliest_dimension(judged, splits)
    return fit_lapses(answers, dimension) if dimension else None


def likeliest_dimension(answers: Triplets, splits: Sequence[Split]) -> int:
    """The number of dimensions that makes held-out answers likeliest; 0 where none is clearly better than guessing.

    Numbers are tried upwards until two in a row bring nothing.
    """
    held_out = np.concatenate([test for _, test in splits])
    best, likeliest = 0, np.full(len(held_out), -np.inf)
    tried_since = 0
    with step("looking for groups", total=len(DIMENSIONS) * len(splits)) as advance:
        for dimension in DIMENSIONS:
            own = _held_out(answers, dimension, splits)[held_out]
            advance(len(splits))
            if own.mean() > likeliest.mean():
                best, likeliest, tried_since = dimension, own, 0
            else:
                tried_since += 1
            if tried_since == 2:
                break
    gain = likeliest - math.log(0.5)
    error = float(np.nanstd(make_draws(answers)[held_out].means(gain)))
    return best if gain.mean() > CLEARLY * error else 0


def _held_out(answers: Triplets, n_components: int, splits: Sequence[Split]) -> Floats:
    """(m,) log-probability of every answer, held out; NaN where it never was."""
    found = np.full(len(answers), np.nan)
    for train, test in splits:
        found[test] = fit_lapses(answers[train], n_components).log_probability(answers[test])
    return found
