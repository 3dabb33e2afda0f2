"""Trios, grids and check questions: distinct, even, and turned into the triplets that their definition says."""

from collections import Counter
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearfar import design
from nearfar.errors import InputError, TooLargeError, UninformedWarning

EVEN = pytest.mark.filterwarnings("ignore::nearfar.errors.UninformedWarning")


def spread(values, n):
    counts = np.bincount(np.asarray(values).ravel(), minlength=n)
    return counts.max() - counts.min()


@EVEN
@given(st.integers(3, 9), st.data())
def test_trios_of_any_budget_are_distinct_and_even(n, data):
    budget = data.draw(st.integers(0, comb(n, 3)))
    trios = design.trio_questions(n, budget, "central", seed=data.draw(st.integers(0, 3)))
    assert len({frozenset(row) for row in trios.array.tolist()}) == budget
    assert all(len(set(row)) == 3 for row in trios.array.tolist())
    assert spread(trios.array, n) <= 1
    assert trios.kind == "central"


@EVEN
@given(st.integers(3, 7), st.data())
def test_grids_of_any_budget_are_distinct_and_even(n, data):
    size = data.draw(st.integers(2, n - 1))
    budget = data.draw(st.integers(0, n * comb(n - 1, size)))
    grids = design.grid_questions(n, budget, size=size, pick=1, seed=2)
    rows = grids.array.tolist()
    assert len({(row[0], frozenset(row[1:])) for row in rows}) == len(rows) == budget
    assert all(len(set(row)) == size + 1 for row in rows)
    assert spread(grids.anchor, n) <= 1
    assert spread(grids.options, n) <= 1


@EVEN
@given(st.integers(3, 8), st.data())
def test_near_questions_of_any_budget_are_distinct_and_even(n, data):
    budget = data.draw(st.integers(0, 3 * comb(n, 3)))
    near = design.near_questions(n, budget, seed=data.draw(st.integers(0, 3)))
    rows = near.array.tolist()
    assert len({(row[0], frozenset(row[1:])) for row in rows}) == len(rows) == budget
    assert all(len(set(row)) == 3 for row in rows)
    assert spread(near.anchor, n) <= 1
    assert spread(near.array, n) <= 1
    trios = Counter(frozenset(row) for row in rows)
    asked = [trios[frozenset(trio)] for trio in combinations(range(n), 3)]
    assert max(asked) - min(asked) <= 1


@EVEN
@given(st.integers(4, 8), st.data())
def test_near_questions_beside_others_are_other_questions(n, data):
    """About other trios as long as there are any; even where the others leave room for it."""
    every = 3 * comb(n, 3)
    given = design.random_questions(n, data.draw(st.integers(0, every)), seed=data.draw(st.integers(0, 9)))
    budget = data.draw(st.integers(0, every - len(given)))
    near = design.near_questions(n, budget, besides=given, seed=1)
    rows = [*given.array.tolist(), *near.array.tolist()]
    assert len({(row[0], frozenset(row[1:])) for row in rows}) == len(given) + budget
    before = Counter(frozenset(row) for row in given.array.tolist())
    after = Counter(frozenset(row) for row in rows)
    least = min(after[frozenset(trio)] for trio in combinations(range(n), 3))
    assert all(after[trio] <= max(before[trio], least + 1) for trio in after)


def test_near_questions_beside_a_few_others_are_as_even():
    given = design.landmark_questions(20, range(5), budget=60)
    near = design.near_questions(20, 80, besides=given)
    assert spread(near.anchor, 20) == 0 and spread(near.array, 20) == 0


def test_questions_that_leave_no_even_choice_are_taken_as_they_are():
    """All trios without object 0 are asked already, so that it is in all the others."""
    taken = design.Questions(np.array(list(combinations(range(1, 8), 3)), dtype=np.int32), tuple("01234567"))
    near = design.near_questions(list("01234567"), 9, besides=taken)
    assert (near.array == 0).any(axis=1).all()
    assert spread(near.anchor, 8) <= 2


@pytest.mark.parametrize(
    ("draw", "possible", "expected"),
    [
        (lambda seed: design.near_questions(5, 10, seed=seed), 30, 500),
        (lambda seed: design.trio_questions(6, 4, seed=seed), 20, 300),
    ],
)
def test_questions_come_up_equally_often(draw, possible, expected):
    counts = Counter()
    for seed in range(1500):
        questions = draw(seed)
        first = int(questions.anchored)
        counts.update((*row[:first], frozenset(row[first:])) for row in questions.array.tolist())
    values = np.array(list(counts.values()))
    assert len(values) == possible
    assert np.abs(values - expected).max() < 4.5 * np.sqrt(expected)


def test_all_trios_by_default():
    assert {frozenset(row) for row in design.trio_questions(7).array.tolist()} == set(
        map(frozenset, combinations(range(7), 3))
    )


def test_many_trios_and_grids_at_once():
    trios = design.trio_questions(200, 20_000)
    assert len({frozenset(row) for row in trios.array.tolist()}) == 20_000
    assert spread(trios.array, 200) == 0
    assert spread(design.grid_questions(200, 3000, size=12, pick=3).options, 200) == 0
    assert spread(design.grid_questions(150, 150, size=75).options, 150) == 0  # half of all objects in each


@pytest.mark.parametrize(
    ("draw", "budget", "said"),
    [
        (design.trio_questions, 2, r"leaves 94 of 100 objects .*; 34 is enough"),
        (design.grid_questions, 3, r"leaves \d+ of 100 objects .*; 13 is enough"),
        (design.near_questions, 30, r"leaves 10 of 100 objects .*; 34 is enough"),
        (design.random_questions, 10, r"leaves \d+ of 100 objects"),
    ],
)
def test_too_small_a_budget_is_said_and_kept(draw, budget, said):
    with pytest.warns(UninformedWarning, match=f"budget: {budget} {said}"):
        assert len(draw(100, budget)) == budget


# ---------------------------------------------------------------- answered


def triplets_said(kind, row, chosen):
    """From the definition, one statement: every (anchor, near, far) that it says."""
    if kind in ("near", "grid"):
        anchor, *options = row
        picked = {options[i] for i in chosen}
        return {(anchor, i, j) for i in picked for j in set(options) - picked}
    a, b = (x for i, x in enumerate(row) if i not in chosen)
    c = row[chosen[0]]
    return {(a, b, c), (b, a, c)} if kind == "odd" else {(a, c, b), (b, c, a)}


@st.composite
def answered(draw):
    kind = draw(st.sampled_from(list(design.KINDS)))
    width = draw(st.integers(2, 5)) + 1 if kind == "grid" else 3
    pick = draw(st.integers(1, width - 2)) if kind == "grid" else 1
    rows = draw(st.lists(st.permutations(range(7)).map(lambda p: p[:width]), min_size=1, max_size=5))
    n_options = width - (kind in ("near", "grid"))
    one = st.permutations(range(n_options)).map(lambda p: p[:pick]) | st.just([-1] * pick)
    choice = [draw(one) for _ in rows]
    questions = design.Questions(np.array(rows, dtype=np.int32), tuple("abcdefg"), kind, pick)
    return questions, choice


@given(answered())
def test_answers_say_what_the_kind_means(case):
    questions, choice = case
    people = [f"p{i}" for i in range(len(questions))]
    got = questions.answered(np.array(choice), participant=people, seconds=np.arange(len(questions)))
    wanted = [
        (i, triplet)
        for i, (row, chosen) in enumerate(zip(questions.array.tolist(), choice, strict=True))
        if -1 not in chosen
        for triplet in triplets_said(questions.kind, row, chosen)
    ]
    given = list(zip(got.seconds.astype(int).tolist(), map(tuple, got.array.tolist()), strict=True))
    assert Counter(given) == Counter(wanted)
    assert np.asarray(got.participant).tolist() == [f"p{i}" for i, _ in given]
    if questions.kind != "near":
        assert np.asarray(got.statement).tolist() == [i for i, _ in given]


@pytest.mark.parametrize("kind", design.KINDS)
def test_shuffled_keeps_the_questions(kind):
    rows = np.array(list(combinations(range(8), 3)), dtype=np.int32)
    questions = design.Questions(rows, tuple("abcdefgh"), kind)
    mixed = questions.shuffled(seed=1)
    first = int(questions.anchored)

    def as_set(some):
        return {(tuple(row[:first]), frozenset(row[first:])) for row in some.array.tolist()}

    assert as_set(mixed) == as_set(questions)
    assert (mixed.array != questions.array).any()


# ---------------------------------------------------------------- checks


@pytest.mark.parametrize("kind", design.KINDS)
def test_a_check_answers_itself(kind):
    checks = design.check_questions(5, 23, kind, size=4, pick=2)
    assert len(checks) == 23 and checks.kind == kind
    subjects = []
    for row in checks.array.tolist():
        if kind in ("near", "grid"):
            assert row[1:].count(row[0]) == 1 and len(set(row)) == len(row) - 1
            subjects.append(row[0])
        else:
            assert sorted(Counter(row).values()) == [1, 2]
            subjects.append(max(row, key=row.count))
    assert spread(subjects, 5) <= 1


# ---------------------------------------------------------------- what is wrong


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: design.trio_questions(2, 1), "a question needs three objects, got 2"),
        (lambda: design.trio_questions(4, 5), "5 questions were asked for, but there are 4 in all"),
        (lambda: design.trio_questions(4, 2, "near"), "expected 'odd' or 'central', got 'near'"),
        (
            lambda: design.near_questions(5, 3, besides=design.trio_questions(5, 2)),
            r"besides: expected near questions about the same objects, got Questions\(2 odd",
        ),
        (lambda: design.near_questions(4, 13), "13 questions were asked for, but there are 12 in all"),
        (lambda: design.grid_questions(5, size=5), "5 options and an anchor need 6 objects, got 5"),
        (lambda: design.grid_questions(9, size=4, pick=4), "pick must be an integer from 1 to 3, got 4"),
        (lambda: design.grid_questions(9, size=1), "size must be an integer >= 2, got 1"),
        (lambda: design.check_questions(1, 3), "needs 2 objects, got 1"),
        (lambda: design.check_questions(5, -1), "count must be an integer >= 0, got -1"),
        (lambda: design.Questions(np.zeros((2, 3), int), ("a",), "odd-one-out"), "expected one of near, odd"),
        (lambda: design.Questions(np.zeros((2, 4), int), ("a",)), r"got an array of shape \(2, 4\)"),
        (lambda: design.Questions(np.zeros((2, 4), int), ("a",), "grid", 3), "pick must be from 1 to 2"),
        (lambda: design.trio_questions(5).anchor, "questions of kind 'odd' do not have an anchor"),
        (lambda: design.grid_questions(9).other, "questions of kind 'grid' do not have the columns one"),
        (lambda: design.trio_questions(3).answered([3]), r"question 0: \[3\] is outside 0..2"),
        (lambda: design.trio_questions(3).answered([0, 1]), r"for each of 1 questions, got int64 values of"),
        (lambda: design.trio_questions(3).answered([0.5]), "got float64 values"),
        (
            lambda: design.grid_questions(9, 1, size=8).answered([[1, 1]]),
            r"question 0: \[1, 1\] names an option twice",
        ),
    ],
)
def test_errors_say_what_is_wrong(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_too_many_to_list():
    with pytest.raises(TooLargeError, match="cannot be drawn evenly in memory; ask for at most"):
        design.trio_questions(300, comb(300, 3) - 1)
