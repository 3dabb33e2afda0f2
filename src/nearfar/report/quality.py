"""Data quality: contradictions, coverage, answers per object, and the learning curve in words."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from nearfar.evaluate.curve import LearningCurve
from nearfar.report.facts import Change, Contradiction, Curve, CurvePoint, Range
from nearfar.report.words import percent, points
from nearfar.triplets import Triplets

__all__ = ["accuracy_per_object", "answers_per_object", "contradictions", "curve_facts", "question_counts"]

LISTED = 12


def answers_per_object(answers: Triplets) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(n,) answers that speak of every object, and of those as anchor."""
    n = answers.n_objects
    anchor = np.bincount(answers.anchor, minlength=n)
    total = anchor + np.bincount(answers.near, minlength=n) + np.bincount(answers.far, minlength=n)
    return total, anchor


def accuracy_per_object(answers: Triplets, credit: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """(n,) share of held-out answers about every object that were predicted; NaN where there is none."""
    n = answers.n_objects
    if credit is None:
        return np.full(n, math.nan)
    total, _ = answers_per_object(answers)
    hits = sum(
        (
            np.bincount(role, weights=credit, minlength=n)
            for role in (answers.anchor, answers.near, answers.far)
        ),
        start=np.zeros(n),
    )
    return np.where(total > 0, hits / np.maximum(total, 1), math.nan)


def question_counts(answers: Triplets) -> tuple[int, int, int]:
    """Different questions, those answered more than once, and of these the ones answered both ways."""
    low, high = _votes(answers)
    return len(low), int((low + high > 1).sum()), int(((low > 0) & (high > 0)).sum())


def _votes(answers: Triplets) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Per question, in the order of their ids: answers for the option with the lower index, and the higher."""
    ids, codes = np.unique(answers.question_ids, return_inverse=True)
    low = np.bincount(codes[answers.near < answers.far], minlength=len(ids))
    return low, np.bincount(codes, minlength=len(ids)) - low


def contradictions(
    answers: Triplets, place: NDArray[np.int64], most: int = LISTED
) -> tuple[Contradiction, ...]:
    """The questions with the most answers against the majority; ``place`` of an object on the page, -1 for none."""
    ids, first = np.unique(answers.question_ids, return_index=True)
    low, high = _votes(answers)
    minority = np.minimum(low, high)
    if minority.max(initial=0) == 1:
        most //= 3  # one against one is no dispute worth a long list
    shuffled = np.random.default_rng(0).permutation(len(ids))
    order = np.lexsort((shuffled, low + high, -minority))
    found: list[Contradiction] = []
    for question in order[: 20 * most].tolist():
        if minority[question] == 0 or len(found) == most:
            break
        row = first[question]
        one, other = sorted((int(answers.near[row]), int(answers.far[row])))
        anchor, first_one, second = (int(place[x]) for x in (answers.anchor[row], one, other))
        if min(anchor, first_one, second) >= 0:
            found.append(Contradiction(anchor, first_one, second, int(low[question]), int(high[question])))
    return tuple(found)


def curve_facts(curve: LearningCurve, remark: str = "") -> Curve:
    """A learning curve as plain data with what it means."""
    change = None
    if curve.now is not None and curve.doubled is not None and curve.gain is not None:
        change = Change(
            curve.n_answers,
            *(Range(part.accuracy, part.low, part.high) for part in (curve.now, curve.doubled, curve.gain)),
        )
    return Curve(
        model=curve.model,
        points=tuple(
            CurvePoint(p.answers, p.accuracy, None if math.isnan(p.standard_error) else p.standard_error)
            for p in curve.points
        ),
        change=change,
        verdict=curve.verdict,
        text=_curve_text(curve.model, curve.verdict, change),
        remark=remark,
    )


def _curve_text(model: str, verdict: str, change: Change | None) -> str:
    if verdict == "at chance":
        return f"{model} does not predict better than guessing yet, so what more answers would bring cannot be told."
    if change is None:
        return "There are too few answers to say what more of them would bring."
    gain = change.gain
    interval = (
        f" (90\xa0% interval {points(gain.low)} to {points(gain.high)})"
        if math.isfinite(gain.low) and math.isfinite(gain.high)
        else ""
    )
    text = (
        f"Twice as many answers would bring {model} about {points(gain.value)} points{interval}, "
        f"from {percent(change.now.value)} to {percent(change.doubled.value)}: "
    )
    meaning = {
        "levelled off": "the curve has levelled off, more answers of the same kind would hardly help.",
        "still rising": "the curve is still rising, more answers would help.",
        "unclear": "more answers would help a little."
        if gain.low > 0
        else "whether more answers would help cannot be told from these.",
    }
    return text + meaning[verdict]
