"""Sentences about adaptive questions: what they save, and intervals that hold at any time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nearfar.words.finding import Finding

if TYPE_CHECKING:
    from nearfar.evaluate.bootstrap import Estimate
    from nearfar.evaluate.saving import Saving

AT_ANY_TIME = "This interval holds whenever you look."


def accuracy_at_any_time(held: Estimate) -> str:
    """The accuracy so far, with an interval that holds at every look."""
    limits = f"{100 * held.low:.1f} to {100 * held.high:.1f}\xa0%"
    return f"Accuracy {100 * held.value:.1f}\xa0% (95\xa0% interval {limits}). {AT_ANY_TIME}"


def saving(found: Saving | None) -> Finding:
    """What adaptive questions have saved so far; that they are switched off, where they harm."""
    if found is None or (found.times is None and not found.harms):
        text = "Not enough data to tell yet what adaptive questions save."
        return Finding("note", "Not known yet", text, "" if found is None else _compared(found))
    if found.harms:
        text = f"Adaptive questions were switched off: their answers predict random questions worse ({_points(found)})."
        return Finding("poor", "Adaptive questions switched off", text, _compared(found))
    times = found.times
    assert times is not None
    limits = f"90\xa0% interval {times.low:.1f} to {times.high:.1f}"
    if times.high < 1:
        text = f"Adaptive questions cost answers so far: one of them is worth {times.value:.1f} random ones ({limits})."
        return Finding("fair", "Adaptive questions cost answers", text, _compared(found))
    text = f"Adaptive questions need about {times.value:.1f} times fewer answers so far ({limits})."
    level = "good" if times.low > 1 else "note"
    return Finding(level, f"{times.value:.1f} times fewer answers", text, _compared(found))


def _points(found: Saving) -> str:
    difference = found.difference
    low, high = (f"{100 * each:+.1f}".replace("-", "\u2212") for each in (difference.low, difference.high))
    return f"90\xa0% interval {low} to {high} points"


def _compared(found: Saving) -> str:
    return (
        f"Compared: {found.n_answers:,} answers of {found.n_adaptive} participants with adaptive questions and as many to random "
        f"questions, {found.n_control} participants having only those. Accuracy differs by {_points(found)}."
    )
