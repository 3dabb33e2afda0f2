"""Subgroups of participants: does one map serve everybody, or do two or three serve better? By held-out accuracy.

People are grouped by what the common map, and their own ability, leave of their answers (``residual_vectors``). The
cost is bounded: of very many answers some people, and some answers of each, are drawn at random, and the result says so.
Who belongs to which subgroup is told by all answers of everybody.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array
from scipy.special import expit

from nearfar import words
from nearfar._tools.arrays import Floats, dense_codes
from nearfar._tools.checks import Seed, seed_number
from nearfar._tools.progress import step
from nearfar._tools.records import Record
from nearfar.errors import InputError
from nearfar.evaluate.bootstrap import MIN_PARTICIPANTS, Draws, Estimate, make_draws
from nearfar.evaluate.crossval import fit_timed
from nearfar.evaluate.judging import parse_or_choose
from nearfar.evaluate.splits import kfold, respondents, some_units, split_units
from nearfar.space.models import Model
from nearfar.space.space import Space
from nearfar.triplets import Triplets, as_triplets

MIN_ANSWERS = 10  # of a person who is looked at


@dataclass(frozen=True, eq=False)
class Subgroups(Record):
    """Whether one map serves everybody, or two or three serve better.

    Attributes
    ----------
    count : of subgroups: 1, or 2 or 3 where their own maps predict held-out answers better, at the 5 % level.
    people : names, in order.
    group : (P,) subgroup of each person from 0; all 0 where there is one.
    accuracy : held-out accuracy with one map, with two, and with three where two were found.
    gains : what the second subgroup adds, and the third where it was tried. Its limits are those of the test: in simulated
        studies they held the mean gain in .74 to .96, so that no interval of it is shown.
    model : by which answers were predicted.
    answers_used, answers_given : of how many answers the number of subgroups was found, and of how many all people gave.
    people_used : of how many people.
    """

    count: int
    people: tuple[str, ...]
    group: NDArray[np.int64]
    accuracy: tuple[Estimate, ...]
    gains: tuple[Estimate, ...]
    model: str
    answers_used: int
    answers_given: int
    people_used: int

    def __str__(self) -> str:
        return str(words.subgroups(self))


def find_subgroups(
    answers: Triplets | ArrayLike,
    *,
    model: Any = "soe-2",
    most: int = 3,
    max_answers: int = 20_000,
    seed: Seed = 0,
) -> Subgroups | None:
    """Look for subgroups of participants: do two maps, or three, predict held-out answers better than one?

    Two quarters of the answers are held out in turn. People are grouped by what the common map leaves of their other answers; each
    subgroup gets a map of its own, which predicts its people's held-out answers. Two subgroups are found where that is
    better than the map of everybody, with the whole 95 % interval of the difference above 0; three likewise against two.

    Parameters
    ----------
    answers : with participants.
    model : which map; "auto" for the one that ``nf.analyse`` chooses. A plane by default, since every subgroup's map is made
        of a share of the answers; docs/honesty.md says how often subgroups are found with it.
    most : subgroups to try, 2 or 3.
    max_answers : of more answers so many are drawn: at first fewer of each person, down to 200, then fewer people.
    seed : None, an integer or a numpy Generator.

    Returns
    -------
    Subgroups; None with fewer than ten people of ten answers each, or where too few different questions were asked to hold any out.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows = np.array([rng.permutation(12)[:3] for _ in range(2400)])
    >>> who = rng.integers(12, size=2400)
    >>> seen = np.where(who[:, None] < 6, rows, (rows * 5) % 12)  # six people see another order
    >>> far = np.abs(seen[:, 0] - seen[:, 1]) > np.abs(seen[:, 0] - seen[:, 2])
    >>> rows[far] = rows[far][:, [0, 2, 1]]
    >>> find_subgroups(Triplets.from_array(rows, participant=who)).count
    2
    """
    answers, seed = as_triplets(answers), seed_number(seed)
    if answers.participant is None:
        raise InputError("people: the answers do not say who gave them; add a column participant")
    if most not in (2, 3):
        raise InputError(f"most must be 2 or 3, got {most}")
    if (answers.participant == "").any():
        answers = answers[~(answers.participant == "")]
    assert answers.participant is not None
    sizes = np.bincount(respondents(answers))
    if (sizes >= MIN_ANSWERS).sum() < MIN_PARTICIPANTS:
        return None
    judged = parse_or_choose(answers, model, seed)
    drawn = answers[_drawn_rows(answers, sizes, max_answers, seed)]
    assert drawn.participant is not None
    if (units := split_units(drawn)).count < 4:
        return None
    folds = list(kfold(drawn, 4, by=units, seed=seed))[:2]  # two of four are held out
    held_out = drawn[np.concatenate([test for _, test in folds])]
    draws, drawn_by = make_draws(held_out), (respondents(held_out), split_units(held_out).codes)
    with step("looking for subgroups", total=2 * (most + 1)) as advance:
        parts = [(drawn[train], drawn[test], fit_timed(judged, drawn[train]).space) for train, test in folds]
        advance(2)
        credits = [np.concatenate([common.credits(test) for _, test, common in parts])]
        count, gains = 1, list[Estimate]()
        for k in range(2, most + 1):
            credits.append(np.concatenate([_with_own_maps(*part, judged, k, seed) for part in parts]))
            advance(2)
            # the wider interval of two: drawing people and units at once would count the noise of single answers three
            # times, where hardly a question is asked twice
            both = [Draws(codes).difference(credits[-1], credits[-2]) for codes in drawn_by]
            gains.append(max(both, key=lambda gain: gain.high - gain.low))
            if not (draws.scope.participants == "new" and gains[-1].low > 0):
                break
            count = k
    people, counts, vectors = residual_vectors(answers, parts[0][2])
    group = np.zeros(len(people), dtype=np.int64)
    if count > 1:
        group = cluster_people(vectors, counts, count, seed)
    order = np.argsort(people)
    names = tuple(map(str, answers.participant.names[people[order]].tolist()))
    used, accuracy = len(drawn.participant.present), tuple(draws.estimate(row) for row in credits)
    about = accuracy, tuple(gains), judged.name, len(drawn), len(answers), used
    return Subgroups(count, names, group[order], *about)


def _with_own_maps(
    known: Triplets, held_out: Triplets, common: Space, model: Model, k: int, seed: int
) -> NDArray[Any]:
    """Credits of held-out answers where each of k subgroups has its own map; those of one map for people not grouped."""
    assert known.participant is not None and held_out.participant is not None
    people, counts, vectors = residual_vectors(known, common)
    credits = common.credits(held_out)
    if len(people) < k:  # where all saw the same screen, nobody is left to train on
        return credits
    group = np.full(len(known.participant.names), -1, dtype=np.int64)
    group[people] = cluster_people(vectors, counts, k, seed)
    for g in range(k):
        mine, theirs = group[known.participant.codes] == g, group[held_out.participant.codes] == g
        if mine.any() and theirs.any() and not mine.all():
            credits[theirs] = fit_timed(model, known[mine]).space.credits(held_out[theirs])
    return credits


def _drawn_rows(answers: Triplets, sizes: NDArray[np.int64], wanted: int, seed: int) -> NDArray[np.intp]:
    """Rows that subgroups are looked for in: all, or about ``wanted`` in whole statements of people drawn."""
    if len(answers) <= wanted:
        return np.arange(len(answers))
    rng = np.random.default_rng(seed)
    each = max(200, wanted // len(sizes))  # before fewer of each person are taken, people are left out
    asked = rng.permutation(np.flatnonzero(sizes >= MIN_ANSWERS))
    total = np.cumsum(np.minimum(sizes, each)[asked])
    asked = asked[: max(MIN_PARTICIPANTS, int((total <= wanted).sum()))]
    order = np.argsort(respondents(answers), kind="stable")
    ends = np.cumsum(sizes)
    parts = [some_statements(answers, order[ends[p] - sizes[p] : ends[p]], each, rng) for p in asked.tolist()]
    return np.sort(np.concatenate(parts))


def some_statements(
    answers: Triplets, rows: NDArray[np.intp], size: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """At most ``size`` of the rows, whole statements at random, but one at least."""
    if len(rows) <= size:
        return rows
    return rows[some_units(dense_codes(answers.statement_ids[rows]), size, seed=rng)]


def cluster_people(
    vectors: Any, counts: Sequence[int] | NDArray[Any], k: int, seed: int = 0
) -> NDArray[np.int64]:
    """(P,) groups of people by their vectors: a spectral start, then each person to the group whose other people are most alike."""
    from sklearn.cluster import KMeans
    from sklearn.decomposition import TruncatedSVD

    unit = vectors / np.sqrt(np.maximum(counts, 1.0))[:, None]
    top = TruncatedSVD(min(k, unit.shape[1]), random_state=seed).fit_transform(unit)
    group: NDArray[np.int64] = KMeans(k, n_init=10, random_state=seed).fit_predict(top).astype(np.int64)
    own = np.asarray(unit.multiply(unit).sum(axis=1))[:, None]
    for _ in range(20):
        member = (group[:, None] == np.arange(k)).astype(np.float64)
        others = member.sum(axis=0) - member  # without the person themselves
        moved = np.argmax((unit @ (unit.T @ member) - own * member) / np.maximum(others, 1), axis=1)
        if (moved == group).all() or len(np.unique(moved)) < k:
            break
        group = moved
    return group


def residual_vectors(answers: Triplets, space: Space) -> tuple[NDArray[np.int32], NDArray[np.int64], Any]:
    """What is left of each person's answers when the common map and the person's own ability are taken out.

    Returns (P,) codes of the participants as they come, (P,) answers of each, and their vectors over pairs, (P, pairs) sparse.

    With m_t the margin of answer t on the common map and b_p the slope of the person's logistic curve (ability), what is left of
    answer t is r_t = 1 - 1 / (1 + exp(-b_p m_t)). Summed, + r_t for the pair (anchor, near) and - r_t for (anchor, far), it says
    which pairs a person sees nearer, and which farther, than everybody. Answering more carefully is not another strategy.
    """
    assert answers.participant is not None
    person = respondents(answers)
    people = answers.participant.codes[np.unique(person, return_index=True)[1]]
    margin = space.margins(answers.anchor, answers.near, answers.far)
    size = float(np.sqrt(np.mean(margin**2))) if len(margin) else 0.0
    margin = margin / size if size > 0 else margin
    left = 1 - expit(slopes(margin, person)[person] * margin)
    anchor, other = np.tile(answers.anchor.astype(np.int64), 2), np.concatenate([answers.near, answers.far])
    columns = dense_codes(np.minimum(anchor, other) * answers.n_objects + np.maximum(anchor, other))
    entries = np.concatenate([left, -left]), (np.tile(person, 2), columns)
    matrix: Any = coo_array(entries, shape=(len(people), int(columns.max(initial=-1)) + 1))
    return people, np.bincount(person), matrix.tocsr()


def slopes(margin: Floats, person: NDArray[np.integer], prior: float = 4.0) -> Floats:
    """(P,) slope of each person's logistic curve, drawn towards the slope of all together as if by ``prior`` answers."""
    everybody, weight = 0.0, 0.0
    for who in (np.zeros(len(margin), dtype=np.int64), person):
        slope = np.full(int(who.max(initial=-1)) + 1, everybody)
        # Newton's steps of sum_t log logistic(b m_t) - weight (b - everybody)^2 / 2, which is concave
        for _ in range(25):
            p = expit(slope[who] * margin)
            first = np.bincount(who, weights=(1 - p) * margin) - weight * (slope - everybody)
            second = np.bincount(who, weights=p * (1 - p) * margin**2) + weight
            slope = np.clip(slope + np.clip(first / np.maximum(second, 1e-9), -2, 2), -50, 50)
        everybody, weight = float(slope.sum()), prior * float(np.mean(margin**2)) / 4 if len(margin) else 0.0
    return slope
