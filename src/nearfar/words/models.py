"""Sentences about models: accuracy, choice, the best possible accuracy, what more answers would bring."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from nearfar._tools.text import count, display_names, listed, number, percent, points
from nearfar.words.finding import Finding, gloss, interval, points_with_interval, share, whose

if TYPE_CHECKING:
    from nearfar.evaluate.analysis import Analysis
    from nearfar.evaluate.api import DimensionChoice
    from nearfar.evaluate.bootstrap import Scope
    from nearfar.evaluate.ceiling import NoiseCeiling
    from nearfar.evaluate.comparison import Comparison, Score
    from nearfar.evaluate.curve import LearningCurve
    from nearfar.evaluate.judging import Judging
    from nearfar.evaluate.reliability import Reliability

WARNINGS = {
    "NotConverged": "stopped before it converged",
    "CoverageWarning": "had too little coverage to mean anything",
    "UninformedWarning": "left objects without a usable answer",
}


# ---------------------------------------------------------------- accuracy and choice


def accuracy(analysis: Analysis) -> Finding:
    """How many answers the chosen model predicts, and of whom."""
    if not analysis.splits:
        return Finding("poor", "Unknown", "There are too few different questions to hold some of them out.")
    scores, best = analysis.scores, analysis.best
    limits = interval(best.low, best.high)
    text = f"of {whose(scores.scope)} ({limits + '; ' if limits else ''}guessing 50), by {best.name} ({gloss(best.name)})."
    details = _beyond(scores.scope)
    if not scores.above_guessing:
        details.insert(0, "That is not clearly better than guessing: collect more answers first.")
    elif scores.remembers_pairs:
        details.append(
            "Remembering which pairs were called near predicts as well: it may not hold for new objects."
        )
    level = "good" if scores.above_guessing else "poor"
    return Finding(level, f"{percent(best.accuracy)} predicted", text, " ".join(details))


def _beyond(scope: Scope) -> list[str]:
    """What the figures do not cover; nothing where they hold for new participants and new questions."""
    told = []
    if scope.participants == "same":
        told.append("Ask at least 10 participants to speak of others.")
    elif scope.participants == "unknown":
        told.append("Who answered is not known: new participants may differ by more than the interval.")
    if scope.questions == "same sets":
        told.append("The design is blocked: accuracy may be lower for questions across booklets.")
    elif scope.questions == "adaptive":
        told.append("The questions are adaptive. Accuracy applies to these questions only.")
    return told


def choice(analysis: Analysis) -> str:
    """Why this model."""
    best = analysis.best
    named = f"{best.name} ({gloss(best.name)})"
    if not analysis.splits:
        return f"There are too few different questions to compare models. {named} needs the fewest answers."
    if analysis.is_named:
        top = analysis.scores.best
        more = f" {top.name} predicts more answers: {percent(top.accuracy)}." if top.name != best.name else ""
        return f"{named} was asked for.{more}"
    models = count(len(analysis.models), "model")
    if best.name == analysis.scores.best.name:
        why = f"{named} predicts held-out answers best of {models}."
    else:
        why = f"{named} is simpler than the most accurate of {models} and within 0.1 points of it."
    return f"{why} Its accuracy is corrected for having been chosen."


def plane(analysis: Analysis) -> str:
    """Which map is shown, and what the plane costs."""
    name = analysis.plane_name
    if not analysis.splits:
        return ""
    if name == analysis.best.name and analysis.space.n_components != 2:
        return f"The map shows the first two axes of {name}."
    own, best = (analysis.scores[each].accuracy for each in (name, analysis.best.name))
    text = f"It is made by {name}, which predicts {percent(own)}"
    lost = best - own
    return f"{text}, {100 * lost:.1f} points less than {analysis.best.name}." if lost > 0.005 else f"{text}."


def headline(analysis: Judging) -> str:
    """One line: what was chosen (or named), its accuracy, the best possible, and what was second."""
    best = analysis.best
    if not analysis.splits:
        return f"{best.name}: too few different questions to judge it by"
    models, limits = analysis.scores, interval(best.low, best.high)
    clauses = [
        f"{'' if analysis.is_named else 'chosen: '}{best.name} ({gloss(best.name)}) predicts {percent(best.accuracy)} of "
        f"{whose(models.scope)} ({limits + '; ' if limits else ''}guessing 50)"
    ]
    possible = models.ceiling.best_possible
    clauses.append(f"best possible: {'unknown' if possible is None else share(possible)}")
    for second in [score for score in models.ranked() if score.name != best.name][:1]:
        clauses.append(f"second: {second.name}, {percent(second.accuracy)}")
    judged, of = len(analysis.judged), len(analysis.answers)
    if judged < of:
        clauses.append(f"models were compared on a random {number(judged)} of the {number(of)} answers")
    return "; ".join(clauses).replace("\xa0", " ")


# ---------------------------------------------------------------- models side by side


def comparison_text(found: Comparison) -> str:
    """The table of models, with what the figures do and do not say."""
    unit = "pair of anchor and near" if found.unit == "pair" else found.unit
    width = max(len(found.pair_memory.name), *(len(score.name) for score in found))
    lines = [
        f"{number(found.n_answers)} answers about {number(found.n_objects)} objects, held out in {found.cv} folds by {unit}",
        ceiling(found.ceiling, found.scope.n_participants).text.replace("\xa0", " "),
        "",
        f"{'model':<{width}}  accuracy  95 % interval     ties  seconds  behind best",
    ]
    for score in [*found.ranked(), found.pair_memory]:
        behind = "best" if score.name == found.best.name else f"{score.behind:.3f}"
        if score.as_good_as_best and score.name != found.best.name:
            behind += " no clear difference"
        lines.append(
            f"{score.name:<{width}}  {score.accuracy:8.3f}  {_limits(score.low, score.high):14}  {score.ties:6.1%}  "
            f"{score.seconds:7.3f}  {behind}"
        )
    notes = _beyond(found.scope)
    if not found.above_guessing:
        notes.append(
            f"No model is clearly above guessing (p = {found.p_guessing:.2f}, corrected for {count(len(found), 'model')})."
        )
    elif found.remembers_pairs:
        notes.append(
            "Remembering which pairs were called near predicts as well: it may not hold for new objects."
        )
    notes += [f"{score.name}: {warned(score, found.cv)}" for score in found.scores if score.warned]
    return "\n".join([*lines, *(["", *notes] if notes else [])])


def _limits(low: float, high: float) -> str:
    return "unknown" if math.isnan(low) else f"{low:.3f} to {high:.3f}"


def warned(score: Score, fits: int) -> str:
    """What the fits of a model warned about."""
    return "; ".join(f"{WARNINGS.get(kind, kind)} in {size} of {fits} fits" for kind, size in score.warned)


def dimension_text(found: DimensionChoice) -> str:
    """How many dimensions the answers support."""
    if found.dimension == 0:
        return "noise: no number of dimensions predicts clearly better than guessing"
    enough = "1 dimension is enough" if found.dimension == 1 else f"{found.dimension} dimensions are enough"
    if found.dimension == max(found.dimensions) > 1:
        return f"{found.dimension} dimensions do best, the most that were tried; more may do better"
    if found.dimension != found.best_dimension:
        enough += f"; {found.best_dimension} do best, but not clearly by more than half a point"
    return enough


# ---------------------------------------------------------------- the best possible accuracy


def ceiling(found: NoiseCeiling, n_participants: int = 0) -> Finding:
    """How good the best possible model could be; of an unknown ceiling, why, and what to ask.

    ``n_participants`` : where they are known; several of them answered the questions that it comes from.
    """
    own = (
        f"The same participant repeats {percent(found.within.share)} of their answers."
        if found.within
        else ""
    )
    agree = f"Two answers to the same question agree in {share(found.agreement)}." if found.agreement else ""
    details = f"{agree} {own}".strip()
    possible = found.best_possible
    if possible is not None:
        questions = count(found.agreement.questions if found.agreement else 0, "question")
        asked = (
            f"{questions} answered by several participants"
            if n_participants > 1
            else f"{questions} asked again"
        )
        limits = interval(possible.low, possible.high)
        text = (
            f"The best possible model would predict {percent(possible.value, 0)} of such answers "
            f"({limits + ', ' if limits else ''}from {asked})."
        )
        return Finding("note", percent(possible.value, 0), text, details)
    ask = "Ask about 100 questions again, drawn at random."
    if found.unknown == "unlike" and found.lead is not None:
        kind, more = ("easier", "more") if found.lead.value > 0 else ("harder", "fewer")
        why = f"repeated questions are {kind} than the others"
        ask = f"A model predicts {100 * abs(found.lead.value):.0f} points {more} of them. {ask}"
    elif found.unknown == "nobody else":
        why = "no question was answered by two participants"
        ask = "Ask about 100 questions of a second participant."
    else:
        why = "no question was answered twice"
    return Finding(
        "fair", "Unknown", f"The best possible accuracy is unknown: {why}.", f"{ask} {details}".strip()
    )


def ceiling_text(found: NoiseCeiling) -> str:
    """What repeated questions say, a line each."""
    lines = [ceiling(found).text]
    for what, agreement in (
        ("two answers to the same question agree", found.agreement),
        ("two answers by the same participant agree", found.within),
        ("same trio, same odd one (chance 1/3)", found.odd_one_out),
        ("same trio, same central one (chance 1/3)", found.most_central),
    ):
        if agreement is not None:
            asked = f"{count(agreement.questions, 'question')}, {count(agreement.answers, 'answer')}"
            lines.append(f"{what}: {share(agreement)}, {asked}")
    if found.best_possible is None:
        lines.append(ceiling(found).details.partition(". ")[0].rstrip(".") + ".")
    if found.controls:
        lines.append(
            f"{number(found.controls)} answers to control questions, asked far more often, are left out"
        )
    if found.copies:
        lines.append(f"{number(found.copies)} copies of an answer in the same second are left out")
    return "\n".join(lines).replace("\xa0", " ")


# ---------------------------------------------------------------- more answers, another study


def enough(analysis: Analysis) -> Finding:
    """Whether there are enough answers: of every object at all, then by the learning curve."""
    missing = [analysis.shown_space.objects[x] for x in analysis.shown_space.uninformed]
    if missing:
        text = f"{count(len(missing), 'object has', 'objects have')} no usable answer: {listed(display_names(missing), 3)}."
        return Finding("poor", "Some objects lack answers", text)
    if analysis.curve is None:
        return Finding(
            "poor", "Too few answers", "There are too few different questions to hold some of them out."
        )
    return curve(analysis.curve, len(analysis.answers))


def curve(found: LearningCurve, n_answers: int = 0) -> Finding:
    """What more answers would bring; of a sample where the curve has fewer than all ``n_answers``."""
    details = (
        [f"The last doubling of the answers added {points_with_interval(found.last_gain)}."]
        if found.last_gain
        else []
    )
    if len(found.precision) > 1:
        now, twice = found.precision[:2]
        details.append(
            f"With {twice.participants} participants in place of {now.participants}, the accuracy would be known to "
            f"{100 * twice.half_width:.1f} points in place of {100 * now.half_width:.1f}."
        )
    if found.n_answers < n_answers:
        details.append(
            f"The curve is of a random {number(found.n_answers)} of the {number(n_answers)} answers."
        )
    told = " ".join(details)
    if found.points[-1].low <= 0.5:
        return Finding(
            "poor",
            "Nothing learnt yet",
            f"{found.model} does not clearly predict better than guessing.",
            told,
        )
    if found.next_gain is None:
        why = (
            "The questions are adaptive"
            if found.scope.questions == "adaptive"
            else "There are too few answers"
        )
        return Finding("fair", "Unknown", f"{why}, so nothing is forecast.", told)
    text = f"Twice the answers are expected to add {points_with_interval(found.next_gain)}."
    level, short = {
        "levelled off": ("good", "Enough answers"),
        "still rising": ("fair", "More answers would help"),
    }.get(found.verdict, ("note", f"{points(found.next_gain.value)} points expected"))
    return Finding(level, short, text, told)


def curve_text(found: LearningCurve) -> str:
    """The measured points, and what more would bring."""
    lines = [
        f"{found.model}: held-out accuracy by number of answers",
        "  answers  accuracy  95 % interval     ties",
    ]
    lines += [
        f"{p.answers:9,.0f}  {p.accuracy:8.3f}  {_limits(p.low, p.high):14}  {p.ties:6.1%}"
        for p in found.points
    ]
    told = curve(found)
    return "\n".join([*lines, f"{told.short}: {told.text}", told.details, *_beyond(found.scope)]).replace(
        "\xa0", " "
    )


def reliability(found: Reliability) -> Finding:
    """How alike another study would be."""
    told = []
    if not math.isnan(found.participants):
        told.append(
            f"Distances on a map by other participants would correlate {found.participants:.2f} with these."
        )
    if not math.isnan(found.questions):
        told.append(f"With other questions, the correlation would be {found.questions:.2f}.")
    spread = ""
    if not math.isnan(found.spread):
        spread = f"Between participants, the share predicted has a standard deviation of {100 * found.spread:.0f} points."
    return Finding("note", "Reliability", " ".join(told), spread)
