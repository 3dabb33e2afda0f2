"""Simulated answers follow the distances, flips and ties are what they are said to be."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from nearfar import design, simulate
from nearfar.errors import InputError


@pytest.fixture
def cloud():
    return np.random.default_rng(1).normal(size=(40, 3))


def test_every_answer_is_right(cloud):
    questions = design.random_questions(40, 3000)
    result = simulate.answers(questions, points=cloud)
    apart = cdist(cloud, cloud)
    a, n, f = result.triplets.array.T
    assert (apart[a, n] < apart[a, f]).all()
    assert len(result.triplets) == 3000 and result.ties == 0


def test_three_ways_to_say_the_distance_agree(cloud):
    questions = design.landmark_questions(40, [3, 8, 20, 39], "k2")
    apart = cdist(cloud, cloud)
    by_points = simulate.answers(questions, points=cloud, flip=0.3, seed=7)
    by_matrix = simulate.answers(questions, distances=apart, flip=0.3, seed=7)
    by_function = simulate.answers(questions, distance=lambda i, j: apart[i, j], flip=0.3, seed=7)
    for other in (by_matrix, by_function):
        np.testing.assert_array_equal(by_points.triplets.array, other.triplets.array)


@given(st.integers(0, 30), st.sampled_from(["drop", "random"]))
def test_ties_are_counted_and_treated_as_told(seed, ties):
    points = np.random.default_rng(seed).integers(0, 3, size=(8, 1))
    questions = design.random_questions(8, 100, seed=seed)
    gaps = np.abs(points[questions.anchor] - points[questions.one]) - np.abs(
        points[questions.anchor] - points[questions.other]
    )
    result = simulate.answers(questions, points=points, ties=ties, seed=seed)
    assert result.ties == (gaps == 0).sum()
    assert len(result.triplets) == (100 if ties == "random" else 100 - result.ties)


def test_ties_at_random_go_both_ways_and_leave_the_flips_alone():
    questions = design.random_questions(30, 4000)
    points = np.arange(30)[:, None] // 3
    dropped = simulate.answers(questions, points=points, flip=0.2, seed=5)
    broken = simulate.answers(questions, points=points, flip=0.2, ties="random", seed=5)
    a, n, f = broken.triplets.array.T
    tie = np.abs(points[a] - points[n]).ravel() == np.abs(points[a] - points[f]).ravel()
    assert tie.sum() == broken.ties == dropped.ties > 300
    assert 0.4 < (broken.triplets.near == questions.one)[tie].mean() < 0.6
    np.testing.assert_array_equal(broken.triplets.array[~tie], dropped.triplets.array)


def test_mirror_images_tie_exactly():
    """dx^2 + dy^2 and dy^2 + dx^2 must not differ by rounding."""
    places = np.random.default_rng(3).normal(size=(200, 2))
    points = np.concatenate([[[0.0, 0.0]], places, places[:, ::-1]])
    one = np.arange(1, 201, dtype=np.int32)
    mirrored = design.Questions(
        np.stack([np.zeros_like(one), one, one + 200], axis=1), tuple(map(str, range(401)))
    )
    assert simulate.answers(mirrored, points=points).ties == 200


@pytest.mark.parametrize("flip", [0.0, 0.15, 0.5, 1.0])
def test_flips_are_independent_with_the_given_probability(flip):
    points = np.random.default_rng(0).normal(size=(100, 2))
    questions = design.random_questions(100, 40_000)
    straight = simulate.answers(questions, points=points).triplets
    turned = simulate.answers(questions, points=points, flip=flip, seed=3).triplets
    wrong = straight.near != turned.near
    deviation = np.sqrt(flip * (1 - flip) / len(wrong))
    assert abs(wrong.mean() - flip) <= 4 * deviation
    both = (wrong[1:] & wrong[:-1]).mean()
    assert abs(both - flip**2) <= 6 * deviation


def test_result_does_not_depend_on_batches(cloud, monkeypatch):
    questions = design.random_questions(40, 5000)
    settings = {"points": cloud.round(0), "flip": 0.2, "ties": "random", "seed": 2}
    whole = simulate.answers(questions, **settings)
    monkeypatch.setattr("nearfar.simulate.answering.AT_ONCE", 7)
    batches = simulate.answers(questions, **settings)
    np.testing.assert_array_equal(whole.triplets.array, batches.triplets.array)
    assert whole.ties == batches.ties > 0


def test_unsigned_pixels_do_not_wrap_round():
    pixels = np.array([[200], [10], [0]], dtype=np.uint8)
    questions = design.random_questions(3, 3)
    triplets = simulate.answers(questions, points=pixels).triplets.array.tolist()
    assert sorted(triplets) == [[0, 1, 2], [1, 2, 0], [2, 1, 0]]


def test_infinite_distances_tie():
    distances = np.array([[0, np.inf, np.inf], [np.inf, 0, 1], [np.inf, 1, 0]])
    result = simulate.answers(design.random_questions(3, 3), distances=distances)
    assert result.ties == 1 and len(result.triplets) == 2
    result = simulate.answers(design.random_questions(3, 0), distances=distances)
    assert result.ties == len(result.triplets) == 0


QUESTIONS = design.random_questions(3, 3)
POINTS = [[0.0], [1.0], [5.0]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "expected one of points, distances and distance, got none"),
        ({"points": POINTS, "distances": np.eye(3)}, "got points and distances"),
        ({"points": POINTS, "flip": 1.5}, "expected a probability, got 1.5"),
        ({"points": POINTS, "flip": float("nan")}, "expected a probability, got nan"),
        ({"points": POINTS, "noise": -0.1}, "noise: expected a standard deviation >= 0"),
        ({"points": POINTS, "noise": float("nan")}, "noise: expected a standard deviation >= 0"),
        ({"points": POINTS, "noise": float("inf")}, "noise: expected a standard deviation >= 0"),
        ({"points": POINTS, "ties": "keep"}, "expected 'drop' or 'random', got 'keep'"),
        (
            {"points": POINTS[:2]},
            r"expected one row for each of the 3 objects, got an array of shape \(2, 1\)",
        ),
        ({"points": [0.0, 1.0, 2.0]}, r"got an array of shape \(3,\)"),
        ({"points": [[0.0], [np.nan], [1.0]]}, "row 1: a value is NaN or infinite"),
        ({"distances": np.zeros((3, 2))}, r"expected shape \(3, 3\)"),
        ({"distances": [[0, np.nan, 1]] * 3}, "row 0: a value is NaN"),
        ({"distance": lambda i, j: 1.0}, "np.vectorize helps"),
        ({"distance": lambda i, j: np.full(len(i), np.nan)}, "got NaN"),
    ],
)
def test_errors_say_what_is_wrong(arguments, message):
    with pytest.raises(InputError, match=message):
        simulate.answers(QUESTIONS, **arguments)
