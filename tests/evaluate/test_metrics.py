"""Purity and triplet accuracy against naive loops."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nearfar as nf
from nearfar.errors import InputError
from nearfar.evaluate import metrics
from nearfar.triplets import Triplets


def naive_purity(labels, truth):
    clusters = {}
    for label, known in zip(labels, truth, strict=True):
        clusters.setdefault(label, Counter())[known] += 1
    return sum(max(c.values()) for c in clusters.values()) / len(labels)


def naive_accuracy(triplets, distance):
    """distance(a, x) squared; a tie counts one half."""
    credit = [
        0.5 if distance(a, n) == distance(a, f) else float(distance(a, n) < distance(a, f))
        for a, n, f in triplets
    ]
    return np.mean(credit), np.mean([c == 0.5 for c in credit])


@given(st.lists(st.tuples(st.integers(-1, 3), st.sampled_from("abc")), min_size=1, max_size=30))
def test_purity_is_the_naive_one(pairs):
    labels, truth = zip(*pairs, strict=True)
    assert metrics.purity(labels, truth) == pytest.approx(naive_purity(labels, truth), abs=1e-15)


@pytest.mark.parametrize(("labels", "truth"), [([0, 1], [0]), ([], []), ([[0]], [[0]])])
def test_purity_needs_one_class_per_object(labels, truth):
    with pytest.raises(InputError, match="one label and one class per object"):
        metrics.purity(labels, truth)


@st.composite
def judged(draw):
    n = draw(st.integers(3, 6))
    points = draw(st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=n, max_size=n))
    rows = draw(st.lists(st.permutations(range(n)).map(lambda p: p[:3]), min_size=1, max_size=20))
    return np.array(points, dtype=float), rows


@given(judged())
def test_points_and_their_kernel_give_the_naive_accuracy(case):
    points, rows = case
    accuracy, ties = naive_accuracy(rows, lambda a, x: ((points[a] - points[x]) ** 2).sum())
    result = metrics.triplet_accuracy(rows, points=points)
    assert (float(result), result.ties, result.n_answers) == (accuracy, ties, len(rows))
    away = points + 10.5  # no object at the origin, where a kernel says that it knows nothing
    assert metrics.triplet_accuracy(rows, K=away @ away.T) == result
    credits = metrics.answer_credits(rows, points=points)
    assert credits.mean(dtype=float) == accuracy


def test_uninformed_objects_are_ties():
    kernel = np.array([[1.0, 0.4, 0.0], [0.4, 1.0, 0.0], [0.0, 0.0, 0.0]])
    rows = [[0, 1, 2], [0, 2, 1], [2, 0, 1]]
    result = metrics.triplet_accuracy(rows, K=kernel)
    assert (float(result), result.ties) == (0.5, 1.0)


def test_rounding_makes_no_difference_where_there_is_none():
    """Unit rows have K_xx = 1 up to rounding only; that must not decide between two unknown similarities."""
    kernel = np.diag([1.0, 1.0 - 2e-16, 1.0])
    assert metrics.triplet_accuracy([[0, 1, 2], [0, 2, 1]], K=kernel).ties == 1
    kernel32 = np.diag(np.array([1.0, 1.0 - 6e-8, 1.0], dtype=np.float32))
    assert metrics.triplet_accuracy([[0, 1, 2]], K=kernel32).ties == 1
    assert metrics.triplet_accuracy([[0, 1, 2]], K=np.diag([1.0, 1 - 1e-6, 1.0])).accuracy == 1


def test_no_answers_is_not_a_number():
    result = metrics.triplet_accuracy(Triplets([], [], [], "abc"), points=np.eye(3))
    assert np.isnan(float(result)) and result.n_answers == 0
    assert len(metrics.answer_credits(Triplets([], [], [], "abc"), points=np.eye(3))) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "expected points=... or K=..., got none"),
        ({"points": np.eye(3), "K": np.eye(3)}, "got both"),
        (
            {"K": np.zeros((3, 2))},
            r"expected shape \(3, 3\), got \(3, 2\); coordinates or features go in as points=",
        ),
        ({"points": [[0.0], [np.inf], [1.0]]}, "row 1: a value is NaN or infinite"),
        ({"points": np.zeros((4, 1))}, "expected one row for each of the 3 objects"),
    ],
)
def test_errors_say_what_is_wrong(arguments, message):
    with pytest.raises(InputError, match=message):
        metrics.triplet_accuracy(Triplets([0], [1], [2], "abc"), **arguments)


def test_rows_of_a_data_frame_are_matched_by_name():
    pd = pytest.importorskip("pandas")
    points = pd.DataFrame({"x": [3.0, 0.0, 1.0]}, index=["car", "fig", "plum"])
    answers = Triplets([0, 1], [1, 0], [2, 2], ("fig", "plum", "car"))
    assert float(metrics.triplet_accuracy(answers, points=points)) == 1.0
    with pytest.raises(InputError, match="'plum' is not among"):
        metrics.triplet_accuracy(answers, points=points.drop("plum"))


def test_a_space_or_a_table_with_names_is_no_matrix():
    space = nf.fit([[0, 1, 2], [1, 0, 2], [2, 1, 0]], "soe-2")
    for points in (space, space.to_frame()):
        with pytest.raises(InputError, match="numbers"):
            metrics.triplet_accuracy([[0, 1, 2]], points=points)
    assert metrics.triplet_accuracy([[0, 1, 2]], points=space.rows).to_dict()["n_answers"] == 1
