"""The numbers that the experiments compute, against naive twins."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from experiments import (
    car,
    complexity,
    diagonal,
    entries,
    figure1,
    figure2,
    figure3,
    landmarks,
    nature,
    prior,
)
from experiments._rows import average, matching, on_one_machine, runs_of, spread, typical_seconds, with_error
from scipy.stats import kendalltau
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier

from nearfar import Triplets, kernel_matrix
from nearfar.design import landmark_questions, random_questions
from nearfar.simulate import answers


def test_ideal_scores_by_their_definitions():
    d = figure1.distances()
    assert float(figure1.ideal_k1(d, 0, 6)) == pytest.approx(kendalltau(d[0], d[6]).statistic)
    naive = np.mean(
        [np.sign(d[i, 0] - d[i, j]) * np.sign(d[i, 6] - d[i, j]) for i in range(7) for j in range(7)]
    )
    assert float(figure1.ideal_k2(d, 0, 6)) == pytest.approx(naive)


@pytest.mark.parametrize("n", [6, 12, 50])
def test_the_chain_is_the_papers(n):
    X = figure2.points(n)
    d = np.linalg.norm(X[:, None] - X, axis=2) / (n - 3)
    order = [d[0, 1], d[1, n - 1], d[0, n - 1], d[1, 2], d[0, 2], 1.0]
    assert all(a > b for a, b in pairwise(order))
    assert d[2, n - 1] == 1.0
    assert d.max() == d[0, 1]  # x1 and x2 are farthest apart of all
    np.testing.assert_allclose(np.diff(X[2:, 0]), 1.0)  # evenly spaced
    assert X[0, 1] > 0 > X[1, 1]  # on opposite sides


def test_preference_counts_pairs():
    similar, together = np.array([0.9, 0.4, 0.4, 0.1]), np.array([True, False, True, False])
    pairs = [(a > b) + 0.5 * (a == b) for a in similar[together] for b in similar[~together]]
    assert figure3.preference(similar, together) == pytest.approx(np.mean(pairs))
    assert figure3.preference(similar, np.ones(4, dtype=bool)) is None


def test_adds3_by_counting():
    rng = np.random.default_rng(0)
    given = Triplets.from_array([rng.permutation(6)[:3] for _ in range(80)], n_objects=6)
    S = np.zeros((6, 6))
    for a, i, j in given.array:
        for x, y, sign in ((a, i, 1), (i, a, 1), (a, j, -1), (j, a, -1)):
            S[x, y] += sign
    np.testing.assert_array_equal(prior.adds3(given), S)


def test_mulk3_is_k1_off_the_diagonal():
    given = answers(
        random_questions(12, 300, seed=0), points=np.random.default_rng(1).normal(size=(12, 2))
    ).triplets
    W, K = prior.similarity("MulK-3", given), kernel_matrix(given, "k1")
    off = ~np.eye(12, dtype=bool)
    np.testing.assert_allclose(W[off], K[off])
    np.testing.assert_array_equal(np.diag(W), 0.0)


def test_agreements_are_k1_freed_of_its_norms():
    marks = np.arange(6)
    given = answers(
        landmark_questions(20, marks, "k1", budget=150, seed=0),
        points=np.random.default_rng(0).normal(size=(20, 2)),
    ).triplets
    answered = {(a, min(i, j), max(i, j)): 1 if i < j else -1 for a, i, j in given.array.tolist()}
    phi = np.zeros((20, 15))
    for column, (i, j) in enumerate(combinations(range(6), 2)):
        for a in range(20):
            phi[a, column] = answered.get((a, i, j), 0)
    tau, shared = entries.agreements(phi)
    both = [c for c in range(15) if phi[7, c] and phi[9, c]]
    assert shared[7, 9] == len(both) > 0
    assert tau[7, 9] == pytest.approx(np.mean([phi[7, c] * phi[9, c] for c in both]))
    norms = np.sqrt((phi[[7, 9]] ** 2).sum(axis=1))
    K = kernel_matrix(given, "k1", landmarks=marks, diagonal="keep")
    assert K[7, 9] == pytest.approx(tau[7, 9] * len(both) / norms.prod())


def test_intervals_of_an_entry_cover():
    """Columns drawn without replacement from 105, a share of .8 agreeing."""
    rng = np.random.default_rng(0)
    signs = np.where(np.arange(105) < 84, 1, -1)
    for shared in (5, 15, 60):
        taus = np.array([rng.permutation(signs)[:shared].mean() for _ in range(2000)])
        low, high = entries.interval(taus, np.full(2000, shared), 105)
        assert 0.9 < np.mean((low <= signs.mean()) & (signs.mean() <= high)) <= 1.0
    low, high = entries.interval(np.array([0.6]), np.array([105]), 105)
    np.testing.assert_allclose([low, high], 0.6, atol=1e-3)  # all questions: nothing left to know


@pytest.mark.parametrize("remedy", diagonal.REMEDIES)
def test_remedies_keep_what_they_should(remedy):
    X = np.random.default_rng(0).normal(size=(20, 40))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    K = X @ X.T
    rows = diagonal.remedied(K, remedy)
    remedied, off = rows @ rows.T, ~np.eye(20, dtype=bool)
    if remedy in ("none", "shift"):
        np.testing.assert_allclose(remedied[off], K[off], atol=1e-12)
        assert (np.linalg.eigvalsh(remedied)[0] < 1e-12) == (remedy == "shift")
    if remedy == "kernel PCA":
        assert rows.shape == (20, diagonal.DIMENSIONS)


@pytest.mark.parametrize("choice", landmarks.CHOICES)
def test_landmarks_are_chosen(choice):
    rng = np.random.default_rng(0)
    points, classes = rng.normal(size=(60, 3)), np.repeat([1, 2, 3], 20)
    marks = landmarks.choose(choice, points, classes, 9, 0)
    assert len(set(marks.tolist())) == len(marks) <= 9
    if choice == "by class":
        np.testing.assert_array_equal(np.bincount(classes[marks]), [0, 3, 3, 3])


def test_the_vote_of_others_is_that_of_leaving_one_out():
    rng = np.random.default_rng(0)
    points, truth = rng.normal(size=(40, 2)), rng.choice(["a", "b", "c"], 40)
    twin = cross_val_predict(KNeighborsClassifier(car.NEIGHBOURS), points, truth, cv=LeaveOneOut())
    np.testing.assert_array_equal(car.vote_of_others(points, truth), twin)


def test_exponents():
    rows = [{"grows": "n", "n": n, "seconds": 3 * n**2.0} for n in (4, 1, 2)]
    assert complexity.exponent(rows, "n") == pytest.approx(2.0)


def test_the_stand_in_has_the_size_and_kind_of_the_real_set():
    given, labels = nature.stand_in()
    assert (given.n_objects, len(given), len(np.unique(labels))) == (120, 2 * 3_355, 4)
    assert len(np.unique(given.statement_ids)) == 3_355


def test_averages():
    rows = [
        {"d": 2, "purity": 0.5, "seconds": 1.0, "run": 0},
        {"d": 2, "purity": 0.7, "seconds": 3.0, "cluster_seconds": 1.0, "run": 1},
    ]
    rows += [{"purity": 0.9, "seconds": 9.0, "feature_seconds": 1.0}]
    assert average(rows, d=2) == pytest.approx(0.6)
    assert spread(rows, d=2) == pytest.approx(np.std([0.5, 0.7], ddof=1) / np.sqrt(2))
    assert typical_seconds(rows, d=2) == pytest.approx(2.5)
    assert typical_seconds(rows, d=None) == pytest.approx(1.0)  # kernels: features, not the matrix
    assert average(rows, d=None) == 0.9
    assert np.isnan(average(rows, d=3))
    assert with_error(rows, d=None) == "0.90" and with_error(rows, d=3) == "-"
    assert runs_of(rows, "d", d=2) == "2" and runs_of([], "d") == "0"
    assert matching(rows, d=None) == rows[2:]


def test_rows_of_one_machine():
    rows = [{"d": 2}, {"d": 5}, {"d": 2, "machine": 1}, {"d": 5, "machine": 2}, {"d": 2, "machine": 2}]
    assert on_one_machine(rows, {"d": 2}, {"d": 5}) == rows[3:]  # the last that has both
    assert on_one_machine(rows[:4], {"d": 2}, {"d": 5}) == rows[:2]
    assert on_one_machine(rows[1:4], {"d": 2}, {"d": 5}) == []
