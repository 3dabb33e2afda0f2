"""Questions are the right ones, drawn without replacement, evenly over objects, in memory of the result's size."""

import tracemalloc
import warnings
from collections import Counter
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearfar import design
from nearfar.design.draws import unrank
from nearfar.errors import InputError, TooLargeError, UninformedWarning


def as_set(questions):
    return {(a, *sorted((i, j))) for a, i, j in questions.array.tolist()}


def all_questions(n, marks, kernel):
    """From the definition: k1 asks x about two landmarks, k2 asks a landmark about x and another landmark."""
    if kernel == "k1":
        wanted = ((x, i, j) for x in range(n) for i, j in combinations(sorted(marks), 2))
    else:
        wanted = ((i, *sorted((x, j))) for x in range(n) for i in marks for j in marks if i != j)
    return {q for q in wanted if len(set(q)) == 3}


@st.composite
def designs(draw):
    n = draw(st.integers(3, 9))
    marks = draw(st.lists(st.integers(0, n - 1), min_size=2, max_size=n, unique=True))
    return n, marks, draw(st.sampled_from(["k1", "k2"]))


@given(designs())
def test_all_landmark_questions_are_those_of_the_definition(case):
    n, marks, kernel = case
    questions = design.landmark_questions(n, marks, kernel)
    assert len(questions) == len(as_set(questions))
    assert as_set(questions) == all_questions(n, marks, kernel)


@pytest.mark.filterwarnings("ignore::nearfar.errors.UninformedWarning")
@given(designs(), st.data())
def test_a_budget_is_a_balanced_part_without_repeats(case, data):
    n, marks, kernel = case
    everything = all_questions(n, marks, kernel)
    budget = data.draw(st.integers(0, len(everything)))
    questions = design.landmark_questions(n, marks, kernel, budget=budget, seed=data.draw(st.integers(0, 5)))
    assert len(questions) == len(as_set(questions)) == budget
    assert as_set(questions) <= everything
    subject = questions.anchor if kernel == "k1" else questions.one
    asked = np.bincount(subject, minlength=n)
    k = len(marks)
    room = np.full(n, k * (k - 1) // (2 if kernel == "k1" else 1))
    room[marks] = (k - 1) * (k - 2) // 2
    hungry = asked < room  # whoever could have had more has at most one less than anybody
    assert not hungry.any() or asked[hungry].min() >= asked.max() - 1


@pytest.mark.filterwarnings("error::nearfar.errors.UninformedWarning")
@given(designs(), st.data())
def test_a_budget_that_leaves_objects_out_says_how_many(case, data):
    """Informed by the definition: a k1 anchor, or an option of k2 beside a landmark."""
    n, marks, kernel = case
    everything = all_questions(n, marks, kernel)
    budget = data.draw(st.integers(0, len(everything)))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        asked = as_set(design.landmark_questions(n, marks, kernel, budget=budget))

    def informed(questions):
        if kernel == "k1":
            return {a for a, _, _ in questions}
        return {x for _, i, j in questions for x, y in ((i, j), (j, i)) if y in marks}

    missed = len(informed(everything)) - len(informed(asked))
    said = [str(w.message) for w in caught if w.category is UninformedWarning]
    if budget and missed:
        assert said[0].startswith(f"budget: {budget} leaves {missed} of {n} objects without a question")
    else:
        assert said == []


def _pairs_used(questions, marks, kernel):
    """How often each pair of landmarks is used; for k2 (anchor, other)."""
    rows = questions.array.tolist()
    if kernel == "k1":
        used = Counter(frozenset(row[1:]) for row in rows)
        return [used[frozenset(pair)] for pair in combinations(marks, 2)]
    used = Counter((row[0], row[2]) for row in rows)
    return [used[pair] for pair in permutations(marks, 2)]


@pytest.mark.filterwarnings("ignore::nearfar.errors.UninformedWarning")
@given(designs(), st.data())
def test_an_even_draw_is_a_draw_as_well(case, data):
    n, marks, kernel = case
    everything = all_questions(n, marks, kernel)
    budget = data.draw(st.none() | st.integers(0, len(everything)))
    seed = data.draw(st.integers(0, 5))
    drawn = design.landmark_questions(n, marks, kernel, budget=budget, even=True, seed=seed)
    random = design.landmark_questions(n, marks, kernel, budget=budget, seed=seed)
    assert as_set(drawn) <= everything and len(as_set(drawn)) == len(drawn) == len(random)
    about = 0 if kernel == "k1" else 1
    np.testing.assert_array_equal(
        drawn.array[:, about], random.array[:, about]
    )  # the same quotas, ordered by x
    np.testing.assert_array_equal(
        drawn.array, design.landmark_questions(n, marks, kernel, budget=budget, even=True, seed=seed).array
    )


@pytest.mark.parametrize("k", [4, 7, 10])
@pytest.mark.parametrize(("kernel", "budgets"), [("k1", (100, 131, 240)), ("k2", (60, 240, 400))])
def test_an_even_draw_uses_every_pair_and_every_landmark_equally_often(k, kernel, budgets):
    marks = list(range(3, 3 + k))
    for budget in budgets:
        if budget > len(all_questions(60, marks, kernel)):
            continue
        drawn = design.landmark_questions(60, marks, kernel, budget=budget, even=True, seed=budget)
        used = _pairs_used(drawn, marks, kernel)
        assert max(used) - min(used) <= 1
        options = np.bincount(drawn.other if kernel == "k2" else drawn.array[:, 1:].ravel(), minlength=60)
        if kernel == "k1":
            assert np.ptp(options[marks]) <= 2
        random = _pairs_used(design.landmark_questions(60, marks, kernel, budget=budget), marks, kernel)
        assert max(random) - min(random) > 1


def test_draws_are_uniform_over_questions():
    """Every question of an object comes up equally often: chi-square over many seeds, 4 sigma."""
    counts = Counter()
    runs = 1500
    for seed in range(runs):
        counts.update(as_set(design.landmark_questions(7, [0, 1, 2, 3], budget=12, seed=seed)))
    outside = [counts[q] for q in all_questions(7, [0, 1, 2, 3], "k1") if q[0] > 3]
    expected = np.mean(outside)
    assert len(outside) == 18
    assert np.abs(np.array(outside) - expected).max() < 4 * np.sqrt(expected)


def test_random_questions_are_uniform_and_distinct():
    counts = Counter()
    for seed in range(1500):
        drawn = design.random_questions(4, 5, seed=seed)
        assert len(as_set(drawn)) == 5
        counts.update(as_set(drawn))
    values = np.array(list(counts.values()))
    assert len(values) == 12
    assert np.abs(values - 625).max() < 4 * np.sqrt(625)


def test_the_last_questions_of_two_million_objects_are_themselves():
    """The number of a question is turned into its pair by a root, which rounds."""
    n = 2_000_000
    pairs = (n - 1) * (n - 2) // 2
    numbers = np.array([pairs - 1, pairs - (n - 2), pairs - (n - 1), n * pairs - 1])
    last_of_zero, first_with_last, one_before, last = unrank(numbers, n).T.tolist()
    assert last_of_zero == [0, n - 2, n - 1]
    assert first_with_last == [0, 1, n - 1]
    assert one_before == [0, n - 3, n - 2]
    assert last == [n - 1, n - 3, n - 2]


@pytest.mark.filterwarnings("ignore::nearfar.errors.UninformedWarning")
@given(st.integers(3, 8), st.data())
def test_random_questions_of_any_budget(n, data):
    total = n * (n - 1) * (n - 2) // 2
    budget = data.draw(st.integers(0, total))
    questions = design.random_questions(np.int64(n), budget, seed=1)
    assert len(as_set(questions)) == len(questions) == budget
    assert all(len({a, i, j}) == 3 for a, i, j in questions.array.tolist())


def test_seed_and_generator_and_threads(monkeypatch):
    first = design.landmark_questions(500, range(9), "k2", budget=3000, seed=4)
    monkeypatch.setenv("NEARFAR_NUM_THREADS", "1")
    again = design.landmark_questions(500, range(9), "k2", budget=3000, seed=np.random.default_rng(4))
    other = design.landmark_questions(500, range(9), "k2", budget=3000, seed=5)
    np.testing.assert_array_equal(first.array, again.array)
    assert as_set(first) != as_set(other)


def test_memory_follows_the_budget_not_the_design():
    """n |L|^2 / 2 is 245 million questions, 2.9 GB; asking for 60,000 stays under 40 MB."""
    design.landmark_questions(10, [0, 1, 2], budget=15)  # compiles
    tracemalloc.start()
    questions = design.landmark_questions(20_000, range(700), budget=60_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(questions) == 60_000
    assert peak < 40e6


def test_names_and_indices_mean_the_same():
    names = ["red", "pink", "blue", "navy"]
    by_name = design.landmark_questions(names, ["red", "navy"])
    by_index = design.landmark_questions(names, np.array([0, 3]))
    np.testing.assert_array_equal(by_name.array, by_index.array)
    assert by_name.objects == tuple(names)


def test_shuffled_sides_are_even():
    questions = design.random_questions(20, 500)
    mixed = questions.shuffled(seed=3)
    assert (mixed.anchor != questions.anchor).any()
    assert 150 < (mixed.one < mixed.other).sum() < 350
    sides = np.bincount(mixed.one, minlength=20) - np.bincount(mixed.other, minlength=20)
    assert np.abs(sides).max() <= 1
    np.testing.assert_array_equal(mixed.array, questions.shuffled(seed=3).array)
    assert len(questions[:7]) == 7 and repr(questions) == "Questions(500 questions, 20 objects)"


def test_random_landmarks_are_distinct_and_all_possible():
    drawn = [design.random_landmarks(6, 3, seed=seed) for seed in range(200)]
    assert all(len(set(marks.tolist())) == 3 for marks in drawn)
    assert {int(m) for marks in drawn for m in marks} == set(range(6))


def test_farthest_first_spreads_out():
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.normal(c, 0.1, (20, 2)) for c in ((0, 0), (10, 0), (0, 10), (10, 10))])
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    assert sorted(design.farthest_first(apart, 4, seed=2) // 20) == [0, 1, 2, 3]
    assert sorted(design.farthest_first(np.zeros((5, 5)), 5).tolist()) == [0, 1, 2, 3, 4]  # duplicates


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: design.landmark_questions(10, [0, 1], budget=9),
            "9 questions were asked for, but there are 8",
        ),
        (lambda: design.random_questions(3, 4), "4 questions were asked for, but there are 3 in all"),
        (lambda: design.random_questions(3, -1), "budget must be an integer >= 0, got -1"),
        (lambda: design.landmark_questions(10, [0, 0]), "is listed twice"),
        (lambda: design.landmark_questions(10, [0]), "at least two objects, got 1"),
        (lambda: design.landmark_questions(10, [0, 10]), "10 is not among the 10 objects"),
        (lambda: design.landmark_questions(10, 4), r"got 4; nearfar\.design\.random_landmarks draws some"),
        (lambda: design.landmark_questions(["a", "b", "c"], ["a", "z"]), "'z' is not among the 3 objects"),
        (lambda: design.landmark_questions(5, [0.5, 1]), "0.5 is not among the 5 objects"),
        (lambda: design.landmark_questions(5, [0, 1], "score"), "'score' has no landmark questions"),
        (lambda: design.landmark_questions(["a", "b", "a"], [0, 1]), "'a' is listed twice"),
        (lambda: design.landmark_questions("objects.csv", [0, 1]), "nearfar.read_objects"),
        (lambda: design.random_landmarks(5, 6), "6 landmarks cannot be chosen from 5 objects"),
        (lambda: design.farthest_first(np.zeros((2, 3)), 1), r"expected an \(n, n\) array"),
        (lambda: design.farthest_first([[0, np.nan], [1, 0]], 1), "with NaN"),
        (lambda: design.farthest_first(np.zeros((2, 2)), 1, first=2), "2 is outside 0..1"),
        (lambda: design.random_questions(2_000_001, 5), "at most 2,000,000"),
    ],
)
def test_errors_say_what_is_wrong(call, message):
    with pytest.raises((InputError, TooLargeError), match=message):
        call()
