"""How often people give the same answer to the same question, and what that says of the best possible model: the noise ceiling.

A question gets "near" with probability q. Two answers agree with probability A = E(q^2 + (1 - q)^2), and the best any
model can do is C = E max(q, 1 - q). With q from a Beta(a, a), a = (1 - A) / (2A - 1) and C = 1/2 + 1 / (a 4^a B(a, a));
whatever the distribution of q, C is at least A and at most (1 + sqrt(2A - 1)) / 2, where all questions are equally hard.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array

from nearfar import words
from nearfar._tools.arrays import Codes, Floats, dense_codes
from nearfar._tools.records import Record
from nearfar.errors import InputError
from nearfar.evaluate.bootstrap import MIN_PARTICIPANTS, Estimate, effective_groups, make_draws
from nearfar.evaluate.collection import choices_of_three, control_rows, double_submits
from nearfar.evaluate.crossval import quick_credits
from nearfar.evaluate.splits import respondents
from nearfar.triplets import Triplets, as_triplets


@dataclass(frozen=True)
class Agreement(Estimate):
    """How often two answers to the same question agree; every repeated question counts once.

    ``questions`` were answered more than once, and got so many ``answers``; ``options`` : how many answers are possible.
    """

    questions: int = 0
    answers: int = 0
    options: int = 2


@dataclass(frozen=True)
class NoiseCeiling(Record):
    """What repeated questions say about the noise in the answers; None stands for "unknown".

    Parameters
    ----------
    best_possible : accuracy of the best possible model, with the 95 % interval; never below the accuracy of a model that
        was given.
    agreement : of two answers to the same question by different participants (by different statements where
        participants are not known). Where all answers are one participant's, their agreement with themselves.
    within : of two answers to the same question by the same participant, given in different statements.
    odd_one_out, most_central : same trio, same choice (chance is one third), for statements of that kind.
    unknown : why ``best_possible`` is None: "nothing repeated", "nobody else" (repeated by the same participants only),
        or "unlike" (repeated questions are easier or harder than the others); "" where it is known.
    lead : accuracy of a model on the repeated questions less that on the others; None where nearly all were repeated.
    controls : answers to control questions (asked far more often than the others); they are left out.
    copies : rows that repeat an answer of the same participant in the same second; they are left out.
    """

    best_possible: Estimate | None
    agreement: Agreement | None
    within: Agreement | None = None
    odd_one_out: Agreement | None = None
    most_central: Agreement | None = None
    unknown: Literal["", "nothing repeated", "nobody else", "unlike"] = ""
    lead: Estimate | None = None
    controls: int = 0
    copies: int = 0

    def __str__(self) -> str:
        return words.ceiling_text(self)


def noise_ceiling(
    answers: Triplets | ArrayLike, *, credit: NDArray[Any] | None = None, accuracy: Estimate | None = None
) -> NoiseCeiling:
    """How often two answers to the same question agree, and how good the best possible model could be.

    Two rows of one statement are never two answers; two answers by one participant count only as agreement of the
    participant with themselves; copies of a row count once; control questions, asked far more often than the others,
    are left out. The ceiling is unknown where nothing was repeated, and where a model predicts the repeated questions
    clearly better or worse than the others. With fewer than 10 participants it speaks of these.

    Parameters
    ----------
    answers : what was answered.
    credit : (m,) held-out credits of a model, for the last test; default: those of ``score``, computed here.
    accuracy : of a model, which the best possible one cannot be below.

    Examples
    --------
    >>> answers = Triplets.from_array([[0, 1, 2], [0, 1, 2], [0, 2, 1], [3, 1, 2], [3, 1, 2]])
    >>> round(noise_ceiling(answers).agreement.value, 2)
    0.67
    >>> noise_ceiling([[0, 1, 2], [1, 0, 2]]).unknown
    'nothing repeated'
    """
    everything = as_triplets(answers)
    controls, copies = control_rows(everything), copied_rows(everything)
    kept = ~(controls | copies)
    answers = everything[kept]
    person, statement = respondents(answers), answers.statement_ids
    asked, trio = dense_codes(answers.question_ids), dense_codes(answers.trio_ids)
    said = (answers.near < answers.far).astype(np.int64)
    within = None
    if answers.participant is not None:
        within = _agreement(_pair_codes(asked, person), said, trio, statement, person, within=True)
    alone = answers.participant is not None and not person.any()
    agreement = within if alone else _agreement(asked, said, trio, person, person)
    lead = None
    if agreement is not None:
        others = _size(asked) - _size(asked, statement if alone else person)
        lead = _lead(answers, None if credit is None else np.asarray(credit)[kept], others > 0)
    unlike = lead is not None and (lead.low > 0 or lead.high < 0)
    unknown: Any = "unlike" if unlike else ""
    if agreement is None:
        unknown = "nobody else" if within else "nothing repeated"
    best = None if agreement is None or unlike else _best_possible(agreement, accuracy)
    odd, central = (_of_kind(answers, person, role) for role in ("far", "near"))
    left_out = int(controls.sum()), int(copies.sum())
    return NoiseCeiling(best, agreement, within, odd, central, unknown, lead, *left_out)


def copied_rows(answers: Triplets) -> NDArray[np.bool_]:
    """(m,) rows that are copies, not repeats: same participant, same answer, same second.

    Where only response times are known, those must agree to the millisecond; rounded ones agree by chance.
    """
    copies = double_submits(answers)
    times = [time for time in (answers.answered_at, answers.seconds) if time is not None]
    if not times or (answers.answered_at is None and np.nanmean(times[0] * 10 % 1 < 1e-6) > 0.5):
        return copies
    who = np.zeros(len(answers)) if answers.participant is None else answers.participant.codes
    rows = np.column_stack([answers.triplet_ids, who, *(np.floor(1e3 * time) for time in times)])
    known = np.flatnonzero(np.isfinite(rows).all(axis=1))
    first = np.unique(rows[known], axis=0, return_index=True)[1]
    copies[np.delete(known, first)] = True
    return copies


def best_accuracy(agreement: float) -> float:
    """C of the agreement A where q has a Beta(a, a) distribution."""
    from scipy.special import betaln

    if agreement >= 1 - 1e-12 or agreement <= 0.5:
        return 1.0 if agreement > 0.5 else 0.5
    a = (1 - agreement) / (2 * agreement - 1)
    return 0.5 + math.exp(-math.log(a) - a * math.log(4) - float(betaln(a, a)))


def _best_possible(agreement: Agreement, accuracy: Estimate | None) -> Estimate:
    """The upper limit allows for questions that are all equally hard; nothing is below what a model reaches."""
    unknown = math.isnan(agreement.low)
    low, high = (0.5, 1.0) if unknown else np.clip([agreement.low, agreement.high], 0.5, 1.0).tolist()
    reached = accuracy or Estimate(math.nan)
    floor = 0.5 if math.isnan(reached.value) else reached.value
    low = max(best_accuracy(low), floor if math.isnan(reached.low) else reached.low)
    high = max((1 + math.sqrt(2 * high - 1)) / 2, floor, low)
    return Estimate(min(max(best_accuracy(agreement.value), floor, low), high), low, high)


def _lead(answers: Triplets, credit: NDArray[Any] | None, repeated: NDArray[np.bool_]) -> Estimate | None:
    """How much better a model predicts repeated questions than the others; None where nearly all were repeated."""
    if min(repeated.mean(), 1 - repeated.mean()) < 0.02:
        return None
    credit = quick_credits(answers) if credit is None else credit
    if credit is None or not (np.isfinite(credit[repeated]).any() and np.isfinite(credit[~repeated]).any()):
        return None
    one, other = np.where(repeated, credit, np.nan), np.where(repeated, np.nan, credit)
    return make_draws(answers, n_draws=200).difference(one, other)


def counts_of_others(asked: Codes, said: Codes, person: Codes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For every answer: others to the same question by somebody else that say the same, and all of them."""
    return _size(asked, said) - _size(asked, said, person), _size(asked) - _size(asked, person)


def _agreement(
    asked: Codes, said: Codes, unit: Codes, apart: Codes, person: Codes, options: int = 2, within: bool = False,
) -> Agreement | None:  # fmt: skip
    """Agreement of two answers of different ``apart`` (participants; statements); None where no question has two.

    With v_q pairs of answers to question q, of them g_q agreeing: ``A = mean_q g_q / v_q``. Its variance is that of the
    deviations summed by unit, and what answers of one participant have in common beyond a unit. Both answers of a pair
    have a participant of their own, unless ``within``.
    """
    from scipy.stats import t

    same, others = counts_of_others(asked, said, apart)
    pairs = np.bincount(asked, weights=others)
    counted = others > 0
    if not counted.any():
        return None
    agreeing = np.bincount(asked, weights=same)
    total = int((pairs > 0).sum())
    share = float(np.sum(agreeing[pairs > 0] / pairs[pairs > 0])) / total
    excess = ((same - share * others) / np.maximum(pairs, 1)[asked])[counted] / total
    people, units = dense_codes(person[counted]), dense_codes(unit[counted])
    df = effective_groups(units) - 1
    variance = _sum_of_squares(units, excess)
    if round(effective_groups(people)) >= MIN_PARTICIPANTS:
        df = min(df, effective_groups(people) - 1)
        of_people = excess if within else 2 * excess
        cells = _sum_of_squares(_pair_codes(people, units), of_people)  # the noise, which units have already
        variance += max(0.0, _sum_of_squares(people, of_people) - cells)
    error = max(math.sqrt(variance), 1 / (total + 4))  # equal answers in a sample are no proof for all
    width = float(t.ppf(0.975, df)) * error if df > 0 else np.nan
    low, high = np.clip([share - width, share + width], 0, 1).tolist()
    return Agreement(share, low, high, total, int(counted.sum()), options)


def _of_kind(answers: Triplets, person: Codes, role: str) -> Agreement | None:
    """Agreement of statements that choose one of three: role "far" the odd one, "near" the most central."""
    one = choices_of_three(answers, role)
    asked, who = dense_codes(answers.trio_ids[one]), dense_codes(person[one])
    choice = getattr(answers, role)[one].astype(np.int64)
    return _agreement(asked, choice, asked, who, who, options=3)


def _sum_of_squares(codes: Codes, values: Floats) -> float:
    return float(np.sum(np.bincount(codes, weights=values) ** 2))


def _pair_codes(one: Codes, other: Codes) -> Codes:
    return dense_codes(one * (int(other.max(initial=-1)) + 1) + other)


def _size(*keys: Codes) -> NDArray[np.int64]:
    """For every answer: how many answers have the same keys."""
    code = keys[0]
    for key in keys[1:]:
        code = _pair_codes(code, key)
    return np.bincount(code)[code] if len(code) else np.zeros(0, dtype=np.int64)


class _FirstResponses(NamedTuple):
    """One answer per person and question: which question, which of its options; its row; how many options and questions there are.

    Statements "odd one out" and "most central" are one answer with three options; anything else is one with two.
    """

    asked: Codes
    option: Codes
    row: NDArray[np.intp]
    options: int
    n_questions: int


def _first_responses(answers: Triplets) -> _FirstResponses:
    """The first answer of every person to every question, in terms of what was chosen."""
    person, options = respondents(answers), 2
    rows, chosen = np.arange(len(answers)), (answers.near < answers.far).astype(np.int64)
    for role in ("far", "near"):
        of_three = choices_of_three(answers, role)
        if len(of_three) and 2 * len(of_three) == len(answers):
            rows, options = of_three, 3
            chosen = np.argmax(np.sort(answers.array[rows]) == getattr(answers, role)[rows, None], axis=1)
            break
    asked = dense_codes(answers.trio_ids[rows] if options == 3 else answers.question_ids[rows])
    n = int(asked.max(initial=-1)) + 1
    firsts = np.unique(person[rows] * n + asked, return_index=True)[1]
    rows = rows[firsts]
    return _FirstResponses(asked[firsts], chosen[firsts], rows, options, n)


@dataclass(frozen=True, eq=False)
class PersonAgreement(Record):
    """How often every two people gave the same answer to the same question.

    ``share`` : (P, P) share of shared questions answered alike; NaN below 10 of them, and on the diagonal; ``shared`` : (P, P) how
    many questions both answered; ``options`` : answers that are possible; ``n_participants`` : of whom ``people`` are all, or a sample.
    """

    people: tuple[str, ...]
    share: Floats
    shared: NDArray[np.int64]
    options: int
    n_participants: int

    @property
    def known(self) -> float:
        """Share of all pairs of people whose agreement is told."""
        pairs = len(self.people) * (len(self.people) - 1)
        return float(np.isfinite(self.share).sum() / pairs) if pairs else 0.0


def person_agreement(answers: Triplets | ArrayLike, *, max_people: int = 300) -> PersonAgreement:
    """Agreement of every two people on the questions that both answered; of more than ``max_people`` so many are drawn.

    >>> rows = [[0, i, i + 1] for i in range(1, 13)]
    >>> answers = Triplets.from_array(rows + rows, participant=["ann"] * 12 + ["bob"] * 12)
    >>> alike = person_agreement(answers)
    >>> alike.people, float(alike.share[0, 1]), int(alike.shared[0, 1])
    (('ann', 'bob'), 1.0, 12)
    """
    answers = as_triplets(answers)
    if answers.participant is None:
        raise InputError("people: the answers do not say who gave them; add a column participant")
    everybody = answers.participant.known
    chosen = np.sort(np.random.default_rng(0).permutation(everybody)[:max_people])
    rows = np.flatnonzero(np.isin(answers.participant.codes, chosen))
    said = _first_responses(answers[rows])
    person = np.searchsorted(chosen, answers.participant.codes[rows[said.row]])

    def both(columns: Codes, count: int) -> Floats:
        """(P, P) in how many columns two people have an entry."""
        entries = np.ones(len(columns)), (person, columns)
        matrix: Any = coo_array(entries, shape=(len(chosen), count)).tocsr()
        return np.asarray((matrix @ matrix.T).todense())

    shared = both(said.asked, said.n_questions)
    alike = both(said.asked * said.options + said.option, said.n_questions * said.options)
    np.fill_diagonal(shared, 0)
    share = np.where(shared >= 10, alike, np.nan) / np.maximum(shared, 1)
    names = tuple(map(str, answers.participant.names[chosen].tolist()))
    return PersonAgreement(names, share, shared.astype(np.int64), said.options, len(everybody))


def group_agreement(answers: Triplets, group: NDArray[np.int64]) -> tuple[float, float, float] | None:
    """Share of pairs of people that agree: within the first group, within the second, between the two.

    Every question that two of them answered counts once, by each person's first answer; None where there is none for some of the three.
    """
    said = _first_responses(answers)
    shape = (2, said.options, said.n_questions)
    cell = (group[said.row] * said.options + said.option) * said.n_questions + said.asked
    votes = np.bincount(cell, minlength=int(np.prod(shape))).reshape(shape)
    n = votes.sum(axis=1)
    pairs = np.stack([*n * (n - 1) / 2, n[0] * n[1]])
    agree = np.stack([*(votes * (votes - 1) / 2).sum(axis=1), (votes[0] * votes[1]).sum(axis=0)])
    counts = (pairs > 0).sum(axis=1)
    if (counts == 0).any():
        return None
    first, second, between = ((agree / np.maximum(pairs, 1)).sum(axis=1) / counts).tolist()
    return first, second, between
