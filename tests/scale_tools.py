"""Data for the tests of nearfar.scale: answers about points on a line of clusters, whole and in files."""

import os
import signal
import time
from dataclasses import dataclass

import numpy as np
import pytest

from nearfar import Triplets
from nearfar.scale._answers import Answers, as_answers

LANDMARKS = [3, 1, 4, 15, 9, 26, 5]
ON_A_CLUSTER = [
    pytest.mark.usefixtures("cluster"),
    pytest.mark.filterwarnings("ignore::nearfar.errors.UninformedWarning"),
    pytest.mark.filterwarnings("ignore::nearfar.errors.CoverageWarning"),
]


def dense(matrix):
    return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()


def made_answers(n=60, m=3000, *, landmarks=None, seed=0, flip=0.1, silent=1):
    """Answers about n points in three clusters; the last ``silent`` objects are never anchors, near or far."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, 3)) + 4 * rng.integers(0, 3, (n, 1))
    heard = n - silent
    pool = np.arange(heard) if landmarks is None else np.asarray(landmarks)
    a, i, j = rng.integers(0, heard, m), rng.choice(pool, m), rng.choice(pool, m)
    sound = (a != i) & (i != j) & (a != j)
    a, i, j = a[sound], i[sound], j[sound]
    nearer = ((points[a] - points[i]) ** 2).sum(axis=1) < ((points[a] - points[j]) ** 2).sum(axis=1)
    nearer ^= rng.random(len(a)) < flip
    rows = np.stack([a, np.where(nearer, i, j), np.where(nearer, j, i)], axis=1)
    return Triplets.from_array(rows, n_objects=n)


@dataclass(frozen=True)
class SlowPiece:
    """A piece that takes its time, so that a test can break something meanwhile."""

    piece: object
    seconds: float

    def read(self, names):
        time.sleep(self.seconds)
        yield from self.piece.read(names)


@dataclass(frozen=True)
class DeadlyPiece:
    """A piece that no worker survives, as one that does not fit into memory."""

    def read(self, names):
        os.kill(os.getpid(), signal.SIGKILL)


def slow_answers(triplets, pieces, seconds):
    """The answers in many slow pieces."""
    cuts = np.array_split(np.arange(len(triplets)), pieces)
    slow = [SlowPiece(as_answers(triplets[rows]).pieces[0], seconds) for rows in cuts]
    return Answers(tuple(slow), triplets.objects, None, len(triplets))
