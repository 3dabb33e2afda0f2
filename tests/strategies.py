"""Small collections of answers for property tests: repeats, contradictions, uninformed objects, landmarks."""

from contextlib import contextmanager
from itertools import permutations

import pytest
from hypothesis import strategies as st

from nearfar.features.counts import Counts

KERNELS = ("k1", "k2", "score", "k1+k2", "k1+score", "k1+k2+score")


@st.composite
def collections(draw, max_objects=7, max_answers=40):
    """(rows, n): answers drawn with replacement from all triplets of n objects, n from 0."""
    n = draw(st.integers(0, max_objects))
    possible = list(permutations(range(n), 3))
    rows = draw(st.lists(st.sampled_from(possible), max_size=max_answers)) if possible else []
    return rows, n


@st.composite
def landmark_sets(draw, n):
    """None, or some of n objects."""
    if not draw(st.booleans()):
        return None
    return draw(st.lists(st.integers(0, n - 1), unique=True, max_size=n)) if n else []


@contextmanager
def counted_in(way):
    """Answers are counted in a "grid" of all cells, or in sorted "cells", whichever is cheaper."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Counts, "_wants_grid", lambda counts: way == "grid")
        yield


def roles(answers):
    """(anchor, near, far), as counting takes them."""
    return answers.anchor, answers.near, answers.far
