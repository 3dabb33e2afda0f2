"""How alike another study would be."""

import numpy as np
import pytest
from space_tools import PLANE, answers_about

from nearfar.evaluate import Analysis
from nearfar.evaluate.map_stability import Reliability
from nearfar.space import fit
from nearfar.triplets import Triplets


def test_split_halves_foresee_the_correlation_of_two_studies():
    foreseen, correlated = [], []
    for seed in range(2):
        one, other = (answers_about(PLANE, 3000, 10 * seed + k, flip=0.25, people=30) for k in (1, 2))
        reliability = Analysis(one, "soe-2", models=["soe-2"]).reliability
        foreseen.append(reliability.correlation)
        upper = np.triu_indices(len(PLANE), 1)
        pair = [fit(answers, "soe-2").distances()[upper] for answers in (one, other)]
        correlated.append(np.corrcoef(*pair)[0, 1])
    assert np.mean(foreseen) == pytest.approx(np.mean(correlated), abs=0.06)


def test_it_is_unknown_where_simulations_do_not_back_it():
    rows = np.concatenate([answers_about(PLANE, 150, p, flip=0.2).array for p in range(20)])
    known = Triplets.from_array(rows, n_objects=len(PLANE), participant=np.repeat(np.arange(20), 150))
    same = Triplets.from_array(
        np.tile(rows[:100], (20, 1)), n_objects=25, participant=np.repeat(np.arange(20), 100)
    )
    for answers, design in (
        (known.replace(participant=None), None),
        (answers_about(PLANE, 900, 0, people=6), None),
        (known, "blocked"),
        (same, None),
    ):
        unknown = Analysis(answers, "soe-2", models=["soe-2"], design=design).reliability
        assert np.isnan(unknown.correlation) and "unknown" in str(unknown)
    assert Analysis([[0, 1, 2], [0, 1, 2]]).reliability is None


def test_a_low_correlation_is_a_bound_and_not_a_figure():
    """Below 0.8 split halves are too low by more than 0.1 in a third of simulated studies."""
    low, high = (str(Reliability(correlation, "soe-2")) for correlation in (0.79, 0.8))
    assert "less than 0.9" in low and "0.79" not in low and "within 0.1" not in low
    assert "about 0.80" in high and "within 0.1" in high
