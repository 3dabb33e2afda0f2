"""Runs of cells: nothing is lost, little is kept, little is done twice."""

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from nearfar.scale._engine import FAN_IN
from nearfar.scale.feature_map import Runs, enough_runs


@given(st.integers(0, 300), st.integers(1, 40), st.integers(1, 5000))
def test_every_run_is_in_one_of_those_that_are_left(n_runs, in_run, most):
    runs = Runs(enough_runs(in_run, most), lambda several: [name for run in several for name in run])
    for name in range(n_runs):
        runs.add([name])
    assert sorted(name for run in runs.left() for name in run) == list(range(n_runs))


@settings(max_examples=30)
@given(st.floats(1e-4, 3), st.integers(1, 4000))
def test_memory_and_work_are_bounded_whatever_the_number_of_answers(share, n_runs):
    """Runs of answers about cells at random, each a share of all cells there are; a run is how many answers it has."""
    looked_at = 0.0

    def cells(answers):
        return 1 - math.exp(-answers)

    def join(several):
        nonlocal looked_at
        looked_at += sum(map(cells, several))
        return sum(several)

    enough = enough_runs(1e9 * share, 1e9)
    runs = Runs(enough, join)
    for _ in range(n_runs):
        runs.add(share)
        assert sum(map(cells, runs.left())) < 3.2
    assert looked_at <= (len(enough) + 2) * n_runs * share
    assert len(enough) <= 2 + math.log(1 / share, FAN_IN)
