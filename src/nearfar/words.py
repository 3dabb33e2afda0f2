"""Every sentence about a result, once: the page, the terminal and the live view of ``nearfar ask`` call these.

A function is named after the record it speaks of. The answer comes first; what only some readers want is in ``details``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from nearfar._tools.text import count, display_names, listed, number, percent, plural, points

if TYPE_CHECKING:
    from nearfar.evaluate.analysis import Analysis
    from nearfar.evaluate.ceiling import NoiseCeiling
    from nearfar.evaluate.cluster_count import ClusterCount
    from nearfar.evaluate.curve import LearningCurve
    from nearfar.evaluate.groups import GroupComparison, GroupPair
    from nearfar.evaluate.people import People, Person
    from nearfar.evaluate.stability_of_maps import Stability
    from nearfar.evaluate.tastes import Tastes

__all__ = [
    "Finding",
    "accuracy",
    "ceiling",
    "choice",
    "clusters",
    "collected",
    "curve",
    "enough",
    "gloss",
    "group_comparison",
    "group_pair",
    "interval",
    "left_out",
    "participants",
    "plane",
    "reason",
    "share",
    "stability",
    "subgroups",
]

EMBEDDINGS = {"ste": "STE", "tste": "t-STE", "ckl": "CKL", "soe": "SOE", "gnmds": "GNMDS"}


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


def gloss(model: str) -> str:
    """What a model is, for somebody who does not know its name.

    >>> gloss("soe-5"), gloss("score"), gloss("k1+k2-2")
    ('ordinal embedding, 5 dimensions', 'kernel', 'kernel PCA, 2 dimensions')
    """
    base, _, size = model.rpartition("-")
    dimensions = count(int(size), "dimension") if base and size.isdecimal() else ""
    if dimensions and base in EMBEDDINGS:
        return f"ordinal embedding, {dimensions}"
    if set((base if dimensions else model).split("+")) <= {"k1", "k2", "score"}:
        return f"kernel PCA, {dimensions}" if dimensions else "kernel"
    return "your own model"


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


# ---------------------------------------------------------------- what was collected


def collected(analysis: Analysis, gone: Sequence[tuple[str, int, str]] = ()) -> Finding:
    """How many answers, of whom, about what; ``gone`` : (what, how many, why) was left out."""
    answers, counts = analysis.answers, analysis.counts
    people = 0 if answers.participant is None else len(answers.participant.known)
    who = f" from {count(people, 'participant')}" if people else ""
    text = f"{count(counts.questions, 'question')}{who} about {count(answers.n_objects, 'object')}."
    if gone:
        text += f" {number(sum(size for _, size, _ in gone))} left out."
    again = (
        f"{number(counts.repeated)} questions were answered more than once, {number(counts.contradicted)} of them both ways."
        if counts.repeated
        else "No question was answered twice."
    )
    stated = f" They come from {count(counts.statements, 'statement')}."
    details = again + (stated if counts.statements < len(answers) else "")
    return Finding("note", count(len(answers), "answer"), text, f"{details} {left_out(gone)}".strip())


def left_out(gone: Sequence[tuple[str, int, str]]) -> str:
    """What is not in the analysis, and why."""
    if not gone:
        return "Nothing was left out."
    return f"Left out: {'; '.join(f'{number(size)} {what} ({why})' for what, size, why in gone)}."


# ---------------------------------------------------------------- accuracy, model, ceiling


def whose(scope: Any, people: int) -> str:
    """Of whose answers to which questions a figure speaks; ``scope`` : a comparison or a curve."""
    if scope.chosen:
        return "the answers to these adaptive questions"
    if scope.in_sets:
        return "these participants' answers to questions within the same booklets"
    if scope.few_people:
        return f"these {count(scope.few_people, 'participant')}' answers to new questions"
    return "new participants' answers to new questions" if people else "answers to new questions"


def accuracy(analysis: Analysis) -> Finding:
    """How many answers the chosen model predicts, and of whom."""
    if not analysis.splits:
        text = "There are too few different questions to hold some of them out."
        return Finding("poor", "Unknown", text)
    scores, best = analysis.scores, analysis.best
    people = 0 if analysis.answers.participant is None else len(analysis.answers.participant.known)
    low, high = (best.accuracy + side * 1.96 * best.standard_error for side in (-1, 1))
    limits = interval(low, min(1.0, high)) if math.isfinite(low) else ""
    text = (
        f"of {whose(scores, people)} ({limits + '; ' if limits else ''}guessing 50), "
        f"by {best.name} ({gloss(best.name)})."
    )
    details = []
    if not people:
        details.append("Who answered is not known, so new participants may differ by more than the interval.")
    if scores.remembers_pairs:
        details.append(
            "Remembering which pairs were called near predicts as well: the figure may not hold for new objects."
        )
    level = "poor" if not scores.above_guessing else "good" if limits else "fair"
    short = f"{percent(best.accuracy)} predicted"
    if not scores.above_guessing:
        details.insert(0, "That is not clearly better than guessing: collect more answers first.")
    return Finding(level, short, text, " ".join(details))


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
    return (
        f"{named} is the simplest of {count(len(analysis.models), 'model')} that is as accurate as the best. "
        "Its accuracy comes from answers that were not used to choose it."
    )


def plane(analysis: Analysis) -> str:
    """Which map is shown, and what the plane costs."""
    name = analysis.plane_name
    if not analysis.splits:
        return ""
    if name == analysis.best.name and analysis.space.n_components != 2:
        return f"The map shows the first two axes of {name}."
    own, best = (analysis.scores[each].accuracy for each in (name, analysis.best.name))
    text = f"{name} predicts most of the models with two dimensions: {percent(own)}."
    lost = best - own
    return (
        f"{text} The plane costs {100 * lost:.1f} points against {analysis.best.name}."
        if lost > 0.005
        else text
    )


def ceiling(found: NoiseCeiling) -> Finding:
    """How good the best possible model could be."""
    if found.outer is None or found.agreement is None:
        why, _, ask = found.unknown.partition("; ")
        todo = f"{ask[:1].upper()}{ask[1:]}." if ask else ""
        return Finding("fair", "Unknown", f"The best possible accuracy is unknown: {why}.", todo)
    low, high = found.outer
    text = (
        f"No model could predict more than {100 * low:.0f} to {percent(high, 0)} of such answers "
        f"(95\xa0% interval, from {count(found.agreement.questions, 'repeated question')})."
    )
    own = (
        f"The same participant repeats {percent(found.within.share)} of their answers."
        if found.within is not None
        else ""
    )
    details = f"Two answers to the same question agree in {percent(found.agreement.share)}. {own}".strip()
    return Finding("note", f"{100 * low:.0f} to {percent(high, 0)}", text, details)


def enough(analysis: Analysis) -> Finding:
    """Whether there are enough answers: of every object at all, then by the learning curve."""
    missing = [analysis.answers.objects[x] for x in analysis.shown_space.uninformed]
    if missing:
        text = f"{count(len(missing), 'object has', 'objects have')} no usable answer and no position: {listed(display_names(missing), 3)}."
        return Finding("poor", "Some objects lack answers", text)
    if analysis.curve is None:
        return Finding(
            "poor", "Too few answers", "There are too few different questions to hold some of them out."
        )
    return curve(analysis.curve, len(analysis.answers))


def curve(found: LearningCurve, n_answers: int = 0) -> Finding:
    """What more answers would bring; of a sample where the curve has fewer than all ``n_answers``."""
    of_all = f"The curve is of a random {number(found.n_answers)} of the {number(n_answers)} answers."
    sampled = of_all if found.n_answers < n_answers else ""
    if found.verdict == "at chance":
        return Finding(
            "poor", "Nothing learnt yet", f"{found.model} does not predict better than guessing.", sampled
        )
    if found.verdict == "too early to say":
        text = "Too few answers to forecast: accuracy has not begun to level off."
        return Finding("fair", "Too early to say", text, sampled)
    if found.gain is None:
        why = (
            f"no forecast is made for {found.model}" if not found.known_law else "the questions look adaptive"
        )
        text = (
            "Too few answers for a forecast."
            if found.known_law and not found.chosen
            else f"No forecast: {why}."
        )
        return Finding("fair", "Unknown", text, sampled)
    gain = found.gain
    known = math.isfinite(gain.low) and math.isfinite(gain.high)
    limits = f" (90\xa0% interval {points(gain.low)} to {points(gain.high)})" if known else ""
    same = " of the same participants" if found.few_people or found.in_sets else ""
    text = f"Twice the answers{same} would add about {points(gain.accuracy)} points{limits}."
    level, short = {
        "levelled off": ("good", "Enough answers"),
        "still rising": ("fair", "More answers would help"),
    }.get(found.verdict, ("fair", "More may help a little"))
    return Finding(level, short, text, sampled)


# ---------------------------------------------------------------- participants


def participants(people: People | None, shown: Mapping[str, str] | None = None) -> Finding:
    """Whom to check, under the names ``shown``."""
    if people is None:
        text = "The answers do not say who gave them. A column participant adds this part."
        return Finding("note", "Unknown", text)
    odd = [(shown or {}).get(person.name, person.name) for person in people.to_review]
    if not odd:
        return Finding(
            "good", "Nobody to check", f"None of {count(len(people.rows), 'participant')} answers unusually."
        )
    return Finding(
        "fair",
        f"{count(len(odd), 'participant')} to check",
        f"{listed(odd, 3)} {plural(len(odd), 'answers', 'answer')} unusually. All answers are kept; --exclude leaves people out.",
    )


def reason(person: Person, people: People) -> str:
    """Why to check this participant, with the figure behind it; "" where there is no reason."""
    if person.standing == "inconsistent" and person.with_themselves is not None:
        return f"inconsistent: repeats {percent(person.with_themselves.share, 0)} of their own answers{_usual(people, 'with_themselves')}"
    if person.standing == "one-sided" and person.left is not None:
        side, often = (
            ("left", person.left.share) if person.left.share > 0.5 else ("right", 1 - person.left.share)
        )
        return f"one-sided: chose the {side} side in {percent(often, 0)}"
    if not person.standing:
        return ""
    if person.standing == "different":
        return f"different strategy: {_unlike(person, people)}, but consistently"
    return f"{_unlike(person, people)}: careless, or using a different strategy (the data cannot distinguish them)"


def _unlike(person: Person, people: People) -> str:
    """The share that lies lowest below what is usual."""
    kinds = {"with_prediction": "the model", "with_others": "others"}
    low = {
        kind: (usual.share - rate.share, rate.share)
        for kind in kinds
        if (rate := getattr(person, kind)) is not None and (usual := people.usual.get(kind)) is not None
    }
    if not low:
        return "answers unlike the others"
    kind = max(low, key=lambda each: low[each])
    return f"agrees with {kinds[kind]} in {percent(low[kind][1], 0)}{_usual(people, kind)}"


def _usual(people: People, kind: str) -> str:
    usual = people.usual.get(kind)
    return "" if usual is None else f" (usual: {percent(usual.share, 0)})"


def subgroups(found: Tastes | None) -> Finding:
    """Whether subgroups of participants answer by maps of their own."""
    if found is None:
        text = "Too few participants, or too few answers of each, to look for subgroups."
        return Finding("note", "Unknown", text)
    gain = found.gains[0].value
    better = f"{abs(100 * gain):.1f} points {'better' if gain > 0 else 'worse'}"
    details = f"{found.sampled[0].upper()}{found.sampled[1:]}." if found.sampled else ""
    if found.count == 1:
        text = f"No subgroups of participants found: separate maps predict {better} than one."
        return Finding("good", "None found", text, details)
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
        return Finding("poor", "Cannot be compared", text)
    if not pair.test.differ:
        return Finding(
            "note", f"No difference ({how})", f"{one} and {other} do not differ detectably.", details
        )
    moved = sum(move.sure for move in pair.moves)
    where = f" {count(moved, 'object')} clearly {plural(moved, 'differs', 'differ')}." if moved else ""
    if pair.each_leads:
        return Finding(
            "good",
            f"They differ ({how})",
            f"{one} and {other} see the objects differently.{where}",
            details,
        )
    noise = "or one group answers with more noise: neither map predicts its own group better."
    return Finding(
        "fair", f"They differ ({how})", f"{one} and {other} see the objects differently, {noise}", details
    )


def group_comparison(found: GroupComparison) -> Finding:
    """Whether groups of participants see the objects differently; of several pairs, which."""
    if len(found.pairs) == 1:
        return group_pair(found.pairs[0])
    differ = [pair for pair in found.pairs if pair.test.differ and not pair.test.questions_differ]
    named = [f"{pair.names[0]} and {pair.names[1]} (p = {pair.test.p:.3f})" for pair in differ]
    text = f"These see the objects differently: {'; '.join(named[:2])}{' and others' if named[2:] else ''}."
    short = f"{number(len(differ))} of {number(len(found.pairs))} pairs differ"
    return Finding("note", short, text if differ else "No two groups differ detectably.")


# ---------------------------------------------------------------- clusters and positions


def clusters(found: ClusterCount | None, n_clusters: int) -> Finding:
    """Whether the objects fall into clusters, and into how many; ``found`` is None where a number was asked for."""
    if found is None:
        return Finding("note", f"{n_clusters} clusters", f"{n_clusters} clusters were asked for.")
    aid = f"The tree is cut into {n_clusters} as a reading aid."
    if found.not_looked:
        return Finding("note", "Unknown", found.not_looked, aid)
    seen = (
        f"Cuts up to {found.best_cut} clusters reduce within-cluster variance {found.knee:.1f} times as much as further cuts "
        f"(about 1 without clusters). Neighbouring clusters are {found.gap:.1f} standard deviations apart "
        "(about 3.5 without clusters)."
    )
    if found.low < found.high:
        text = f"The objects form {found.low} to {found.high} clusters; {found.k} is the most likely number."
        return Finding("good", f"{found.low} to {found.high} clusters", text, seen)
    if found.k > 1:
        return Finding("good", f"{found.k} clusters", f"The objects form {found.k} separate clusters.", seen)
    text = "No separate clusters found: the objects vary gradually."
    if found.each < found.wanted:
        seen += f" There are {found.each:.0f} triplets per object; clusters are found reliably from about {found.wanted:.0f}."
        text = "No separate clusters found: the objects vary gradually, or the answers are too few to tell."
    return Finding("note", "None found", text, f"{aid} {seen}")


def stability(found: Stability) -> Finding:
    """How certain positions on the map and clusters are."""
    known = sorted(radius for radius in found.circle.tolist() if math.isfinite(radius))
    text = "Each circle contains the object's long-run position for 9 in 10 objects."
    if len(known):
        text += f" Its median radius is {percent(known[len(known) // 2], 0)} of the map's."
    details = f"From {count(len(found.cloud), 'bootstrap resample')} of {found.resampled}s."
    if found.kept_by_chance is not None and math.isfinite(found.kept_by_chance):
        details += f" Random answers keep objects in their cluster in {percent(found.kept_by_chance, 0)} of resamples."
    few = [
        name for name, little in zip(display_names(found.objects), found.few.tolist(), strict=True) if little
    ]
    if few:
        details += f" Too few answers to say where they are: {listed(few)}."
    return Finding("note", "Positions", text, details)
