"""Sentences about models: accuracy, choice, the best possible accuracy, what more answers would bring."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from nearfar._tools.text import count, display_names, listed, number, percent, points
from nearfar.words.finding import Finding, gloss, interval, points_with_interval, share, unit, whose

if TYPE_CHECKING:
    from nearfar.evaluate.analysis import Analysis
    from nearfar.evaluate.bootstrap import Scope
    from nearfar.evaluate.ceiling import NoiseCeiling
    from nearfar.evaluate.comparison import Comparison, DimensionChoice, Score
    from nearfar.evaluate.crossval import LearningCurve
    from nearfar.evaluate.judging import Judging
    from nearfar.evaluate.map_stability import Reliability

MIN_PARTICIPANTS = 10  # as for the bootstrap
MIN_CORRELATION = 0.8  # of a map with that of another study, below which it is not known to within 0.1
TOO_FEW = "There are too few different questions to hold some of them out."
REMEMBERS = "Remembering which pairs were called near predicts as well: it may not hold for new objects."
WARNINGS = {
    "NotConverged": "stopped before it converged",
    "CoverageWarning": "had too few answers to mean anything",
    "UninformedWarning": "left objects without a usable answer",
}


def accuracy(analysis: Analysis) -> Finding:
    """How many answers the chosen model predicts, and of whom."""
    if not analysis.splits:
        return Finding("poor", "Unknown", TOO_FEW)
    scores, best = analysis.scores, analysis.best
    text = f"Expected for {applies_to(best, scores.scope)}."
    if not math.isnan(best.odd_one_out):
        text += f" Odd one out: {percent(best.odd_one_out)} (guessing 33)."
    details = _beyond(scores.scope)
    if not scores.above_guessing:
        details.insert(0, "That is not clearly better than guessing: collect more answers first.")
    elif scores.remembers_pairs:
        details.append(REMEMBERS)
    level = "good" if scores.above_guessing else "poor"
    return Finding(level, percent(best.accuracy), text, " ".join(details))


def applies_to(best: Score, scope: Scope) -> str:
    """The answers that an accuracy applies to, with its interval."""
    limits = interval(best.low, best.high)
    return f"{whose(scope)} ({limits + '; ' if limits else ''}guessing 50)"


def _beyond(scope: Scope) -> list[str]:
    """What the figures do not cover; nothing where they hold for new participants and new questions."""
    told = []
    if scope.participants == "same" and scope.n_participants < MIN_PARTICIPANTS:
        told.append(
            f"Results from fewer than {MIN_PARTICIPANTS} participants do not generalise to new participants."
        )
    elif scope.participants == "same":
        told.append(
            "Some participants gave more answers than others: results do not generalise to new participants."
        )
    elif scope.participants == "unknown":
        told.append("Who answered is not known: new participants may differ by more than the interval.")
    if scope.questions == "within booklets":
        told.append("The design is blocked: accuracy may be lower for questions across booklets.")
    elif scope.questions == "adaptive":
        told.append("The questions are adaptive. Accuracy applies to these questions only.")
    return [*told, *([from_random(scope.n_random)] if scope.n_random else [])]


def from_random(answers: int) -> str:
    """Which answers count where designs are labelled."""
    return f"Accuracy comes from the {count(answers, 'answer')} to random questions, the map from all."


def choice(analysis: Analysis) -> str:
    """Why this model."""
    best = analysis.best
    named = f"{best.name} ({gloss(best.name, analysis.dimension)})"
    if not analysis.splits:
        return f"There are too few different questions to compare models. {named} needs the fewest answers."
    if analysis.is_named:
        top = analysis.scores.best
        more = f" {top.name} predicts more answers: {percent(top.accuracy)}." if top.name != best.name else ""
        return f"{named} was asked for.{more}"
    if len(analysis.models) == 1:
        return f"{named} was the only model that was tried."
    models, ranked = count(len(analysis.models), "model"), [each.name for each in analysis.scores.ranked()]
    if ranked[0] == "features" != best.name:
        models = f"{models} (the vectors alone were more accurate, but not clearly)"
        ranked = ranked[1:]
    scales = _scales(analysis)
    why = f"Of {models}, {ranked[0]} was the most accurate"
    if best.name == ranked[0]:
        why = f"Of {models}, {named} was the most accurate."
    elif best.name in scales:
        most = f"{100 * analysis.one_dimension.loss:.1f} points worse (95 % interval)"
        why = f"{why}. {named} was chosen: it is simpler and at most {most}."
    elif ranked[0] in scales:
        why = f"{why}, but a second dimension is not ruled out. {named} was chosen."
    else:
        why = f"{why}. {named} was chosen: it is simpler and at most 0.1 points worse."
    return f"{why} Its accuracy above is corrected for this choice; the figures below are not."


def _scales(analysis: Analysis) -> list[str]:
    """The judged models in one dimension, where others have more."""
    sizes = {model.name: model.n_components or 0 for model in analysis.models}
    return [name for name in sizes if sizes[name] == 1 < max(sizes.values())]


def rule_of_choice(analysis: Analysis) -> str:
    """By what the model was chosen, for the Methods of a paper."""
    rule = "the most accurate one on held-out answers, or a much simpler one that was as accurate."
    scales = _scales(analysis)
    if analysis.best.name in scales:
        most = f"{100 * max(0.0, analysis.one_dimension.loss):.1f} points"
        return f"It has one dimension. By the 95 % intervals, no other model predicts more than {most} more of the held-out answers."
    if not scales:
        return f"It is {rule}"
    flat = analysis.scores.best.name in scales and any(model.n_components == 2 for model in analysis.models)
    left_out = "Models in one dimension were left out, because it was not shown that one is enough."
    return f"{left_out} Of {'those with at most two' if flat else 'the others'}, this is {rule}"


def dimensions(analysis: Analysis) -> str:
    """How many dimensions the answers support, and why one is not drawn as a scale; "" where that was not judged."""
    chosen = analysis.dimension_choice
    if chosen is None or not chosen.dimension or len(chosen.dimensions) < 2:
        return ""
    text = f"{dimension_text(chosen)}."
    if "features" in analysis.best.name and not any("features" in each.name for each in chosen.comparison):
        text = f"Without the vectors, {text[0].lower()}{text[1:]}"
    one = analysis.one_dimension
    if chosen.dimension == 1 and not one.enough and one.loss > 0 and analysis.space.n_components != 1:
        more = f"another model may predict up to {100 * one.loss:.1f} points more answers (95 % interval)"
        text += f" A second one is not ruled out: {more}. So there is a map and no scale."
    return text


def scale(analysis: Analysis) -> str:
    """What a scale says, and what it does not."""
    if analysis.is_named or not analysis.one_dimension.enough:
        why = "One dimension was asked for; whether it is enough is another question."
    else:
        most = f"{100 * max(0.0, analysis.one_dimension.loss):.1f} points more answers (95 % interval)"
        why = f"One dimension is enough: other models predict at most {most}."
    return f"{why} Objects are in their order on it, with 95 % intervals of their positions. Unit and direction are arbitrary."


def dimension_text(chosen: DimensionChoice) -> str:
    """The fewest dimensions that are certain, and whether more may help."""
    enough, tried = chosen.dimension, chosen.dimensions
    if not enough:
        return "noise: no number of dimensions predicts clearly better than guessing"
    fewer = tried[max(tried.index(enough) - 1, 0)]
    least = count(fewer + 1, "dimension is", "dimensions are")
    needed = f"At least {least} needed; " if fewer < enough else ""
    if enough == tried[-1]:
        return f"{needed}more than {enough} were not tried"
    if needed:
        return f"{needed}more than {enough} do not predict held-out answers clearly better"
    return f"{count(enough, 'dimension')} may be enough: more do not predict held-out answers clearly better"


def plane(analysis: Analysis) -> str:
    """Which map is shown, and what the plane costs."""
    name = analysis.plane_name
    if not analysis.splits:
        return ""
    if name == analysis.best.name and analysis.space.n_components != 2:
        return f"The map shows the first two principal components of {name}."
    own, best = (analysis.scores[each].accuracy for each in (name, analysis.best.name))
    text = f"The map is made by {name} ({gloss(name)}), which predicts {percent(own)}"
    lost = best - own
    return f"{text}, {100 * lost:.1f} points less than {analysis.best.name}." if lost > 0.005 else f"{text}."


def headline(analysis: Judging) -> str:
    """One line: what was chosen (or named), its accuracy, and the best possible."""
    best = analysis.best
    if not analysis.splits:
        return f"{best.name}: too few different questions to judge it by"
    models, chosen = analysis.scores, "" if analysis.is_named else "chosen: "
    predicts = f"predicts {percent(best.accuracy)} of {applies_to(best, models.scope)}"
    predicts += ", corrected for choosing" * (best.accuracy != models[best.name].accuracy)
    possible = models.ceiling.best_possible
    clauses = [f"{chosen}{best.name} ({gloss(best.name, 0)}) {predicts}"]  # fewer may be enough
    clauses.append(f"best possible: {'unknown' if possible is None else share(possible)}")
    judged, of = len(analysis.judged), len(analysis.answers)
    if judged < of:
        clauses.append(f"models were compared on a random {number(judged)} of the {number(of)} answers")
    return "; ".join(clauses).replace("\xa0", " ")


def comparison_text(comparison: Comparison) -> str:
    """The table of models, with what the figures do and do not say."""
    width = max(len(comparison.pair_memory.name), *(len(score.name) for score in comparison))
    odd = not math.isnan(comparison.best.odd_one_out)
    lines = [
        f"{number(comparison.n_answers)} answers about {number(comparison.n_objects)} objects, held out in {comparison.cv} folds by {unit(comparison.unit)}",
        ceiling(comparison.ceiling, comparison.scope.n_participants).text.replace("\xa0", " "),
        "",
        f"{'model':<{width}}  accuracy  95 % interval   {'odd of 3  ' * odd}  ties  seconds  behind best",
    ]
    for score in [*comparison.ranked(), comparison.pair_memory]:
        clear = "no clear difference" if score.as_good_as_best else "clearly worse"
        behind = "best" if score.name == comparison.best.name else f"{score.behind:.3f} {clear}"
        of_three = f"{score.odd_one_out:8.3f}  " * odd
        share_of = f"{score.accuracy:8.3f}  {_limits(score.low, score.high):14}  {of_three}{score.ties:6.1%}"
        lines.append(f"{score.name:<{width}}  {share_of}  {score.seconds:7.3f}  {behind}")
    notes = _beyond(comparison.scope)
    if odd:
        notes.insert(0, "odd of 3: share of odd ones out predicted, of three objects (guessing 0.333).")
    if not comparison.above_guessing:
        p = f"p = {comparison.p_guessing:.2f}, corrected for {count(len(comparison), 'model')}"
        notes.append(f"No model is clearly above guessing ({p}).")
    elif comparison.remembers_pairs:
        notes.append(REMEMBERS)
    notes += [f"{score.name}: {warned(score, comparison.cv)}" for score in comparison.scores if score.warned]
    return "\n".join([*lines, *(["", *notes] if notes else [])])


def _limits(low: float, high: float) -> str:
    return "unknown" if math.isnan(low) else f"{low:.3f} to {high:.3f}"


def warned(score: Score, fits: int) -> str:
    """What the fits of a model warned about."""
    return "; ".join(f"{WARNINGS.get(kind, kind)} in {size} of {fits} fits" for kind, size in score.warned)


def ceiling(limit: NoiseCeiling, n_participants: int = 0) -> Finding:
    """How good the best possible model could be; of an unknown ceiling, why, and what to ask.

    ``n_participants`` : where they are known; several of them answered the questions that it comes from.
    """
    several, details = n_participants > 1, ""
    who, of_three = "Two participants" if several else "Two answers", limit.odd_one_out or limit.most_central
    if of_three:
        chosen = "odd" if limit.odd_one_out else "central"
        details = f"{who} name the same {chosen} one of the same three objects in {share(of_three)} of cases (guessing 33)."
    elif limit.agreement:
        agree = "give the same answer to the same question" if several else "to the same question agree"
        details = f"{who} {agree} in {share(limit.agreement)} of cases."
    possible = limit.best_possible
    if possible is not None:
        repeated = limit.agreement.questions if limit.agreement else 0
        questions = count(repeated, "comparison" if of_three else "question")
        asked = "answered by several participants" if several else "asked again"
        limits = interval(possible.low, possible.high)
        text = f"The best possible model would predict {percent(possible.value, 0)} of these answers"
        text += f" (noise ceiling; {limits})." if limits else " (noise ceiling)."
        source = f"The noise ceiling comes from {questions} {asked}"
        source += " (without those asked far more often)." if limit.controls else "."
        return Finding("note", percent(possible.value, 0), text, f"{source} {details}")
    ask = "Ask questions again, drawn at random: about 100, or all of them."
    if limit.unknown == "unlike" and limit.lead is not None:
        kind, more = ("easier", "more") if limit.lead.value > 0 else ("harder", "fewer")
        why = f"repeated questions are {kind} than the others"
        ask = f"A model predicts {100 * abs(limit.lead.value):.0f} points {more} of them. {ask}"
    elif limit.unknown == "nobody else":
        why = "no question was answered by two participants"
        ask = "Ask about 100 questions of a second participant."
    else:
        why = "no question was answered twice"
    text = f"The best possible accuracy is unknown: {why}."
    return Finding("fair", "Unknown", text, f"{ask} {details}".strip())


def ceiling_text(limit: NoiseCeiling) -> str:
    """What repeated questions say, a line each."""
    lines = [ceiling(limit).text]
    for what, agreement in (
        ("two answers to the same question agree", limit.agreement),
        ("two answers by the same participant agree", limit.within),
        ("same trio, same odd one (chance 1/3)", limit.odd_one_out),
        ("same trio, same central one (chance 1/3)", limit.most_central),
    ):
        if agreement is not None:
            asked = f"{count(agreement.questions, 'question')}, {count(agreement.answers, 'answer')}"
            lines.append(f"{what}: {share(agreement)}, {asked}")
    if limit.best_possible is None:
        lines.append(ceiling(limit).details.partition(". ")[0].rstrip(".") + ".")
    left_out = {
        "answers to questions asked far more often than the others": limit.controls,
        "copies of an answer in the same second": limit.copies,
    }
    lines += [f"{number(size)} {what} are left out" for what, size in left_out.items() if size]
    return "\n".join(lines).replace("\xa0", " ")


def enough(analysis: Analysis) -> Finding:
    """Whether there are enough answers: of every object at all, then by the learning curve."""
    missing = [analysis.shown_space.objects[x] for x in analysis.shown_space.uninformed]
    if missing:
        text = f"{count(len(missing), 'object has', 'objects have')} no usable answer: {listed(display_names(missing), 3)}."
        return Finding("poor", "Some objects lack answers", text)
    if analysis.curve is None:
        return Finding(
            "poor", "Too few answers", "A learning curve takes answers to more different questions."
        )
    return curve(analysis.curve, len(analysis.answers), analysis.scores.above_guessing)


def curve(learning: LearningCurve, n_answers: int = 0, learnt: bool = True) -> Finding:
    """What more answers would bring; of a sample where the curve has fewer than all ``n_answers``.

    ``learnt`` : whether some model is clearly above guessing.
    """
    details = []
    if learning.last_gain:
        gained = points_with_interval(learning.last_gain)
        details.append(f"The last doubling of the answers raised accuracy by {gained}.")
    if len(learning.precision) > 1:
        now, twice = learning.precision[:2]
        details.append(
            f"With {twice.participants} participants instead of {now.participants}, the accuracy would be known to within "
            f"{100 * twice.half_width:.1f} points instead of {100 * now.half_width:.1f}."
        )
    if learning.n_answers < n_answers:
        some = f"{number(learning.n_answers)} of the {number(n_answers)} answers"
        details.append(f"The curve is of a random {some}.")
    told = " ".join(details)
    if not learnt or learning.points[-1].low <= 0.5:
        text = f"{learning.model} does not clearly predict better than guessing."
        return Finding("poor", "Nothing learnt yet", text, told)
    if learning.next_gain is None:
        adaptive = learning.scope.questions == "adaptive"
        why = "The questions are adaptive" if adaptive else "There are too few answers"
        return Finding("fair", "Unknown", f"{why}, so no gain is forecast.", told)
    text = f"Twice the answers would raise accuracy by about {points_with_interval(learning.next_gain)}."
    verdicts = {
        "levelled off": ("good", "Enough answers"),
        "still rising": ("fair", "More answers would help"),
    }
    unsure = "note", f"{points(learning.next_gain.value)} points expected"
    level, short = verdicts.get(learning.verdict, unsure)
    return Finding(level, short, text, told)


def curve_text(learning: LearningCurve) -> str:
    """The measured points, and what more would bring."""
    lines = [f"{learning.model}: held-out accuracy by number of answers"]
    lines += ["  answers  accuracy  95 % interval     ties"]
    lines += [
        f"{p.answers:9,.0f}  {p.accuracy:8.3f}  {_limits(p.low, p.high):14}  {p.ties:6.1%}"
        for p in learning.points
    ]
    told = curve(learning)
    lines += [f"{told.short}: {told.text}", told.details, *_beyond(learning.scope)]
    return "\n".join(lines).replace("\xa0", " ")


def reliability(halves: Reliability) -> str:
    """How alike another study would be."""
    correlation = halves.correlation
    if math.isnan(correlation):
        return "How alike the map of another study would be is unknown."
    known = correlation >= MIN_CORRELATION
    value, how = (
        (f"about {correlation:.2f}", "; within 0.1 in simulations") if known else ("less than 0.9", "")
    )
    study = "Map distances from a study with new participants"
    return f"{study} would correlate {value} with the distances on this map (Pearson{how})."
