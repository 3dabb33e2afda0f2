"""Which model predicts answers that it has not seen: an honest cross-validation, with the ceiling beside it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearfar.evaluate.ceiling import NoiseCeiling
from nearfar.evaluate.crossval import Credits
from nearfar.evaluate.splits import split_units
from nearfar.evaluate.uncertainty import Kind, cluster_kind, clustered_mean_error
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
    standard_error : of the accuracy, clustered as the comparison says; NaN where there is one cluster only.
    ties : share of held-out answers where it sees no difference.
    seconds : of a fit, the median over the parts, features included (maps of one kernel are cut from the same fit).
    behind : how far its accuracy lies below the best one.
    behind_error : standard error of that difference; the two are compared on the same answers.
    remarks : what the fits warned about.
    """

    name: str
    accuracy: float
    standard_error: float
    ties: float
    seconds: float
    behind: float
    behind_error: float
    remarks: tuple[str, ...] = ()

    @property
    def as_good_as_best(self) -> bool:
        """Whether it lies within one standard error (of the difference) of the best."""
        return self.behind == 0 or self.behind <= self.behind_error


@dataclass(frozen=True, repr=False)
class Comparison:
    """Models judged on the same held-out answers; prints as a table, best first.

    ``comparison["ste-2"]`` is one score, iterating gives all of them in the order asked for.

    Parameters
    ----------
    scores : one per model.
    ceiling : what repeated questions say about the best possible accuracy.
    cv : number of parts.
    unit : what was held out as a whole, "trio" or "statement".
    clustered_by : what standard errors are clustered by: "participant" where known, else as ``unit``.
    n_answers, n_objects : size of the collection.
    """

    scores: tuple[Score, ...]
    ceiling: NoiseCeiling
    cv: int
    unit: str
    clustered_by: Kind
    n_answers: int
    n_objects: int

    @property
    def best(self) -> Score:
        """The score with the highest accuracy; of equal ones the first asked for (by default the simpler).

        Which others are as good within one standard error says ``as_good_as_best``: among those choose by what
        you need, e.g. a kernel rather than a map, or fewer dimensions.
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

        rows = [
            {**asdict(score), "as_good_as_best": score.as_good_as_best, "remarks": "; ".join(score.remarks)}
            for score in self.ranked()
        ]
        return pl.DataFrame(rows)

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
        }

    def ranked(self) -> list[Score]:
        """The scores, best first."""
        return sorted(self.scores, key=lambda score: -score.accuracy)


def make_comparison(
    answers: Triplets, credits: Credits, ceiling: NoiseCeiling, cv: int, clusters: NDArray[np.int64]
) -> Comparison:
    """The table of held-out credits; ``clusters`` are those that errors are clustered by."""
    return Comparison(
        scores=_scores(credits, clusters),
        ceiling=ceiling,
        cv=cv,
        unit="statement" if split_units(answers).spans else "trio",
        clustered_by=cluster_kind(answers),
        n_answers=len(answers),
        n_objects=answers.n_objects,
    )


def _scores(credits: Credits, clusters: NDArray[np.int64]) -> tuple[Score, ...]:
    means = credits.accuracies
    best = int(np.argmax(means))
    n_fits = credits.seconds.shape[1]
    return tuple(
        Score(
            name=model.name,
            accuracy=float(means[k]),
            standard_error=clustered_mean_error(credits.values[k], clusters),
            ties=float(np.mean(credits.values[k] == 0.5)),
            seconds=float(np.median(credits.seconds[k])),
            behind=float(means[best] - means[k]),
            behind_error=clustered_mean_error(credits.values[best] - credits.values[k], clusters),
            remarks=tuple(
                f"{REMARKS.get(kind, kind)} in {count} of {n_fits} fits"
                for kind, count in sorted(credits.heard[k].items())
            ),
        )
        for k, model in enumerate(credits.models)
    )


def _head(comparison: Comparison) -> list[str]:
    agreement = comparison.ceiling.agreement
    if agreement is None:
        again = "answered twice" if comparison.ceiling.within is None else "answered by two people"
        best_possible = f"unknown (no question was {again})"
    else:
        low, high = agreement.bracket
        best_possible = f"between {low:.3f} and {high:.3f} (from {agreement.questions:,} repeated questions)"
    return [
        f"{comparison.n_answers:,} answers about {comparison.n_objects:,} objects, held out in {comparison.cv} parts "
        f"by {comparison.unit}; errors clustered by {comparison.clustered_by}",
        f"best possible accuracy: {best_possible}; guessing gives 0.500",
    ]


def _table(comparison: Comparison) -> list[str]:
    width = max(5, *(len(score.name) for score in comparison))
    lines = [f"{'model':<{width}}  accuracy  ± error    ties  seconds  behind best"]
    for score in comparison.ranked():
        behind = (
            "best" if score.name == comparison.best.name else f"{score.behind:.3f} ± {score.behind_error:.3f}"
        )
        same = " as good" if score.as_good_as_best and score.name != comparison.best.name else ""
        lines.append(
            f"{score.name:<{width}}  {score.accuracy:8.3f}  {score.standard_error:7.3f}  {score.ties:6.1%}  "
            f"{score.seconds:7.3f}  {behind}{same}"
        )
    return lines


def _foot(comparison: Comparison) -> list[str]:
    """Remarks of the fits, one line for all models that earned it."""
    who: dict[str, list[str]] = {}
    for score in comparison.scores:
        for remark in score.remarks:
            who.setdefault(remark, []).append(score.name)
    return ["", *(f"{', '.join(names)}: {remark}" for remark, names in who.items())] if who else []


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and np.isnan(value) else value
