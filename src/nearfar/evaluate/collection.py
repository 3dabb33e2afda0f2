"""What a collection of answers holds: plain facts, how often everything was asked, and what was sent twice."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nearfar._tools.arrays import dense_codes
from nearfar.evaluate.controls import controls_text
from nearfar.triplets import Triplets

if TYPE_CHECKING:
    from nearfar.io import ReadResult

__all__ = ["AnswerCounts", "Disputed", "accuracy_per_object", "count_answers", "double_submits", "summarise"]


def summarise(result: ReadResult, examples: int = 3) -> dict[str, Any]:
    """Facts about what was read: of the answers, and of the rows that were not answers with the first of each reason.

    >>> from nearfar.io import ReadResult
    >>> facts = summarise(ReadResult(Triplets.from_array([[0, 1, 2], [0, 2, 1], [0, 1, 2]])))
    >>> facts["answers"], facts["unique"], facts["contradicting_pairs"], facts["contradicting_answers"]
    (3, 2, 1, 3)
    """
    import polars as pl

    from nearfar.io.suspicions import similar_names

    triplets = result.triplets
    low, high = _votes(triplets)
    answered, both = low + high, (low > 0) & (high > 0)
    used = np.bincount(triplets.array.ravel(), minlength=triplets.n_objects) > 0
    correct = pl.col("correct")
    asides = result.checks.group_by("kind", maintain_order=True).agg(
        count=pl.len(), correct=correct.sum(), wrong=(~correct).sum()
    )
    return {
        "objects": triplets.n_objects,
        "answers": len(triplets),
        "unique": len(low) + int(both.sum()),
        "contradicting_pairs": int(both.sum()),
        "contradicting_answers": int(answered[both].sum()),
        "statements": None if triplets.statement is None else len(np.unique(triplets.statement_ids)),
        "participants": None if triplets.participant is None else len(triplets.participant.known),
        "repeated_questions": int((answered > 1).sum()),
        "repeated_answers": int(answered[answered > 1].sum()),
        "repeated_within": _repeated_within(triplets),
        "double_submits": int(double_submits(triplets).sum()),
        "controls": controls_text(triplets),
        "unanswered": [triplets.objects[i] for i in np.flatnonzero(~used)],
        "similar_names": similar_names(triplets.objects),
        "sources": [asdict(source) for source in result.sources],
        "set_aside": asides.to_dicts(),
        "rejected": _rejections(result, examples),
    }


def _repeated_within(triplets: Triplets) -> int | None:
    """How many (participant, question) pairs have more than one answer; None without participants."""
    people = triplets.participant
    if people is None:
        return None
    pairs = dense_codes(triplets.question_ids) * len(people.names) + people.codes
    pairs = pairs[np.isin(people.codes, people.known)]
    return int((np.unique(pairs, return_counts=True)[1] > 1).sum())


def _rejections(result: ReadResult, examples: int) -> list[dict[str, Any]]:
    """Rows that were not answers by reason, the commonest first."""
    words = {source.name: source.row_word for source in result.sources}
    reasons = [
        {
            "reason": reason,
            "count": len(rows),
            "expected": rows["expected"][0],
            "examples": [
                f"{file}, {words[file]} {line}: {content}"
                for file, line, content in rows.head(examples).select("file", "line", "content").rows()
            ],
        }
        for (reason,), rows in result.rejected.group_by("reason", maintain_order=True)
    ]
    return sorted(reasons, key=lambda rejection: -rejection["count"])


def double_submits(triplets: Triplets, within: float = 0.5) -> NDArray[np.bool_]:
    """(m,) True where the same participant answered the same question less than ``within`` seconds before."""
    flags = np.zeros(len(triplets), dtype=bool)
    if triplets.participant is None or triplets.answered_at is None:
        return flags
    questions, who, when = triplets.question_ids, triplets.participant.codes, triplets.answered_at
    order = np.lexsort((when, questions, who))
    before, after = order[:-1], order[1:]
    again = (who[before] == who[after]) & (questions[before] == questions[after])
    flags[after] = again & (when[after] - when[before] <= within)
    return flags


@dataclass(frozen=True)
class Disputed:
    """A question that was answered both ways: so many said ``one``, so many ``other`` (indices of objects)."""

    anchor: int
    one: int
    other: int
    said_one: int
    said_other: int


@dataclass(frozen=True, eq=False)
class AnswerCounts:
    """How often everything was asked.

    Attributes
    ----------
    per_object, as_anchor : (n,) answers that concern every object, and of those as anchor.
    statements, triplets, questions : how many different ones there are.
    repeated, contradicted : questions answered more than once, and of those both ways.
    """

    per_object: NDArray[np.int64]
    as_anchor: NDArray[np.int64]
    statements: int
    triplets: int
    questions: int
    repeated: int
    contradicted: int
    _answers: Triplets

    def disputed(self, most: int = 12) -> list[Disputed]:
        """The questions that split people most evenly, those with the most answers first among equals."""
        answers = self._answers
        ids, first = np.unique(answers.question_ids, return_index=True)
        low, high = _votes(answers)
        minority, total = np.minimum(low, high), low + high
        both = np.flatnonzero(minority > 0)
        shuffled = np.random.default_rng(0).permutation(len(ids))[both]
        # how sure it is that people are split: a share near one half, from many answers
        evenness = (minority[both] + 1) / (total[both] + 2)
        order = both[np.lexsort((shuffled, -total[both], -evenness * (1 - 1 / total[both])))][:most]
        asked = answers.array[first[order]]
        table = np.column_stack([asked[:, 0], np.sort(asked[:, 1:]), low[order], high[order]])
        return [Disputed(*row) for row in table.tolist()]


def count_answers(answers: Triplets) -> AnswerCounts:
    """Count a collection once.

    >>> counts = count_answers(Triplets.from_array([[0, 1, 2], [0, 2, 1], [1, 0, 2]]))
    >>> counts.questions, counts.repeated, counts.contradicted, counts.as_anchor.tolist()
    (2, 1, 1, [2, 1, 0])
    """
    low, high = _votes(answers)
    contradicted = int(((low > 0) & (high > 0)).sum())
    return AnswerCounts(
        per_object=np.bincount(answers.array.ravel(), minlength=answers.n_objects),
        as_anchor=np.bincount(answers.anchor, minlength=answers.n_objects),
        statements=len(np.unique(answers.statement_ids)),
        triplets=len(low) + contradicted,
        questions=len(low),
        repeated=int((low + high > 1).sum()),
        contradicted=contradicted,
        _answers=answers,
    )


def accuracy_per_object(answers: Triplets, credit: NDArray[np.floating]) -> NDArray[np.float64]:
    """(n,) mean held-out credit of the judged answers that concern every object; NaN where there is none."""
    judged = np.isfinite(credit)
    concerned = answers.array[judged].ravel()
    hits = np.bincount(concerned, weights=np.repeat(credit[judged], 3), minlength=answers.n_objects)
    count = np.bincount(concerned, minlength=answers.n_objects)
    return np.where(count > 0, hits / np.maximum(count, 1), np.nan)


def _votes(answers: Triplets) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Per question, in the order of their ids: answers for the option with the lower index, and the higher."""
    ids, codes = np.unique(answers.question_ids, return_inverse=True)
    low = np.bincount(codes[answers.near < answers.far], minlength=len(ids))
    return low, np.bincount(codes, minlength=len(ids)) - low
