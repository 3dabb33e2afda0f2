"""``auto``: the model that predicts held-out answers best, chosen so that its accuracy is not flattered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearfar._tools.arrays import Floats
from nearfar._tools.records import Record
from nearfar.evaluate.bootstrap import Draws, Estimate
from nearfar.evaluate.crossval import Credits
from nearfar.space.models import Model

__all__ = ["Choice", "candidates", "choose", "is_auto", "pick", "with_short_list"]

# On each of food, car, musicians and THINGS one of these is within .002 of the best of ste, tste, ckl, soe and gnmds with 2
# to 20 dimensions (docs/models.md); kernels are there for landmark designs and for speed, two dimensions for the map.
SHORT_LIST = ("score", "k1", "ckl-2", "soe-5", "ckl-8", "soe-20", "ste-20")


@dataclass(frozen=True)
class Choice(Record):
    """The model that was chosen (or named), and how well it predicts.

    Attributes
    ----------
    name : of the model.
    accuracy : share of held-out answers that it predicts; of a chosen one, corrected for having been chosen by the same
        answers (``choose``); NaN where nothing can be held out.
    low, high : its 95 % interval.
    second : the most accurate of the others, "" where there is none.
    answers, of : how many answers the models were judged on, out of how many.
    """

    name: str
    accuracy: float
    low: float
    high: float
    second: str
    answers: int
    of: int


def is_auto(model: Any) -> bool:
    """Whether a model is to be chosen, not given."""
    return isinstance(model, str) and model == "auto"


def candidates(n_objects: int) -> list[str]:
    """The models that ``auto`` looks at, simpler ones first; none with more dimensions than objects allow.

    >>> candidates(8)
    ['score', 'k1', 'ckl-2', 'soe-5']
    """
    most = n_objects - 2
    return [name for name in SHORT_LIST if "-" not in name or int(name.rpartition("-")[2]) <= most]


def with_short_list(
    models: Mapping[str, Any] | Iterable[Any], n_objects: int
) -> Mapping[str, Any] | list[Any]:
    """A list of models in which "auto" stands for those it looks at, simpler ones first; a dict as it is.

    >>> with_short_list(["k2", "auto", "score"], 4)
    ['score', 'k1', 'ckl-2', 'k2']
    """
    if isinstance(models, Mapping):
        return models
    listed = [models] if isinstance(models, str) else list(models)
    if not any(map(is_auto, listed)):
        return listed
    short = candidates(n_objects)
    return short + [m for m in listed if not (isinstance(m, str) and m in ("auto", *short))]


def pick(models: Sequence[Model], means: Floats, unclear: NDArray[np.bool_] | None = None) -> int:
    """The most accurate model; a much simpler one (half the dimensions, or a kernel) that is as accurate, but for .001.

    ``unclear`` : (k, k) pairs of models whose difference has an interval that contains 0; default: all.
    """
    best = int(np.argmax(means))
    most = models[best].n_components
    simpler = [
        k
        for k, model in enumerate(models)
        if means[best] - means[k] <= (0.001 if unclear is None or unclear[best, k] else 0.0)
        if (model.n_components or 0) <= (0 if most is None else most / 2)
    ]
    return min([best, *simpler], key=lambda k: (models[k].n_components or 0, -means[k]))


def choose(credits: Credits, draws: Draws) -> tuple[int, Estimate]:
    """The number of the chosen model, and its accuracy corrected for the choice.

    The best of several models is flattered by the answers that it was chosen by. So every draw chooses by the answers
    drawn, and is judged by those left out of it; the mean over draws takes the place of the chosen model's own accuracy
    (Tsamardinos, Greasidou and Borboudakis 2018, "Bootstrapping the out-of-sample predictions for efficient and
    accurate cross-validation", Machine Learning 107).
    """
    models, values = credits.models, credits.values
    drawn = draws.means(values)
    means = credits.accuracies
    apart = np.abs(means[:, None] - means[None, :])
    unclear = apart <= 1.96 * np.nanstd(drawn[:, None] - drawn[None, :], axis=2)
    chosen = pick(models, means, unclear)
    own = draws.estimate(values[chosen])
    if len(models) == 1:
        return chosen, own
    left_out = draws.left_out_means(values)
    picked = np.array([pick(models, column, unclear) for column in drawn.T])
    judged = left_out[picked, np.arange(len(picked))] - left_out[chosen] + own.value
    shift = min(0.0, float(np.nanmean(judged)) - own.value)  # how much the choice flatters it
    return chosen, Estimate(own.value + shift, max(0.0, own.low + shift), own.high + shift)
