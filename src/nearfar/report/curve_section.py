"""The learning curve, in words."""

from __future__ import annotations

import math

from nearfar.evaluate.curve import LearningCurve
from nearfar.report.facts import Change, Curve, CurvePointFacts, Range
from nearfar.report.words import count, percent, points

__all__ = ["curve_facts"]


def curve_facts(curve: LearningCurve, remark: str = "") -> Curve:
    """A learning curve as plain data with what it means."""
    change = None
    if curve.now is not None and curve.doubled is not None and curve.gain is not None:
        change = Change(
            curve.n_answers,
            *(
                Range(forecast.accuracy, forecast.low, forecast.high)
                for forecast in (curve.now, curve.doubled, curve.gain)
            ),
        )
    return Curve(
        model=curve.model,
        points=tuple(
            CurvePointFacts(p.answers, p.accuracy, None if math.isnan(p.standard_error) else p.standard_error)
            for p in curve.points
        ),
        change=change,
        verdict=curve.verdict,
        text=_curve_text(curve, change),
        remark=remark,
    )


def _curve_text(curve: LearningCurve, change: Change | None) -> str:
    model = curve.model
    if curve.verdict == "at chance":
        return f"{model} does not predict better than guessing yet, so what more answers would bring cannot be told."
    if curve.verdict == "too early to say":
        return "It is too early to say what more answers would bring: the learning curve has not clearly begun to level off."
    if change is None:
        return "There are too few answers to say what more of them would bring."
    gain = change.gain
    interval = (
        f" (90\xa0% interval {points(gain.low)} to {points(gain.high)})"
        if math.isfinite(gain.low) and math.isfinite(gain.high)
        else ""
    )
    whose = f" of the same {count(curve.few_people, 'person', 'people')}" if curve.few_people else ""
    text = (
        f"Twice as many answers{whose} would bring {model} about {points(gain.value)} points{interval}, "
        f"from {percent(change.now.value)} to {percent(change.doubled.value)}: "
    )
    meaning = {
        "levelled off": "the curve has levelled off, more answers of the same kind would hardly help.",
        "still rising": "the curve is still rising, more answers would help.",
        "unclear": "more answers would help a little."
        if gain.low > 0
        else "whether more answers would help cannot be told from these.",
    }
    return text + meaning[curve.verdict]
