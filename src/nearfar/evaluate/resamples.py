"""The same analysis, had other people answered: people (or statements) drawn again, map and tree made again."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from nearfar._tools.arrays import Floats, dense_codes
from nearfar._tools.progress import track
from nearfar.errors import NearfarWarning
from nearfar.evaluate.alignment import align, radius
from nearfar.evaluate.bootstrap import effective_groups, speakers
from nearfar.methods import cut
from nearfar.space.models import Model
from nearfar.space.space import Space
from nearfar.triplets import Triplets

__all__ = [
    "Resample",
    "Resamples",
    "coordinates",
    "draws",
    "kept_labels",
    "permuted",
    "resample",
    "spread_of",
]

Resampled = Literal["participant", "statement"]


@dataclass(frozen=True, eq=False)
class Resample:
    """One resample: ``points`` (n, d) of the map, NaN where unknown; the ``tree`` over objects ``rows``."""

    points: Floats
    tree: Floats | None
    rows: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Resamples:
    """Resamples of what ``kind`` says, drawn with replacement; ``drawn`` : how many there are, were they of equal size."""

    kind: Resampled
    draws: tuple[Resample, ...]
    drawn: float

    def cloud(self, points: Floats) -> Floats:
        """(resamples, n, d) the maps, each moved, turned, mirrored and scaled onto ``points``."""
        return np.stack([align(draw.points, points) for draw in self.draws])

    def placed(self) -> Floats:
        """(n,) share of resamples that know the object."""
        known = [np.isfinite(draw.points).all(axis=1) for draw in self.draws]
        return np.asarray(np.mean(known, axis=0))

    def kept(self, labels: NDArray[np.integer], n_clusters: int) -> Floats:
        """(n,) share of the resamples that know an object in which it is in the cluster that matches its own.

        ``labels`` : (n,) clusters of the objects by the tree of all answers, -1 for none.
        """
        again = []
        for draw in self.draws:
            found = np.full(len(labels), -1)
            if draw.tree is not None and len(draw.rows) >= n_clusters:
                found[draw.rows] = cut(draw.tree, n_clusters)
            again.append(found)
        return kept_labels(again, labels)


def permuted(answers: Triplets, seed: int = 0) -> Triplets:
    """The same questions answered at random: near and far are exchanged, statement by statement, with probability one half."""
    statement = dense_codes(answers.statement_ids)
    turned = (np.random.default_rng(seed).random(int(statement.max(initial=-1)) + 1) < 0.5)[statement]
    near, far = np.where(turned, answers.far, answers.near), np.where(turned, answers.near, answers.far)
    return answers.replace(near=near, far=far)


def draws(answers: Triplets, n_resamples: int, seed: int) -> tuple[Resampled, Iterator[NDArray[np.intp]]]:
    """What is drawn, and the rows of each resample: participants where at least two are known, else statements."""
    kind, who = _drawn_codes(answers)
    size = int(who.max(initial=-1)) + 1
    rng = np.random.default_rng(seed)

    def rows() -> Iterator[NDArray[np.intp]]:
        for _ in range(n_resamples):
            drawn = np.bincount(rng.integers(size, size=size), minlength=size)
            yield np.repeat(np.arange(len(answers)), drawn[who])

    return kind, rows()


def _drawn_codes(answers: Triplets) -> tuple[Resampled, NDArray[np.int64]]:
    if answers.participant is not None and len(answers.participant.present) > 1:
        return "participant", speakers(answers)
    return "statement", dense_codes(answers.statement_ids)


def resample(
    answers: Triplets,
    model: Model,
    plane: Model,
    *,
    n_resamples: int,
    seed: int,
    shown: NDArray[np.intp],
) -> Resamples:
    """Fit the model of the tree and that of the map (once where they are the same) to every resample.

    ``shown`` : the objects that the tree is over.
    """
    kind, rows = draws(answers, n_resamples, seed)
    made = []
    with warnings.catch_warnings():
        # a resample lacks people, and so objects and coverage, by design; the full fit warns by itself
        warnings.simplefilter("ignore", NearfarWarning)
        for at in track(rows, f"resampling {kind}s", total=n_resamples):
            sample = answers[at]
            space = model.fit(sample)
            flat = space if plane.name == model.name else plane.fit(sample)
            made.append(Resample(coordinates(flat), *_quick_tree(space.take(shown))))
    return Resamples(kind, tuple(made), effective_groups(_drawn_codes(answers)[1]))


def coordinates(space: Space) -> Floats:
    """The points of a space, or the plane of a kernel; NaN for uninformed objects."""
    points = np.array(space.rows if space.kind == "points" else space.map(2), dtype=np.float64)
    points[space.uninformed] = np.nan
    return points


def _quick_tree(space: Space) -> tuple[Floats | None, NDArray[np.intp]]:
    """Complete linkage with leaves in any order; the diagonal shift does not change its shape."""
    from scipy.cluster import hierarchy
    from scipy.spatial.distance import squareform

    rows = np.flatnonzero(space.informed)
    if len(rows) < 3:
        return None, rows
    distances = space.distances("keep")[np.ix_(rows, rows)]
    return np.asarray(hierarchy.linkage(squareform(distances, checks=False), "complete")), rows


def spread_of(cloud: Floats, points: Floats) -> Floats:
    """(n,) root mean square distance of an object's locations to its location on the map, over the map's radius."""
    squares = np.sum((cloud - points) ** 2, axis=2)
    there = np.isfinite(squares)
    count = there.sum(axis=0)
    total = np.where(there, squares, 0.0).sum(axis=0)
    spread = np.sqrt(total / np.maximum(count, 1)) / radius(points)
    return np.where(count > 0, spread, np.nan)


def kept_labels(again: list[NDArray[np.integer]], labels: NDArray[np.integer]) -> Floats:
    """(n,) how often an object's new cluster is the one matched to its old one; clusters are matched one to one."""
    from scipy.optimize import linear_sum_assignment

    same, count = np.zeros(len(labels)), np.zeros(len(labels))
    for found in again:
        both = (found >= 0) & (labels >= 0)
        if not both.any():
            continue
        table = np.zeros((int(labels.max()) + 1, int(found.max()) + 1))
        np.add.at(table, (labels[both], found[both]), 1)
        old, new = linear_sum_assignment(-table)
        match = np.full(table.shape[1], -1)
        match[new] = old
        same[both] += match[found[both]] == labels[both]
        count += both
    return np.where(count > 0, same / np.maximum(count, 1), np.nan)
