"""Adaptive questions: the posterior and the score against naive twins, and what every batch keeps."""

import numpy as np
import pytest

from nearfar import design, simulate
from nearfar.design import adaptive
from nearfar.embedding import SOE
from nearfar.errors import InputError
from nearfar.triplets import Triplets


def some_answers(n=15, m=300, kind="near", seed=0):
    points = np.random.default_rng(seed).normal(size=(n, 2))
    asked = design.next_questions([], n, m, kind=kind, size=5, seed=seed).questions
    return simulate.answers(asked, points=points, noise=0.3, seed=seed).triplets


def test_the_curvature_is_that_of_the_loss():
    answers = some_answers(6, 60)
    points = np.random.default_rng(1).normal(size=(6, 2))

    def log_odds(x, row):
        a, i, j = (x.reshape(points.shape)[k] for k in row)
        return np.linalg.norm(a - j) - np.linalg.norm(a - i)

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
def test_the_covariance_is_the_inverse_of_curvature_and_prior(monkeypatch, limit):
    monkeypatch.setattr(adaptive, "MAX_COORDINATES", limit)
    answers = some_answers(5, 60)
    curvature = adaptive._curvature(SOE(2).fit(answers).embedding_, answers.array)
    expected = np.linalg.inv(curvature.toarray() + 1.4 * np.eye(10))
    if limit == 1:  # each object as if the others were known
        blocks = [slice(2 * k, 2 * k + 2) for k in range(5)]
        expected = np.vstack([np.linalg.inv(curvature.toarray()[b, b] + 1.4 * np.eye(2)) for b in blocks])
    np.testing.assert_allclose(adaptive._covariance(curvature, 2, 1 / 1.4, None), expected)


def drawn(kind, size, scale=1.0, seed=1):
    """Points of 7 objects, their covariance, questions, and utilities of all answers at 200,000 draws."""
    rng = np.random.default_rng(seed)
    points, root = rng.normal(size=(7, 3)), rng.normal(size=(21, 21)) * 0.03 * scale
    rows = np.array([[0, 1, 2, 5], [4, 6, 3, 1]])[:, :size]
    x = points + (rng.normal(size=(200_000, 21)) @ root.T).reshape(-1, 7, 3)

    def apart(a, b):
        return np.linalg.norm(x[:, a] - x[:, b], axis=1)

    utilities = []
    for a, b, *more in rows:
        c = more[0]
        utilities.append(
            {
                "near": [-apart(a, b), -apart(a, c)],
                "grid": [-apart(a, option) for option in (b, *more)],
                "odd": [-apart(b, c), -apart(a, c), -apart(a, b)],
                "central": [
                    -apart(a, b) - apart(a, c),
                    -apart(b, a) - apart(b, c),
                    -apart(c, a) - apart(c, b),
                ],
            }[kind]
        )
    return points, root @ root.T, rows, np.array(utilities)  # questions, answers, draws


@pytest.mark.parametrize(("kind", "size"), [("near", 3), ("odd", 3), ("central", 3), ("grid", 4)])
def test_the_score_is_the_expected_information(kind, size):
    """Beside draws from the posterior: the probabilities of the answers, and h(mean p) - mean h(p)."""
    points, covariance, rows, utilities = drawn(kind, size)
    p = np.exp(utilities - utilities.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)

    def entropy(q):
        return -(q * np.log(q + 1e-300)).sum(axis=1)

    got, fisher, spread = adaptive._answers(points, covariance, rows, kind)
    np.testing.assert_allclose(got, p.mean(axis=2), atol=0.02)
    expected = entropy(p.mean(axis=2, keepdims=True))[:, 0] - entropy(p).mean(axis=1)
    np.testing.assert_allclose(adaptive._information(got, fisher, spread), expected, rtol=0.15, atol=0.002)


def test_objects_may_be_independent():
    points, covariance, rows, _ = drawn("near", 3)
    alone = covariance * np.kron(np.eye(7), np.ones((3, 3)))
    blocks = np.vstack([alone[3 * k : 3 * k + 3, 3 * k : 3 * k + 3] for k in range(7)])
    for whole, parts in zip(
        adaptive._answers(points, alone, rows, "near"),
        adaptive._answers(points, blocks, rows, "near"),
        strict=True,
    ):
        np.testing.assert_allclose(whole, parts)


@pytest.mark.parametrize(("kind", "size"), [("near", 3), ("odd", 3), ("grid", 4)])
def test_a_question_leaves_its_information_out_of_the_covariance(kind, size):
    """As if its Fisher information were added to the precision."""
    points, covariance, rows, _ = drawn(kind, size, scale=0.1)
    _, fisher, spread = adaptive._answers(points, covariance, rows, kind)
    chosen = adaptive._Chooser(points, covariance.copy(), kind, size - 1, 7, np.random.default_rng(0))
    chosen._learn(rows[0], fisher[0], spread[0])
    slopes = np.zeros((len(fisher[0]), 7, 3))
    for at, (a, b) in enumerate(zip(*(pair[0] for pair in adaptive._pairs(rows, kind)), strict=True)):
        unit = (points[a] - points[b]) / np.linalg.norm(points[a] - points[b])
        slopes[at, a] += unit
        slopes[at, b] -= unit
    slopes = slopes.reshape(len(slopes), 21)
    expected = np.linalg.inv(np.linalg.inv(covariance) + slopes.T @ fisher[0] @ slopes)
    np.testing.assert_allclose(
        chosen.covariance - covariance, expected - covariance, atol=1e-3 * np.abs(expected - covariance).max()
    )


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


def test_answers_are_matched_to_the_objects_by_name():
    names = [f"o{i:02d}" for i in range(15)]
    some = Triplets.from_array(some_answers(12).array, names[:12])
    order = np.random.default_rng(2).permutation(15)
    turned = Triplets.from_array(np.argsort(order)[some.array], [names[i] for i in order])
    expected = design.next_questions(some, names)
    assert {12, 13, 14} <= set(expected.questions.anchor[:3])  # nobody was asked about these
    for same in (turned, some.array):
        np.testing.assert_array_equal(
            design.next_questions(same, names).questions.array, expected.questions.array
        )
    with pytest.raises(InputError, match="'o14' is not among the 14 objects"):
        design.next_questions(turned, names[:14])


def test_candidates_of_an_anchor_are_different_and_all_can_be_drawn():
    chooser = adaptive._Chooser(np.zeros((12, 2)), np.eye(24), "grid", 5, 12, np.random.default_rng(0))
    rows = chooser._candidates(3)
    assert all(len(set(row)) == 6 for row in rows.tolist()) and (rows[:, 0] == 3).all()
    often = np.bincount(rows[:, 1:].ravel(), minlength=12)
    assert often[3] == 0 and np.delete(often, 3).min() > 100  # 136 are expected


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


@pytest.mark.parametrize("radius", [2.0, 6.0])
def test_a_length_of_one_is_as_much_as_the_noise(radius):
    """The posterior has the scale of the answers, a little smaller; an object without an answer is as uncertain as the map is large."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(20, 2)) * radius / np.sqrt(2)
    rows = np.argsort(rng.random((3000, 20)), axis=1)[:, :3]
    to_near, to_far = (np.linalg.norm(points[rows[:, 0]] - points[rows[:, k]], axis=1) for k in (1, 2))
    flip = rng.random(3000) > 1 / (1 + np.exp(to_near - to_far))
    rows[flip] = rows[flip][:, [0, 2, 1]]
    names = tuple(map(str, range(21)))
    found, covariance = adaptive._posterior(Triplets.from_array(rows, names), names, None, 2, rng)
    size = np.sqrt(np.sum(found**2) / 21)
    assert 0.6 < size / np.sqrt(np.sum(points**2) / 20) < 1.0
    np.testing.assert_allclose(covariance[40:, 40:], np.eye(2) * size**2 / 2)


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
