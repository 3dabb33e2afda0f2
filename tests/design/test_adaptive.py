"""Adaptive questions: the posterior and the score against naive twins, and what every batch keeps."""

from functools import partial

import numpy as np
import pytest

from nearfar import design, simulate
from nearfar.design import adaptive
from nearfar.embedding import STE
from nearfar.errors import InputError
from nearfar.triplets import Triplets


def some_answers(n=15, m=300, kind="near", seed=0):
    points = np.random.default_rng(seed).normal(size=(n, 2))
    asked = design.next_questions([], n, m, kind=kind, size=5, seed=seed).questions
    return simulate.answers(asked, points=points, noise=0.3, seed=seed).triplets


def squared(points, a, b):
    return float(((points[a] - points[b]) ** 2).sum())


def test_the_curvature_is_that_of_the_loss():
    answers = some_answers(6, 60)
    points = STE(2).fit(answers).embedding_

    def log_odds(x, row):
        a, i, j = (x.reshape(points.shape)[k] for k in row)
        return ((a - j) ** 2).sum() - ((a - i) ** 2).sum()

    flat, step = points.ravel(), 1e-6
    naive = np.zeros((flat.size, flat.size))
    for row in answers.array:
        slope = [
            (log_odds(flat + step * e, row) - log_odds(flat - step * e, row)) / (2 * step)
            for e in np.eye(flat.size)
        ]
        p = 1 / (1 + np.exp(-log_odds(flat, row)))
        naive += p * (1 - p) * np.outer(slope, slope)
    np.testing.assert_allclose(adaptive._curvature(points, answers.array).toarray(), naive, atol=1e-5)


@pytest.mark.parametrize("limit", [adaptive.MAX_COORDINATES, 1])
def test_draws_have_the_covariance_of_the_posterior(monkeypatch, limit):
    monkeypatch.setattr(adaptive, "DRAWS", 40_000)
    monkeypatch.setattr(adaptive, "MAX_COORDINATES", limit)
    answers = some_answers(5, 60)
    curvature = adaptive._curvature(STE(2).fit(answers).embedding_, answers.array)
    draws = adaptive._normal_draws(5, 2, 0.7, curvature, None, np.random.default_rng(0)).reshape(40_000, 10)
    precision = curvature.toarray() + 1.4 * np.eye(10)
    if limit == 1:  # each object as if the others were known
        precision *= np.kron(np.eye(5), np.ones((2, 2)))
    np.testing.assert_allclose(np.cov(draws.T), np.linalg.inv(precision), atol=0.015)


@pytest.mark.parametrize("kind", ["near", "odd", "central", "grid"])
def test_utilities_are_those_of_the_definition(kind):
    rng = np.random.default_rng(1)
    draws, rows = rng.normal(size=(2, 7, 3)), np.array([[0, 1, 2], [4, 6, 3]])
    for s, row in np.ndindex(2, 2):
        x = draws[s]
        apart = partial(squared, x)
        a, b, c = rows[row]
        pairs = {"near": [apart(a, b), apart(a, c)], "odd": [apart(b, c), apart(a, c), apart(a, b)]}
        pairs["grid"] = pairs["near"]
        pairs["central"] = [apart(a, b) + apart(a, c), apart(b, a) + apart(b, c), apart(c, a) + apart(c, b)]
        got = adaptive._utilities(draws, rows, kind)[s, row]
        np.testing.assert_allclose(got, -np.array(pairs[kind]))


@pytest.mark.parametrize("kind", ["near", "odd", "central", "grid"])
def test_a_batch_is_even_and_repeatable(kind):
    answers = some_answers(kind=kind)
    chosen = design.next_questions(answers, n=45, kind=kind, size=5, seed=3)
    again = design.next_questions(answers, n=45, kind=kind, size=5, seed=3)
    np.testing.assert_array_equal(chosen.questions.array, again.questions.array)
    np.testing.assert_array_equal(chosen.score, again.score)
    rows = chosen.questions.array
    assert len(rows) == 45 and len({tuple(sorted(row)) for row in rows.tolist()}) == 45
    assert (chosen.score > 0).all() and (chosen.probability > 0).all() and (chosen.probability <= 1).all()
    loads = np.bincount(rows[:, 1:].ravel(), minlength=15)
    assert loads.max() <= 2 * loads.mean()
    assert not np.array_equal(
        rows, design.next_questions(answers, n=45, kind=kind, size=5, seed=4).questions.array
    )


def test_those_asked_least_come_first():
    answers = some_answers()
    few = answers[np.flatnonzero(answers.anchor != 7)]
    chosen = design.next_questions(few, n=40)
    totals = np.bincount(few.anchor, minlength=15) + np.bincount(chosen.questions.anchor, minlength=15)
    assert chosen.questions.anchor[0] == 7
    assert np.ptp(totals) <= 1 or totals[7] == totals.min()


def test_a_question_that_nobody_can_answer_is_not_asked():
    """Two objects at the same place are uncertain and tell nothing: information is not uncertainty."""
    rng = np.random.default_rng(0)
    points = np.vstack([rng.normal(size=(9, 2)) * 2, np.zeros((2, 2))])
    asked = design.random_questions(11, 440, seed=0)
    rows = np.vstack(
        [
            simulate.answers(asked, points=points, noise=0.2, ties="random", seed=s).triplets.array
            for s in range(40)
        ]
    )
    answers = Triplets.from_array(rows)
    shares = []
    for seed in range(3):
        rows = design.next_questions(answers, n=44, n_components=2, seed=seed).questions.array
        shares.append(np.mean([{9, 10} <= set(row[1:]) for row in rows.tolist()]))
    assert np.mean(shares) < 0.05


def test_vectors_make_the_first_questions():
    n = 24
    corner = np.repeat(np.eye(3), 8, axis=0)
    vectors = corner + 0.01 * np.random.default_rng(0).normal(size=(n, 3))
    rows = design.next_questions([], n, 2 * n, features=vectors).questions.array
    alike = [corner[b] @ corner[c] for _, b, c in rows]
    blind = [corner[b] @ corner[c] for _, b, c in design.next_questions([], n, 2 * n).questions.array]
    assert np.mean(alike) < 0.5 * np.mean(blind)  # options that vectors hold for the same are not compared


def test_many_objects_take_the_stated_fallback():
    n = 500
    asked = design.near_questions(n, 3000)
    answers = simulate.answers(asked, points=np.random.default_rng(0).normal(size=(n, 3)), noise=0.3).triplets
    assert n * 4 > adaptive.MAX_COORDINATES
    assert len(design.next_questions(answers, n=100).questions) == 100


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"objects": 2}, "three"),
        ({"objects": 9, "n": 0}, "n"),
        ({"objects": 9, "n_components": 6}, "n_components"),
        ({"objects": 5, "kind": "grid"}, "size"),
    ],
)
def test_wrong_arguments_are_one_sentence(arguments, word):
    with pytest.raises(InputError, match=word):
        design.next_questions([], **arguments)
