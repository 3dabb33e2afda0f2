"""The noise ceiling: how good the best possible model could be, from answers to questions asked more than once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nearfar.evaluate.agreement import Agreement, Given, agreement, counts_of_others
from nearfar.evaluate.uncertainty import clustered_mean_error, dense_codes, speakers
from nearfar.triplets import Triplets, as_triplets

__all__ = ["Majority", "NoiseCeiling", "ParticipantAgreement", "noise_ceiling"]


class Majority(NamedTuple):
    """One answer against the majority of the others' answers to the same question; a split vote counts one half.

    As in ``Agreement`` every repeated question counts once.
    """

    share: float
    standard_error: float
    questions: int
    answers: int


class ParticipantAgreement(NamedTuple):
    """How one participant agrees with the others, and with themselves; None where nothing can be said."""

    participant: str
    answers: int
    with_others: float | None
    questions_with_others: int
    with_themselves: float | None
    repeated: int


@dataclass(frozen=True)
class NoiseCeiling:
    """What repeated questions say about the noise in the answers; None stands for "unknown".

    Parameters
    ----------
    agreement : of two answers to the same question by different people (by different statements where people
        are not known). Where all answers are one participant's, their agreement with themselves.
    majority : one answer against the majority of the others.
    within : of two answers to the same question by the same participant, given in different statements; a question
        counts once for every participant who got it again.
    odd_one_out, most_central : same trio, same choice (chance is one third), for statements of that kind.
    participants : one row per participant, where known.
    """

    agreement: Agreement | None
    majority: Majority | None
    within: Agreement | None
    odd_one_out: Agreement | None
    most_central: Agreement | None
    participants: tuple[ParticipantAgreement, ...]

    @property
    def bracket(self) -> tuple[float, float] | None:
        """Bounds of the best possible accuracy, [A, (1 + sqrt(2A - 1))/2]; None where nothing was repeated."""
        return None if self.agreement is None else self.agreement.bracket

    def __str__(self) -> str:
        return "\n".join(_lines(self))

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and text, for JSON; None stands for "unknown", also for an error that is not known."""
        parts: dict[str, Any] = {"bracket": None if self.bracket is None else list(self.bracket)}
        for name in ("agreement", "within", "odd_one_out", "most_central"):
            part = getattr(self, name)
            parts[name] = None if part is None else {**_plain(vars(part)), "bracket": list(part.bracket)}
        parts["majority"] = None if self.majority is None else _plain(self.majority._asdict())
        return {**parts, "participants": [row._asdict() for row in self.participants]}

    def to_frame(self) -> Any:
        """One row per participant, as a polars data frame."""
        import polars as pl

        columns = {
            "participant": pl.String,
            "answers": pl.Int64,
            "with_others": pl.Float64,
            "questions_with_others": pl.Int64,
            "with_themselves": pl.Float64,
            "repeated": pl.Int64,
        }
        return pl.DataFrame(list(self.participants), schema=columns, orient="row")


def noise_ceiling(answers: Triplets | ArrayLike) -> NoiseCeiling:
    """How often two answers to the same question agree, and the bracket of the best possible accuracy.

    If a question gets "near" with probability q, no model can do better than E max(q, 1 - q). From the agreement
    A of two answers to the same question that is at least A and at most (1 + sqrt(2A - 1))/2.
    Two rows of one statement are never two answers; two answers by one participant (double submits as well)
    count only as agreement of the participant with themselves. What was not repeated is None, "unknown".

    Examples
    --------
    >>> answers = Triplets.from_array([[0, 1, 2], [0, 1, 2], [0, 2, 1], [3, 1, 2], [3, 1, 2]])
    >>> ceiling = noise_ceiling(answers)
    >>> round(ceiling.agreement.share, 2), ceiling.agreement.questions
    (0.67, 2)
    >>> print(noise_ceiling([[0, 1, 2], [1, 0, 2]]))
    noise ceiling: unknown, no question was answered twice
    """
    answers = as_triplets(answers)
    person, statement = speakers(answers), answers.statement_ids
    given = Given(
        dense_codes(answers.question_ids),
        (answers.near < answers.far).astype(np.int64),
        dense_codes(answers.trio_ids),
    )
    same, others = counts_of_others(given.asked, given.said, person)
    between = agreement(given, same, others, person)
    within = _within(answers, given, person, statement)
    alone = len(answers) > 0 and person.max() == 0
    return NoiseCeiling(
        agreement=within if alone else between,
        majority=_majority(given.asked, same, others, person),
        within=within,
        odd_one_out=_of_kind(answers, person, "far"),
        most_central=_of_kind(answers, person, "near"),
        participants=_by_participant(answers, given, person, statement),
    )


def _within(
    answers: Triplets, given: Given, person: NDArray[np.int64], statement: NDArray[np.int64]
) -> Agreement | None:
    """The same people answering the same question again, in another statement."""
    if answers.participant is None:
        return None
    own = given._replace(asked=dense_codes(given.asked * (int(person.max(initial=-1)) + 1) + person))
    same, others = counts_of_others(own.asked, own.said, dense_codes(statement))
    return agreement(own, same, others, person, within=True)


def _majority(
    asked: NDArray[np.int64], same: NDArray[np.int64], others: NDArray[np.int64], person: NDArray[np.int64]
) -> Majority | None:
    known = others > 0
    if not known.any():
        return None
    right = (1 + np.sign(2 * same - others)[known]) / 2
    question = dense_codes(asked[known])
    weight = 1 / np.bincount(question)[question]
    error = clustered_mean_error(right, person[known], weight)
    questions = int(question.max()) + 1
    return Majority(float(np.sum(weight * right)) / questions, error, questions, int(known.sum()))


def _of_kind(answers: Triplets, person: NDArray[np.int64], role: str) -> Agreement | None:
    """Agreement of statements of exactly two rows that choose one of three: role "far" the odd, "near" the central.

    Odd-one-out gives (a, b, odd) and (b, a, odd); most-central gives (a, central, b) and (b, central, a).
    """
    statement = dense_codes(answers.statement_ids)
    by_statement = np.argsort(statement, kind="stable")
    size = np.bincount(statement)
    first = (np.cumsum(size) - size)[size == 2]
    one, two = by_statement[first], by_statement[first + 1]
    choice = answers.far if role == "far" else answers.near
    trios = answers.trio_ids
    twins = (choice[one] == choice[two]) & (trios[one] == trios[two])
    twins &= answers.anchor[one] != answers.anchor[two]
    one = one[twins]
    asked = dense_codes(trios[one])
    given = Given(asked, choice[one].astype(np.int64), asked)
    person = dense_codes(person[one])
    same, others = counts_of_others(given.asked, given.said, person)
    return agreement(given, same, others, person, options=3)


def _by_participant(
    answers: Triplets, given: Given, person: NDArray[np.int64], statement: NDArray[np.int64]
) -> tuple[ParticipantAgreement, ...]:
    if answers.participant is None:
        return ()
    codes, size = answers.participant.codes, len(answers.participant.names)
    same, others = counts_of_others(given.asked, given.said, person)
    own = dense_codes(given.asked * (int(person.max(initial=-1)) + 1) + person)
    same_again, again = counts_of_others(own, given.said, dense_codes(statement))
    count = np.bincount(codes, minlength=size)
    n_others, with_others = _mean_share(same, others, codes, size)
    n_again, with_self = _mean_share(same_again, again, codes, size)
    return tuple(
        ParticipantAgreement(
            str(answers.participant.names[p]),
            int(count[p]),
            float(with_others[p]) if n_others[p] else None,
            int(n_others[p]),
            float(with_self[p]) if n_again[p] else None,
            int(n_again[p]),
        )
        for p in np.flatnonzero(count)
        if str(answers.participant.names[p])
    )


def _mean_share(
    same: NDArray[np.int64], others: NDArray[np.int64], codes: NDArray[np.int32], size: int
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Per participant: answers that have others to compare with, and the mean share of those that agree."""
    known = others > 0
    n = np.bincount(codes[known], minlength=size)
    total = np.bincount(codes[known], weights=same[known] / others[known], minlength=size)
    return n, total / np.maximum(n, 1)


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    """NaN as None: JSON has no NaN."""
    return {name: None if value != value else value for name, value in values.items()}


def _lines(ceiling: NoiseCeiling) -> list[str]:
    """The text of a ceiling, a line per part that is known."""
    if ceiling.agreement is None:
        lines = ["noise ceiling: unknown, no question was answered twice"]
        if ceiling.within is not None:
            lines = ["noise ceiling: unknown, no question was answered by two people"]
    else:
        low, high = ceiling.agreement.bracket
        lines = [f"noise ceiling: the best possible accuracy is between {low:.3f} and {high:.3f}"]
        lines.append(_line("two answers to the same question agree", ceiling.agreement))
    if ceiling.majority is not None:
        m = ceiling.majority
        lines.append(
            f"one answer agrees with the majority of the others: {m.share:.3f} ± {m.standard_error:.3f}"
        )
    if ceiling.within is not None:
        lines.append(_line("two answers by the same participant agree", ceiling.within))
    if ceiling.odd_one_out is not None:
        lines.append(_line("same trio, same odd one (chance 1/3)", ceiling.odd_one_out))
    if ceiling.most_central is not None:
        lines.append(_line("same trio, same central one (chance 1/3)", ceiling.most_central))
    return lines


def _line(what: str, part: Agreement) -> str:
    return f"{what}: {part.share:.3f} ± {part.standard_error:.3f} ({part.questions:,} questions, {part.answers:,} answers)"
