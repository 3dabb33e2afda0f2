"""What a collection of answers holds: plain facts, how often everything was asked, what was sent twice, and control questions."""

from __future__ import annotations

import warnings
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nearfar import words
from nearfar._tools.arrays import dense_codes
from nearfar.errors import RepeatedControlWarning
from nearfar.triplets import Triplets

if TYPE_CHECKING:
    from nearfar.io import ReadResult


class AnswerCounts:
    """How often everything was asked.

    ``per_object``, ``as_anchor`` : (n,) answers that concern every object, and of those as anchor; ``said_one``, ``said_other`` :
    (questions,) answers for the option with the lower index, and the higher; ``statements``, ``triplets``, ``questions`` : how many
    different ones; ``repeated``, ``contradicted`` : questions answered more than once, and of those both ways.

    >>> counts = AnswerCounts(Triplets.from_array([[0, 1, 2], [0, 2, 1], [1, 0, 2]]))
    >>> counts.questions, counts.repeated, counts.contradicted, counts.as_anchor.tolist()
    (2, 1, 1, [2, 1, 0])
    """

    def __init__(self, answers: Triplets) -> None:
        n = answers.n_objects
        ids, first, codes = np.unique(answers.question_ids, return_index=True, return_inverse=True)
        self._asked = answers.array[first]
        self.per_object = np.bincount(answers.array.ravel(), minlength=n)
        self.as_anchor = np.bincount(answers.anchor, minlength=n)
        self.said_one = np.bincount(codes[answers.near < answers.far], minlength=len(ids))
        self.said_other = np.bincount(codes, minlength=len(ids)) - self.said_one
        self.statements, self.questions = len(np.unique(answers.statement_ids)), len(ids)
        self.repeated = int((self.said_one + self.said_other > 1).sum())
        self.contradicted = int(((self.said_one > 0) & (self.said_other > 0)).sum())
        self.triplets = self.questions + self.contradicted

    def disputed(self, most: int = 12) -> list[dict[str, int]]:
        """The questions that split people most evenly, those with the most answers first among equals.

        Each with ``anchor``, ``one``, ``other`` (indices), and how many ``said_one`` and ``said_other``.
        """
        minority, total = np.minimum(self.said_one, self.said_other), self.said_one + self.said_other
        both = np.flatnonzero(minority > 0)
        shuffled = np.random.default_rng(0).permutation(self.questions)[both]
        # how sure it is that people are split: a share near one half, from many answers
        evenness = (minority[both] + 1) / (total[both] + 2)
        order = both[np.lexsort((shuffled, -total[both], -evenness * (1 - 1 / total[both])))][:most]
        asked = self._asked[order]
        columns = [asked[:, 0], *np.sort(asked[:, 1:]).T, self.said_one[order], self.said_other[order]]
        names = ("anchor", "one", "other", "said_one", "said_other")
        return [dict(zip(names, row, strict=True)) for row in np.column_stack(columns).tolist()]


def summarise(result: ReadResult, examples: int = 3) -> dict[str, Any]:
    """Facts about what was read: of the answers, and of the rows that were not answers with the first of each reason.

    >>> from nearfar.io import ReadResult
    >>> facts = summarise(ReadResult(Triplets.from_array([[0, 1, 2], [0, 2, 1], [0, 1, 2]])))
    >>> facts["answers"], facts["unique"], facts["contradicting_pairs"], facts["contradicting_answers"]
    (3, 2, 1, 3)
    """
    import polars as pl

    from nearfar.io.suspicions import similar_names

    triplets, people = result.triplets, result.triplets.participant
    counts = AnswerCounts(triplets)
    answered = counts.said_one + counts.said_other
    right = {"correct": pl.col("correct").sum(), "wrong": (~pl.col("correct")).sum()}
    asides = result.checks.group_by("kind", maintain_order=True).agg(count=pl.len(), **right)
    return {
        "objects": triplets.n_objects,
        "answers": len(triplets),
        "unique": counts.triplets,
        "contradicting_pairs": counts.contradicted,
        "contradicting_answers": int(answered[np.minimum(counts.said_one, counts.said_other) > 0].sum()),
        "statements": None if triplets.statement is None else counts.statements,
        "participants": None if people is None else len(people.known),
        "repeated_questions": counts.repeated,
        "repeated_answers": int(answered[answered > 1].sum()),
        "repeated_within": _repeated_within(triplets),
        "double_submits": int(double_submits(triplets).sum()),
        "controls": controls_text(triplets),
        "unanswered": [triplets.objects[i] for i in np.flatnonzero(counts.per_object == 0)],
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
    counts = np.unique(pairs[np.isin(people.codes, people.known)], return_counts=True)[1]
    return int((counts > 1).sum())


def _rejections(result: ReadResult, examples: int) -> list[dict[str, Any]]:
    """Rows that were not answers by reason, the commonest first."""
    words = {source.name: source.row_word for source in result.sources}
    reasons = []
    for (reason,), rows in result.rejected.group_by("reason", maintain_order=True):
        first = rows.head(examples).select("file", "line", "content").rows()
        shown = [f"{file}, {words[file]} {line}: {content}" for file, line, content in first]
        about = {"reason": reason, "count": len(rows), "expected": rows["expected"][0]}
        reasons.append({**about, "examples": shown})
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


def accuracy_per_object(answers: Triplets, credit: NDArray[np.floating]) -> NDArray[np.float64]:
    """(n,) mean held-out credit of the judged answers that concern every object; NaN where there is none."""
    judged = np.isfinite(credit)
    concerned = answers.array[judged].ravel()
    hits = np.bincount(concerned, weights=np.repeat(credit[judged], 3), minlength=answers.n_objects)
    count = np.bincount(concerned, minlength=answers.n_objects)
    return np.where(count > 0, hits / np.maximum(count, 1), np.nan)


def control_rows(answers: Triplets, often: int = 10, far_more: int = 5) -> NDArray[np.bool_]:
    """(m,) answers to control questions: asked at least 10 times, and 5 times as often as the median question.

    >>> often = Triplets.from_array([[0, 1, 2]] * 12 + [[1, 2, 3], [2, 3, 0], [3, 0, 1]])
    >>> control_rows(often).sum()
    np.int64(12)
    """
    ids = answers.question_ids
    ordered = np.sort(ids)  # quicker than counting, for the many collections without
    if not np.any(ordered[often - 1 :] == ordered[: max(len(ids) - often + 1, 0)]):
        return np.zeros(len(ids), dtype=bool)
    codes = dense_codes(ids)
    count = np.bincount(codes)
    control = (count >= often) & (count > far_more * np.median(count))
    return np.asarray(control[codes])


def controls_text(answers: Triplets) -> str:
    """The sentence about control questions that are not declared; "" where there are none."""
    controls = control_rows(answers)
    return words.controls(len(np.unique(answers.question_ids[controls])), int(controls.sum()))


def warn_of_controls(answers: Triplets, kernel: str | None = None) -> None:
    """Warn of control questions, for a model that counts every answer to them: k1 and k2 divide by their number."""
    divides = kernel is not None and set(kernel.split("+")) <= {"k1", "k2"}
    if not divides and (text := controls_text(answers)):
        warnings.warn(text, RepeatedControlWarning, stacklevel=3)
