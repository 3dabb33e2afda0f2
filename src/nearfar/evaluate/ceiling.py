"""The noise ceiling: how good the best possible model could be, from answers to questions asked more than once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nearfar.evaluate.agreement import (
    Agreement,
    Given,
    agreement,
    as_plain,
    ceiling_bracket,
    counts_of_others,
)
from nearfar.evaluate.collection import double_submits
from nearfar.evaluate.quick import quick_credits
from nearfar.evaluate.repeats import FEW_SINGLE, FairDraw, control_rows, fair_draw
from nearfar.evaluate.uncertainty import (
    FEW_PEOPLE,
    Groups,
    covariance_of_means,
    dense_codes,
    error_groups,
    speakers,
)
from nearfar.triplets import Triplets, as_triplets

__all__ = ["ENOUGH_REPEATED", "Bound", "Majority", "NoiseCeiling", "ParticipantAgreement", "noise_ceiling"]

ENOUGH_REPEATED = 100  # questions answered more than once, below which the ceiling is unknown


class Bound(NamedTuple):
    """One end of the range of the best possible accuracy, with its 95 % interval."""

    value: float
    low: float
    high: float


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
    unknown : why the range of the best possible accuracy is not known, and what to ask next; "" where it is known.
    fair : whether a model predicts the repeated questions as well as the others; None where nearly all were repeated.
    controls : answers to control questions (asked far more often than the others); they are left out.
    """

    agreement: Agreement | None
    majority: Majority | None
    within: Agreement | None
    odd_one_out: Agreement | None
    most_central: Agreement | None
    participants: tuple[ParticipantAgreement, ...]
    unknown: str = ""
    fair: FairDraw | None = None
    controls: int = 0

    @property
    def low(self) -> Bound | None:
        """The lower end: two answers agree so often, and a model could at least say what the majority says."""
        if self.agreement is None or self.unknown:
            return None
        low, high = self.agreement.limits()
        bound = Bound(self.agreement.bracket[0], low, high)
        if self.majority is None or not math.isfinite(self.majority.standard_error):
            return bound
        share = self.majority.share
        width = 2 * max(self.majority.standard_error, 1 / (self.majority.questions + 4))
        other = Bound(share, share - width, min(1.0, share + width))
        return Bound(*(max(pair) for pair in zip(bound, other, strict=True)))

    @property
    def high(self) -> Bound | None:
        """The upper end, (1 + sqrt(2A - 1))/2 of the agreement A."""
        if self.agreement is None or self.unknown:
            return None
        values = (self.agreement.share, *self.agreement.limits())
        high = Bound(*(ceiling_bracket(value)[1] for value in values))
        low = self.low
        return high if low is None else Bound(max(high.value, low.value), high.low, max(high.high, low.high))

    @property
    def bracket(self) -> tuple[float, float] | None:
        """Both ends of the range of the best possible accuracy; None where it is unknown."""
        return None if self.low is None or self.high is None else (self.low.value, self.high.value)

    @property
    def outer(self) -> tuple[float, float] | None:
        """The same range with the uncertainty of its ends: the best possible accuracy lies inside in 95 of 100."""
        return None if self.low is None or self.high is None else (self.low.low, self.high.high)

    def __str__(self) -> str:
        return "\n".join(_lines(self))

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and text, for JSON; None stands for "unknown", also for an error that is not known."""
        plain: dict[str, Any] = {
            "bracket": None if self.bracket is None else list(self.bracket),
            "outer": None if self.outer is None else list(self.outer),
            "unknown": self.unknown,
        }
        for name in ("agreement", "within", "odd_one_out", "most_central"):
            found = getattr(self, name)
            plain[name] = None if found is None else {**as_plain(vars(found)), "bracket": list(found.bracket)}
        plain["majority"] = None if self.majority is None else as_plain(self.majority._asdict())
        return {**plain, "participants": [row._asdict() for row in self.participants]}

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


def noise_ceiling(answers: Triplets | ArrayLike, *, credit: NDArray[Any] | None = None) -> NoiseCeiling:
    """How often two answers to the same question agree, and the range of the best possible accuracy.

    If a question gets "near" with probability q, no model can do better than E max(q, 1 - q). From the agreement
    A of two answers to the same question that is at least A and at most (1 + sqrt(2A - 1))/2; and it is at least the
    share of answers that agree with the majority of the others.
    Two rows of one statement are never two answers; two answers by one participant count only as agreement of the
    participant with themselves; the same click sent twice within two seconds counts once; control questions, asked
    far more often than the others, are left out. The range is "unknown" with fewer than 100 repeated questions, with
    fewer than 10 people, and where a model predicts the repeated questions better or worse than the others, for then
    they are not a fair draw of all questions.

    Parameters
    ----------
    answers : what was answered.
    credit : (m,) held-out credits of a model, for the last test; default: those of ``score``, computed here.

    Examples
    --------
    >>> answers = Triplets.from_array([[0, 1, 2], [0, 1, 2], [0, 2, 1], [3, 1, 2], [3, 1, 2]])
    >>> ceiling = noise_ceiling(answers)
    >>> round(ceiling.agreement.share, 2), ceiling.agreement.questions, ceiling.bracket
    (0.67, 2, None)
    >>> print(noise_ceiling([[0, 1, 2], [1, 0, 2]]))
    best possible accuracy: unknown, no question was answered twice; ask about 100 questions a second time
    """
    everything = as_triplets(answers)
    controls, doubled = control_rows(everything), double_submits(everything)
    answers = everything[~(controls | doubled)]
    person, statement = speakers(answers), answers.statement_ids
    given = Given(
        dense_codes(answers.question_ids),
        (answers.near < answers.far).astype(np.int64),
        dense_codes(answers.trio_ids),
    )
    same, others = counts_of_others(given.asked, given.said, person)
    between = agreement(given, same, others, person)
    within = _within(answers, given, person, statement)
    alone = len(answers) > 0 and person.max() == 0 and answers.participant is not None
    found = within if alone else between
    fair = None
    repeated = np.bincount(given.asked)[given.asked] > 1 if alone else others > 0
    if found is not None and found.questions >= ENOUGH_REPEATED and np.mean(~repeated) >= FEW_SINGLE:
        kept = quick_credits(answers) if credit is None else credit[~(controls | doubled)]
        fair = None if kept is None else fair_draw(kept, repeated, error_groups(answers))
    return NoiseCeiling(
        agreement=found,
        majority=_majority(given.asked, same, others, person),
        within=within,
        odd_one_out=_of_kind(answers, person, "far"),
        most_central=_of_kind(answers, person, "near"),
        participants=_by_participant(answers, given, person, statement),
        unknown=_why_unknown(found, within, fair, known_people=answers.participant is not None and not alone),
        fair=fair,
        controls=int(controls.sum()),
    )


def _why_unknown(
    found: Agreement | None, within: Agreement | None, fair: FairDraw | None, *, known_people: bool
) -> str:
    """Why the range is not known, and what to ask next; "" where it is known."""
    if found is None:
        again = "answered by two people" if within is not None else "answered twice"
        more = "of a second person" if within is not None else "a second time"
        return f"no question was {again}; ask about {ENOUGH_REPEATED} questions {more}"
    if found.questions < ENOUGH_REPEATED:
        missing = ENOUGH_REPEATED - found.questions
        which = "1 question was" if found.questions == 1 else f"{found.questions} questions were"
        return (
            f"only {which} answered more than once; ask about {missing} more of them again, drawn at random from all "
            "questions"
        )
    if known_people and found.people < FEW_PEOPLE:
        return (
            f"the repeated questions were answered by {found.people} people, too few to say anything about others; ask at "
            f"least {FEW_PEOPLE}"
        )
    if fair is not None and not fair.fair:
        kind = "easier" if fair.repeated > fair.single else "harder"
        return (
            f"the questions that were answered more than once are {kind} than the others (a model predicts "
            f"{fair.repeated:.0%} of those answers and {fair.single:.0%} of the rest), so they do not represent all questions; "
            f"ask about {ENOUGH_REPEATED} questions again, drawn at random"
        )
    return ""


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
    questions = int(question.max()) + 1
    share = float(np.sum(weight * right)) / questions
    off = weight * (right - share) * len(right) / questions
    found = covariance_of_means(off, Groups(dense_codes(person[known]), question))
    error = math.sqrt(found.matrix[0, 0]) if found.df > 0 else math.nan
    return Majority(share, error, questions, int(known.sum()))


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


def _lines(ceiling: NoiseCeiling) -> list[str]:
    """The text of a ceiling, a line per range that is known."""
    if ceiling.bracket is None or ceiling.outer is None:
        lines = [f"best possible accuracy: unknown, {ceiling.unknown}"]
    else:
        (low, high), (least, most) = ceiling.bracket, ceiling.outer
        lines = [
            f"best possible accuracy: between {low:.3f} and {high:.3f} (with the uncertainty of both ends: {least:.3f} to "
            f"{most:.3f})"
        ]
    if ceiling.agreement is not None:
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
    if ceiling.controls:
        lines.append(f"{ceiling.controls:,} answers to control questions, asked far more often, are left out")
    return lines


def _line(what: str, found: Agreement) -> str:
    return f"{what}: {found.share:.3f} ± {found.standard_error:.3f} ({found.questions:,} questions, {found.answers:,} answers)"
