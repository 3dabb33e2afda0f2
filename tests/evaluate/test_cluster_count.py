"""The number of groups: right where groups are apart, one where there are none."""

import numpy as np
import pytest
from benchmarks.honesty.worlds import asked, clusters_of_points, make_world

from nearfar.evaluate.cluster_count import _knees, _within, count_clusters
from nearfar.evaluate.grouping import count_groups
from nearfar.evaluate.splits import kfold
from nearfar.triplets import Triplets


@pytest.mark.parametrize(("k", "d"), [(2, 2), (3, 2), (5, 3), (8, 2), (8, 5)])
def test_separate_groups_are_counted(k, d):
    rng = np.random.default_rng([k, d])
    found = [
        count_clusters(clusters_of_points(rng, k, per=max(10, 40 // k), d=d, apart=7), seed=s).k
        for s in range(6)
    ]
    assert np.mean(np.array(found) == k) >= 5 / 6


@pytest.mark.parametrize("shape", ["bell", "square", "line", "many dimensions", "sphere"])
def test_no_groups_where_there_are_none(shape):
    rng = np.random.default_rng(0)
    found = []
    for seed in range(6):
        points = {
            "bell": rng.normal(size=(50, 2)),
            "square": rng.uniform(size=(50, 2)),
            "line": rng.uniform(size=(50, 1)) * [[1.0, 0.2]],
            "many dimensions": rng.normal(size=(50, 20)),
            "sphere": rng.normal(size=(50, 3)),
        }[shape]
        if shape == "sphere":
            points /= np.linalg.norm(points, axis=1, keepdims=True)
        result = count_clusters(points, seed=seed)
        found.append(result.k)
        assert result.k > 1 or "No groups found: in a map that allows for" in result.why
    assert np.mean(np.array(found) == 1) >= 5 / 6


def test_evidence_is_stated_and_little_is_too_little():
    rng = np.random.default_rng(1)
    found = count_clusters(clusters_of_points(rng, 4, d=3))
    assert found.k == found.best_cut == 4 and found.knee > 1.5 and found.gap > 4.5
    assert found.why.startswith(
        "4 groups: in a map that allows for answers given at random, up to 4 clusters each cut gathers "
    )
    few = count_clusters(rng.normal(size=(5, 2)))
    assert few.k == 1 and few.why == "There are too few objects to look for groups."
    assert count_clusters(np.ones((20, 3))).k == 1


def test_equal_rows_are_groups():
    assert count_clusters(np.repeat(np.eye(4), 6, axis=0)).k == 4


def test_turning_and_scaling_change_nothing():
    rng = np.random.default_rng(2)
    points = clusters_of_points(rng, 3, d=2)
    turn = np.linalg.qr(rng.normal(size=(2, 2)))[0]
    one, other = count_clusters(points), count_clusters(7 * points @ turn + 3)
    assert one.k == other.k == 3 and one.knee == pytest.approx(other.knee)


def test_an_even_cloud_has_no_knee_and_groups_have_one():
    """Within-variance k^(-2/d) has the same exponent everywhere; of groups it stops falling."""
    k = np.arange(1, 11)
    even = _knees((100 - k) * k**-1.0, 100)
    assert np.allclose(even, 1 / 1.3)
    grouped = _knees((100 - k) * np.maximum(k, 1) ** -1.0 * np.where(k >= 4, 0.1, 1.0), 100)
    assert np.argmax(grouped) + 2 == 4


def test_within_is_the_definition():
    points = np.random.default_rng(3).normal(size=(12, 3))
    labels = np.arange(12) % 3
    wanted = sum(((points[labels == c] - points[labels == c].mean(axis=0)) ** 2).sum() for c in range(3))
    assert _within(points, labels) == pytest.approx(wanted)


def counted(points, noise, rng, each=100):
    answers = asked(make_world(rng, points=points, noise=noise), rng, m=each * len(points))
    return count_groups(answers, answers, list(kfold(answers, 3)))


@pytest.mark.parametrize("noise", ["flips", "logistic", "none"])
def test_groups_are_counted_whatever_the_noise(noise):
    """Flips about objects far apart draw groups together in other maps; a line is not called groups."""
    rng = np.random.default_rng(0)
    five = [counted(clusters_of_points(rng, 5, per=8, d=3), noise, rng).k for _ in range(5)]
    line = [counted(rng.uniform(size=(40, 1)), noise, rng).k for _ in range(5)]
    assert five.count(5) >= 4 and line.count(1) >= 4


def test_noise_and_too_little_are_said():
    rng = np.random.default_rng(1)
    noise = counted(rng.normal(size=(30, 2)), "guessing", rng, each=40)
    assert noise.k == 1
    assert noise.why == "No groups were looked for: no map predicts the answers better than guessing does."
    one = Triplets.from_array([[0, 1, 2]])
    assert count_groups(one, one, ()).why == "There are too few answers to look for groups."
    screen = [(0, near, far) for near in range(1, 5) for far in range(5, 9)]
    same = Triplets.from_array(screen * 20, statement=np.repeat(np.arange(20), len(screen)))
    splits = list(kfold(same, 3))
    assert not any(len(train) for train, _ in splits)  # everybody saw the same screen
    assert count_groups(same, same, splits).why == "There are too few answers to look for groups."
    thin = counted(clusters_of_points(rng, 3, per=10), "none", rng, each=9)
    assert thin.k == 1 and thin.why == "There are too few answers to look for groups."


def test_few_answers_are_said_where_no_groups_are_found():
    rng = np.random.default_rng(3)
    few, enough = (counted(rng.normal(size=(20, 2)), "logistic", rng, each=each) for each in (40, 130))
    assert few.why.endswith(
        "gradually, or groups overlap, or the answers are too few to tell: there are 40 triplets per object, and separate groups are found "
        "reliably from about 120 on."
    )
    assert enough.why.endswith("the objects change gradually, or groups overlap.")
    world = make_world(rng, points=rng.normal(size=(20, 2)))
    for design in ("grid", "landmarks"):
        answers = asked(world, rng, design=design, m=3000)
        found = count_groups(answers, answers, list(kfold(answers, 3)))
        assert found.why.endswith(
            "triplets per object, and separate groups are found reliably from about 300 on."
        )


def test_only_shown_and_informed_objects_are_counted():
    rng = np.random.default_rng(2)
    points = clusters_of_points(rng, 4, per=10, apart=9)
    answers = asked(make_world(rng, points=points), rng, m=4000)
    wider = Triplets.from_array(np.column_stack([answers.anchor, answers.near, answers.far]), n_objects=60)
    splits = list(kfold(wider, 3))
    assert count_groups(wider, wider, splits).k == 4
    assert count_groups(wider, wider, splits, np.arange(10, 60)).k == 3


def test_a_number_that_the_rows_do_not_tell_is_a_range():
    """Two of four groups touch: three or four."""
    rng = np.random.default_rng(0)
    middles = np.array([[0, 0], [6, 0], [30, 0], [30, 30]])
    found = count_clusters(np.repeat(middles, 10, axis=0) + rng.normal(size=(40, 2)))
    assert (found.low, found.k, found.high) == (3, 4, 4)
    assert found.why.startswith(
        "3 to 4 groups, which of these the answers do not tell clearly; 4 is the likeliest: "
    )
    clear = count_clusters(np.repeat([[0, 0], [9, 0], [0, 9]], 10, axis=0) + rng.normal(size=(30, 2)))
    assert (clear.low, clear.k, clear.high) == (3, 3, 3)
