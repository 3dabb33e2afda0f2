"""The losses, the pass over the answers, and the starts, each against a naive twin."""

import numpy as np
import oracles_embedding as oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nearfar.embedding import losses
from nearfar.embedding.loop import Loop, merge
from nearfar.embedding.optimise import (
    Emphasis,
    LearntPull,
    answers_per_object,
    kernel_start,
    optimise,
    steady_pull,
)
from nearfar.triplets import Triplets
from nearfar.triplets.columns import SoundNames

KINDS = {name: getattr(losses, name.upper()) for name in oracle.LOSSES}
NUMBERS = {"ckl": [0.0, 0.3], "tste": [1.0, 4.0, 2.5, 40.0], "soe": [0.1, 2.0], "lapse": [0.0, 0.3]}
PARAMETERS = [(name, number) for name in KINDS for number in NUMBERS.get(name, [0.0])]
squared = st.floats(1e-3, 40.0)
fewer = settings(max_examples=40)


def random_rows(n, m, seed=0):
    rng = np.random.default_rng(seed)
    return np.argsort(rng.random((m, n)), axis=1)[:, :3].astype(np.int32)


@pytest.mark.parametrize(("name", "parameter"), PARAMETERS)
@fewer
@given(near=squared, far=squared)
def test_loss_is_the_formula(name, parameter, near, far):
    value = getattr(losses, name)(near, far, parameter)[0]
    assert value == pytest.approx(oracle.LOSSES[name](near, far, parameter), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("name", "parameter"), PARAMETERS)
@fewer
@given(near=squared, far=squared)
def test_slopes_by_finite_differences(name, parameter, near, far):
    loss = oracle.LOSSES[name]
    kink = {"gnmds": near + 1 - far, "soe": near**0.5 + parameter - far**0.5}.get(name, 1.0)
    if abs(kink) < 1e-3:
        return  # a hinge has no slope at its kink
    numeric = oracle.numeric_gradient(lambda x: loss(*x, parameter), np.array([near, far]))
    assert getattr(losses, name)(near, far, parameter)[1:] == pytest.approx(numeric, rel=1e-4, abs=1e-7)


@pytest.mark.parametrize("gap", [0.0, 1e-12, 0.5, 5.0, 35.0, 36.0, 100.0, 1e6])
def test_ste_stays_finite_and_exact_far_out(gap):
    for near, far in ((0.0, gap), (gap, 0.0)):
        value, slope, tilt = losses.ste(near, far, 0.0)
        assert value == pytest.approx(np.logaddexp(0.0, near - far), rel=1e-12, abs=1e-15)
        assert slope == pytest.approx(1 / (1 + np.exp(min(far - near, 700.0))), rel=1e-12, abs=1e-15)
        assert tilt == -slope


@pytest.mark.parametrize(("name", "parameter"), PARAMETERS)
def test_losses_are_finite_where_points_coincide(name, parameter):
    assert np.isfinite(getattr(losses, name)(0.0, 0.0, parameter)).all()


@pytest.mark.parametrize(("name", "parameter"), PARAMETERS)
@pytest.mark.parametrize("d", [1, 2, 5])
def test_pass_sums_the_loss_and_its_gradient(name, parameter, d):
    rows = np.concatenate([random_rows(7, 40), random_rows(7, 15)])  # the second part repeats the first
    points = np.random.default_rng(1).normal(size=(7, d))
    total, gradient = Loop(merge(Triplets.from_array(rows)), KINDS[name], parameter, d)(points)
    assert total == pytest.approx(oracle.total_loss(name, parameter, points, rows), rel=1e-12)
    numeric = oracle.numeric_gradient(lambda x: oracle.total_loss(name, parameter, x, rows), points)
    np.testing.assert_allclose(gradient, numeric, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", KINDS)
def test_blocks_and_threads_do_not_change_a_bit(name, monkeypatch):
    rows = random_rows(60, 50_000)
    points = np.random.default_rng(2).normal(size=(60, 3))
    data = merge(Triplets.from_array(rows, n_objects=60))
    results = []
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("NEARFAR_NUM_THREADS", threads)
        loop = Loop(data, KINDS[name], 1.0, 3)
        assert len(loop._sums) >= 5
        results.append(loop(points))
    for total, gradient in results[1:]:
        assert total == results[0][0]
        np.testing.assert_array_equal(gradient, results[0][1])


def test_many_blocks_equal_the_sum_of_small_passes():
    rows = random_rows(30, 30_000)
    points = np.random.default_rng(2).normal(size=(30, 2))
    total, gradient = Loop(merge(Triplets.from_array(rows, n_objects=30)), losses.STE, 0.0, 2)(points)
    parts = [
        Loop(merge(Triplets.from_array(part, n_objects=30)), losses.STE, 0.0, 2)(points)
        for part in np.array_split(rows, 10)
    ]
    assert total == pytest.approx(sum(part[0] for part in parts), rel=1e-12)
    np.testing.assert_allclose(gradient, sum(part[1] for part in parts), rtol=1e-10)


@fewer
@given(rows=st.lists(st.permutations(range(4)), min_size=1, max_size=30), seed=st.integers(0, 9))
def test_merging_counts_every_answer_once(rows, seed):
    array = np.array(rows)[:, :3]
    shuffled = np.random.default_rng(seed).permutation(array)
    data = merge(Triplets.from_array(shuffled, n_objects=4))
    expected, counts = np.unique(array, axis=0, return_counts=True)
    np.testing.assert_array_equal(np.stack(data[:3], axis=1), expected)
    np.testing.assert_array_equal(data.weight, counts)


def test_indices_too_long_for_one_key_stay_as_they_are():
    rows = np.array([[6, 1, 2], [0, 1, 5], [6, 1, 2]]) * 300_001
    data = merge(Triplets.from_array(rows, SoundNames(map(str, range(2**21 + 1)))))
    np.testing.assert_array_equal(np.stack(data[:3], axis=1), rows)
    assert data.weight.tolist() == [1, 1, 1]


def test_merging_many_objects_keeps_every_answer():
    rows = np.random.default_rng(0).permuted(np.tile(np.arange(0, 9000, 9), (3000, 1)), axis=1)[:, :3]
    data = merge(Triplets.from_array(rows, n_objects=9000))
    merged = np.stack(data[:3], axis=1)
    np.testing.assert_array_equal(np.unique(merged, axis=0), np.unique(rows, axis=0))
    assert data.weight.sum() == 3000
    order = np.stack([data.near >> 12, data.far >> 12, data.anchor], axis=1) @ [10**8, 10**5, 1]
    assert (np.diff(order) >= 0).all()  # blocks of near and far stay in the cache, anchors come in a row


def test_answers_per_object_counts_repeats():
    data = merge(Triplets.from_array([[0, 1, 2], [0, 1, 2], [3, 1, 0]], n_objects=5))
    assert answers_per_object(data).tolist() == [3, 3, 2, 1, 0]


# -------------------------------------------------------------------- starts


@pytest.mark.parametrize("n", [40, 300])  # the small matrix, and Lanczos' method
def test_start_is_classical_scaling_of_the_net_scores(n):
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(n, 3)) * [3.0, 2.0, 1.0]
    rows = rng.integers(0, n, (60 * n, 3))
    rows = rows[(rows[:, 0] != rows[:, 1]) & (rows[:, 0] != rows[:, 2]) & (rows[:, 1] != rows[:, 2])]
    apart = np.linalg.norm(truth[rows[:, [0]]] - truth[rows[:, 1:]], axis=2)
    rows = np.where((apart[:, 0] > apart[:, 1])[:, None], rows[:, [0, 2, 1]], rows)
    start = kernel_start(merge(Triplets.from_array(rows, n_objects=n)), np.arange(n), 2)
    values, vectors = np.linalg.eigh(oracle.scaling_matrix(rows, n))
    expected = vectors[:, [-1, -2]] * np.sqrt(values[[-1, -2]])
    expected /= np.sqrt((expected**2).sum() / n)
    for axis in range(2):
        cosine = start[:, axis] @ expected[:, axis] / np.linalg.norm(start[:, axis]) ** 2
        assert abs(cosine) == pytest.approx(1.0, abs=0.02)


def test_start_leaves_the_uninformed_at_zero_and_no_axis_flat():
    answers = Triplets.from_array([[0, 1, 2], [4, 1, 2]], n_objects=6)
    informed = np.array([0, 1, 2, 4])
    start = kernel_start(merge(answers), informed, 5)  # more axes than four objects span
    assert not start[[3, 5]].any()
    assert (np.abs(start).max(axis=0) > 0).all()
    assert np.mean(np.sum(start[informed] ** 2, axis=1)) == pytest.approx(1.0)


def test_start_of_answers_that_cancel_is_finite():
    start = kernel_start(merge(Triplets.from_array([[0, 1, 2], [0, 2, 1]])), np.arange(3), 2)
    assert np.isfinite(start).all() and np.abs(start).max() > 0


# -------------------------------------------------------------------- the pull, and the search


WEIGHTS = np.array([0.5, 1.0, 4.0])


@pytest.mark.parametrize("pull", [LearntPull(0.5, WEIGHTS, 9.0, 0.1, 0.01), steady_pull(0.7 * WEIGHTS)])
@fewer
@given(seed=st.integers(0, 1000), size=st.floats(0.01, 10.0))
def test_pull_and_its_gradient_agree(pull, seed, size):
    points = size * np.random.default_rng(seed).normal(size=(3, 2))
    gradient, numeric = pull(points)[1], oracle.numeric_gradient(lambda x: pull(x)[0], points, 1e-5 * size)
    np.testing.assert_allclose(gradient, numeric, rtol=1e-4, atol=1e-6 * np.abs(gradient).max())


def test_learnt_pull_is_the_formula():
    pull = LearntPull(0.5, np.array([1.0, 3.0]), 9.0, 0.1, 0.01)
    points = np.array([[1.0, 2.0], [0.0, 1.0]])  # squared lengths 5 and 1
    assert pull(points)[0] == pytest.approx(0.5 * 2 * 3 * 0.01 * np.log(1 + (5 + 3 * 1) / 2 / 0.01))


def test_lengths_count_alike_where_all_objects_play_both_roles():
    rows = [[a, n, f] for a in range(6) for n in range(6) for f in range(6) if len({a, n, f}) == 3]
    emphasis = Emphasis.of(merge(Triplets.from_array(rows, n_objects=8)))  # two that nobody asked about
    assert emphasis == (pytest.approx(len(rows) * 3 / 6), 0.0)
    assert emphasis(np.array([1.0, 60.0, 600.0])).tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("asked", ["all about landmarks", "landmarks about all"])
def test_lengths_count_by_answers_where_few_are_landmarks(asked):
    rng = np.random.default_rng(0)
    landmarks, others = rng.permuted(np.tile(np.arange(4), (20_000, 1)), axis=1), np.arange(4, 400)
    if asked == "all about landmarks":
        rows = np.column_stack([rng.choice(others, 20_000), landmarks[:, :2]])
    else:
        rows = np.column_stack(
            [landmarks[:, 0], rng.choice(others[::2], 20_000), rng.choice(others[1::2], 20_000)]
        )
    data = merge(Triplets.from_array(rows, n_objects=400))
    counts = answers_per_object(data)
    weights = Emphasis.of(data)(counts)
    assert np.allclose(weights, counts / counts.mean(), rtol=0.15)


def test_search_moves_the_free_rows_only_and_never_uphill():
    rows = random_rows(12, 300)
    start = np.random.default_rng(3).normal(size=(12, 2))
    free = np.array([2, 5])
    loop = Loop(merge(Triplets.from_array(rows)), losses.STE, 0.0, 2)
    ended = optimise(loop, start, free, pull=None, max_iter=200, tol=1e-9)
    before, after = loop(start)[0], loop(ended.points)[0]
    slopes = loop(ended.points)[1]
    assert ended.converged and after < before
    fixed = np.setdiff1d(np.arange(12), free)
    np.testing.assert_array_equal(ended.points[fixed], start[fixed])
    assert np.abs(slopes[free]).max() < 1e-2 < np.abs(slopes[fixed]).max()
