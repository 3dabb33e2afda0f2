"""Non-negative dimensions: the likelihood of choices, what a fit finds, scikit-learn's manners."""

import pickle

import numpy as np
import oracles_embedding as oracle
import pytest
from sklearn.base import clone

from nearfar.embedding import CKL, NonNegative
from nearfar.embedding.choices import ChoiceLoop, choices, odd_one_out_rows
from nearfar.embedding.nonneg import shares
from nearfar.embedding.prior import Setting, Vectors
from nearfar.errors import InputError, NotConverged, UninformedWarning
from nearfar.space import fit
from nearfar.triplets import Triplets

KINDS = np.repeat(np.eye(3), 8, axis=0) * 2.2


def odd_ones(points, m, seed=0):
    """Odd-one-out answers drawn from the model."""
    rng = np.random.default_rng(seed)
    trios = np.argsort(rng.random((m, len(points))), axis=1)[:, :3]
    s = points @ points.T
    pairs = np.stack([s[trios[:, i], trios[:, j]] for i, j in ((0, 1), (0, 2), (1, 2))], axis=1)
    kept = np.argmax(pairs + rng.gumbel(size=pairs.shape), axis=1)
    rows = np.take_along_axis(trios, np.array([[0, 1, 2], [0, 2, 1], [1, 2, 0]])[kept], axis=1)
    return Triplets.from_odd_one_out(rows, n_objects=len(points), participant=rng.integers(6, size=m))


def mixed():
    """An odd-one-out, a triplet, a most-central and a grid that picks 1 and 2 out of 1 to 4, and what they choose."""
    rows = [[0, 1, 2], [1, 0, 2], [3, 4, 0], [0, 2, 1], [1, 2, 0], [0, 1, 3], [0, 1, 4], [0, 2, 3], [0, 2, 4]]
    answers = Triplets.from_array(rows, statement=[0, 0, 1, 2, 2, 3, 3, 3, 3])
    chosen = [[(0, 1), (0, 2), (1, 2)], [(3, 4), (3, 0)], [(0, 2), (0, 1)], [(1, 2), (1, 0)]]
    return answers, [*chosen, [(0, 1), (0, 3), (0, 4)], [(0, 2), (0, 3), (0, 4)]]


def test_what_is_chosen_among_what():
    answers, expected = mixed()
    made = choices(answers)
    found = [
        [{int(made.one[p]), int(made.other[p])} for p in made.options[a:b]]
        for a, b in zip(made.start[:-1], made.start[1:], strict=True)
    ]
    wanted = [[set(pair) for pair in each] for each in expected]
    assert sorted(map(str, found)) == sorted(map(str, wanted))
    assert [rows.tolist() for rows in odd_one_out_rows(answers)] == [[0], [1]]


def test_the_likelihood_and_its_gradient_are_those_of_the_definition():
    answers, chosen = mixed()
    points = np.random.default_rng(0).random((5, 3))
    value, gradient = ChoiceLoop(answers)(points)
    assert value == pytest.approx(oracle.choice_loss(points, chosen), rel=1e-12)
    numeric = oracle.numeric_gradient(lambda x: oracle.choice_loss(x, chosen), points)
    np.testing.assert_allclose(gradient, numeric, atol=1e-7)


def test_a_weight_of_two_is_an_answer_given_twice():
    answers = odd_ones(KINDS, 60)
    points = np.random.default_rng(0).random((24, 2))
    weights = np.repeat(np.arange(60) % 3, 2).astype(float)
    twice = Triplets.concatenate([answers[weights == 1], answers[weights == 2], answers[weights == 2]])
    one, other = ChoiceLoop(answers, weights)(points), ChoiceLoop(twice)(points)
    assert one[0] == pytest.approx(other[0])
    np.testing.assert_allclose(one[1], other[1], atol=1e-10)


def test_threads_change_no_bit(monkeypatch):
    answers = odd_ones(KINDS, 20_000)  # enough for two blocks
    points = np.random.default_rng(0).random((24, 4))
    got = []
    for threads in ("1", "2"):
        monkeypatch.setenv("NEARFAR_NUM_THREADS", threads)
        got.append(ChoiceLoop(answers)(points))
    assert got[0][0] == got[1][0]
    np.testing.assert_array_equal(got[0][1], got[1][1])


def test_three_kinds_are_three_dimensions():
    answers, fresh = odd_ones(KINDS, 1500), odd_ones(KINDS, 600, seed=1)
    model = NonNegative(5).fit(answers)
    points = model.embedding_
    assert points.min() >= 0 and np.mean(points < 1e-6) > 0.4
    assert (np.diff(shares(points)) <= 1e-12).all()
    best = np.corrcoef(points[:, :3].T, KINDS.T)[:3, 3:]
    assert (best.max(axis=0) > 0.9).all()
    assert model.score(fresh) > CKL(2).fit(answers).score(fresh) - 0.02
    assert NonNegative().fit(answers).embedding_.shape[1] in (
        3,
        5,
    )  # the number that makes held-out choices likeliest


def test_two_dimensions_that_end_where_one_does_do_not_end_the_search():
    kinds = np.repeat(np.eye(4) + 0.3 * np.roll(np.eye(4), 2, axis=0), 6, axis=0) * 2
    answers = odd_ones(kinds, 800, seed=1)
    found = [NonNegative(random_state=seed).fit(answers).embedding_.any(axis=0).sum() for seed in range(3)]
    assert min(found) >= 4


def test_a_space_of_it_predicts_by_products_and_maps_by_directions():
    answers = odd_ones(KINDS, 600)
    space, model = fit(answers, "nonneg-3"), NonNegative(3).fit(answers)
    assert space.score(answers) == pytest.approx(model.score(answers))
    np.testing.assert_allclose(space.rows, model.embedding_)
    x = space.rows
    margin = space.margins(answers.anchor, answers.near, answers.far)
    products = ((x[answers.near] - x[answers.far]) * x[answers.anchor]).sum(axis=1)
    np.testing.assert_allclose(margin, products, atol=1e-12)
    assert space.take(range(10)).similarity == "product"
    doubled = space._with(rows=x * np.linspace(1, 2, 24)[:, None])
    np.testing.assert_allclose(doubled.distances(), space.distances(), atol=1e-12)
    labels = space.clusters(3).labels
    assert all(len(set(labels[k : k + 8].tolist())) == 1 for k in (0, 8, 16))


def test_manners_and_new_objects():
    answers = odd_ones(KINDS, 900)
    model = NonNegative(3, random_state=1).fit(answers)
    again = pickle.loads(pickle.dumps(clone(model).fit(answers)))
    np.testing.assert_array_equal(again.embedding_, model.embedding_)
    turns = odd_ones(KINDS[np.arange(24).reshape(3, 8).T.ravel()], 900)  # the last three are one of each kind
    known = turns[(turns.array < 21).all(axis=1)]
    few = Triplets(known.anchor, known.near, known.far, known.objects[:21], statement=known.statement)
    placed = NonNegative(3).fit(few).transform(turns)
    assert placed.shape == (24, 3) and placed.min() >= 0
    assert sorted(placed[21:].argmax(axis=1).tolist()) == [0, 1, 2] and (placed[21:].max(axis=1) > 0.5).all()


def test_vectors_as_a_prior_place_objects_that_nobody_was_asked_about():
    answers = odd_ones(KINDS, 400)
    seen = answers[(answers.array % 8 != 7).all(axis=1)]  # never objects 7, 15 and 23
    vectors = Vectors(
        {"kind": KINDS + np.random.default_rng(0).normal(size=KINDS.shape) * 0.1}, answers.objects
    )
    prior = vectors.prior(Setting(0.8, 1.2, (1.0,)))
    with_vectors = NonNegative(3, prior=prior).fit(seen)
    assert with_vectors.informed_.all() and with_vectors.embedding_.min() >= 0
    with pytest.warns(UninformedWarning, match="3 of 24"):
        without = NonNegative(3).fit(seen)
    assert with_vectors.score(answers) > without.score(answers)
    x = np.random.default_rng(1).random((24, 2))
    covariance = prior.basis @ prior.basis.T + np.diag(np.maximum(prior.own[:, 0] ** 2, 0.05))
    np.testing.assert_allclose(prior.precision(np.arange(24))(x), np.linalg.solve(covariance, x), rtol=1e-6)


def test_what_is_refused():
    answers = odd_ones(KINDS, 50)
    for setting in ({"n_components": 0}, {"regularization": -1}, {"sparsity": -1}, {"tol": 0}):
        with pytest.raises(InputError, match=next(iter(setting))):
            NonNegative(**setting).fit(answers)
    with pytest.raises(InputError, match="none"):
        NonNegative(2).fit(answers[:0])
    with pytest.warns(NotConverged, match="max_iter"):
        NonNegative(2, max_iter=1).fit(answers)
