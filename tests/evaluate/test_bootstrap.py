"""The pigeonhole bootstrap: the draws against a naive twin, and what its intervals say."""

import numpy as np
import pytest

from nearfar import Triplets
from nearfar.evaluate.bootstrap import Draws, Estimate, Scope, make_draws


def answers_of(people, each, seed=0, n=30):
    rng = np.random.default_rng(seed)
    rows = np.argsort(rng.random((people * each, n)), axis=1)[:, :3]
    return Triplets.from_array(rows, n_objects=n, participant=np.repeat(np.arange(people), each))


def crossed(people, units, seed=0, spread=1.0):
    """Credits of people x units with a share of each."""
    rng = np.random.default_rng(seed)
    logit = 1 + spread * rng.normal(size=(people, 1)) + spread * rng.normal(size=(1, units))
    credit = rng.random((people, units)) < 1 / (1 + np.exp(-logit))
    person, unit = np.indices(credit.shape)
    return credit.ravel().astype(float), unit.ravel(), person.ravel()


def test_means_are_those_of_multiplied_weights():
    credit, unit, person = crossed(12, 9)
    credit[[3, 50]] = np.nan
    draws = Draws(unit, person, n_draws=5)
    means = draws.means([credit, 1 - credit])
    for b in range(5):
        weight = draws._person_weights[person, b] * draws._unit_weights[unit, b]
        known = np.isfinite(credit)
        expected = np.sum(weight[known] * credit[known]) / weight[known].sum()
        assert means[0, b] == pytest.approx(expected)
        assert means[1, b] == pytest.approx(1 - expected)
        out = known & (weight == 0)
        assert draws.left_out_means(credit)[0, b] == pytest.approx(credit[out].mean())


def test_seeds_fix_the_draws():
    credit, unit, person = crossed(12, 9)
    one, same, other = (Draws(unit, person, seed=seed).estimate(credit) for seed in (1, 1, 2))
    assert one == same
    assert one != other


def test_intervals_cover_the_mean_of_new_people_and_units():
    truth = crossed(2000, 2000, seed=99)[0].mean()
    inside = 0
    for seed in range(60):
        credit, unit, person = crossed(25, 40, seed)
        estimate = Draws(unit, person, n_draws=200, seed=seed).estimate(credit)
        inside += estimate.low <= truth <= estimate.high
    assert inside >= 54


def test_more_people_than_groups_are_joined():
    rng = np.random.default_rng(0)
    credit = (rng.random(9000) < 0.7).astype(float)
    estimate = Draws(np.arange(9000), n_draws=300).estimate(credit)
    width = 1.96 * np.sqrt(0.21 / 9000)
    assert (estimate.high - estimate.low) / 2 == pytest.approx(width, rel=0.2)


def test_all_alike_is_as_sure_as_coins():
    estimate = Draws(np.arange(30)).estimate(np.ones(30))
    assert estimate.value == estimate.high == 1
    assert estimate.low == pytest.approx(0.025 ** (1 / 30))


def test_nothing_is_known_from_one_unit_or_no_answers():
    assert np.isnan(Draws(np.zeros(4, dtype=int)).estimate([1, 0, 1, 1]).low)
    assert np.isnan(Draws(np.arange(4)).estimate(np.full(4, np.nan)).value)
    assert Draws(np.zeros(4, dtype=int)).p_guessing(np.ones((2, 4))) == 1


def test_a_difference_on_the_same_answers_is_surer_than_its_parts():
    credit, unit, person = crossed(20, 50)
    worse = np.where(np.random.default_rng(1).random(len(credit)) < 0.1, 0.0, credit)
    draws = Draws(unit, person)
    apart = draws.difference(credit, worse)
    assert apart.low > 0
    assert apart.high - apart.low < draws.estimate(credit).high - draws.estimate(credit).low
    assert draws.difference(credit, credit) == Estimate(0, 0, 0)


def test_guessing_is_told_from_knowing_whatever_the_number_of_models():
    rng = np.random.default_rng(0)
    alarms = [
        Draws(np.arange(300), n_draws=200, seed=s).p_guessing(rng.random((8, 300)) < 0.5) <= 0.05
        for s in range(60)
    ]
    assert sum(alarms) <= 8
    assert Draws(np.arange(300)).p_guessing(rng.random((8, 300)) < 0.7) < 0.01


def test_clearly_better_counts_the_models():
    rng = np.random.default_rng(0)
    credits = rng.random((4, 3000)) < np.array([[0.8], [0.8], [0.79], [0.7]])
    better = Draws(np.arange(3000)).clearly_better(credits)
    assert better[3, :2].all()
    assert not better[:3, :3].any()
    assert not Draws(np.arange(3000)).clearly_better(credits, by=0.2).any()


def test_variance_is_split_into_people_and_units():
    credit, unit, person = crossed(15, 400)
    people, units = Draws(unit, person).variance_parts(credit)
    assert people > 5 * units


@pytest.mark.parametrize(
    ("people", "design", "scope"),
    [
        (12, None, Scope("new", "new", 12)),
        (4, "blocked", Scope("same", "within booklets", 4)),
        (12, "adaptive", Scope("new", "adaptive", 12)),
    ],
)
def test_scope_says_of_whom_a_figure_speaks(people, design, scope):
    assert make_draws(answers_of(people, 20), design=design).scope == scope
    bare = answers_of(people, 20).replace(participant=None)
    assert make_draws(bare).scope == Scope("unknown", "new", 0)
