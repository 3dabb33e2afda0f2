"""Every sentence about a result, once: the page, the terminal and the live view of ``nearfar ask`` call these."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nearfar.evaluate.auto import Choice
    from nearfar.evaluate.bootstrap import Scope
    from nearfar.evaluate.ceiling import Agreement, NoiseCeiling
    from nearfar.evaluate.comparison import Comparison, Score
    from nearfar.evaluate.curve import LearningCurve
    from nearfar.evaluate.dimension import DimensionChoice
    from nearfar.evaluate.reliability import Reliability

__all__ = [
    "ceiling",
    "ceiling_unknown",
    "comparison",
    "curve",
    "curve_outlook",
    "dimension",
    "headline",
    "reliability",
    "scope",
    "warned",
]

WARNINGS = {
    "NotConverged": "stopped before it converged",
    "CoverageWarning": "had too little coverage to mean anything",
    "UninformedWarning": "left objects without a usable answer",
}


def _interval(low: float, high: float, digits: int = 3) -> str:
    """An interval between brackets, "unknown" where it is not known."""
    return "unknown" if math.isnan(low) else f"{low:.{digits}f} to {high:.{digits}f}"


def _percent(low: float, high: float) -> str:
    return "" if math.isnan(low) else f" ({100 * low:.1f} to {100 * high:.1f})"


# ---------------------------------------------------------------- of whom a figure speaks


def scope(found: Scope) -> list[str]:
    """Sentences about what the figures do not cover; none where they hold for new participants and new questions."""
    lines = []
    if found.participants == "same":
        who = "1 participant" if found.n_participants == 1 else f"{found.n_participants} participants"
        lines.append(f"The intervals are for these {who}; ask at least 10 to speak of others.")
    elif found.participants == "unknown":
        lines.append("Participants are not known. The intervals are for the same participants.")
    if found.questions == "same sets":
        lines.append(
            "The design is blocked (booklets). The figures are for questions within the same sets of objects."
        )
    elif found.questions == "adaptive":
        lines.append("The questions are adaptive. The figures are for these questions only.")
    return lines


# ---------------------------------------------------------------- models side by side


def comparison(found: Comparison) -> str:
    """The table of models, with what the figures do and do not say."""
    unit = "pair of anchor and near" if found.unit == "pair" else found.unit
    best = found.ceiling.best_possible
    if best is None:
        possible = f"unknown ({ceiling_unknown(found.ceiling)})"
    else:
        questions = found.ceiling.agreement.questions if found.ceiling.agreement else 0
        possible = f"{_interval(best.low, best.high)} (from {questions:,} repeated questions)"
    lines = [
        f"{found.n_answers:,} answers about {found.n_objects:,} objects, held out in {found.cv} folds by {unit}",
        f"best possible accuracy: {possible}; guessing gives 0.500",
        "",
        *_table(found),
    ]
    notes = scope(found.scope)
    if not found.above_guessing:
        notes.append(
            f"No model is clearly above guessing (p = {found.p_guessing:.2f}, corrected for {len(found)} models)."
        )
    elif found.remembers_pairs:
        notes.append(
            "Remembering which option won, as seen from each anchor, predicts as well as the best model: the answers are "
            "about pairs that come back."
        )
    by_warning: dict[str, list[str]] = {}
    for score in found.scores:
        if score.warned:
            by_warning.setdefault(warned(score, found.cv), []).append(score.name)
    notes += [f"{', '.join(names)}: {text}" for text, names in by_warning.items()]
    return "\n".join([*lines, *(["", *notes] if notes else [])])


def _table(found: Comparison) -> list[str]:
    width = max(len("pair memory"), *(len(score.name) for score in found))
    lines = [f"{'model':<{width}}  accuracy  95 % interval     ties  seconds  behind best"]
    for score in [*found.ranked(), found.pair_memory]:
        behind = "best" if score.name == found.best.name else f"{score.behind:.3f}"
        if score.as_good_as_best and score.name != found.best.name:
            behind += " no clear difference"
        lines.append(
            f"{score.name:<{width}}  {score.accuracy:8.3f}  {_interval(score.low, score.high):14}  {score.ties:6.1%}  "
            f"{score.seconds:7.3f}  {behind}"
        )
    return lines


def warned(score: Score, fits: int) -> str:
    """What the fits of a model warned about."""
    return "; ".join(f"{WARNINGS.get(kind, kind)} in {count} of {fits} fits" for kind, count in score.warned)


def headline(best: Choice, limit: NoiseCeiling, models: Comparison | None, *, named: bool) -> str:
    """One line: what was chosen (or ``named``), its accuracy, its ceiling and what was second."""
    if models is None:
        return f"{best.name}: too few different questions to judge it by"
    chosen = "" if named else "chosen: "
    accuracy = f"{100 * best.accuracy:.1f} %{_percent(best.low, best.high)}"
    clauses = [f"{chosen}{best.name} predicts {accuracy} of held-out answers"]
    possible = limit.best_possible
    clauses.append(
        "the best possible is unknown"
        if possible is None
        else f"the best possible lies between {100 * possible.low:.1f} and {100 * possible.high:.1f} %"
    )
    if best.second:
        clauses.append(f"second is {best.second}, {100 * models[best.second].accuracy:.1f} %")
    if best.answers < best.of:
        clauses.append(f"models were compared on a random {best.answers:,} of the {best.of:,} answers")
    return "; ".join(clauses)


def dimension(found: DimensionChoice) -> str:
    """How many dimensions the answers support."""
    if found.dimension == 0:
        return "noise: no number of dimensions predicts clearly better than guessing"
    enough = "1 dimension is enough" if found.dimension == 1 else f"{found.dimension} dimensions are enough"
    if found.dimension == max(found.dimensions) > 1:
        return f"{found.dimension} dimensions do best, the most that were tried; more may do better"
    if found.dimension != found.best_dimension:
        enough += f"; {found.best_dimension} do best, but not clearly by more than half a point"
    return enough


# ---------------------------------------------------------------- noise ceiling


def ceiling(found: NoiseCeiling) -> str:
    """What repeated questions say, a line each."""
    if found.best_possible is None:
        lines = [f"best possible accuracy: unknown, {ceiling_unknown(found)}"]
    else:
        limits = _interval(found.best_possible.low, found.best_possible.high)
        lines = [f"best possible accuracy: {limits} (95 % interval)"]
    for what, agreement in (
        ("two answers to the same question agree", found.agreement),
        ("two answers by the same participant agree", found.within),
        ("same trio, same odd one (chance 1/3)", found.odd_one_out),
        ("same trio, same central one (chance 1/3)", found.most_central),
    ):
        if agreement is not None:
            lines.append(_agreement(what, agreement))
    if found.controls:
        lines.append(f"{found.controls:,} answers to control questions, asked far more often, are left out")
    if found.copies:
        lines.append(f"{found.copies:,} copies of an answer in the same second are left out")
    return "\n".join(lines)


def _agreement(what: str, found: Agreement) -> str:
    limits = _interval(found.low, found.high)
    return f"{what}: {found.share:.3f} ({limits}; {found.questions:,} questions, {found.answers:,} answers)"


def ceiling_unknown(found: NoiseCeiling) -> str:
    """Why the best possible accuracy is not known, and what to ask next; "" where it is known."""
    if found.unknown == "nothing repeated":
        return "no question was answered twice; ask about 100 questions a second time"
    if found.unknown == "nobody else":
        return "no question was answered by two participants; ask about 100 questions of a second participant"
    if found.unknown == "unlike" and found.lead is not None:
        kind = "easier" if found.lead.value > 0 else "harder"
        return (
            f"the repeated questions are {kind} than the others: a model predicts {100 * abs(found.lead.value):.0f} points "
            f"{'more' if found.lead.value > 0 else 'less'} of them; ask about 100 questions again, drawn at random"
        )
    return ""


# ---------------------------------------------------------------- learning curve, reliability


def curve(found: LearningCurve) -> str:
    """The measured points, and what more would bring."""
    lines = [
        f"{found.model}: held-out accuracy by number of answers",
        "  answers  accuracy  95 % interval     ties",
    ]
    lines += [
        f"{p.answers:9,.0f}  {p.accuracy:8.3f}  {_interval(p.low, p.high):14}  {p.ties:6.1%}"
        for p in found.points
    ]
    return "\n".join([*lines, *curve_outlook(found), *scope(found.scope)])


def curve_outlook(found: LearningCurve) -> list[str]:
    """Sentences about more answers, and more participants."""
    lines = []
    last, coming = found.last_gain, found.next_gain
    if last is not None:
        lines.append(
            f"The last doubling of the answers brought {100 * last.value:+.1f} points{_points(last.low, last.high)}."
        )
    if coming is not None:
        end = {"levelled off": ": the curve has levelled off", "still rising": ": the curve is still rising"}
        lines.append(
            f"Twice the answers are expected to bring {100 * coming.value:+.1f} points{_points(coming.low, coming.high)}"
            f"{end.get(found.verdict, '')}."
        )
    if len(found.precision) > 1:
        now, twice = found.precision[:2]
        lines.append(
            f"With {twice.participants} participants in place of {now.participants}, the accuracy would be known to "
            f"{100 * twice.half_width:.1f} points in place of {100 * now.half_width:.1f}."
        )
    return lines


def _points(low: float, high: float) -> str:
    return "" if math.isnan(low) else f" (95 % interval {100 * low:+.1f} to {100 * high:+.1f})"


def reliability(found: Reliability) -> str:
    """How alike another study would be."""
    lines = []
    if not math.isnan(found.participants):
        lines.append(
            f"The distances on the map of a study with other participants would correlate {found.participants:.2f} with these."
        )
    if not math.isnan(found.questions):
        lines.append(f"With other questions the correlation would be {found.questions:.2f}.")
    if not math.isnan(found.spread):
        lines.append(
            f"Participants differ: the share of their answers that is predicted has a standard deviation of "
            f"{100 * found.spread:.0f} points."
        )
    return "\n".join(lines)
