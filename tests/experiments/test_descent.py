"""Gradient descent with the published step rule: step by step against a naive twin, and on the saddle at the origin."""

import numpy as np
import oracles_embedding as oracle
import pytest
from experiments._descent import CKL, GNMDS, TSTE, descend
from sklearn.cluster import KMeans

from nearfar import embedding, simulate
from nearfar.design import landmark_questions, random_questions
from nearfar.embedding import losses
from nearfar.embedding.loop import Loop, merge
from nearfar.errors import NotConverged
from nearfar.evaluate.metrics import purity
from nearfar.triplets import Triplets

RATES = {GNMDS: 1.0, CKL: 1e-5, TSTE: 2.0}


def naive_descent(name, parameter, rate, start, rows, max_iter, least=0):
    """The published rule, with slopes by finite differences of a loss written as a loop."""
    points, n, m = start.copy(), len(start), len(rows)
    before, best, lowest, failures, steps = np.inf, start, np.inf, 0, 0
    while steps < max_iter and (failures < 5 or steps < least):
        value = oracle.total_loss(name, parameter, points, rows)
        if value < lowest:
            best, lowest = points.copy(), value
        slopes = oracle.numeric_gradient(lambda x: oracle.total_loss(name, parameter, x, rows), points)
        points = points - rate * n / m * slopes
        improved = before - value > 1e-7
        failures, rate = (0, rate * 1.01) if improved else (failures + 1, rate / 2)
        before, steps = value, steps + 1
    return best, lowest, steps


@pytest.mark.filterwarnings("ignore::nearfar.errors.NotConverged")
@pytest.mark.parametrize("method", list(RATES))
def test_every_step_is_the_published_one(method):
    truth = np.random.default_rng(0).normal(size=(6, 2))
    given = simulate.answers(random_questions(6, 40, seed=1), points=truth, flip=0.2, seed=1).triplets
    start = 0.2 * np.random.default_rng(2).normal(size=(6, 2))
    name, parameter = method.__name__.lower(), method(2)._parameter()
    rows, least = given.array.tolist(), 50 if method is GNMDS else 0
    best, lowest, steps = naive_descent(name, parameter, RATES[method], start, rows, 25, least)
    loop = Loop(merge(given), method._kind, parameter, 2)
    ended = descend(loop, start, np.arange(6), rate=method.rate, least_steps=method.least_steps, max_iter=25)
    assert ended.n_iter == steps > 10
    assert lowest < oracle.total_loss(name, parameter, start, rows)
    assert ended.objective == pytest.approx(lowest, rel=1e-6)
    np.testing.assert_allclose(ended.points, best, atol=1e-5)


def test_the_start_is_almost_the_origin():
    given = Triplets.from_array([[0, 1, 2], [1, 2, 0]])
    with pytest.warns(NotConverged, match="max_iter=1 "):
        points = CKL(2, regularization=0.0, max_iter=1, random_state=4).fit_transform(given)
    drawn = 1e-4 * np.random.default_rng(4).normal(size=(3, 2))
    apart = [np.linalg.norm(p[:, None] - p, axis=2) for p in (points, drawn)]
    np.testing.assert_allclose(*apart, rtol=1e-9)


def groups(n=400, seed=0):
    """Three groups in ten dimensions, easy to tell apart."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n)
    return 3 * np.eye(10)[truth] + rng.normal(size=(n, 10)), truth


def clusters_of(points, truth):
    return purity(KMeans(3, n_init=5, random_state=0).fit_predict(points), truth)


@pytest.mark.filterwarnings("ignore::nearfar.errors.NotConverged")
def test_gnmds_stays_at_the_saddle_on_landmark_triplets_and_leaves_it_on_random_ones():
    """What Kleindessner and von Luxburg saw: the program, not the loss, makes nothing of landmark triplets."""
    points, truth = groups()
    n, budget = len(points), 20_000
    designs = {
        "landmark": landmark_questions(n, range(15), "k1", budget=budget, seed=1),
        "random": random_questions(n, budget, seed=1),
    }
    results = {}
    for name, questions in designs.items():
        given = simulate.answers(questions, points=points, seed=2).triplets
        published = GNMDS(2, regularization=0.0, random_state=0).fit(given)
        ours = embedding.GNMDS(2).fit(given)
        results[name] = published.loss_, clusters_of(published.embedding_, truth), ours.loss_
    loss, share, ours = results["landmark"]
    assert loss > 0.9  # every answer costs 1 at the origin
    assert ours < 0.6  # the same loss, on the same answers, has much better points
    assert share < 0.5
    loss, share, _ = results["random"]
    assert loss < 0.7
    assert share > 0.8


@pytest.mark.filterwarnings("ignore::nearfar.errors.NotConverged")
@pytest.mark.parametrize("method", [CKL, TSTE])
def test_ckl_and_tste_leave_the_saddle_on_landmark_triplets(method):
    points, truth = groups()
    questions = landmark_questions(len(points), range(15), "k1", budget=20_000, seed=1)
    given = simulate.answers(questions, points=points, seed=2).triplets
    settings = {"mu": 0.1} if method is CKL else {}
    model = method(2, regularization=0.0, **settings, random_state=0).fit(given)
    assert clusters_of(model.embedding_, truth) > 0.6


def test_ends_after_five_failures_in_a_row_and_returns_the_best_points():
    truth = np.random.default_rng(3).normal(size=(12, 2))
    given = simulate.answers(random_questions(12, 600, seed=3), points=truth).triplets
    loop = Loop(merge(given), losses.STE, 0.0, 2)
    ended = descend(
        loop, truth, np.arange(12), rate=1.0, max_iter=1000, tol=1e6
    )  # no step improves by so much
    assert ended.converged and ended.n_iter == 6  # the first step has nothing to be compared with
    assert ended.objective <= oracle.total_loss("ste", 0.0, truth, given.array.tolist()) * (1 + 1e-12)


def test_points_that_run_away_end_the_search():
    data = merge(Triplets.from_array([[0, 1, 2], [1, 2, 0], [2, 0, 1]]))
    start = 1e200 * np.random.default_rng(0).normal(size=(3, 2))
    ended = descend(Loop(data, losses.STE, 0.0, 2), start, np.arange(3), rate=1.0, max_iter=10)
    assert ended.converged and ended.n_iter == 0
    np.testing.assert_array_equal(ended.points, start)
