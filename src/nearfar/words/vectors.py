"""Sentences about vectors of the objects: how they enter, and what they are worth."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from nearfar._tools.text import count, listed, percent
from nearfar.words.finding import Finding, interval, points_with_interval

if TYPE_CHECKING:
    from nearfar.evaluate.bootstrap import Estimate
    from nearfar.evaluate.ceiling import NoiseCeiling
    from nearfar.evaluate.comparison import Score
    from nearfar.evaluate.worth import Worth


def _times(worth: Worth) -> str:
    times = worth.times
    if times is None or math.isinf(times.value):
        return "more than 8 times as many answers"
    high = "more than 8" if math.isinf(times.high) else f"{times.high:.1f}"
    return f"about {times.value:.1f} times as many answers (95\xa0% interval {times.low:.1f} to {high})"


def worth(found: Worth) -> Finding:
    """What vectors add to the answers."""
    gain = found.gain
    if not found.shares or gain.high <= 0:
        text = "The vectors add nothing to the answers: models without them predict as well."
        return Finding("note", "Vectors add nothing", text, _details(found))
    if gain.low > 0:
        text = f"With the vectors, accuracy is {points_with_interval(gain)} higher. They are worth {_times(found)}."
        return Finding("good", f"Vectors add {100 * gain.value:.1f} points", text, _details(found))
    text = f"Whether the vectors help is not certain: with them, accuracy changes by {points_with_interval(gain)}."
    return Finding("note", "Not certain", text, _details(found))


def _details(found: Worth) -> str:
    shares = ", ".join(f"{source} {value:.2g}" for source, value in found.shares.items())
    told = [f"Share of the vectors in the prior: {shares}."] if shares else []
    if found.missing:
        names = listed(list(found.missing), 3)
        told.append(f"{count(len(found.missing), 'object has', 'objects have')} no vector: {names}.")
    if found.n_extra:
        told.append(f"{count(found.n_extra, 'vector belongs', 'vectors belong')} to no object.")
    return " ".join(told)


def vector_correlation(found: Estimate | None) -> str:
    """How distances from the answers alone correlate with those of the vectors; "" where that is not known."""
    if found is None:
        return ""
    limits = f"; 95\xa0% interval {found.low:.2f} to {found.high:.2f}" if math.isfinite(found.low) else ""
    return f"Distances from the answers alone correlate {found.value:.2f} with distances of the vectors (Spearman{limits})."


def worth_rows(found: Worth, ceiling: NoiseCeiling | None = None) -> list[tuple[str, str, str]]:
    """(what, accuracy, 95 % interval) of vectors, answers, both, and what is possible."""
    rows = [
        (what, percent(score.accuracy), _limits(score))
        for what, score in (
            ("vectors alone", found.alone),
            (f"answers alone ({found.answers.name})", found.answers),
            (f"both ({found.both.name})", found.both),
        )
    ]
    if found.new_objects is not None:
        new = found.new_objects
        rows.append(("both, for objects left out of the answers", percent(new.value), _limits(new)))
    if ceiling is not None and ceiling.best_possible is not None:
        best = ceiling.best_possible
        rows.append(("best possible (noise ceiling)", percent(best.value, 0), _limits(best)))
    return rows


def _limits(estimate: Score | Estimate) -> str:
    return interval(estimate.low, estimate.high).partition("interval ")[2] or "unknown"


def worth_text(found: Worth, ceiling: NoiseCeiling | None = None) -> str:
    """What vectors are worth, a line each."""
    rows = worth_rows(found, ceiling)
    width = max(len(what) for what, _, _ in rows)
    rows.insert(0, ("predicted from", "accuracy", "95 % interval"))
    lines = [f"{what:<{width}}  {value:>8}  {limits}" for what, value, limits in rows]
    return "\n".join([*lines, str(worth(found))]).replace("\xa0", " ")
