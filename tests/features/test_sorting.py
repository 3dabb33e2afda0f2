"""Cells counted by several threads are those of one, and those of a dictionary."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nearfar as nf
from nearfar.features.counts import Counts
from nearfar.features.k1 import K1
from nearfar.features.k2 import K2
from nearfar.features.score import SCORE
from nearfar.features.sorting import close_gaps, count_keys


@given(st.lists(st.integers(0, 40), max_size=60), st.integers(1, 5))
def test_cells_are_counted_as_by_a_dictionary(signed, n_threads):
    net, total = Counter(), Counter()
    for key in signed:
        net[key >> 1] += 2 * (key & 1) - 1
        total[key >> 1] += 1
    found = count_keys(np.array(signed, dtype=np.int64), n_threads)
    wanted = sorted(total)
    assert [column.tolist() for column in found] == [
        wanted,
        [net[key] for key in wanted],
        [total[key] for key in wanted],
    ]


def test_gaps_are_closed_where_pieces_overlap():
    column = np.array([1, 2, 0, 3, 4, 5, 6, 0, 7])
    close_gaps(column, [0, 3, 8], [2, 4, 1])
    assert column[:7].tolist() == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize("part", [K1, K2, SCORE], ids=lambda part: part.name)
@pytest.mark.parametrize("every", [1, 2])
def test_several_threads_count_as_one_does(part, every, monkeypatch):
    """With all objects as columns, and with every second one, so that many answers are about none."""
    monkeypatch.setenv("NEARFAR_NUM_THREADS", "3")
    rng = np.random.default_rng(0)
    answers = nf.Triplets.from_array(np.argsort(rng.random((20_000, 40)), axis=1)[:, :3])
    mark = np.where(np.arange(40) % every == 0, np.arange(40) // every, -1)
    found = []
    for few in (10**9, 100):
        counted = Counts(part, 40, mark, 40 // every, dense=False, few=few)
        counted.add(answers)
        counted.add(answers[:7000])
        found.append(counted.cells())
    assert len(found[0].keys) > 100
    assert all(np.array_equal(one, other) for one, other in zip(*found, strict=True))
