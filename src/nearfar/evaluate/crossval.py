"""Held-out credits: what models expect of answers that they were not fitted on, each model and answer once.

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
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nearfar._tools.arrays import Floats
from nearfar._tools.progress import step
from nearfar.errors import NearfarWarning
from nearfar.evaluate.priors import settle
from nearfar.evaluate.splits import Split, kfold, split_units
from nearfar.space.models import FitCache, Model, empty_space, most_components, parse_model
from nearfar.space.space import Space
from nearfar.triplets import Triplets


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


def cross_validate(answers: Triplets, models: Sequence[Model], splits: Sequence[Split]) -> Credits:
    """Fit every model to the training answers of every fold and judge it by the test answers; each answer is tested once."""
    margins = np.full((len(models), len(answers)), np.nan, dtype=np.float32)
    seconds = np.zeros((len(models), len(splits)))
    heard: list[Counter[str]] = [Counter() for _ in models]
    most = most_components(models)
    with step(f"comparing {len(models)} models", total=len(splits) * len(models)) as advance:
        for fold, (train, test) in enumerate(splits):
            cache, held_out = FitCache(answers[train], most), answers[test]
            for k, model in enumerate(models):
                fit = fit_timed(model, cache.answers, cache)
                margins[k, test] = fit.space.predict(held_out).margin
                seconds[k, fold] = fit.seconds
                heard[k].update(fit.heard)
                advance(1)
    values = ((1 + np.sign(margins)) / 2).astype(np.float32)
    return Credits(tuple(models), values, margins, seconds, tuple(heard))


def score_credits(train: Triplets, test: Triplets) -> Floats:
    """(m,) what the score kernel of some answers expects of others."""
    return fit_timed(parse_model("score"), train).space.credits(test)


def quick_credits(answers: Triplets, *, cv: int = 5, max_objects: int = 3_000) -> Floats | None:
    """(m,) held-out credits of the score kernel; None where there are too few answers or too many objects."""
    units = split_units(answers)
    if answers.n_objects > max_objects or units.count < cv:
        return None
    credit = np.empty(len(answers))
    for train, test in kfold(answers, cv, by=units):
        credit[test] = score_credits(answers[train], answers[test])
    return credit


def pair_memory_credits(answers: Triplets, splits: Iterable[Split]) -> Floats:
    """(m,) 1 where win rates of pairs (anchor, option) in training predict an answer, 0 where the other, 0.5 for a tie.

    The rate is (wins + 1) / (comparisons + 2), one half for a pair that was never compared.

    >>> answers = Triplets.from_array([[0, 1, 2], [0, 1, 3], [0, 4, 1]], n_objects=5)
    >>> pair_memory_credits(answers, [Split(np.array([0, 1]), np.array([2])), Split(np.array([2]), np.array([0, 1]))])
    array([0., 0., 0.])
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
