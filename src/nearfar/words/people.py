"""Sentences about participants: whom to check and why, subgroups, groups that are compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import compress
from typing import TYPE_CHECKING

from nearfar._tools.text import count, listed, number, percent, plural
from nearfar.words.finding import Finding, points_with_interval, share

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from nearfar.evaluate.groups import GroupComparison, GroupPair
    from nearfar.evaluate.participants import People, Person, Reason
    from nearfar.evaluate.subgroups import Subgroups


FLAGGING = (
    "Participants were flagged if they chose one side clearly more often than others. They were also flagged if they agreed with the "
    "model clearly less often than usual, and not clearly more often than chance. The comparisons with others were corrected for the "
    "number of participants (Benjamini-Hochberg)."
)


def participants(people: People | None, shown: Mapping[str, str] | None = None) -> Finding:
    """Whom to check, under the names ``shown``."""
    if people is None:
        text = "The answers do not say who gave them. A column participant adds this part."
        return Finding("note", "Unknown", text)
    odd = [f"{(shown or {}).get(each.name, each.name)} ({each.reasons[0]})" for each in people.to_check]
    everybody = len(people.rows)
    details = ""
    if short_of := everybody - people.detectable:
        of = count(everybody, "participant")
        details = f"{number(short_of)} of {of} gave too few answers to tell whether they guess."
    if odd:
        text = f"{listed(odd, 3)} {plural(len(odd), 'answers', 'answer')} unusually. All answers are kept."
        details = f"A file for --exclude lists participants to leave out. {details}".strip()
        return Finding("fair", f"{count(len(odd), 'participant')} to check", text, details)
    if not people.detectable:
        text = "Each participant gave too few answers to tell whether they guess. Nobody could have been flagged."
        return Finding("note", "Not enough data", text)
    text = f"No participant answers unusually. {number(people.detectable)} gave enough answers to tell."
    return Finding("good", "Nobody to check", text, details)


def reason(person: Person, people: People) -> str:
    """Why to check this participant, the likeliest cause first, with the figures; "" where there is no reason."""
    reasons = [_reason(each, person, people) for each in person.reasons]
    if person.reasons == ("not above chance",):
        reasons.append("careless, or using a different strategy (the data cannot distinguish them)")
    return "; ".join(reasons)


def _reason(reason: Reason, person: Person, people: People) -> str:
    agrees, left = person.with_prediction, person.left
    if reason == "opposite" and agrees:
        return f"opposite: agrees with the model in {percent(agrees.value, 0)}, less than chance; check the coding of the answers"
    if reason == "one-sided" and left:
        side, often = ("left", left.value) if left.value > 0.5 else ("right", 1 - left.value)
        return f"one-sided: chose the {side} side in {percent(often, 0)}"
    if reason == "too fast":
        return f"too fast: {percent(person.fast or 0.0, 0)} of answers took less than {people.fast_below or 0.0:.2f} s"
    if reason == "not above chance" and agrees:
        return f"agrees with the model in {percent(agrees.value, 0)}{_usual(people, 'with_prediction')}, not clearly more than chance"
    if reason == "inconsistent" and person.with_themselves:
        again = percent(person.with_themselves.value, 0)
        return f"inconsistent: repeats {again} of their own answers{_usual(people, 'with_themselves')}"
    return "different strategy: answers reliably, but not as the others do"


def _usual(people: People, kind: str) -> str:
    usual = people.usual.get(kind)
    return "" if usual is None else f" (median {percent(usual, 0)})"


def subgroups(result: Subgroups | None) -> Finding:
    """Whether subgroups of participants answer by maps of their own."""
    if result is None:
        text = "Too few participants, or too few answers of each, to look for subgroups."
        return Finding("note", "Unknown", text)
    gain = result.gains[0]
    change = f"{'lower' if gain.value <= 0 else 'raise'} accuracy by {abs(100 * gain.value):.1f} points"
    details = ""
    if result.answers_used < result.answers_given:
        people = f"{number(result.people_used)} of {count(len(result.people), 'participant')}"
        some = f"{number(result.answers_used)} of {number(result.answers_given)} answers"
        details = f"Judged by {some}, drawn at random, of {people}."
    if result.count == 1:
        may = ", which may be chance" if gain.value > 0 else ""
        text = f"No subgroups were found: separate maps would {change}{may}. Subgroups of fewer than 10 participants are usually missed."
        return Finding("note", "None found", text, details)
    sizes = " and ".join(str(int((result.group == g).sum())) for g in range(result.count))
    which = "them" if result.count == 2 else "two subgroups"
    text = f"{result.count} subgroups of {sizes} participants were found. Separate maps for {which} {change}."
    return Finding("fair", f"{result.count} subgroups", text, details)


def group_pair(pair: GroupPair) -> Finding:
    """Whether two groups of participants see the objects differently."""
    one, other = pair.names
    how = f"p = {pair.test.p:.3f}"
    sampled = pair.test.people < sum(pair.people)
    dealt = f"{number(pair.test.people)} participants drawn at random" if sampled else "the participants"
    details = f"By {number(pair.test.permutations)} permutations of {dealt}, level 5\xa0%."
    if pair.test.pairs > 1:
        details += f" p is corrected for the {number(pair.test.pairs)} pairs of groups."
    if pair.test.questions_differ:
        text = f"{one} and {other} got different questions, so they cannot be compared."
        return Finding("poor", "Cannot be compared", text)
    if not pair.test.differ:
        text = f"{one} and {other} do not differ detectably."
        return Finding("note", f"No difference found ({how})", text, details)
    if pair.differ:
        moved = sum(move.sure for move in pair.moves)
        text = "No single object clearly has another position."
        if moved:
            text = f"{count(moved, 'object')} {plural(moved, 'has', 'have')} different positions in the two groups."
        return Finding("good", f"The groups differ ({how})", text, details)
    text = (
        f"{one} and {other} may differ in noise only: the other group's model predicts one of them as well."
    )
    return Finding("fair", f"Perhaps noise only ({how})", text, details)


def group_pair_text(pair: GroupPair) -> str:
    """Two groups in the terminal: the finding, and the figures behind it line by line."""
    one, other = pair.names
    finding = group_pair(pair)
    sizes = f"{one}: {count(pair.people[0], 'participant')}; {other}: {count(pair.people[1], 'participant')}"
    lines = [f"{finding.short}. {finding.text}", f"{sizes}. {finding.details}".strip()]
    if pair.agreement is not None:
        kinds = (f"within {one}", f"within {other}", "between them")
        shares = [f"{kind} {percent(value)}" for kind, value in zip(kinds, pair.agreement, strict=True)]
        lines.append(f"Agreement on the same question: {', '.join(shares)}")
    for j, group in enumerate(pair.names):
        own, others = (share(pair.accuracy[k][j]) for k in (j, 1 - j))
        predicted = f"predicted by their own model {own}, by the other's {others}"
        lines.append(f"Answers of {group}: {predicted}; lead {points_with_interval(pair.lead[j])}")
    if pair.test.differ and (told := moves(pair)):
        lines.append(told)
    return "\n".join(lines).replace("\xa0", " ")


GROUP_MAPS = (
    "Coloured objects have clearly different positions; lines end at the position in the other group."
)


def beyond(pair: GroupPair, far: NDArray[np.bool_], shown: Sequence[str]) -> str:
    """Which of the objects ``shown`` stand at the border of the map of each group; "" for none."""
    out = [(listed(list(compress(shown, of))), group) for of, group in zip(far, pair.names, strict=True)]
    told = [f"{who} ({group})" for who, group in out if who]
    return f"Arrows at the border point to objects far beyond it: {'; '.join(told)}." if told else ""


def moves(pair: GroupPair, shown: Mapping[str, str] | None = None, most: int = 20) -> str:
    """The objects with clearly different positions, under the names ``shown``, and how far apart they are; "" for none."""
    sure = [move for move in pair.moves if move.sure]
    told = [f"{(shown or {}).get(move.name, move.name)} {move.distance:.2f}" for move in sure]
    title = "Objects with different positions, the surest first (distance in radii of the map)"
    return f"{title}: {listed(told, most)}." if told else ""


def group_comparison(comparison: GroupComparison) -> Finding:
    """Whether groups of participants see the objects differently; of several pairs, which."""
    if len(comparison.pairs) == 1:
        return group_pair(comparison.pairs[0])
    differ = [pair for pair in comparison.pairs if pair.differ]
    named = [f"{pair.names[0]} and {pair.names[1]} (p = {pair.test.p:.3f})" for pair in differ]
    text = f"These groups differ: {'; '.join(named[:2])}{' and others' if named[2:] else ''}."
    short = f"{number(len(differ))} of {number(len(comparison.pairs))} pairs differ"
    return Finding("note", short, text if differ else "No two groups differ detectably.")
