"""Held-out credits: what models expect of answers that they were not fitted on, each model and answer once."""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nearfar._tools.arrays import Floats
from nearfar._tools.progress import step
from nearfar.errors import NearfarWarning
from nearfar.evaluate.splits import Split
from nearfar.space.models import FitCache, Model, empty_space, most_components
from nearfar.space.space import Space
from nearfar.triplets import Triplets

__all__ = ["Credits", "Fit", "cross_validate", "fit_timed"]


class Fit(NamedTuple):
    """A fitted space, the seconds it took (with those of features it found ready), and the warnings it gave."""

    space: Space
    seconds: float
    heard: frozenset[str]


def fit_timed(model: Model, train: Triplets, cache: FitCache | None = None) -> Fit:
    """Fit a model to training answers, if there are any; nearfar's warnings are caught, all others pass."""
    if not len(train):
        return Fit(empty_space(model.name, train, model.n_components), 0.0, frozenset())
    cache = cache or FitCache(train)
    cache.saved = 0.0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", NearfarWarning)
        start = time.perf_counter()
        space = model.fit(train, cache)
        seconds = time.perf_counter() - start + cache.saved
    for warning in caught:
        if not issubclass(warning.category, NearfarWarning):
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno, source=warning.source
            )
    heard = {w.category.__name__ for w in caught if issubclass(w.category, NearfarWarning)}
    return Fit(space, seconds, frozenset(heard))


@dataclass(frozen=True, eq=False)
class Credits:
    """Held-out credits of models on the same answers.

    Attributes
    ----------
    models : the models.
    values : (models, answers) 1 where the model expects the answer, 0 where it expects the other, 0.5 for a tie; NaN where
        an answer does not count.
    seconds : (models, folds) of the fits.
    heard : per model, in how many fits each kind of warning was given.
    """

    models: tuple[Model, ...]
    values: NDArray[np.float32]
    seconds: Floats
    heard: tuple[Counter[str], ...]

    @property
    def names(self) -> list[str]:
        """Names of the models."""
        return [model.name for model in self.models]

    @property
    def accuracies(self) -> Floats:
        """(models,) mean credit."""
        return np.asarray(np.nanmean(self.values, axis=1, dtype=np.float64))


def cross_validate(answers: Triplets, models: Sequence[Model], splits: Sequence[Split]) -> Credits:
    """Fit every model to the training answers of every fold and judge it by the test answers; each answer is tested once."""
    values = np.full((len(models), len(answers)), np.nan, dtype=np.float32)
    seconds = np.zeros((len(models), len(splits)))
    heard: list[Counter[str]] = [Counter() for _ in models]
    most = most_components(models)
    with step(f"comparing {len(models)} models", total=len(splits) * len(models)) as advance:
        for fold, (train, test) in enumerate(splits):
            cache, held_out = FitCache(answers[train], most), answers[test]
            for k, model in enumerate(models):
                fit = fit_timed(model, cache.answers, cache)
                values[k, test] = fit.space.credits(held_out)
                seconds[k, fold] = fit.seconds
                heard[k].update(fit.heard)
                advance(1)
    return Credits(tuple(models), values, seconds, tuple(heard))
