"""Simulated answers for the tests of spaces and of their judge."""

import numpy as np

from nearfar.triplets import Triplets


def answers_about(points, m, seed, flip=0.0, people=None):
    """Random triplets judged by Euclidean distance, each flipped with probability ``flip``."""
    rng = np.random.default_rng(seed)
    rows = np.array([rng.permutation(len(points))[:3] for _ in range(m)])
    d = np.linalg.norm(points[rows[:, :1]] - points[rows[:, 1:]], axis=2)
    turned = (d[:, 0] > d[:, 1]) ^ (rng.random(m) < flip)
    rows[turned] = rows[turned][:, [0, 2, 1]]
    who = None if people is None else rng.integers(people, size=m)
    return Triplets.from_array(rows, n_objects=len(points), participant=who)


PLANE = np.random.default_rng(7).normal(size=(25, 2))
