"""``auto``: the model that predicts held-out answers best, chosen so that its figure is not flattered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearfar.evaluate.ceiling import NoiseCeiling
from nearfar.evaluate.comparison import Comparison
from nearfar.evaluate.crossval import Credits, cross_validate, pair_credits
from nearfar.evaluate.splits import Split, kfold
from nearfar.evaluate.uncertainty import Groups, covariance_of_means, error_groups, mean_estimate
from nearfar.space.models import Model, parse_model
from nearfar.triplets import Triplets

__all__ = [
    "Choice",
    "candidates",
    "choose",
    "choose_named",
    "choose_on_sample",
    "headline",
    "parse_or_choose",
    "pick",
    "with_short_list",
]

# Of ste, tste, ckl, soe and gnmds at 2, 3, 5, 8, 12 and 20 dimensions these did best, or within .003 of it, on all
# of food, car, musicians and THINGS (docs/models.md); the kernels are there for landmark designs and for speed.
SHORT_LIST = (
    "score",
    "k1",
    "tste-2",
    "ckl-2",
    "soe-3",
    "soe-5",
    "ckl-8",
    "soe-8",
    "soe-12",
    "ckl-20",
    "soe-20",
)
CLOSE = 0.001  # accuracy that is given up for a simpler model, at most
FOLDS_OF_ALL = 4  # that the chosen model predicts where models were compared on a sample


@dataclass(frozen=True)
class Choice:
    """The model that was chosen, and how well choosing predicts.

    Attributes
    ----------
    name : of the model, chosen by its credits on all held-out answers.
    accuracy : share of held-out answers predicted by models that were chosen without them. Where all answers were
        judged, the choice is made again inside the training answers of every fold. Where a sample was judged, the chosen model
        predicts the answers outside the sample. For a model that was named, not chosen, its own accuracy.
    standard_error : of that accuracy.
    picks : the models behind ``accuracy``, fold by fold.
    second : the most accurate of the others, "" where there is none.
    answers, of : how many answers the models were compared on, out of how many.
    credits : (answers,) held-out credits of the judged answers, or of all where a sample was judged.
    """

    name: str
    accuracy: float
    standard_error: float
    picks: tuple[str, ...]
    second: str
    answers: int
    of: int
    credits: NDArray[np.float32]

    @property
    def remark(self) -> str:
        """Which answers were judged, where it is not all of them."""
        if self.answers >= self.of:
            return ""
        return f"models were compared on a random {self.answers:,} of the {self.of:,} answers"


def candidates(n_objects: int) -> list[str]:
    """The models that ``auto`` looks at, simpler ones first; none with more dimensions than objects allow.

    >>> candidates(6)
    ['score', 'k1', 'tste-2', 'ckl-2', 'soe-3']
    """
    most = n_objects - 2
    return [name for name in SHORT_LIST if "-" not in name or int(name.rpartition("-")[2]) <= most]


def with_short_list(
    models: Mapping[str, Any] | Iterable[Any], n_objects: int
) -> Mapping[str, Any] | list[Any]:
    """A list of models in which "auto" stands for those it looks at, simpler ones first; a dict as it is.

    >>> with_short_list(["k2", "auto", "score"], 4)
    ['score', 'k1', 'tste-2', 'ckl-2', 'k2']
    """
    if isinstance(models, Mapping):
        return models
    listed = [models] if isinstance(models, str) else list(models)
    if not any(isinstance(model, str) and model == "auto" for model in listed):
        return listed
    short = candidates(n_objects)
    return short + [m for m in listed if not (isinstance(m, str) and m in ("auto", *short))]


def pick(models: Sequence[Model], credits: NDArray[np.floating], groups: Groups) -> int:
    """The simplest of the models that are nearly as accurate as the most accurate one.

    Nearly: behind it by at most one standard error of the difference (by people and by trios), and by at most
    ``CLOSE``. Simple: a kernel, then few dimensions.
    """
    means = credits.mean(axis=1, dtype=np.float64)
    best = int(np.argmax(means))
    equal = [best]
    for k in range(len(models)):
        behind = means[best] - means[k]
        if k == best or behind > CLOSE:
            continue
        error = float(np.sqrt(covariance_of_means(credits[best] - credits[k], groups).matrix[0, 0]))
        if behind == 0 or behind <= error:
            equal.append(k)
    return min(equal, key=lambda k: (models[k].n_components or 0, -means[k], k))


def choose(answers: Triplets, credits: Credits, splits: Sequence[Split]) -> Choice:
    """Choose among the models of ``credits`` on all folds, and judge choosing by choices inside training answers."""
    models, groups = credits.models, error_groups(answers)
    final = pick(models, credits.values, groups)
    if len(models) == 1:
        own = credits.values[0]
        picks = (models[0].name,) * len(splits)
    else:
        inner = pair_credits(answers, models, splits)
        own, picks = np.empty(len(answers), dtype=np.float32), ()
        for f, (_, test) in enumerate(splits):
            others = [g for g in range(len(splits)) if g != f]
            seen = np.concatenate([inner[f, g] for g in others], axis=1)
            rows = np.concatenate([splits[g].test for g in others])
            k = pick(models, seen, groups[rows])
            own[test] = credits.values[k, test]
            picks += (models[k].name,)
    accuracy, m = float(own.mean(dtype=np.float64)), len(answers)
    error = mean_estimate(own, groups, folds=len(splits)).standard_error
    return Choice(models[final].name, accuracy, error, picks, _second(credits, final), m, m, own)


def choose_on_sample(answers: Triplets, judged: NDArray[np.intp], credits: Credits, seed: int) -> Choice:
    """Choose by a sample of the answers (rows ``judged``), and judge the choice by the answers outside of it.

    The chosen model is fitted to all answers but a quarter, in turn, so that its accuracy is that of most answers
    and not of a sample's size; the answers that it was chosen by are left out of the accuracy.
    """
    model = credits.models[pick(credits.models, credits.values, error_groups(answers[judged]))]
    splits = tuple(kfold(answers, FOLDS_OF_ALL, seed=seed))
    own = cross_validate(answers, [model], splits).values[0]
    outside = np.ones(len(answers), dtype=bool)
    outside[judged] = False
    accuracy = float(own[outside].mean(dtype=np.float64))
    groups = error_groups(answers)[outside]
    error = mean_estimate(own[outside], groups, folds=len(splits)).standard_error
    second = _second(credits, credits.models.index(model))
    return Choice(
        model.name, accuracy, error, (model.name,) * len(splits), second, len(judged), len(answers), own
    )


def choose_named(name: str, scores: Comparison, credits: Credits, n_answers: int) -> Choice:
    """The choice where a model was named: its own accuracy, and the most accurate of the others."""
    score, own = scores[name], credits.of(name)
    second = next((other.name for other in scores.ranked() if other.name != name), "")
    picks = (name,) * credits.seconds.shape[1]
    return Choice(name, score.accuracy, score.standard_error, picks, second, len(own), n_answers, own)


def _second(credits: Credits, final: int) -> str:
    order = np.argsort(-credits.accuracies, kind="stable")
    return next((credits.models[k].name for k in order if k != final), "")


def parse_or_choose(answers: Triplets, model: Any, seed: int) -> Model:
    """The model that is given, or for "auto" the one that ``nf.analyse`` chooses by these answers."""
    from nearfar.evaluate.analysis import Analysis

    if isinstance(model, str) and model == "auto":
        analysis = Analysis(answers, seed=seed)
        if not analysis.splits:
            return parse_model(analysis.best.name)
        credits = analysis.credits  # which model is chosen does not depend on how well choosing predicts
        return credits.models[pick(credits.models, credits.values, error_groups(analysis.judged))]
    return parse_model(model)


def headline(best: Choice, ceiling: NoiseCeiling, second: float, *, named: bool) -> str:
    """One line: what was chosen (or ``named``), its accuracy, its ceiling and what was second.

    The accuracy of the second is that of the model alone; it is left out where it would seem to be the better one.
    """
    if np.isnan(best.accuracy):
        return f"{best.name}: too few different questions to judge it by"
    error = "" if np.isnan(best.standard_error) else f" ± {100 * best.standard_error:.1f}"
    chosen = "" if named else "chosen: "
    clauses = [f"{chosen}{best.name} predicts {100 * best.accuracy:.1f}{error} % of held-out answers"]
    possible = ceiling.outer
    clauses.append(
        "the best possible is unknown"
        if possible is None
        else f"the best possible lies between {100 * possible[0]:.1f} and {100 * possible[1]:.1f} % (with 95 % certainty)"
    )
    if best.second:
        flattered = (
            not named and second > best.accuracy
        )  # it was not judged by choices inside training answers
        clauses.append(f"second is {best.second}" + ("" if flattered else f" with {100 * second:.1f} %"))
    if best.remark:
        clauses.append(best.remark)
    return "; ".join(clauses)
