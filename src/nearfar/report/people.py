"""Participants in words: their shares as the page shows them, and why a look at somebody is suggested."""

from __future__ import annotations

from collections.abc import Mapping

from nearfar.evaluate.people import People, Person, Rate
from nearfar.report.facts import Participant
from nearfar.report.words import percent

__all__ = ["participant_facts", "reason_for"]


def participant_facts(
    people: People, shown: Mapping[str, str], checks: Mapping[str, tuple[int, int]] | None = None
) -> tuple[Participant, ...]:
    """One row per participant under the name shown, those to look at first; ``checks`` : name -> right, and of how many."""
    graded = {} if checks is None else checks
    return tuple(
        Participant(
            name=shown[person.name],
            answers=person.answers,
            with_prediction=_share(person.with_prediction),
            low=None if person.with_prediction is None else person.with_prediction.low,
            high=None if person.with_prediction is None else person.with_prediction.high,
            with_others=_share(person.with_others),
            shared=_of(person.with_others),
            with_themselves=_share(person.with_themselves),
            repeated=_of(person.with_themselves),
            median_seconds=person.median_seconds,
            fast=person.fast,
            left=_share(person.left),
            sided=_of(person.left),
            checks_right=graded.get(person.name, (0, 0))[0],
            checks=graded.get(person.name, (0, 0))[1],
            reasons=(reason_for(person, people),) if person.standing else (),
        )
        for person in people.rows
    )


def reason_for(person: Person, people: People) -> str:
    """Why a look at this person is suggested, with the figure that says so; "" where it is not."""
    if person.standing == "inconsistent" and person.with_themselves is not None:
        return (
            f"repeats {percent(person.with_themselves.share, 0)} of their own answers"
            f"{_usual(people, 'with_themselves')}: inconsistent"
        )
    if person.standing == "one-sided" and person.left is not None:
        side, share = (
            ("left", person.left.share) if person.left.share > 0.5 else ("right", 1 - person.left.share)
        )
        return f"chose the {side} side in {percent(share, 0)}"
    if person.standing == "different":
        return f"{_unlike(person, people)}, but by rules of their own: answers reliably, by another taste"
    if person.standing:
        return f"{_unlike(person, people)}; careless or of another taste, which cannot be told"
    return ""


def _unlike(person: Person, people: People) -> str:
    """The share that lies lowest below what is usual."""
    kinds = {"with_prediction": "with the held-out prediction", "with_others": "with others"}
    low: dict[str, tuple[float, float]] = {}
    for kind in kinds:
        rate, usual = getattr(person, kind), people.usual.get(kind)
        if rate is not None and usual is not None:
            low[kind] = (usual.share - rate.share, rate.share)
    if not low:
        return "answers unlike the others"
    kind = max(low, key=lambda each: low[each])
    return f"agrees {kinds[kind]} in {percent(low[kind][1], 0)}{_usual(people, kind)}"


def _usual(people: People, kind: str) -> str:
    usual = people.usual.get(kind)
    return "" if usual is None else f", where {percent(usual.share, 0)} is usual"


def _share(rate: Rate | None) -> float | None:
    return None if rate is None else rate.share


def _of(rate: Rate | None) -> int:
    return 0 if rate is None else rate.of
