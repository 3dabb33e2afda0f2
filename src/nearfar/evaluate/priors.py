"""How vectors enter a model: chosen by held-out answers within the answers that the model is fitted to."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from nearfar._tools.arrays import Floats
from nearfar.errors import NearfarWarning
from nearfar.evaluate.bootstrap import make_draws
from nearfar.evaluate.splits import kfold, split_units
from nearfar.space.models import FitCache, Model
from nearfar.space.space import Space
from nearfar.triplets import Triplets

if TYPE_CHECKING:
    from nearfar.embedding.base import Placed
    from nearfar.embedding.prior import Setting, Vectors

METRICS: tuple[Literal["euclidean", "cosine"], ...] = ("euclidean", "cosine")
KINDS = ((0.95, 1.2), (0.6, 1.2), (0.98, np.inf))  # share and width
WIDTHS = (0.8, 2.0)  # that are tried, too, where the kernel is Gaussian
# of the log-likelihood, to gain over none: with few answers, where vectors gain most, and with many
STANDARD_ERRORS = (1.5, 2.0)
MANY_ANSWERS = 20  # answers that an object is in


def settle(model: Model, answers: Triplets, cache: FitCache | None = None, *, enter: bool = False) -> Model:
    """A model whose vectors enter in the way that these answers choose, or not at all unless they ``enter`` anyway; others as they are."""
    vectors: Any = model.prior
    if vectors is None or hasattr(vectors, "setting"):
        return model
    cache = cache or FitCache(answers)
    setting = cache.once(("setting", enter), lambda: choose_setting(answers, vectors, enter=enter))
    return replace(model, prior=None if setting is None else vectors.prior(setting))


def choose_setting(answers: Triplets, vectors: Vectors, *, enter: bool = False) -> Setting | None:
    """The setting that predicts held-out answers best; None where none is clearly better than no vectors, unless these ``enter`` anyway.

    First the kernel and its share, with all sources alike; then its width; then the weights of the sources, each alone or doubled.
    All are judged by one small embedding on the same folds.
    """
    from nearfar.embedding import SOE
    from nearfar.embedding.prior import Setting

    units = split_units(answers)
    used = min(4, -(-8_000 // max(len(answers), 1)))  # of four folds: as many as test 2,000 answers
    splits = list(kfold(answers, 4, by=units))[:used] if units.count >= 4 else []
    folds = [(answers[train], test) for train, test in splits if len(train)]
    if not folds:
        return None
    starts: list[Any] = ["kernel"] * len(folds)

    @cache
    def held_out(setting: Setting | None) -> Floats:
        prior = None if setting is None else vectors.prior(setting)
        margins = np.full(len(answers), np.nan)
        d = max(1, min(8, answers.n_objects - 2))
        with warnings.catch_warnings(action="ignore", category=NearfarWarning):
            for k, (train, test) in enumerate(folds):
                start, tol = ("kernel", 1e-3) if prior is None else (starts[k], 5e-3)
                points = SOE(d, prior=prior, init=start, tol=tol).fit_transform(train)
                if prior is not None:
                    starts[k] = points
                anchor, near, far = (points[column] for column in answers[test].array.T)
                apart = np.linalg.norm([anchor - far, anchor - near], axis=2)
                margins[test] = (apart[0] - apart[1]) / max(np.sqrt(np.mean(apart**2)), 1e-12)
        return log_likelihoods(margins)

    def fit_of(setting: Setting) -> float:
        return float(np.nanmean(held_out(setting)))

    even = (1 / len(vectors.sources),) * len(vectors.sources)
    best = max((Setting(share, width, even) for share, width in KINDS), key=fit_of)
    if np.isfinite(best.width):
        best = max([best, *(best._replace(width=width) for width in WIDTHS)], key=fit_of)
    if len(even) > 1:
        weights = [row / row.sum() for more in (0.0, 1.0) for row in np.eye(len(even)) + more]
        best = max([best, *(best._replace(weights=tuple(w.tolist())) for w in weights)], key=fit_of)
    if enter:
        return best
    gain = held_out(best) - held_out(None)
    drawn = make_draws(answers, units, n_draws=100).means(gain)
    errors = STANDARD_ERRORS[3 * len(answers) >= MANY_ANSWERS * answers.n_objects]
    return best if np.nanmean(gain) > errors * np.nanstd(drawn) else None


def log_likelihoods(margins: Floats) -> Floats:
    """(m,) log-likelihoods of answers by how much farther "far" is, logistic with the slope that fits all of them; NaN stays.

    Answers hardly flip where vectors make them clearer: the accuracy lets in far fewer of the good ones.
    """
    from scipy.special import log_expit

    from nearfar.embedding.left_open import steepness

    return np.asarray(log_expit(steepness(margins[~np.isnan(margins)]) * margins))


class VectorsAlone:
    """Vectors as points, no answer used but to choose between Euclidean distance and the cosine."""

    def __init__(self, vectors: Vectors) -> None:
        self.vectors, self.informed_ = vectors, vectors.known

    def __sklearn_clone__(self) -> VectorsAlone:
        return VectorsAlone(self.vectors)

    def fit_transform(self, answers: Triplets) -> Floats:
        """(n, p) the vectors, scaled."""
        points = {metric: self.vectors.alone(metric) for metric in METRICS}
        self.metric_ = max(points, key=lambda m: Space.of_points(points[m], answers.objects).score(answers))
        return points[self.metric_]

    def place(self, features: Any) -> Placed:
        """Other objects at their vectors; how far off they are is not known."""
        from nearfar.embedding.base import Placed

        names, rows = self.vectors.others(features)
        return Placed(names, self.vectors.alone(self.metric_, rows), np.full(len(names), np.nan))
