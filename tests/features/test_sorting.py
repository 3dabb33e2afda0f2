"""Cells counted by several threads are those of a dictionary."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nearfar.features.counts import count_keys


@given(st.lists(st.integers(0, 40), max_size=60), st.integers(1, 5))
def test_cells_are_counted_as_by_a_dictionary(signed, n_threads):
    net, total = Counter(), Counter()
    for key in signed:
        net[key >> 1] += 2 * (key & 1) - 1
        total[key >> 1] += 1
    found = count_keys(np.array(signed, dtype=np.int64), n_threads, few=5)
    wanted = sorted(total)
    assert [column.tolist() for column in found] == [
        wanted,
        [net[key] for key in wanted],
        [total[key] for key in wanted],
    ]
