"""How many dimensions answers support: the fewest that no larger number clearly beats on held-out answers.

Accuracy sees only whether an answer is predicted. How likely it is sees more: an answer that a model expects clearly should be
given more often than one it hardly expects. So every held-out answer gets the probability

    l / 2 + (1 - l) / (1 + e^(-b r)),

with r the rank of the margin among all held-out answers, negative where the other answer is expected, and with one slope b
and one share l of lapses per number of dimensions, which are fitted. Ranks make models with margins of any scale comparable.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nearfar import words
from nearfar._tools.arrays import Floats
from nearfar._tools.records import Record
from nearfar.evaluate.bootstrap import Draws
from nearfar.evaluate.comparison import Comparison
from nearfar.evaluate.crossval import Credits

# Standard errors of a gain that count as clear. A bootstrap of participants and questions overstates them for independent
# answers by up to sqrt 3 (Owen 2007). With 1 a third of simulated odd-one-out studies was given a dimension too many, with 2
# half of the true numbers above two were missed.
ERRORS = 1.4


@dataclass(frozen=True, repr=False)
class DimensionChoice(Record):
    """The number of dimensions that the answers support; ``int(choice)`` is that number, 0 for noise.

    ``best_dimension`` has the highest accuracy; ``dimensions`` are those tried, in the order of ``comparison.scores``.
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


def count_dimensions(sizes: Sequence[int], credits: Credits, draws: Draws) -> int:
    """The fewest of the ``sizes`` of all models, in ascending order, than which no larger one makes answers clearly likelier.

    Clearly: by more than ``ERRORS`` standard errors of the gain.

    Of models with the same size the most accurate one counts.
    """
    order = np.argsort(credits.accuracies, kind="stable")[::-1]
    rows = [next(k for k in order if credits.models[k].n_components == size) for size in sizes]
    margins = np.where(np.isnan(credits.values[rows]), np.nan, credits.margins[rows])
    likely = np.stack([log_likelihood(of) for of in margins])
    drawn, means = draws.means(likely), np.nanmean(likely, axis=1)
    clearer = means[None, :] - means[:, None] > ERRORS * np.nanstd(drawn[None, :] - drawn[:, None], axis=2)
    return sizes[int(np.argmin(np.triu(clearer, 1).any(axis=1)))]


def log_likelihood(margins: NDArray[np.float32]) -> Floats:
    """(m,) log probability of held-out answers with these margins, slope and lapses fitted; NaN where the margin is.

    >>> sure = log_likelihood(np.array([3.0, 2.0, 1.0, -0.5], dtype=np.float32))
    >>> bool(sure[0] > sure[2] > sure[3])
    True
    """
    from scipy.optimize import minimize
    from scipy.stats import rankdata

    known = np.isfinite(margins)
    rank = rankdata(np.abs(margins[known])) / max(known.sum(), 1) * np.sign(margins[known])

    def log_probability(at: Floats) -> Floats:
        lapses = 0.9 / (1 + np.exp(-at[1]))
        chosen = 1 / (1 + np.exp(-np.clip(np.exp(at[0]) * rank, -40, 40)))
        return np.asarray(np.log(lapses / 2 + (1 - lapses) * chosen))

    def loss(at: Floats) -> float:
        return -float(log_probability(at).sum())

    fitted = minimize(loss, np.array([0.7, -3.0]), method="Nelder-Mead")
    result = np.full(margins.shape, np.nan)
    result[known] = log_probability(fitted.x)
    return result
