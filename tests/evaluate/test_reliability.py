"""How alike another study would be."""

import numpy as np
import pytest
from space_tools import PLANE, answers_about

from nearfar import words
from nearfar.evaluate import Analysis
from nearfar.evaluate.map_stability import Reliability
from nearfar.space import fit
from nearfar.triplets import Triplets


def test_split_halves_foresee_the_correlation_of_two_studies():
    foreseen, correlated = [], []
    for seed in range(2):
        one, other = (answers_about(PLANE, 3000, 10 * seed + k, flip=0.25, people=30) for k in (1, 2))
        reliability = Analysis(one, "soe-2", models=["soe-2"]).reliability
        foreseen.append((reliability.participants + reliability.questions) / 2)
        upper = np.triu_indices(len(PLANE), 1)
        pair = [fit(answers, "soe-2").distances()[upper] for answers in (one, other)]
        correlated.append(np.corrcoef(*pair)[0, 1])
    assert np.mean(foreseen) == pytest.approx(np.mean(correlated), abs=0.06)


def test_people_who_differ_and_people_who_are_not_known():
    rng = np.random.default_rng(0)
    parts = [answers_about(PLANE, 150, p, flip=rng.choice([0.0, 0.5])) for p in range(20)]
    rows = np.concatenate([part.array for part in parts])
    known = Triplets.from_array(rows, n_objects=len(PLANE), participant=np.repeat(np.arange(20), 150))
    reliability = Analysis(known, "soe-2", models=["soe-2"]).reliability
    assert 0.1 < reliability.spread < 0.3 and "standard deviation" in str(reliability)
    nobody = Analysis(known.replace(participant=None), "soe-2", models=["soe-2"]).reliability
    assert np.isnan(nobody.participants) and np.isnan(nobody.spread) and nobody.questions > 0.5
    few = Analysis(answers_about(PLANE, 900, 0, people=6), "soe-2", models=["soe-2"]).reliability
    booklets = Analysis(known, "soe-2", models=["soe-2"], design="blocked").reliability
    assert np.isnan([few.participants, booklets.participants]).all() and "other participants" not in str(few)
    same = Triplets.from_array(
        np.tile(rows[:100], (20, 1)), n_objects=25, participant=np.repeat(np.arange(20), 100)
    )
    listed = Analysis(same, "soe-2", models=["soe-2"]).reliability
    assert np.isnan([listed.participants, listed.questions]).all()
    assert Analysis([[0, 1, 2], [0, 1, 2]]).reliability is None


def test_a_low_correlation_is_a_bound_and_not_a_figure():
    """Below 0.8 split halves are too low by more than 0.1 in a third of simulated studies."""
    low = str(Reliability(participants=0.79, questions=0.3, spread=0.1, model="soe-2"))
    assert (
        low.count("less than 0.9") == 1
        and "new questions" not in low
        and "0.79" not in low
        and "within 0.1" not in low
    )
    high = words.reliability(Reliability(participants=0.8, questions=0.3, spread=0.1, model="soe-2"))
    assert "about 0.80" in high.text and "0.30" not in high.text and "within 0.1" in high.details
