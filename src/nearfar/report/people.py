"""Participants in words: their shares as the page shows them, and why a look at somebody is suggested."""

from __future__ import annotations

from collections.abc import Mapping

from nearfar import words
from nearfar.evaluate.participants import People, Rate
from nearfar.report.facts import Participant

__all__ = ["participant_facts"]


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
            reasons=(words.reason(person, people),) if person.reasons else (),
        )
        for person in people.rows
    )


def _share(rate: Rate | None) -> float | None:
    return None if rate is None else rate.share


def _of(rate: Rate | None) -> int:
    return 0 if rate is None else rate.of
