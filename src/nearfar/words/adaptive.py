"""Sentences about adaptive questions: what they save, and intervals that hold at any time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nearfar._tools.text import points
from nearfar.words.finding import Finding

if TYPE_CHECKING:
    from nearfar.evaluate.bootstrap import Estimate
    from nearfar.evaluate.saving import Saving
    from nearfar.evaluate.saving_forecast import ExpectedSaving

AT_ANY_TIME = "This interval holds whenever you look."


def accuracy_at_any_time(held: Estimate) -> str:
    """The accuracy so far, with an interval that holds at every look."""
    limits = f"{100 * held.low:.1f} to {100 * held.high:.1f}\xa0%"
    return f"Accuracy {100 * held.value:.1f}\xa0% (95\xa0% interval {limits}). {AT_ANY_TIME}"


def saving(found: Saving | None) -> Finding:
    """What adaptive questions have saved so far; that they are switched off, where they harm."""
    if found is not None and found.harms:
        text = "Adaptive questions were switched off: their answers predict random questions worse."
        return Finding("poor", "Adaptive questions switched off", text, _compared(found))
    if found is None or found.times is None:
        text = "Not enough data to tell yet what adaptive questions save."
        return Finding("note", "Not known yet", text, "" if found is None else _compared(found))
    times = found.times
    text = f"So far an adaptive answer is worth about {times.value:.1f} random ones (90\xa0% interval {_limits(times)})."
    level = "good" if times.low > 1 else "fair" if times.high < 1 else "note"
    return Finding(level, f"Worth {times.value:.1f} random answers", text, _compared(found))


def expected_saving(found: ExpectedSaving) -> str:
    """What adaptive questions would save in a study that is planned."""
    return (
        f"An adaptive answer would be worth about {found.times.value:.1f} random ones ({_limits(found.times)} in "
        f"{found.n_studies} simulated studies). Accuracy after {found.n_answers:,} answers: {found.adaptive:.3f} with adaptive "
        f"questions, {found.random:.3f} with random ones."
    )


def _limits(times: Estimate) -> str:
    return f"{times.low:.1f} to " + ("more than 16" if times.high > 16 else f"{times.high:.1f}")


def _compared(found: Saving) -> str:
    value, low, high = (
        points(each).lstrip("+")
        for each in (found.difference.value, found.difference.low, found.difference.high)
    )
    return (
        f"With {found.n_answers:,} answers of either kind, adaptive ones are more accurate on random questions by {value} points "
        f"(90\xa0% interval {low} to {high}; {found.n_adaptive} and {found.n_control} participants)."
    )
