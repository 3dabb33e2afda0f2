"""The number of groups: right where groups are apart, one where there are none."""

import numpy as np
import pytest

import nearfar as nf
from nearfar.evaluate.clusters import count_clusters, count_object_clusters
from nearfar.triplets import Triplets


def clusters_of_points(rng, k, *, per=10, d=2, apart=6.0):
    """k clusters of ``per`` points of unit spread, their centres at least ``apart`` from each other."""
    box, centres = apart * max(2.0, 1.3 * k ** (1 / d)), []
    while len(centres) < k:
        new = rng.uniform(0, box, size=d)
        if all(np.linalg.norm(new - centre) >= apart for centre in centres):
            centres.append(new)
        else:
            box *= 1.01
    return np.repeat(np.array(centres), per, axis=0) + rng.normal(size=(k * per, d))


def answered(points, noise, rng, m, design="random"):
    """Answers about points: without noise, with flips, by a logistic in the difference of distances, or guesses."""
    n = len(points)
    rows = np.array([rng.permutation(n)[:3] for _ in range(m)])
    if design == "landmarks":
        rows = np.array([[*rng.permutation(np.arange(4, n))[:1], *rng.permutation(4)[:2]] for _ in range(m)])
    d = np.linalg.norm(points[rows[:, :1]] - points[rows[:, 1:]], axis=2)
    scale = np.sqrt(np.mean(np.sum((points - points.mean(axis=0)) ** 2, axis=1)))
    lead = (d[:, 1] - d[:, 0]) * {"logistic": 4.0 / scale, "guessing": 0.0}.get(noise, 1e6)
    flipped = rng.random(m) < (0.15 if noise == "flips" else 0.0)
    second = (rng.random(m) > 1 / (1 + np.exp(-np.clip(lead, -50, 50)))) != flipped
    rows[second] = rows[second][:, [0, 2, 1]]
    statement = np.arange(m) // 8 if design == "grid" else None
    return Triplets.from_array(rows, n_objects=n, participant=np.arange(m) // 8 % 20, statement=statement)


@pytest.mark.parametrize(("k", "d"), [(2, 2), (3, 2), (5, 3), (8, 2), (8, 5)])
def test_separate_groups_are_counted(k, d):
    rng = np.random.default_rng([k, d])
    counts = [
        count_clusters(clusters_of_points(rng, k, per=max(10, 40 // k), d=d, apart=7), seed=s).k
        for s in range(6)
    ]
    assert np.mean(np.array(counts) == k) >= 5 / 6


@pytest.mark.parametrize("shape", ["bell", "square", "line", "many dimensions", "sphere"])
def test_no_groups_where_there_are_none(shape):
    rng = np.random.default_rng(0)
    outcomes = []
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
        outcomes.append(count_clusters(points, seed=seed).outcome)
    assert outcomes.count("none") >= 5


def test_evidence_is_stated_and_little_is_too_little():
    rng = np.random.default_rng(1)
    count = count_clusters(clusters_of_points(rng, 4, d=3))
    assert count.k == count.best_cut == 4 and count.elbow > 1.5 and count.gap > 4.5
    assert count.outcome == "clear" and "4 separate clusters" in str(count)
    few = count_clusters(rng.normal(size=(5, 2)))
    assert (few.k, few.unknown, few.outcome) == (1, "few objects", "unknown")
    assert count_clusters(np.ones((20, 3))).k == 1
    assert count_clusters(np.repeat(np.eye(4), 6, axis=0)).k == 4


def test_turning_and_scaling_change_nothing():
    rng = np.random.default_rng(2)
    points = clusters_of_points(rng, 3, d=2)
    turn = np.linalg.qr(rng.normal(size=(2, 2)))[0]
    one, other = count_clusters(points), count_clusters(7 * points @ turn + 3)
    assert one.k == other.k == 3 and one.elbow == pytest.approx(other.elbow)


def counted(points, noise, rng, each=100):
    answers = answered(points, noise, rng, each * len(points))
    return count_object_clusters(nf.Analysis(answers, cv=3), np.arange(len(points)))


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
    assert noise.unknown == "noise" and "noisy" in str(noise)
    one = Triplets.from_array([[0, 1, 2]])
    assert count_object_clusters(nf.Analysis(one), np.arange(3)).unknown == "few answers"
    screen = [(0, near, far) for near in range(1, 5) for far in range(5, 9)]
    same = Triplets.from_array(screen * 20, statement=np.repeat(np.arange(20), len(screen)))
    everybody_the_same = nf.Analysis(same)
    assert not everybody_the_same.splits
    assert count_object_clusters(everybody_the_same, np.arange(9)).unknown == "few answers"
    thin = counted(clusters_of_points(rng, 3, per=10), "none", rng, each=9)
    assert thin.k == 1 and thin.unknown == "few answers"


def test_few_answers_are_said_where_no_groups_are_found():
    rng = np.random.default_rng(3)
    few, enough = (counted(rng.normal(size=(20, 2)), "logistic", rng, each=each) for each in (40, 130))
    assert few.outcome == "unknown" and few.per_object == 40 and "More answers" in str(few)
    assert enough.outcome == "none" and enough.wanted == 120
    for design in ("grid", "landmarks"):
        answers = answered(rng.normal(size=(20, 2)), "logistic", rng, 3000, design)
        count = count_object_clusters(nf.Analysis(answers, cv=3), np.arange(20))
        assert count.wanted == 300 and count.outcome == "unknown"


def test_only_shown_and_informed_objects_are_counted():
    rng = np.random.default_rng(2)
    points = clusters_of_points(rng, 4, per=10, apart=9)
    answers = answered(points, "logistic", rng, 4000)
    wider = Triplets.from_array(np.column_stack([answers.anchor, answers.near, answers.far]), n_objects=60)
    analysis = nf.Analysis(wider, cv=3)
    assert count_object_clusters(analysis, np.arange(60)).k == 4
    assert count_object_clusters(analysis, np.arange(10, 60)).k == 3


def test_a_number_that_the_rows_do_not_tell_is_a_range():
    """Two of four groups touch: three or four."""
    rng = np.random.default_rng(0)
    middles = np.array([[0, 0], [6, 0], [30, 0], [30, 30]])
    count = count_clusters(np.repeat(middles, 10, axis=0) + rng.normal(size=(40, 2)))
    assert (count.low, count.k, count.high) == (3, 4, 4)
    assert count.outcome == "unclear" and "3 to 4; 4 is the likeliest" in str(count)
    clear = count_clusters(np.repeat([[0, 0], [9, 0], [0, 9]], 10, axis=0) + rng.normal(size=(30, 2)))
    assert (clear.low, clear.k, clear.high) == (3, 3, 3)
