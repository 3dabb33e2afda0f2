"""Which model predicts answers that it has not seen: an honest cross-validation, with the ceiling beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearfar.evaluate.ceiling import NoiseCeiling
from nearfar.evaluate.crossval import Credits
from nearfar.evaluate.max_t import AboveGuessing, above_guessing, equal_to_best
from nearfar.evaluate.pair_memory import PAIR_MEMORY, pair_memory_credits
from nearfar.evaluate.sets import asked_in_sets
from nearfar.evaluate.splits import Split, split_units
from nearfar.evaluate.uncertainty import (
    FEW_PEOPLE,
    ClusterKind,
    Groups,
    cluster_kind,
    error_groups,
    mean_estimate,
)
from nearfar.triplets import Triplets

__all__ = ["Comparison", "Score", "make_comparison"]

REMARKS = {
    "NotConverged": "stopped before it converged",
    "CoverageWarning": "had too little coverage to mean anything",
    "UninformedWarning": "left objects without a usable answer",
}


@dataclass(frozen=True)
class Score:
    """How one model did on answers that it was not fitted on.

    Parameters
    ----------
    name : of the model.
    accuracy : share of held-out answers that it predicts; a tie counts one half.
    standard_error : of the accuracy, clustered by people and by trios (or screens); NaN where it is not known.
    low, high : its 95 % interval.
    ties : share of held-out answers where it sees no difference.
    seconds : of a fit, the median over the folds, features included (maps of one kernel are cut from the same fit).
    behind : how far its accuracy lies below the best one.
    as_good_as_best : whether it cannot be told apart from the best, all models compared at once at the 5 % level.
    remarks : what the fits warned about.
    """

    name: str
    accuracy: float
    standard_error: float
    low: float
    high: float
    ties: float
    seconds: float
    behind: float
    as_good_as_best: bool
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, repr=False)
class Comparison:
    """Models judged on the same held-out answers; prints as a table, best first.

    ``comparison["ste-2"]`` is one score, iterating gives all of them in the order asked for.

    Parameters
    ----------
    scores : one per model.
    ceiling : what repeated questions say about the best possible accuracy.
    cv : number of folds.
    unit : what was held out as a whole: "trio", "statement", or "pair" (anchor and near) where screens were
        recognised.
    clustered_by : what standard errors are clustered by, besides ``unit``: "participant" where known, else as ``unit``.
    n_answers, n_objects : size of the collection.
    pair_memory : the baseline that only remembers how often an option won, as seen from the same anchor.
    above_guessing : whether any model is above one half, tested for all of them at once.
    few_people : how many people there are where they are too few for an interval; else 0.
    in_sets : whether questions were asked within sets of objects, such as booklets: the figures are for the same sets and people.
    chosen : whether questions were chosen for being undecided, as adaptive designs do: the figures are for these questions.
    """

    scores: tuple[Score, ...]
    ceiling: NoiseCeiling
    cv: int
    unit: str
    clustered_by: ClusterKind
    n_answers: int
    n_objects: int
    pair_memory: Score
    above_guessing: AboveGuessing
    few_people: int = 0
    in_sets: bool = False
    chosen: bool = False

    @property
    def error_units(self) -> str:
        """What the errors are clustered by, in words: "participant and trio"."""
        unit = self._unit_in_words
        return f"{self.clustered_by} and {unit}" if self.clustered_by != self.unit else unit

    @property
    def _unit_in_words(self) -> str:
        return "pair of anchor and near" if self.unit == "pair" else self.unit

    @property
    def equals(self) -> list[Score]:
        """The models that cannot be told apart from the best, itself among them, best first."""
        return [score for score in self.ranked() if score.as_good_as_best]

    @property
    def remembers_pairs(self) -> bool:
        """Whether the pair-memory baseline rivals the best model: then nothing beyond pairs was learnt."""
        return self.pair_memory.as_good_as_best

    @property
    def best(self) -> Score:
        """The score with the highest accuracy; of equal ones the first asked for (by default the simpler).

        Which others cannot be told apart from it says ``as_good_as_best``: among those choose by what you need, e.g. a
        kernel rather than a map, or fewer dimensions.
        """
        return max(self.scores, key=lambda score: score.accuracy)

    def __getitem__(self, name: str) -> Score:
        for score in self.scores:
            if score.name == name:
                return score
        raise KeyError(name)

    def __iter__(self) -> Iterator[Score]:
        return iter(self.scores)

    def __len__(self) -> int:
        return len(self.scores)

    def __repr__(self) -> str:
        return f"Comparison({len(self)} models, best {self.best.name!r} {self.best.accuracy:.3f})"

    def __str__(self) -> str:
        return "\n".join([*_head(self), "", *_table(self), *_foot(self)])

    def to_frame(self) -> Any:
        """One row per model, best first, as a polars data frame."""
        import polars as pl

        return pl.DataFrame(
            [{**asdict(score), "remarks": "; ".join(score.remarks)} for score in self.ranked()]
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and text, for JSON; NaN becomes None."""
        return {
            "best": self.best.name,
            "scores": [
                {key: _plain(value) for key, value in row.items()}
                for row in self.to_frame().iter_rows(named=True)
            ],
            "ceiling": {key: value for key, value in self.ceiling.to_dict().items() if key != "participants"},
            "cv": self.cv,
            "unit": self.unit,
            "clustered_by": self.clustered_by,
            "answers": self.n_answers,
            "objects": self.n_objects,
            "pair_memory": {key: _plain(value) for key, value in asdict(self.pair_memory).items()},
            "above_guessing": self.above_guessing.p,
            "few_people": self.few_people,
            "in_sets": self.in_sets,
            "chosen": self.chosen,
        }

    def ranked(self) -> list[Score]:
        """The scores, best first."""
        return sorted(self.scores, key=lambda score: -score.accuracy)


def make_comparison(
    answers: Triplets, credits: Credits, ceiling: NoiseCeiling, splits: Sequence[Split]
) -> Comparison:
    """The table of held-out credits, with what the pairs in training alone would predict."""
    groups = error_groups(answers)
    folds = len(splits)
    values = np.concatenate([credits.values, pair_memory_credits(answers, splits)[None]])
    scores = _scores(credits, values, groups, folds)
    return Comparison(
        scores=scores[:-1],
        ceiling=ceiling,
        cv=folds,
        unit=split_units(answers).kind,
        clustered_by=cluster_kind(answers),
        n_answers=len(answers),
        n_objects=answers.n_objects,
        pair_memory=scores[-1],
        above_guessing=above_guessing(credits.values, groups, folds=folds),
        few_people=groups.few_people,
        in_sets=asked_in_sets(answers),
        chosen=groups.chosen,
    )


def _scores(credits: Credits, values: NDArray[Any], groups: Groups, folds: int) -> tuple[Score, ...]:
    """A score of every row of ``values``: the models, and the baseline, which is not one of them."""
    means = credits.accuracies
    best = int(np.argmax(means))
    equal = equal_to_best(credits.values, groups, folds=folds).members
    rival = equal_to_best(values[[best, -1]], groups, folds=folds).members[1]
    found = []
    for k, value in enumerate(values):
        own = mean_estimate(value, groups, folds=folds)
        is_model = k < len(means)
        seconds = float(np.median(credits.seconds[k])) if is_model else 0.0
        heard = sorted(credits.heard[k].items()) if is_model else []
        found.append(
            Score(
                name=credits.models[k].name if is_model else PAIR_MEMORY,
                accuracy=own.value,
                standard_error=own.standard_error,
                low=own.low,
                high=own.high,
                ties=float(np.mean(value == 0.5)),
                seconds=seconds,
                behind=float(means[best] - own.value) if k != best else 0.0,
                as_good_as_best=bool(equal[k] if is_model else rival),
                remarks=tuple(
                    f"{REMARKS.get(kind, kind)} in {count} of {folds} fits" for kind, count in heard
                ),
            )
        )
    return tuple(found)


def _head(comparison: Comparison) -> list[str]:
    ceiling = comparison.ceiling
    if ceiling.bracket is None or ceiling.outer is None or ceiling.agreement is None:
        best_possible = f"unknown ({ceiling.unknown})"
    else:
        (low, high), (least, most) = ceiling.bracket, ceiling.outer
        best_possible = (
            f"between {low:.3f} and {high:.3f} ({least:.3f} to {most:.3f} with their uncertainty, from "
            f"{ceiling.agreement.questions:,} repeated questions)"
        )
    return [
        f"{comparison.n_answers:,} answers about {comparison.n_objects:,} objects, held out in {comparison.cv} folds "
        f"by {comparison._unit_in_words}; errors clustered by {comparison.error_units}",
        f"best possible accuracy: {best_possible}; guessing gives 0.500",
    ]


def _table(comparison: Comparison) -> list[str]:
    width = max(len(PAIR_MEMORY), *(len(score.name) for score in comparison))
    lines = [f"{'model':<{width}}  accuracy  ± error    ties  seconds  behind best"]
    for score in [*comparison.ranked(), comparison.pair_memory]:
        if score.name == comparison.best.name:
            behind = "best"
        else:
            behind = f"{score.behind:.3f}" + (" no clear difference" if score.as_good_as_best else "")
        error = "unknown" if np.isnan(score.standard_error) else f"{score.standard_error:7.3f}"
        lines.append(
            f"{score.name:<{width}}  {score.accuracy:8.3f}  {error}  {score.ties:6.1%}  {score.seconds:7.3f}  {behind}"
        )
    return lines


def _foot(comparison: Comparison) -> list[str]:
    """What the figures do and do not say, and remarks of the fits, one line for all models that earned it."""
    lines = []
    if comparison.few_people:
        lines.append(
            f"{comparison.few_people} people are too few to say how accurate it would be for others: ask at least "
            f"{FEW_PEOPLE}"
        )
    if comparison.in_sets:
        lines.append(
            "questions were asked within sets of objects: the figures are for the same sets and people, not for other people or for "
            "questions about objects of different sets"
        )
    if comparison.chosen:
        lines.append(
            "questions were chosen for being undecided, as adaptive designs do: how accurate it would be for others is not known"
        )
    if not comparison.above_guessing:
        lines.append(
            f"no model is clearly above guessing (p = {comparison.above_guessing.p:.2f}, corrected for {len(comparison)} "
            "models)"
        )
    elif comparison.remembers_pairs:
        lines.append(
            "remembering which option won as seen from each anchor predicts as well as the best model: the answers are "
            "about pairs that come back, and say little about objects that were not compared"
        )
    who: dict[str, list[str]] = {}
    for score in comparison.scores:
        for remark in score.remarks:
            who.setdefault(remark, []).append(score.name)
    lines += [f"{', '.join(names)}: {remark}" for remark, names in who.items()]
    return ["", *lines] if lines else []


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and np.isnan(value) else value
