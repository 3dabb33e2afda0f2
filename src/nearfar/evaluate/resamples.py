"""The same analysis, had other people answered: people (or statements) drawn again, map and tree made again."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nearfar.arrays import Floats
from nearfar.errors import NearfarWarning
from nearfar.evaluate.alignment import align, radius
from nearfar.evaluate.uncertainty import dense_codes, effective_groups, speakers
from nearfar.methods import cut
from nearfar.progress import track
from nearfar.space.models import Model
from nearfar.space.space import Space
from nearfar.triplets import Triplets

__all__ = [
    "Resample",
    "Resamples",
    "Stability",
    "circles",
    "coordinates",
    "draws",
    "kept_labels",
    "permuted",
    "resample",
    "spread_of",
    "statements_per_object",
]

FEWEST_STATEMENTS = 20  # about an object, below which nothing is said about its location
WIDER = 1.6  # from root mean square to a circle that holds nine of ten true locations; two even normal axes give 1.52
BY_COUNT = 0.75  # errors fall with the number of statements to this power, where there are few of them
WHOLE_MAP = 2.0
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


@dataclass(frozen=True, repr=False, eq=False)
class Stability:
    """How sure the location and the cluster of every object are.

    Parameters
    ----------
    model : its name.
    objects : names of the n objects.
    points : (n, d) the map of all answers.
    spread : (n,) how far an object's location moves from resample to resample (root mean square), as a share of the
        size of the map: 0 not at all, 1 as far as objects are from the middle. NaN where it was never placed.
    labels : (n,) cluster by the tree of all answers, -1 where unknown; None without clusters.
    kept : (n,) share of resamples in which the object is in the same cluster, clusters being matched one to one
        by the objects they have in common; None without clusters.
    placed : (n,) share of resamples with an answer about the object.
    cloud : (resamples, n, d) locations in every resample, turned, moved and scaled onto ``points``; NaN where unknown.
    resampled : "participant" or "statement", what was drawn with replacement.
    circle : (n,) radius of the circle around its location that holds the true location in 9 of 10 objects, as such a share: 1.6
        times the spread, and no smaller than its number of statements lets expect. The true location is the one that
        the same model would give it if very many more people were asked.
    few : (n,) whether fewer than 20 statements are about the object. An object that hardly anything is known about is pulled
        to the middle every time, which would look like certainty: its spread and its circle are NaN.
    kept_by_chance : the median of ``kept`` where the same questions are answered at random; None without clusters.
    """

    model: str
    objects: tuple[str, ...]
    points: NDArray[np.float64]
    spread: NDArray[np.float64]
    circle: NDArray[np.float64]
    labels: NDArray[np.integer] | None
    kept: NDArray[np.float64] | None
    placed: NDArray[np.float64]
    cloud: NDArray[np.float64]
    resampled: str
    few: NDArray[np.bool_]
    kept_by_chance: float | None

    def __repr__(self) -> str:
        return f"Stability({self.model!r}, {len(self.objects)} objects, {len(self.cloud)} resamples)"

    def __str__(self) -> str:
        lines = [f"{self.model}, {len(self.cloud)} resamples of {self.resampled}s"]
        if self.few.any():
            names = [self.objects[i] for i in np.flatnonzero(self.few)[:5]]
            more = f" and {int(self.few.sum()) - 5} more" if self.few.sum() > 5 else ""
            lines.append(
                f"too few answers to say where they are (fewer than {FEWEST_STATEMENTS}): {', '.join(names)}{more}"
            )
        if np.isfinite(self.spread).any():
            lines.append(
                f"locations move by {np.nanmedian(self.spread):.2f} of the map's size (median); the true location is within "
                f"{np.nanmedian(self.circle):.2f} of 9 in 10; least sure: {self._list(-self.circle, self.circle)}"
            )
        if self.kept is not None and np.isfinite(self.kept).any():
            lines.append(
                f"clusters are kept in {np.nanmedian(self.kept):.0%} of resamples (median; answers at random give "
                f"{self.kept_by_chance:.0%}); "
                f"least sure: {self._list(self.kept, self.kept)}"
            )
        return "\n".join(lines)

    def _list(self, by: NDArray[np.float64], shown: NDArray[np.float64]) -> str:
        known = np.flatnonzero(np.isfinite(by))
        first = known[np.argsort(by[known], kind="stable")[:5]]
        return ", ".join(f"{self.objects[i]} ({shown[i]:.2f})" for i in first)

    def to_frame(self) -> Any:
        """One row per object: its name, location, spread, cluster and how often that was kept, as a polars data frame."""
        import polars as pl

        columns: dict[str, Any] = {"object": list(self.objects)}
        columns.update({f"x{k + 1}": self.points[:, k] for k in range(self.points.shape[1])})
        columns.update(spread=self.spread, circle=self.circle, placed=self.placed, few=self.few)
        if self.labels is not None and self.kept is not None:
            columns.update(cluster=self.labels, kept=self.kept)
        return pl.DataFrame(columns)


def statements_per_object(answers: Triplets) -> NDArray[np.int64]:
    """(n,) how many statements are about every object.

    >>> statements_per_object(Triplets.from_array([[0, 1, 2]] * 10 + [[3, 1, 2]])).tolist()
    [10, 11, 11, 1]
    """
    roles = np.concatenate([answers.anchor, answers.near, answers.far]).astype(np.int64)
    said = np.tile(dense_codes(answers.statement_ids), 3)
    told = np.unique(roles * (int(said.max(initial=-1)) + 1) + said) // (int(said.max(initial=-1)) + 1)
    return np.bincount(told, minlength=answers.n_objects)


def circles(spread: Floats, statements: NDArray[np.int64], drawn: float) -> Floats:
    """(n,) radii that hold the true location in nine of ten; NaN below 20 statements.

    An object with few statements is pulled to the middle in every resample, so that it hardly moves. Therefore no object
    is taken to be surer than the median one, by its number of statements: errors grow as a power of it.

    Parameters
    ----------
    spread : (n,) root mean square of how far locations move.
    statements : (n,) about every object.
    drawn : how many (effective) people or statements were drawn; few get the factor of Student's t.

    Examples
    --------
    >>> circles(np.array([0.1, 0.1, 0.1, 0.1]), np.array([200, 200, 50, 10]), 1000).round(2)
    array([0.16, 0.16, 0.45,  nan])
    """
    from scipy.stats import norm, t

    enough = (statements >= FEWEST_STATEMENTS) & np.isfinite(spread)
    if not enough.any():
        return np.full(len(spread), np.nan)
    missing = np.maximum(1.0, np.median(statements[enough]) / np.maximum(statements, 1))
    expected = np.median(spread[enough]) * missing**BY_COUNT
    factor = WIDER * float(t.ppf(0.975, max(drawn - 1, 1.0)) / norm.ppf(0.975))
    return np.where(enough, np.minimum(factor * np.fmax(spread, expected), WHOLE_MAP), np.nan)


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
