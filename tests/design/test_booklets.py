"""Booklets: equally many questions each, every question equally often, sides even, no trio twice but as planned."""

import warnings
from collections import Counter, defaultdict
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearfar import design
from nearfar.design.booklets import AGAIN, CHECK, NEW
from nearfar.design.questions import even_sides
from nearfar.errors import InputError, NearfarWarning


def trios(row, kind):
    """The sets of three objects that a question shows together."""
    if kind == "grid":
        return [frozenset((row[0], *pair)) for pair in combinations(row[1:], 2)]
    return [frozenset(row)]


def by_person(made):
    columns = (made.participant, made.place, made.role, made.question, made.questions.array)
    lists = defaultdict(list)
    for person, *rest in zip(*(column.tolist() for column in columns), strict=True):
        lists[person].append(rest)
    return lists


def options(row, kind):
    return row[1:] if kind in ("near", "grid") else row


def check_promises(made, given, gap=10):
    """Everything that the documentation says of booklets, read off naively."""
    kind = given.kind
    lists = by_person(made)
    lengths = [sum(role == NEW for _, role, _, _ in own) for own in lists.values()]
    assert max(lengths) - min(lengths) <= 1
    load = Counter(made.question[made.role == NEW].tolist())
    assert set(load) == set(range(len(given))) and max(load.values()) - min(load.values()) <= 1
    for own in lists.values():
        assert [place for place, *_ in own] == list(range(1, len(own) + 1))
        shown = Counter(t for _, role, _, row in own if role == NEW for t in trios(row, kind))
        assert max(shown.values(), default=1) == 1
        first = {question: (place, row) for place, role, question, row in own if role == NEW}
        for place, role, question, row in own:
            if role == CHECK:
                assert question == -1
                continue
            original = given.array[question].tolist()
            assert Counter(options(row, kind)) == Counter(options(original, kind))
            if kind in ("near", "grid"):
                assert row[0] == original[0]
            if role == AGAIN:
                assert place - first[question][0] >= gap
                before, now = options(first[question][1], kind), options(row, kind)
                assert all(a != b for a, b in zip(before, now, strict=True))
        repeated = Counter(question for _, role, question, _ in own if role == AGAIN)
        assert not repeated or max(repeated.values()) == 1


def questions_of(kind, n, m, size=8, pick=2):
    """Questions of any kind, evenly over the objects."""
    return design.Scheme(kind, size=size, pick=pick).questions(n, m)


@st.composite
def plans(draw):
    kind = draw(st.sampled_from(["near", "landmarks", "odd", "central"]))
    n = draw(st.integers(5, 9))
    m = draw(st.integers(3, 10))
    if kind == "near":
        questions = design.random_questions(n, m, seed=draw(st.integers(0, 9)))
    elif kind == "landmarks":
        questions = design.landmark_questions(n, range(4), budget=m, seed=1)
    else:
        questions = design.trio_questions(n, m, kind, seed=1)
    people = draw(st.integers(3, 8))
    return questions, people, draw(st.integers(1, people // 3))


@pytest.mark.filterwarnings("ignore::nearfar.errors.UninformedWarning")
@given(plans(), st.integers(0, 5))
def test_every_plan_keeps_its_promises(case, seed):
    questions, people, each = case
    made = design.booklets(questions, people, each=each, checks=2, seed=seed)
    check_promises(made, questions)
    assert np.bincount(made.role, minlength=3).tolist() == [len(questions) * each, 0, 2 * people]


@pytest.mark.parametrize("kind", ["near", "odd", "central"])
def test_places_repeats_and_checks_add_up(kind):
    questions = questions_of(kind, 40, 400)
    made = design.booklets(questions, 25, per_person=60, again=0.1, checks=3, seed=5)
    check_promises(made, questions)
    assert (np.bincount(made.participant)[1:] == 60).all()
    assert np.bincount(made.role).tolist() == [25 * 52, 25 * 5, 25 * 3]


def counts_by_person(made, n, columns=slice(None)):
    """(people, n) how often each object stands in each person's list."""
    new = made[made.role == NEW]
    own = [new.questions.array[new.participant == p][:, columns] for p in np.unique(made.participant)]
    return np.array([np.bincount(rows.ravel(), minlength=n) for rows in own])


@given(st.integers(6, 20), st.integers(2, 9), st.data())
def test_every_person_has_a_share_of_every_anchor(n, people, data):
    """How often an object is the anchor in a list: how often it is in all, divided by the people, rounded up or down."""
    questions = design.near_questions(
        n, data.draw(st.integers(n, min(3 * n, n * (n - 1) * (n - 2) // 6))), seed=1
    )
    per_person = data.draw(st.integers(-(-len(questions) // people), len(questions)))
    made = design.booklets(questions, people, per_person=per_person, seed=data.draw(st.integers(0, 3)))
    anchors = counts_by_person(made, n, [0])
    each = -(-people * per_person // len(questions))  # how often a question is asked, at most
    assert np.ptp(anchors.sum(axis=0)) <= each
    assert np.ptp(anchors, axis=0).max() <= 1
    assert np.ptp(anchors, axis=1).max() <= (1 if len(questions) % n == 0 else 2)


@pytest.mark.parametrize(
    ("kind", "most", "in_all"), [("near", 2.25, 3), ("odd", 2.25, 3), ("central", 2.25, 3), ("grid", 7.25, 6)]
)
def test_every_list_shows_every_object_about_equally_often(kind, most, in_all):
    """Dealt at random, the same lists differ by 9 to 13. The bounds hold for 20 of 20 seeds."""
    questions = questions_of(kind, 60, 600, size=6)
    for how in ({"each": 2}, {"per_person": 110}):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NearfarWarning)  # trios of grids that come again
            made = design.booklets(questions, 12, **how)
        counts = counts_by_person(made, 60)
        assert np.ptp(counts, axis=1).mean() <= most
        assert np.ptp(counts, axis=1).max() <= most + 2
        assert np.ptp(counts.sum(axis=0)) <= (0 if "each" in how else in_all)


def test_grids_are_kept_apart_too():
    questions = design.grid_questions(60, 120, size=6, pick=2)
    made = design.booklets(questions, 20, each=2, again=0.2, gap=3)
    check_promises(made, questions, gap=3)


def test_grids_that_cannot_be_kept_apart_are_counted():
    questions = design.grid_questions(6, 12, size=4, pick=2)
    with pytest.warns(
        NearfarWarning, match=r"come again on another grid of the same person: \d+; take smaller"
    ):
        made = design.booklets(questions, 2)
    shown = defaultdict(list)
    for person, row in zip(made.participant, made.questions.array.tolist(), strict=True):
        shown[person] += trios(row, "grid")
    assert sum(len(own) - len(set(own)) for own in shown.values()) > 0


def left_minus_right(shown, group, n):
    """(groups, n) how much more often each object stands left than right."""
    balance = np.zeros((group.max() + 1, n), dtype=int)
    np.add.at(balance, (group, shown.one), 1)
    np.add.at(balance, (group, shown.other), -1)
    return balance


@pytest.mark.parametrize(
    ("how", "most"),
    [({}, 1), ({"each": 2}, 2), ({"each": 3}, 2), ({"per_person": 25}, 2), ({"each": 4, "again": 0.1}, 2)],
)
@pytest.mark.parametrize("landmarks", [True, False])
def test_sides_are_even_for_every_object_person_and_question(how, most, landmarks):
    if landmarks:
        questions = design.landmark_questions(30, range(6), budget=240, even=True)
    else:
        questions = design.near_questions(30, 240, seed=1)
    made = design.booklets(questions, 12, seed=3, **how)
    made = made[made.role == NEW]
    by_person = left_minus_right(made.questions, made.participant, 30)
    assert np.abs(by_person).max() <= most
    assert np.abs(by_person.sum(axis=0)).max() <= 1
    left = made.questions.one == questions.one[made.question]
    assert np.abs(2 * np.bincount(made.question, weights=left) - np.bincount(made.question)).max() <= 1


@given(st.integers(0, 40), st.integers(1, 4), st.integers(0, 9))
def test_sides_of_any_questions_asked_once(m, people, seed):
    rng = np.random.default_rng(seed)
    pairs = np.array([rng.permutation(7)[:2] for _ in range(m)], dtype=np.int32).reshape(-1, 2)
    person = rng.integers(people, size=m)
    swap = even_sides(pairs, person, np.arange(m), rng)
    shown = np.where(swap[:, None], pairs[:, ::-1], pairs)
    balance = np.zeros((people, 7), dtype=int)
    np.add.at(balance, (person, shown[:, 0]), 1)
    np.add.at(balance, (person, shown[:, 1]), -1)
    assert np.abs(balance).max() <= 1 and np.abs(balance.sum(axis=0)).max() <= 1


@pytest.mark.parametrize("kind", ["odd", "central", "grid"])
def test_options_of_a_question_take_turns(kind):
    questions = questions_of(kind, 60, 60, size=3, pick=1)
    made = design.booklets(questions, 12, each=6)
    for q in range(len(questions)):
        shown = made.questions.options[made.question == q]
        for column in shown.T:
            assert sorted(Counter(column.tolist()).values()) == [2, 2, 2]


def test_checks_are_spread_over_the_list_and_differ():
    made = design.booklets(design.trio_questions(20, 200, "central"), 5, per_person=44, checks=4)
    for own in by_person(made).values():
        places = [place for place, role, _, _ in own if role == CHECK]
        assert len(places) == 4
        assert [(place - 1) // 11 in (k - 1, k, k + 1) for k, place in enumerate(places)] == [True] * 4
    right = made.expected
    assert ((right >= 0) == (made.role == CHECK)).all()
    assert len(set(right[right >= 0].tolist())) == 20
    shown = made.questions.array[made.role == CHECK]
    assert (
        np.bincount(shown.ravel(), minlength=20) == 3
    ).all()  # twice as the central one, once beside another


def test_who_shares_questions_with_whom_is_mixed():
    """Dealt round the table, five neighbours would share all their questions; mixed, every pair shares some."""
    questions = design.trio_questions(40, 1200)
    made = design.booklets(questions, 30, each=5, seed=2)
    own = [set(made.question[made.participant == p].tolist()) for p in range(1, 31)]
    shared = np.array([len(a & b) for a, b in combinations(own, 2)])
    assert shared.mean() == pytest.approx(27.6, abs=0.1)  # 1200 * C(5, 2) / C(30, 2)
    assert shared.min() > 5 and shared.max() < 60


def test_one_person_gets_one_list():
    questions = design.trio_questions(20, 100)
    made = design.booklets(questions, 1, again=0.3, gap=7, seed=1)
    check_promises(made, questions, gap=7)
    assert set(made.participant.tolist()) == {1} and (made.role == AGAIN).sum() == 30
    assert repr(made) == "Booklets(1 person, 130 questions: 100 new, 30 again, 0 checks)"


@given(st.integers(0, 12), st.integers(0, 20), st.integers(0, 3), st.integers(1, 9), st.integers(0, 9))
def test_a_list_that_goes_on_repeats_what_was_asked_long_enough_ago(n_new, n_again, n_checks, gap, seed):
    """Everything new in its order, every repeat late enough, once, and as many as there is room for."""
    earlier = {"x": 1, "y": 4, "z": 8}
    new, checks = [f"n{i}" for i in range(n_new)], [f"c{i}" for i in range(n_checks)]
    made = design.arrange(new, n_again, checks, gap, np.random.default_rng(seed), earlier)
    assert [item for role, item in made if role == NEW] == new
    assert sorted(item for role, item in made if role == CHECK) == checks
    again = [(place, item) for place, (role, item) in enumerate(made) if role == AGAIN]
    assert len({item for _, item in again}) == len(again) <= n_again
    for place, item in again:
        first = -earlier[item] if item in earlier else made.index((NEW, item))
        assert place - first >= gap
    if n_again >= n_new + 3 and n_new >= gap:
        assert len(again) >= 3 + n_new - gap


def test_seeds_fix_everything():
    questions = design.trio_questions(20, 100)
    one, same, other = (design.booklets(questions, 5, checks=1, seed=s).questions.array for s in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()


@pytest.mark.parametrize("kind", design.KINDS)
def test_checks_grade_and_give_no_triplet(kind):
    questions = questions_of(kind, 40, 40, size=4, pick=2)
    made = design.booklets(questions, 4, checks=3, seed=4)
    pick = questions.pick
    right = np.zeros((len(made), pick), dtype=int)
    wrong = np.zeros((len(made), pick), dtype=int)
    for i, (shown, expected) in enumerate(zip(made.questions.options.tolist(), made.expected, strict=True)):
        hits = [k for k, x in enumerate(shown) if x == expected]
        misses = [k for k, x in enumerate(shown) if x != expected]
        right[i] = (hits[:1] + misses)[:pick]
        wrong[i] = misses[:pick]
    is_check = made.role == CHECK
    assert made.passed(right).sum() == is_check.sum() == 12
    assert not made.passed(wrong).any()
    assert not made.passed(np.full((len(made), pick), -1)).any()
    answers = made.answered(right if pick > 1 else right[:, 0])
    per_question = {"near": 1, "odd": 2, "central": 2, "grid": 4}[kind]
    assert len(answers) == len(questions) * per_question
    assert len(answers.participant.present) == 4
    if kind == "near":
        assert (answers.near_side == 1).sum() == 0
    places = made[made.participant == 2]
    assert all(b - a == 1 for a, b in pairwise(places.place.tolist()))


TRIOS = design.trio_questions(10, 40)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: design.booklets(TRIOS, 0), "people must be an integer >= 1, got 0"),
        (
            lambda: design.booklets(TRIOS, 3, each=4),
            "each: 4 answers per question need as many people, got 3",
        ),
        (lambda: design.booklets(TRIOS, 3, each=2, per_person=5), "give per_person or each, not both"),
        (
            lambda: design.booklets(TRIOS, 3, per_person=10),
            "3 people with 10 new questions each answer 30, but there are 40 questions",
        ),
        (
            lambda: design.booklets(TRIOS, 3, per_person=60),
            "nobody gets the same trio twice; take more people",
        ),
        (lambda: design.booklets(TRIOS, 3, per_person=3, checks=3), "leave no room for questions besides 3"),
        (
            lambda: design.booklets(TRIOS, 8, again=0.5),
            r"a list of 5 questions has room for fewer repeats at least 10 places later \(0\) than",
        ),
        (lambda: design.booklets(TRIOS, 4, again=2), "again must be a share from 0 to 1, got 2"),
        (lambda: design.booklets(TRIOS[:0], 4), "expected at least one question"),
        (lambda: design.booklets(design.random_questions(4, 12), 2), "nobody gets the same trio twice"),
        (lambda: design.booklets(TRIOS, 4).answered([0, 1]), "expected one for each of 40 places, got 2"),
    ],
)
def test_what_cannot_be_done_is_said(call, message):
    with pytest.raises(InputError, match=message):
        call()
