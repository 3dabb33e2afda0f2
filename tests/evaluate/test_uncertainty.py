"""Errors that know about people and trios, and tests of many models at once."""

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nearfar.evaluate.max_t import above_guessing, equal_to_best, not_beaten_by
from nearfar.evaluate.uncertainty import (
    BETWEEN_FOLDS,
    Groups,
    covariance_of_means,
    dense_codes,
    error_groups,
    mean_estimate,
)
from nearfar.triplets import Triplets


def jackknife(values, codes):
    """(G - 1) / G sum_g (mean without g - mean)^2, group by group."""
    groups = defaultdict(list)
    for at, code in enumerate(codes):
        groups[code].append(at)
    mean = sum(values) / len(values)
    total = 0.0
    for left_out in groups.values():
        rest = [v for at, v in enumerate(values) if at not in left_out]
        total += (sum(rest) / len(rest) - mean) ** 2
    return (len(groups) - 1) / len(groups) * total


CREDITS = st.lists(
    st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.integers(0, 3), st.integers(0, 4)), min_size=6, max_size=30
).filter(lambda rows: len({r[1] for r in rows}) > 1 and len({r[2] for r in rows}) > 1)


@settings(max_examples=60)
@given(CREDITS)
def test_two_way_variance_equals_the_oracle(rows):
    values, person, unit = (list(column) for column in zip(*rows, strict=True))
    groups = Groups(dense_codes(np.array(person)), dense_codes(np.array(unit)))
    both = jackknife(values, list(zip(person, unit, strict=True)))
    wanted = both + max(0.0, jackknife(values, person) - both) + max(0.0, jackknife(values, unit) - both)
    found = covariance_of_means(np.array(values), groups)
    assert found.matrix[0, 0] == pytest.approx(wanted, abs=1e-12)
    # credits of several folds hang together
    assert covariance_of_means(np.array(values), groups, folds=5).matrix[0, 0] == pytest.approx(
        BETWEEN_FOLDS * wanted, abs=1e-12
    )


@settings(max_examples=40)
@given(CREDITS)
def test_an_interval_stays_between_0_and_1_and_holds_the_mean(rows):
    values, person, unit = (np.array(column) for column in zip(*rows, strict=True))
    found = mean_estimate(values, Groups(dense_codes(person), dense_codes(unit)))
    assert np.isnan(found.low) or 0 <= found.low <= found.value <= found.high <= 1


def test_few_people_are_named_and_one_person_speaks_for_one():
    rows = np.array([np.random.default_rng(s).permutation(12)[:3] for s in range(200)])
    two = Triplets.from_array(rows, participant=np.arange(200) % 2)
    found = mean_estimate(np.arange(200) % 3 > 0, error_groups(two))
    assert found.few_people == 2 and np.isnan(found.standard_error) and np.isnan(found.low)
    one = error_groups(Triplets.from_array(rows, participant=["ann"] * 200))
    assert one.few_people == 0 and np.isfinite(mean_estimate(np.arange(200) % 3 > 0, one).low)
    nine, ten = (
        error_groups(Triplets.from_array(rows[:180], participant=np.arange(180) % p)).few_people
        for p in (9, 10)
    )
    assert nine == 9 and ten == 0
    many = error_groups(Triplets.from_array(rows, participant=np.arange(200) % 20))
    assert many.person is not None and many.few_people == 0
    # nineteen of twenty answers are one person's: the other nineteen people are no sample
    lopsided = np.where(np.arange(200) % 20, 0, np.arange(200) + 1)
    assert error_groups(Triplets.from_array(rows, participant=lopsided)).few_people == 11


def test_coverage_where_many_people_answer_the_same_trios():
    """80 trios of differing difficulty, 30 people each: nearly all that varies is which trios were drawn."""
    rng = np.random.default_rng(0)
    held = one_way = 0
    for _ in range(200):
        p = rng.beta(2, 1, size=80)
        person, unit = np.repeat(np.arange(30), 80), np.tile(np.arange(80), 30)
        credits = (rng.random(2400) < p[unit]).astype(float)
        found = mean_estimate(credits, Groups(person, unit))
        by_person = mean_estimate(credits, Groups(None, person))
        held += found.low <= 2 / 3 <= found.high
        one_way += by_person.low <= 2 / 3 <= by_person.high
    assert 0.9 <= held / 200 <= 1.0
    assert one_way / 200 < 0.6


def equal_models(rng, k=6, m=600, people=12):
    """Models that agree on most answers and are right equally often."""
    person, unit = rng.integers(people, size=m), np.arange(m)
    skill = np.clip(rng.normal(0.75, 0.1, size=people), 0, 1)[person]
    common = rng.random(m)
    credits = np.stack([np.where(rng.random(m) < 0.8, common, rng.random(m)) < skill for _ in range(k)])
    return credits.astype(float), Groups(dense_codes(person), unit)


def test_equal_models_are_rarely_told_apart_and_a_poor_one_is():
    rng = np.random.default_rng(1)
    worse = caught = 0
    for _ in range(100):
        credits, groups = equal_models(rng)
        worse += not equal_to_best(credits, groups).members.all()
        credits[3] = np.where(rng.random(600) < 0.4, 0.5 * (rng.random(600) < 0.5), credits[3])
        found = equal_to_best(credits, groups)
        caught += not found.members[3]
        assert found.members[np.argmax(credits.mean(axis=1))]
    assert worse <= 9 and caught >= 95


def test_limits_of_the_difference_hold_for_all_models_together():
    rng = np.random.default_rng(2)
    credits, groups = equal_models(rng)
    found = equal_to_best(credits, groups)
    assert np.all(found.low <= found.behind) and np.all(found.behind <= found.high)
    assert found.behind.min() == 0


def test_identical_models_stay_together():
    credits = np.tile(np.arange(100) % 4 > 0, (3, 1)).astype(float)
    assert equal_to_best(credits, Groups(None, np.arange(100))).members.all()
    assert not_beaten_by(credits, Groups(None, np.arange(100))).all()


def test_one_group_knows_nothing():
    credits = np.random.default_rng(0).random((3, 50)) < 0.7
    alone = Groups(None, np.zeros(50, dtype=np.int64))
    assert equal_to_best(credits, alone).members.all() and not_beaten_by(credits, alone).all()
    assert above_guessing(credits, alone).p == 1


def test_guessing_is_called_guessing_and_a_margin_counts():
    rng = np.random.default_rng(3)
    false = sum(
        bool(above_guessing((rng.random((12, 500)) < 0.5).astype(float), Groups(None, np.arange(500))))
        for _ in range(100)
    )
    assert false <= 8
    assert above_guessing((rng.random((12, 500)) < 0.65).astype(float), Groups(None, np.arange(500)))
    credits = np.stack([rng.random(4000) < p for p in (0.7, 0.72)])
    unit = Groups(None, np.arange(4000))
    assert not_beaten_by(credits, unit, by_more_than=0.05).tolist() == [True, True]
