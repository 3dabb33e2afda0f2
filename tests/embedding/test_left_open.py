"""How far objects lie from where their vectors put them, against positions that are known."""

from __future__ import annotations

import numpy as np
import pytest

import nearfar as nf
from nearfar.embedding import SOE
from nearfar.embedding.left_open import left_open
from nearfar.embedding.prior import Setting, Vectors

RNG = np.random.default_rng(4)
TRUTH = RNG.uniform(-1, 1, size=(50, 2))
ANSWERS = nf.simulate.answers(
    nf.design.random_questions(50, 1500, seed=1), points=TRUTH, noise=0.1, seed=1
).triplets


def fitted(vectors: np.ndarray) -> SOE:
    prior = Vectors(vectors, ANSWERS.objects).prior(Setting(0.8, np.inf, (1.0,)))
    return SOE(2, prior=prior).fit(ANSWERS)


@pytest.mark.parametrize("noise", [0.15, 0.5])
def test_spread_is_the_error_of_the_positions_of_new_objects(noise):
    rng = np.random.default_rng(5)
    everything = np.vstack([TRUTH, rng.uniform(-1, 1, size=(100, 2))])
    vectors = everything / TRUTH.std() + noise * rng.normal(size=everything.shape)
    model = fitted(vectors[:50])
    placed = model.place(vectors[50:])
    middle = TRUTH.mean(axis=0)
    left, values, right = np.linalg.svd((TRUTH - middle).T @ model.embedding_)
    moved = values.sum() / np.sum((TRUTH - middle) ** 2) * (everything - middle) @ left @ right
    error = np.sqrt(np.mean((placed.points - moved[50:]) ** 2))
    assert 0.7 * error < np.mean(placed.spread) < 1.4 * error


def test_useless_vectors_leave_everything_open():
    assert left_open(fitted(RNG.normal(size=TRUTH.shape)), ANSWERS) > 0.5


def test_a_statement_given_twice_is_no_second_witness():
    """Copies of an answer in one statement weigh more; they are no pair of independent answers."""
    model = fitted(TRUTH)
    twice = nf.Triplets.from_array(
        np.repeat(ANSWERS.array, 2, axis=0), ANSWERS.objects, statement=np.repeat(np.arange(len(ANSWERS)), 2)
    )
    once = left_open(model, ANSWERS, np.full(len(ANSWERS), 2.0))
    np.testing.assert_allclose(left_open(model, twice), once, rtol=0.05)


def test_too_few_answers_leave_the_width_of_the_map():
    few = ANSWERS[:1]
    prior = Vectors(TRUTH, few.objects).prior(Setting(0.8, np.inf, (1.0,)))
    model = SOE(2, prior=prior).fit(few)
    assert left_open(model, few) == 1.0
