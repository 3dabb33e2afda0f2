"""Questions of every kind are answered by distance, by a loop written from the definition."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from nearfar import design, simulate


def right_choice(kind, row, apart, pick):
    """Positions of the right answer; None where it is a tie."""
    if kind in ("near", "grid"):
        values = [apart[row[0], x] for x in row[1:]]
        ranked = sorted(range(len(values)), key=values.__getitem__)
        return None if values[ranked[pick - 1]] == values[ranked[pick]] else set(ranked[:pick])
    sides = {frozenset(pair): apart[row[pair[0]], row[pair[1]]] for pair in combinations(range(3), 2)}
    extreme = min(sides.values()) if kind == "odd" else max(sides.values())
    pairs = [pair for pair, side in sides.items() if side == extreme]
    return {0, 1, 2} - pairs[0] if len(pairs) == 1 else None


def questions_of(kind, n, m, pick=2):
    return design.Scheme(kind, size=4, pick=pick).questions(n, m)


@st.composite
def studies(draw):
    kind = draw(st.sampled_from(list(design.KINDS)))
    n = draw(st.integers(6, 9))
    points = np.array(draw(st.lists(st.integers(0, 6), min_size=n, max_size=n)), dtype=float)[:, None]
    return questions_of(kind, n, 15, draw(st.integers(1, 3))), points


@given(studies(), st.sampled_from(["drop", "random"]))
def test_every_kind_is_answered_by_distance(case, ties):
    questions, points = case
    apart = cdist(points, points)
    result = simulate.answers(questions, points=points, ties=ties)
    by_matrix = simulate.answers(questions, distances=apart, ties=ties)
    np.testing.assert_array_equal(result.choice, by_matrix.choice)
    chosen = result.choice.reshape(len(questions), -1).tolist()
    n_ties = 0
    for row, got in zip(questions.array.tolist(), chosen, strict=True):
        right = right_choice(questions.kind, row, apart, questions.pick)
        n_ties += right is None
        if right is not None:
            assert set(got) == right
        else:
            assert (set(got) == {-1}) == (ties == "drop")
    assert result.ties == n_ties
    wanted = questions.answered(result.choice)
    np.testing.assert_array_equal(result.triplets.array, wanted.array)


@pytest.mark.parametrize("kind", ["odd", "central"])
def test_flips_of_a_trio_go_to_either_other_object(kind):
    points = np.random.default_rng(0).normal(size=(60, 2))
    questions = design.trio_questions(60, 20_000, kind)
    right = simulate.answers(questions, points=points).choice
    turned = simulate.answers(questions, points=points, flip=0.3, seed=4).choice
    shift = (turned - right) % 3
    assert (shift > 0).mean() == pytest.approx(0.3, abs=0.015)
    assert (shift == 1).mean() == pytest.approx(0.15, abs=0.012)


def test_flips_of_a_grid_exchange_single_picks():
    points = np.random.default_rng(0).normal(size=(60, 2))
    questions = design.grid_questions(60, 3000, size=8, pick=3)
    right = simulate.answers(questions, points=points).choice
    turned = simulate.answers(questions, points=points, flip=0.2, seed=4).choice
    kept = np.array([len(set(a) & set(b)) for a, b in zip(right.tolist(), turned.tolist(), strict=True)])
    assert kept.mean() == pytest.approx(3 * 0.8, abs=0.04)


def test_noise_turns_close_calls_more_often_than_clear_ones():
    points = np.random.default_rng(0).normal(size=(80, 2))
    questions = design.random_questions(80, 30_000)
    right = simulate.answers(questions, points=points).choice
    noisy = simulate.answers(questions, points=points, noise=0.5, seed=3).choice
    apart = cdist(points, points)
    gap = np.abs(np.log(apart[questions.anchor, questions.one] / apart[questions.anchor, questions.other]))
    wrong = right != noisy
    close, clear = gap < np.quantile(gap, 0.25), gap > np.quantile(gap, 0.75)
    assert wrong[close].mean() > 0.35 and wrong[clear].mean() < 0.1
    # P(wrong) = Phi(-gap / (noise sqrt 2)), for each of the two distances is seen with its own noise
    from scipy.stats import norm

    assert wrong.mean() == pytest.approx(norm.cdf(-gap / (0.5 * np.sqrt(2))).mean(), abs=0.01)


@pytest.mark.parametrize("kind", design.KINDS)
def test_booklets_are_answered_by_person_and_checks_are_passed(kind):
    questions = questions_of(kind, 40, 40 if kind == "grid" else 120)
    made = design.booklets(questions, 6, again=0.1, checks=2, gap=3)
    points = np.random.default_rng(1).normal(size=(40, 2))
    result = simulate.answers(made, points=points)
    assert result.ties == (12 if kind == "central" else 0)  # either of two alike is the most central
    assert made.passed(result.choice).sum() == 12
    assert len(result.triplets.participant.present) == 6
    n_statements = int((made.role != 2).sum())
    per_statement = {"near": 1, "odd": 2, "central": 2, "grid": 4}[kind]
    assert len(result.triplets) == n_statements * per_statement
    careless = simulate.answers(made, points=points, flip=1.0)
    assert made.passed(careless.choice).sum() < 12


def test_trios_in_a_matrix_that_is_not_symmetric_go_by_both_directions():
    distances = np.array([[0, 1, 9], [9, 0, 4], [3, 4, 0]])  # means: 5, 6, 4
    trio = design.trio_questions(3, 1)
    result = simulate.answers(trio, distances=distances)
    assert trio.array[0, result.choice[0]] == 0
