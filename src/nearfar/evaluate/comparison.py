"""Which model predicts answers that it has not seen: models side by side, with the ceiling beside them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearfar import words
from nearfar._tools.records import Record, plain
from nearfar.evaluate.baseline import PAIR_MEMORY
from nearfar.evaluate.bootstrap import Draws, Estimate, Scope
from nearfar.evaluate.ceiling import NoiseCeiling
from nearfar.evaluate.crossval import Credits

__all__ = ["Comparison", "Score", "make_comparison"]


@dataclass(frozen=True)
class Score(Record):
    """How one model did on answers that it was not fitted on.

    Parameters
    ----------
    name : of the model.
    accuracy : share of held-out answers that it predicts; a tie counts one half. That of the model which ``auto`` chose is
        corrected for having been chosen by the same answers.
    low, high : its 95 % interval; NaN where it is not known.
    ties : share of held-out answers where it sees no difference.
    seconds : of a fit, the median over the folds, features included (maps of one kernel are cut from the same fit).
    behind : how far its accuracy lies below the best one, on the same answers.
    as_good_as_best : whether it cannot be told apart from the best, all models compared at once at the 5 % level.
    warned : (kind of warning, number of fits that gave it).
    """

    name: str
    accuracy: float
    low: float
    high: float
    ties: float
    seconds: float
    behind: float
    as_good_as_best: bool
    warned: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, repr=False)
class Comparison(Record):
    """Models judged on the same held-out answers; prints as a table, best first.

    ``comparison["ste-2"]`` is one score, iterating gives all of them in the order asked for.

    Parameters
    ----------
    scores : one per model.
    ceiling : what repeated questions say about the best possible accuracy.
    cv : number of folds.
    unit : what was held out as a whole: "trio", "statement", or "pair" (anchor and near).
    scope : of whom, and of which questions, the intervals speak.
    n_answers, n_objects : size of the collection.
    pair_memory : the baseline that only remembers how often an option won, as seen from the same anchor.
    p_guessing : p of no model being above one half, corrected for their number.
    """

    scores: tuple[Score, ...]
    ceiling: NoiseCeiling
    cv: int
    unit: str
    scope: Scope
    n_answers: int
    n_objects: int
    pair_memory: Score
    p_guessing: float

    @property
    def above_guessing(self) -> bool:
        """Whether some model is clearly above one half."""
        return self.p_guessing <= 0.05

    @property
    def remembers_pairs(self) -> bool:
        """Whether the pair-memory baseline rivals the best model: then nothing beyond pairs was learnt."""
        return self.pair_memory.as_good_as_best

    @property
    def best(self) -> Score:
        """The score with the highest accuracy on the same answers; of equal ones the first asked for."""
        return min(self.scores, key=lambda score: score.behind)

    def ranked(self) -> list[Score]:
        """The scores, best first."""
        return sorted(self.scores, key=lambda score: score.behind)

    def __getitem__(self, name: str) -> Score:
        return {score.name: score for score in self.scores}[name]

    def __iter__(self) -> Iterator[Score]:
        return iter(self.scores)

    def __len__(self) -> int:
        return len(self.scores)

    def __repr__(self) -> str:
        return f"Comparison({len(self)} models, best {self.best.name!r} {self.best.accuracy:.3f})"

    def __str__(self) -> str:
        return words.comparison_text(self)

    def to_frame(self) -> Any:
        """One row per model, best first, as a polars data frame."""
        import polars as pl

        rows = [{**asdict(score), "warned": words.warned(score, self.cv)} for score in self.ranked()]
        return pl.DataFrame(rows)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and text, for JSON."""
        return {"best": self.best.name, **super().to_dict(), "scores": plain(self.ranked())}


def make_comparison(
    credits: Credits,
    memory: NDArray[Any],
    draws: Draws,
    *,
    chosen: tuple[str, Estimate] | None = None,
    **about: Any,
) -> Comparison:
    """Judge models by their held-out credits, ``memory`` those of remembering pairs.

    ``chosen`` : the name of the model that ``auto`` chose and its corrected accuracy. ``about`` : other fields.
    """
    values = np.concatenate([credits.values, memory[None].astype(np.float32)])
    means = credits.accuracies
    best = int(np.argmax(means))
    worse = np.append(draws.clearly_better(credits.values)[:, best], False)
    worse[-1] = draws.clearly_better(values[[best, -1]])[1, 0]
    scores = []
    for k, value in enumerate(values):
        own, is_model = draws.estimate(value), k < len(means)
        score = Score(
            name=credits.models[k].name if is_model else PAIR_MEMORY,
            accuracy=own.value,
            low=own.low,
            high=own.high,
            ties=float(np.mean(value == 0.5)),
            seconds=float(np.median(credits.seconds[k])) if is_model else 0.0,
            behind=float(means[best] - own.value) if k != best else 0.0,
            as_good_as_best=not worse[k],
            warned=tuple(sorted(credits.heard[k].items())) if is_model else (),
        )
        scores.append(score)
    if chosen is not None:
        at = credits.names.index(chosen[0])
        own = chosen[1]
        scores[at] = replace(scores[at], accuracy=own.value, low=own.low, high=own.high)
    return Comparison(
        scores=tuple(scores[:-1]),
        pair_memory=scores[-1],
        scope=draws.scope,
        p_guessing=draws.p_guessing(credits.values),
        **about,
    )
