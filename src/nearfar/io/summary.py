"""What a collection of answers holds, as plain facts; ``nearfar check`` and the report show them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from nearfar.io.reading import ReadResult, ReadSource
from nearfar.io.suspicions import similar_names
from nearfar.triplets import Triplets

__all__ = ["Rejection", "SetAside", "Summary", "summarise"]

EXAMPLES = 3


@dataclass(frozen=True)
class Rejection:
    """One reason for which rows were not answers: how many, what was expected, and the first of them."""

    reason: str
    count: int
    expected: str
    examples: tuple[str, ...]


@dataclass(frozen=True)
class SetAside:
    """One kind of rows that the dialect knows not to be answers; graded ones were ``correct`` or ``wrong``."""

    kind: str
    count: int
    correct: int
    wrong: int


@dataclass(frozen=True)
class Summary:
    """Facts about a collection of answers.

    Attributes
    ----------
    objects, answers, unique : how many objects, answers, and distinct triplets.
    contradicting_pairs : questions that were answered both ways; contradicting_answers : the answers to them.
    statements, participants : how many; None where the answers do not say.
    repeated_questions : questions answered more than once; repeated_answers : the answers to them.
    repeated_within : (participant, question) pairs with more than one answer; None without participants.
    double_submits : answers sent again within half a second, by the same participant.
    unanswered : the objects that no answer is about.
    sources : the sources read and their dialects.
    similar_names : groups of names that differ only by case, spaces or Unicode form.
    set_aside, rejected : the rows that were not answers.
    """

    objects: int
    answers: int
    unique: int
    contradicting_pairs: int
    contradicting_answers: int
    statements: int | None
    participants: int | None
    repeated_questions: int
    repeated_answers: int
    repeated_within: int | None
    double_submits: int
    unanswered: tuple[str, ...]
    similar_names: tuple[tuple[str, ...], ...]
    sources: tuple[ReadSource, ...]
    set_aside: tuple[SetAside, ...]
    rejected: tuple[Rejection, ...]


def summarise(result: ReadResult) -> Summary:
    """The facts about what was read.

    >>> from nearfar.io import read_answers
    >>> facts = summarise(read_answers(np.array([[0, 1, 2], [0, 2, 1], [0, 1, 2]])))
    >>> facts.unique, facts.contradicting_pairs, facts.contradicting_answers, facts.repeated_questions
    (2, 1, 3, 1)
    """
    triplets = result.triplets
    distinct, times_given = triplets.unique()
    questions, where, ways = np.unique(distinct.question_ids, return_inverse=True, return_counts=True)
    answered = np.bincount(where, weights=times_given, minlength=len(questions)).astype(np.int64)
    people = triplets.participant
    return Summary(
        objects=triplets.n_objects,
        answers=len(triplets),
        unique=len(distinct),
        contradicting_pairs=int((ways == 2).sum()),
        contradicting_answers=int(answered[ways == 2].sum()),
        statements=None if triplets.statement is None else len(np.unique(triplets.statement_ids)),
        participants=None if people is None else len(people.known),
        repeated_questions=int((answered > 1).sum()),
        repeated_answers=int(answered[answered > 1].sum()),
        repeated_within=_repeated_within(triplets),
        double_submits=int(result.double_submits.sum()),
        unanswered=_unanswered(triplets),
        similar_names=tuple(similar_names(triplets.objects)),
        sources=result.sources,
        set_aside=_set_aside(result.checks),
        rejected=_rejections(result),
    )


def _repeated_within(triplets: Triplets) -> int | None:
    if triplets.participant is None:
        return None
    _, question = np.unique(triplets.question_ids, return_inverse=True)
    pairs = question.astype(np.int64) * len(triplets.participant.names) + triplets.participant.codes
    pairs = pairs[np.isin(triplets.participant.codes, triplets.participant.known)]
    return int((np.unique(pairs, return_counts=True)[1] > 1).sum())


def _unanswered(triplets: Triplets) -> tuple[str, ...]:
    used = np.zeros(triplets.n_objects, dtype=bool)
    for role in (triplets.anchor, triplets.near, triplets.far):
        used[role] = True
    return tuple(triplets.objects[i] for i in np.flatnonzero(~used))


def _set_aside(checks: pl.DataFrame) -> tuple[SetAside, ...]:
    correct = pl.col("correct")
    counts = checks.group_by("kind", maintain_order=True).agg(
        count=pl.len(), correct=correct.sum(), wrong=(~correct).sum()
    )
    return tuple(SetAside(**row) for row in counts.rows(named=True))


def _rejections(result: ReadResult) -> tuple[Rejection, ...]:
    row_words = {source.name: source.row_word for source in result.sources}
    found = []
    for (reason,), rows in result.rejected.group_by("reason", maintain_order=True):
        shown = rows.head(EXAMPLES).select("file", "line", "content").rows()
        examples = tuple(f"{file}, {row_words[file]} {line}: {content}" for file, line, content in shown)
        found.append(Rejection(str(reason), len(rows), str(rows["expected"][0]), examples))
    return tuple(sorted(found, key=lambda rejection: -rejection.count))
