"""The learning curve, in words."""

from __future__ import annotations

import math

from nearfar import words
from nearfar.evaluate.curve import LearningCurve
from nearfar.report.facts import Change, Curve, CurvePointFacts, Range

__all__ = ["curve_facts"]


def curve_facts(curve: LearningCurve, answers: int) -> Curve:
    """A learning curve as plain data with what it means; of a sample where it has fewer than all ``answers``."""
    change, coming, last = None, curve.next_gain, curve.points[-1]
    if coming is not None and not math.isnan(last.low):
        now = Range(last.accuracy, last.low, last.high)
        doubled = Range(*(min(1.0, at + coming.value) for at in (last.accuracy, last.low, last.high)))
        change = Change(curve.n_answers, now, doubled, Range(coming.value, coming.low, coming.high))
    return Curve(
        model=curve.model,
        points=tuple(
            CurvePointFacts(p.answers, p.accuracy, None if math.isnan(p.low) else (p.high - p.low) / 3.92)
            for p in curve.points
        ),
        change=change,
        foreseeable=coming is not None,
        verdict=curve.verdict,
        text=" ".join(words.curve_outlook(curve))
        or "There are too few answers to say what more would bring.",
        sampled=curve.n_answers < answers,
    )
