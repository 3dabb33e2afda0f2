"""Every sentence about a result, once: the page, the terminal and the live view of ``nearfar ask`` call these.

A function is named after the record it speaks of. The answer comes first; what only some readers want is in ``details``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from nearfar._tools.text import count, listed, number, percent, plural

if TYPE_CHECKING:
    from nearfar.evaluate.advice import Advice
    from nearfar.evaluate.auto import Choice
    from nearfar.evaluate.bootstrap import Scope
    from nearfar.evaluate.ceiling import Agreement, NoiseCeiling
    from nearfar.evaluate.clusters import ClusterCount
    from nearfar.evaluate.comparison import Comparison, Score
    from nearfar.evaluate.curve import LearningCurve
    from nearfar.evaluate.dimension import DimensionChoice
    from nearfar.evaluate.groups import GroupPair
    from nearfar.evaluate.map_stability import Stability
    from nearfar.evaluate.participants import People, Person, Reason
    from nearfar.evaluate.reliability import Reliability
    from nearfar.evaluate.subgroups import Subgroups

__all__ = [
    "Finding",
    "advice",
    "advice_text",
    "ceiling",
    "ceiling_unknown",
    "clusters",
    "comparison",
    "curve",
    "curve_outlook",
    "dimension",
    "group_pair",
    "group_pair_text",
    "headline",
    "interval",
    "participants",
    "reason",
    "reliability",
    "scope",
    "share",
    "stability",
    "stability_text",
    "subgroups",
    "warned",
]


class Finding(NamedTuple):
    """What a result says: a headline, a sentence or two, and details for whoever asks.

    ``level`` : "good", "fair" (worth a look), "poor" or "note" (neither).
    """

    level: str
    short: str
    text: str
    details: str = ""

    def __str__(self) -> str:
        return f"{self.text} {self.details}".strip()


def interval(low: float, high: float, digits: int = 0) -> str:
    """The 95 % interval of a share in percent; "" where it is not known.

    >>> interval(0.771, 0.9), interval(float("nan"), 1.0)
    ('95\\xa0% interval 77 to 90', '')
    """
    if not (math.isfinite(low) and math.isfinite(high)):
        return ""
    return f"95\xa0% interval {100 * low:.{digits}f} to {100 * high:.{digits}f}"


def share(estimate: Any) -> str:
    """A share with its interval."""
    limits = interval(estimate.low, estimate.high)
    return percent(estimate.value) + (f" ({limits})" if limits else "")


# ---------------------------------------------------------------- participants


def participants(people: People | None, shown: Mapping[str, str] | None = None) -> Finding:
    """Whom to check, under the names ``shown``."""
    if people is None:
        text = "The answers do not say who gave them. A column participant adds this part."
        return Finding("note", "Participants unknown", text)
    odd = [(shown or {}).get(person.name, person.name) for person in people.to_review]
    everybody = len(people.rows)
    short_of = everybody - people.detectable
    details = ""
    if short_of:
        details = f"{number(short_of)} of {count(everybody, 'participant')} made too few statements to tell guessing from answering."
    if odd:
        text = f"{listed(odd, 3)} {plural(len(odd), 'answers', 'answer')} unusually. All answers are kept; --exclude leaves people out."
        return Finding("fair", f"{count(len(odd), 'participant')} to check", text, details)
    if not people.detectable:
        text = "Too few statements of each participant to find those who guess. Nobody could have been named."
        return Finding("note", "Not enough data to check participants", text)
    text = f"No participant to check among {number(people.detectable)} with enough statements."
    return Finding("good", "Nobody to check", text, details)


def reason(person: Person, people: People) -> str:
    """Why to check this participant, the likeliest cause first, with the figures; "" where there is no reason."""
    found = [_reason(each, person, people) for each in person.reasons]
    if person.reasons == ("not above chance",):
        found.append("careless, or using a different strategy (the data cannot distinguish them)")
    return "; ".join(found)


def _reason(reason: Reason, person: Person, people: People) -> str:
    agrees, left = person.with_prediction, person.left
    if reason == "opposite" and agrees:
        return f"opposite: agrees with the prediction in {percent(agrees.share, 0)}, less than chance; check the coding of the answers"
    if reason == "one-sided" and left:
        side, often = ("left", left.share) if left.share > 0.5 else ("right", 1 - left.share)
        return f"one-sided: chose the {side} side in {percent(often, 0)}"
    if reason == "too fast":
        return f"too fast: {percent(person.fast or 0.0, 0)} of statements in less than {people.fast_below or 0.0:.1f} s"
    if reason == "not above chance" and agrees:
        return f"agrees with the prediction in {percent(agrees.share, 0)}{_usual(people, 'with_prediction')}, not clearly more than chance"
    if reason == "inconsistent" and person.with_themselves:
        again = percent(person.with_themselves.share, 0)
        return f"inconsistent: repeats {again} of their own answers{_usual(people, 'with_themselves')}"
    return "different strategy: answers reliably, but not as the others do"


def _usual(people: People, kind: str) -> str:
    usual = people.usual.get(kind)
    return "" if usual is None else f" (usual: {percent(usual, 0)})"


def subgroups(found: Subgroups | None) -> Finding:
    """Whether subgroups of participants answer by maps of their own."""
    if found is None:
        text = "Too few participants, or too few answers of each, to look for subgroups."
        return Finding("note", "Subgroups: unknown", text)
    gain = found.gains[0].value if found.gains else 0.0
    better = f"{abs(100 * gain):.1f} points {'better' if gain > 0 else 'worse'}"
    details = ""
    if found.answers_used < found.answers_given:
        details = (
            f"Judged by {number(found.answers_used)} of {number(found.answers_given)} answers, drawn at random, "
            f"of {number(found.people_used)} of {count(len(found.people), 'participant')}."
        )
    if found.count == 1:
        text = f"No subgroups of participants found: separate maps predict {better} than one."
        return Finding("good", "No subgroups", text, details)
    sizes = " and ".join(str(int((found.group == g).sum())) for g in range(found.count))
    text = f"{found.count} subgroups of {sizes} participants: separate maps predict {better} than one."
    return Finding("fair", f"{found.count} subgroups", text, details)


def group_pair(pair: GroupPair) -> Finding:
    """Whether two groups of participants see the objects differently."""
    one, other = pair.names
    how = f"p = {pair.test.p:.3f}"
    details = f"By {number(pair.test.permutations)} permutations of the participants, level 5\xa0%."
    if pair.test.questions_differ:
        text = f"{one} and {other} got different questions, so they cannot be compared."
        return Finding("poor", "Groups: different questions", text)
    if not pair.test.differ:
        text = f"{one} and {other} do not differ detectably."
        return Finding("note", f"No group difference ({how})", text, details)
    moved = sum(move.sure for move in pair.moves)
    where = f" {count(moved, 'object')} clearly {plural(moved, 'differs', 'differ')}." if moved else ""
    text = f"{one} and {other} see the objects differently"
    if pair.each_leads:
        return Finding("good", f"Groups differ ({how})", f"{text}.{where}", details)
    noise = "or one group answers with more noise: neither map predicts its own group better."
    return Finding("fair", f"Groups differ ({how})", f"{text}, {noise}", details)


def group_pair_text(pair: GroupPair) -> str:
    """Two groups in the terminal: the finding, and the figures behind it line by line."""
    one, other = pair.names
    found = group_pair(pair)
    sizes = f"{one}: {count(pair.people[0], 'participant')}; {other}: {count(pair.people[1], 'participant')}"
    lines = [f"{found.short}. {found.text}", f"{sizes}. {found.details}".strip()]
    if pair.agreement is not None:
        kinds = (f"within {one}", f"within {other}", "between them")
        shares = [f"{kind} {share(value)}" for kind, value in zip(kinds, pair.agreement.shares, strict=True)]
        lines.append(f"Agreement on the same question: {', '.join(shares)}")
    for j, group in enumerate(pair.names):
        lead = pair.lead[j]
        limits = "" if math.isnan(lead.low) else f" ({100 * lead.low:+.1f} to {100 * lead.high:+.1f})"
        lines.append(
            f"Answers of {group}: predicted by their own model {share(pair.accuracy[j][j])}, "
            f"by the other's {share(pair.accuracy[1 - j][j])}; lead {100 * lead.value:+.1f} points{limits}"
        )
    sure = [move for move in pair.moves if move.sure]
    shown = sure[:5] or pair.moves[:3]
    if shown:
        title = "Objects that move" if sure else "No object clearly moves; those that move most"
        moves = ", ".join(f"{m.name} {m.distance:.2f} ({m.low:.2f} to {m.high:.2f})" for m in shown)
        lines.append(f"{title}: {moves}")
    return "\n".join(lines)


# ---------------------------------------------------------------- clusters and positions


def clusters(found: ClusterCount | None, n_clusters: int) -> Finding:
    """Whether the objects fall into clusters, and into how many; ``found`` is None where a number was asked for."""
    if found is None:
        return Finding("note", f"{n_clusters} clusters", f"{n_clusters} clusters were asked for.")
    aid = f"The tree is cut into {n_clusters} as a reading aid." if n_clusters > 1 else ""
    if found.unknown:
        why = {
            "few answers": "There are too few answers to look for clusters.",
            "few objects": "There are too few objects to look for clusters.",
            "noise": "No clusters were looked for: no map predicts the answers better than guessing.",
        }[found.unknown]
        return Finding("note", "Clusters: unknown", why, aid)
    seen = (
        f"Cuts up to {found.best_cut} clusters reduce within-cluster variance {found.elbow:.1f} times as much as further cuts "
        f"(about 1 without clusters). Neighbouring clusters are {found.gap:.1f} standard deviations apart "
        "(about 3.5 without clusters)."
    )
    if found.outcome == "unclear":
        text = f"The objects form clusters, but their number is unclear: {found.low} to {found.high}; {found.k} is the likeliest."
        return Finding("good", f"{found.low} to {found.high} clusters", text, seen)
    if found.outcome == "clear":
        return Finding("good", f"{found.k} clusters", f"The objects form {found.k} separate clusters.", seen)
    text = "No separate clusters found: the objects vary gradually, or clusters overlap."
    if found.outcome == "unknown":
        seen += f" There are {found.per_object:.0f} triplets per object; clusters are found reliably from about {found.wanted:.0f}."
        text = "No separate clusters found, and not enough data to tell."
    return Finding("note", "No separate clusters", text, f"{aid} {seen}".strip())


def stability(found: Stability, few: Sequence[str] = ()) -> Finding:
    """How uncertain positions on the map and clusters are; ``few`` : names of objects with too few answers to say."""
    import numpy as np

    known = found.circle[np.isfinite(found.circle)]
    text = "Each circle contains the object's long-run position for 9 in 10 objects."
    if len(known):
        text += f" Its median radius is {percent(float(np.median(known)), 0)} of the map's."
    details = f"From {count(len(found.cloud), 'bootstrap resample')} of {found.resampled}s."
    if found.kept_by_chance is not None and math.isfinite(found.kept_by_chance):
        details += f" Random answers keep objects in their cluster in {percent(found.kept_by_chance, 0)} of resamples."
    if few:
        details += f" Too few answers to say where they are: {listed(list(few))}."
    return Finding("note", "Positions", text, details)


def stability_text(found: Stability) -> str:
    """Positions and clusters in the terminal, with the least certain objects."""
    import numpy as np

    few = [name for name, is_few in zip(found.objects, found.few.tolist(), strict=True) if is_few]
    said = stability(found, few)
    lines = [f"{found.model}: {said.text}", said.details]

    def least(by: Any) -> str:
        order = [i for i in np.argsort(by, kind="stable")[:5].tolist() if math.isfinite(by[i])]
        return ", ".join(f"{found.objects[i]} ({abs(by[i]):.2f})" for i in order)

    if np.isfinite(found.circle).any():
        lines.append(f"Least certain positions: {least(-found.circle)}")
    if found.kept is not None and np.isfinite(found.kept).any():
        kept = percent(float(np.nanmedian(found.kept)), 0)
        lines.append(
            f"Objects stay in their cluster in {kept} of resamples (median). Least certain: {least(found.kept)}"
        )
    return "\n".join(lines)


# ---------------------------------------------------------------- how many questions to ask


def advice(found: Advice) -> str:
    """How many questions to ask, and why; what a budget that was given is worth."""
    mean = {row.questions: row.accuracy for row in found.rows}
    if found.recommended is None:
        most = max(mean)
        text = f"No budget up to {most:,} questions is enough: {most:,} reach {mean[most]:.3f}, and more would still help."
    else:
        text = (
            f"Recommended: {found.recommended:,} questions. Twice as many would add {max(found.gain, 0):.3f} to the "
            f"accuracy ({mean[found.recommended]:.3f} of at most {found.ceiling:.3f})."
        )
    if found.budget is not None:
        worth = "is enough" if found.is_enough else "is not enough"
        text += f" Your budget of {found.budget:,} {worth}: twice as many would add {max(found.budget_gain, 0):.3f}."
    return text


def advice_text(found: Advice) -> str:
    """What an advice rests on, its table, and the recommendation."""
    lines = [f"Assumed: {text}" for text in _assumed(found)]
    lines += ["", "  questions   people    hours      cost  accuracy  90 % interval"]
    lines += [
        f"{row.questions:11,}{row.people:9,}{row.hours:9,.1f}{row.cost:10,.0f}{row.accuracy:10.3f}"
        f"  {row.low:.3f} to {row.high:.3f}"
        + ("  <- recommended" if row.questions == found.recommended else "")
        for row in found.rows
    ]
    return "\n".join([*lines, "", f"Best possible accuracy: {found.ceiling:.3f}", advice(found)])


def _assumed(found: Advice) -> list[str]:
    """What an advice rests on."""
    scheme, given, pilot = found.scheme, found.assumptions, found.pilot
    kinds = {
        "near": "is a nearer to b or to c",
        "odd": "odd one out of three",
        "central": "most central of three",
        "grid": f"pick {scheme.pick} of {scheme.size} that are nearest",
    }
    draw = "drawn evenly" if scheme.draw == "random" else f"the landmark design of {scheme.draw}"
    told = [f"{found.n_objects:,} objects; questions '{kinds[scheme.kind]}', {draw}."]
    shape = count(given.dimension, "dimension")
    if pilot is None:
        told.append(f"Objects are random points in {shape} (normal distribution).")
        told.append(f"Two people give the same answer to {given.agreement:.0%} of random questions.")
    else:
        told.append(
            f"As in the pilot of {count(pilot.n_answers, 'answer')}: predicted best in {shape}, accuracy {pilot.accuracy.value:.3f} "
            f"({pilot.accuracy.low:.3f} to {pilot.accuracy.high:.3f})."
        )
        told.append(
            f"Simulated people reach that who agree on {pilot.agreement.value:.0%} of random questions "
            f"({pilot.agreement.low:.0%} to {pilot.agreement.high:.0%})."
        )
    total = scheme.total(found.n_objects)
    if total < found.rows[-1].questions:
        told.append(
            f"There are {total:,} different questions; larger budgets ask several people each of them."
        )
    pace = f"{found.seconds:g} s a question, {given.minutes:g} min a person, pay {given.pay:g} an hour"
    told.append(f"{pace}; people differ by chance only.")
    if found.n_objects > found.n_simulated:
        told.append(f"Simulated with {found.n_simulated} objects and as many answers for each.")
    return told


# ---------------------------------------------------------------- models

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
