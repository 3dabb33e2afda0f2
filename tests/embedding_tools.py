"""Answers about points, for the tests of the embeddings."""

import numpy as np
import pytest

from nearfar.embedding import CKL, GNMDS, SOE, STE, TSTE
from nearfar.triplets import Triplets

ALL = [GNMDS, CKL, STE, TSTE, SOE]
every = pytest.mark.parametrize("method", ALL)


def answers_about(points, m, *, flip=0.0, seed=0, objects=None, drawn=None):
    """Random questions about points (or about those in ``drawn``), answered by distance."""
    rng = np.random.default_rng(seed)
    pool = np.arange(len(points)) if drawn is None else np.asarray(drawn)
    rows = pool[np.argsort(rng.random((m, len(pool))), axis=1)[:, :3]]
    apart = np.linalg.norm(points[rows[:, [0]]] - points[rows[:, 1:]], axis=2)
    wrong = (apart[:, 0] > apart[:, 1]) ^ (rng.random(m) < flip)
    rows = np.where(wrong[:, None], rows[:, [0, 2, 1]], rows)
    return Triplets.from_array(rows, objects, n_objects=None if objects else len(points))
