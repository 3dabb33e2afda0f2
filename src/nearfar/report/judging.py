"""Which kernel, which map: the judge's comparison, kept short enough for a report, and held-out credits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nearfar.evaluate.ceiling import noise_ceiling
from nearfar.evaluate.comparison import Score
from nearfar.evaluate.splits import kfold, split_units
from nearfar.evaluate.views import compare
from nearfar.features import coverage
from nearfar.progress import track
from nearfar.report.facts import Judge, Judged
from nearfar.report.words import number, percent
from nearfar.space import fit_space
from nearfar.triplets import Triplets

__all__ = ["Plan", "held_out_credit", "judge", "plan_for"]

KERNELS = ("k1", "k2", "k1+k2", "score")
EMBEDDINGS = ("ste", "tste", "ckl", "soe")
LOW_COVERAGE = 1.0
FEW, SOME, MANY = 20_000, 60_000, 120_000  # answers
MANY_OBJECTS = 500  # from here on kernel PCA takes seconds: only of kernels that can mean something


@dataclass(frozen=True)
class Plan:
    """What is compared: models, number of parts, and the rows that are judged (None: all); why, in words."""

    models: tuple[str, ...]
    cv: int
    rows: NDArray[np.intp] | None
    remark: str


def plan_for(answers: Triplets, seed: int = 0) -> Plan:
    """As many models and parts as a report has time for; by size alone, so that a rerun plans the same.

    >>> plan = plan_for(Triplets.from_array([[0, 1, 2], [1, 2, 0], [2, 0, 1], [3, 1, 2]]))
    >>> plan.cv, len(plan.models), plan.remark
    (2, 12, '')
    """
    n, m = answers.n_objects, len(answers)
    units = split_units(answers).codes
    dimensions = [d for d in (2, 3, 5) if d < n - 1]
    embeddings = EMBEDDINGS if m <= FEW else ("ste", "soe") if m <= SOME else ("ste",)
    models = [*KERNELS, *_kernel_maps(answers, dimensions)]
    models += [
        *(f"{loss}-{d}" for d in dimensions for loss in embeddings if d == 2 or loss == "ste"),
    ]
    cv = min(5 if m <= FEW else 3, int(units.max(initial=-1)) + 1)
    if m <= MANY:
        return Plan(tuple(models), cv, None, "")
    rows = _some_units(units, MANY, seed)
    remark = f"Judged on a random {number(len(rows))} of the {number(m)} answers, to keep the report quick."
    return Plan(tuple(models), cv, rows, remark)


def _kernel_maps(answers: Triplets, dimensions: list[int]) -> list[str]:
    if answers.n_objects <= MANY_OBJECTS:
        small = len(answers) <= FEW
        return [f"{kernel}-{d}" for d in dimensions for kernel in KERNELS if d == 2 or small]
    return ["k1-2"] * (coverage(answers, "k1") >= LOW_COVERAGE) + ["score-2"]


def _some_units(units: NDArray[np.int64], wanted: int, seed: int) -> NDArray[np.intp]:
    """Rows of so many whole units, drawn at random, that about ``wanted`` answers are in them."""
    order = np.random.default_rng(seed).permutation(int(units.max()) + 1)
    sizes = np.bincount(units)[order]
    chosen = np.zeros(len(order), dtype=bool)
    chosen[order[np.cumsum(sizes) <= wanted]] = True
    return np.flatnonzero(chosen[units])


def judge(answers: Triplets, plan: Plan, seed: int = 0) -> Judge:
    """Compare, and choose a kernel and a map."""
    if plan.cv < 2:
        return _unjudged(answers, plan)
    judged = answers if plan.rows is None else answers[plan.rows]
    comparison = compare(judged, plan.models, cv=plan.cv, seed=seed)
    best = comparison.best
    kernels = [score for score in comparison if score.name in KERNELS]
    maps = [score for score in comparison if _is_map(score.name)]
    kernel = max(kernels, key=lambda score: score.accuracy)
    flat = max(maps, key=lambda score: score.accuracy) if maps else None
    found = comparison.ceiling.agreement
    return Judge(
        models=tuple(_judged(score) for score in comparison.ranked()),
        best=best.name,
        kernel=kernel.name,
        kernel_why=_kernel_why(kernel, kernels, best),
        map=flat.name if flat else "",
        map_why=_map_why(flat, maps, best) if flat else "Too few objects for a map.",
        ceiling=comparison.ceiling.bracket,
        agreement=found.share if found else None,
        agreement_error=found.standard_error if found else None,
        repeated=found.questions if found else 0,
        cv=comparison.cv,
        unit=comparison.unit,
        clustered_by=comparison.clustered_by,
        answers=len(judged),
        remark=plan.remark,
    )


def _unjudged(answers: Triplets, plan: Plan) -> Judge:
    """Too few different questions to hold any out: the kernel that needs the fewest answers, without a judgement."""
    why = "There are too few different questions to compare kernels; score needs the fewest answers."
    flat = "score-2" if "score-2" in plan.models else ""
    found = noise_ceiling(answers)
    return Judge(
        models=(),
        best="score",
        kernel="score",
        kernel_why=why,
        map=flat,
        map_why="" if flat else "Too few objects for a map.",
        ceiling=found.bracket,
        agreement=found.agreement.share if found.agreement else None,
        agreement_error=found.agreement.standard_error if found.agreement else None,
        repeated=found.agreement.questions if found.agreement else 0,
        cv=plan.cv,
        unit="trio",
        clustered_by="trio",
        answers=len(answers),
        remark="",
    )


def _is_map(name: str) -> bool:
    """Whether a model is a picture in the plane."""
    return name.endswith("-2")


def _judged(score: Score) -> Judged:
    return Judged(
        score.name,
        score.accuracy,
        None if np.isnan(score.standard_error) else score.standard_error,
        score.ties,
        score.seconds,
        score.as_good_as_best,
        score.remarks,
    )


def _kernel_why(kernel: Score, kernels: list[Score], best: Score) -> str:
    others = sorted((s for s in kernels if s is not kernel), key=lambda score: -score.accuracy)
    listed = ", ".join(f"{score.name} {percent(score.accuracy)}" for score in others)
    text = f"Of the kernels it predicts held-out answers best: {percent(kernel.accuracy)} ({listed})."
    if best.accuracy > kernel.accuracy:
        text += f" {best.name} predicts more; tree, clusters and neighbours are the kernel's."
    return text


def _map_why(chosen: Score, maps: list[Score], best: Score) -> str:
    others = sorted((s for s in maps if s is not chosen), key=lambda score: -score.accuracy)
    text = (
        f"Of the maps in the plane, {chosen.name} predicts held-out answers best: {percent(chosen.accuracy)}"
    )
    if others:
        text += f" (next {others[0].name}, {percent(others[0].accuracy)})"
    lost = best.accuracy - chosen.accuracy
    if lost > 0.005:
        text += f"; the plane costs {100 * lost:.1f} points against {best.name}"
    return text + "."


def held_out_credit(answers: Triplets, comparison: Judge, seed: int = 0) -> NDArray[np.float64] | None:
    """(m,) 1 where the best model, fitted without the answer's trio or statement, expects it; 0.5 for a tie."""
    if comparison.cv < 2:
        return None
    credit = np.empty(len(answers))
    parts = list(kfold(answers, comparison.cv, seed=seed))
    for train, test in track(parts, "predicting answers"):
        credit[test] = fit_space(answers[train], comparison.best).credits(answers[test])
    return credit
