"""How many dimensions: by held-out accuracy, and no more than it takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from nearfar import words
from nearfar._tools.checks import Seed, check_count
from nearfar.errors import InputError
from nearfar.evaluate.analysis import Analysis
from nearfar.evaluate.comparison import Comparison
from nearfar.triplets import Triplets, as_triplets

__all__ = ["DimensionChoice", "choose_dimension"]


@dataclass(frozen=True, repr=False)
class DimensionChoice:
    """The number of dimensions that the answers support; ``int(choice)`` is that number, 0 for noise.

    Parameters
    ----------
    dimension : the fewest that no larger number clearly beats; 0 where none is clearly above guessing.
    best_dimension : the one with the highest accuracy.
    dimensions : those tried, in the order of ``comparison.scores``.
    comparison : their scores.
    """

    dimension: int
    best_dimension: int
    dimensions: tuple[int, ...]
    comparison: Comparison

    def __int__(self) -> int:
        return self.dimension

    def __repr__(self) -> str:
        return f"DimensionChoice({self.dimension} of {', '.join(map(str, self.dimensions))})"

    def __str__(self) -> str:
        return f"{self.comparison}\n\n{words.dimension_text(self)}"


def choose_dimension(
    answers: Triplets | ArrayLike,
    model: Any = "ste",
    dimensions: Sequence[int] = (1, 2, 3, 5, 8),
    *,
    cv: int = 5,
    seed: Seed = 0,
) -> DimensionChoice:
    """The fewest dimensions that no larger number clearly beats in held-out accuracy.

    All numbers are judged on the same answers, and all pairs of them are tested at once at the 5 % level: a dimension is
    added only if that clearly brings more than half a point. Where no number is clearly above guessing, the answers are
    called noise.

    Parameters
    ----------
    answers : what was answered.
    model : an embedding ("ste", "ckl", "soe", "gnmds"), a kernel whose PCA is cut ("score", "k1", ...), or an estimator
        with a parameter ``n_components`` and ``fit_transform(answers)``. Not "auto", which chooses dimensions of its own.
        Not "tste": its heavy tails hardly distinguish two similar distances, so that it predicts answers without noise
        about a plane better from five dimensions than from two, and accuracy does not count its dimensions.
    dimensions : numbers of dimensions to try.
    cv, seed : as for ``compare``.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows = np.array([rng.permutation(15)[:3] for _ in range(2000)])  # objects 0..14 on a line
    >>> d = np.abs(rows[:, :1] - rows[:, 1:])
    >>> rows[d[:, 0] > d[:, 1]] = rows[d[:, 0] > d[:, 1]][:, [0, 2, 1]]
    >>> int(choose_dimension(rows, "ste", (1, 2, 3)))
    1
    """
    answers = as_triplets(answers)
    wanted = sorted({check_count(d, "dimensions") for d in dimensions})
    if not wanted:
        raise InputError("dimensions: got an empty list, expected numbers of dimensions such as (1, 2, 3)")
    name = model.strip() if isinstance(model, str) else type(model).__name__.lower()
    if name.lower() == "tste":
        raise InputError(
            "model: t-STE predicts better with more dimensions than the objects have, so its dimensions cannot be counted "
            "by accuracy; count them with 'ste' or 'soe', and give the number to t-STE",
        )
    models = {str(d): _with_dimension(model, d) for d in wanted}
    analysis = Analysis(answers, models=models, cv=cv, seed=seed)
    comparison = analysis.scores
    better = analysis.draws.clearly_better(analysis.credits.values, by=0.005)  # half a point
    enough = ~np.triu(better, 1).any(axis=1)  # no larger number is clearly better
    dimension = wanted[int(np.argmax(enough))] if comparison.above_guessing else 0
    return DimensionChoice(dimension, int(comparison.best.name), tuple(wanted), comparison)


def _with_dimension(model: Any, dimension: int) -> Any:
    if isinstance(model, str):
        name = model.strip()
        if name == "auto" or name.rpartition("-")[2].isdecimal():
            raise InputError(
                f"model: {name!r} has dimensions of its own; name the kernel or embedding alone, such as 'ste' or 'score'"
            )
        return f"{name}-{dimension}"
    from sklearn.base import clone

    if "n_components" not in getattr(model, "get_params", dict)():
        raise InputError(
            f"model: {model!r} has no parameter n_components; expected the name of an embedding or kernel, or an "
            "estimator with that parameter",
        )
    return clone(model).set_params(n_components=dimension)
