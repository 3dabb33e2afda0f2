"""The learning curve, in words."""

from __future__ import annotations

import math

from nearfar.evaluate.curve import LearningCurve
from nearfar.report.facts import Change, Curve, CurvePointFacts, Range
from nearfar.report.words import count, number, percent, points

__all__ = ["curve_facts"]


def curve_facts(curve: LearningCurve, answers: int) -> Curve:
    """A learning curve as plain data with what it means; of a sample where it has fewer than all ``answers``."""
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
        foreseeable=curve.known_law and not curve.chosen,
        verdict=curve.verdict,
        text=_curve_text(curve, change, answers),
        sampled=curve.n_answers < answers,
    )


def _curve_text(curve: LearningCurve, change: Change | None, answers: int) -> str:
    model, sampled = curve.model, curve.n_answers < answers
    sample = f"a random {number(curve.n_answers)} of the {number(answers)} answers"
    if curve.verdict == "at chance":
        return f"{model} does not predict better than guessing yet, so what more answers would bring cannot be told."
    if curve.verdict == "too early to say":
        of_sample = f" of {sample}" if sampled else ""
        return (
            f"It is too early to say what more answers would bring: the learning curve{of_sample} has not clearly begun to level "
            "off."
        )
    if not curve.known_law:
        return f"What more answers would bring {model} is not forecast: that is known to work for score and embeddings only."
    if curve.chosen:
        return "What more answers would bring is not forecast: questions were chosen for being undecided, as adaptive designs do."
    if change is None:
        return "There are too few answers to say what more of them would bring."
    gain = change.gain
    interval = (
        f" (90\xa0% interval {points(gain.low)} to {points(gain.high)})"
        if math.isfinite(gain.low) and math.isfinite(gain.high)
        else ""
    )
    whose = f" of the same {count(curve.few_people, 'person', 'people')}" if curve.few_people else ""
    if curve.in_sets:
        whose = " of the same people within the same sets of objects"
    same = " for the same people" if curve.in_sets or curve.unknown_people else ""
    more = f"The learning curve is of {sample}: twice as many" if sampled else "Twice as many answers"
    text = (
        f"{more}{whose} would bring {model} about {points(gain.value)} points{interval}, "
        f"from {percent(change.now.value)} to {percent(change.doubled.value)}{same}"
    )
    if curve.verdict == "levelled off":
        return f"{text}: the curve has levelled off, more answers of the same kind would hardly help."
    if sampled:
        return f"{text}. What more answers than there are would bring is not forecast."
    if curve.verdict == "still rising":
        return f"{text}: the curve is still rising, more answers would help."
    helps = (
        "more answers would help a little"
        if gain.low > 0
        else "whether more answers would help cannot be told from these"
    )
    return f"{text}: {helps}."
