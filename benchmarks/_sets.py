"""Real answers that the benchmarks are run on, where the data is at hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

import nearfar as nf
from benchmarks._measure import SHARED, SMALL
from nearfar.triplets import Triplets

CROWDS = ("car", "musicians", "food", "things")


def crowds(names: Sequence[str] = CROWDS) -> Iterator[tuple[str, Triplets]]:
    """(name, answers) of every set that is there; of a small run: a few made answers in the place of each."""
    for name in names:
        if SMALL:
            yield name, made_answers()
        elif (SHARED / name).exists():
            yield name, getattr(nf.datasets, f"fetch_{name}")(SHARED).triplets
        else:
            print(f"{name}: skipped, not at {SHARED}")


def made_answers(n: int = 30, m: int = 400) -> Triplets:
    """Answers of ten people about points in the plane."""
    points = np.random.default_rng(0).normal(size=(n, 2))
    given = nf.simulate.answers(nf.design.random_questions(n, m), points=points, noise=0.2).triplets
    return given.replace(participant=[f"p{i % 10}" for i in range(len(given))])
