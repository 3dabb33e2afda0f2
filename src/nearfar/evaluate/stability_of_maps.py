"""How sure locations and clusters are: what resamples say, where few answers speak, and what chance would give."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearfar._tools.arrays import Floats, dense_codes
from nearfar.errors import NearfarWarning
from nearfar.evaluate.resamples import Resamples, permuted, resample, spread_of
from nearfar.methods import cut
from nearfar.space.models import Model
from nearfar.space.space import Space
from nearfar.triplets import Triplets

__all__ = [
    "FEWEST_STATEMENTS",
    "Stability",
    "circles",
    "kept_by_chance",
    "make_stability",
    "statements_per_object",
    "tree_labels",
]

FEWEST_STATEMENTS = 20  # about an object, below which nothing is said about its location
WIDER = 1.6  # from root mean square to a circle that holds nine of ten true locations; two even normal axes give 1.52
BY_COUNT = 0.75  # errors fall with the number of statements to this power, where there are few of them
WHOLE_MAP = 2.0
CHANCE_RESAMPLES = 8  # of answers at random


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
                f"locations move by {np.nanmedian(self.spread):.2f} of the map's size (median); circles that hold 9 in 10 true "
                f"locations have a radius of {np.nanmedian(self.circle):.2f} (median); least sure: {self._list(-self.circle, self.circle)}"
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


def make_stability(
    answers: Triplets,
    model: str,
    points: Floats,
    resamples: Resamples,
    labels: NDArray[np.integer] | None = None,
    kept: Floats | None = None,
    by_chance: float | None = None,
) -> Stability:
    """What the resamples of answers say about a map of them, and about the clusters that were kept."""
    cloud = resamples.cloud(points)
    told = statements_per_object(answers)
    few = told < FEWEST_STATEMENTS
    spread = np.where(few, np.nan, spread_of(cloud, points))
    return Stability(
        model=model,
        objects=answers.objects,
        points=points,
        spread=spread,
        circle=circles(spread, told, resamples.drawn),
        labels=labels,
        kept=kept,
        placed=resamples.placed(),
        cloud=cloud,
        resampled=resamples.kind,
        few=few,
        kept_by_chance=by_chance,
    )


def tree_labels(space: Space, n_clusters: int) -> NDArray[np.integer]:
    """(n,) clusters by the tree of the informed objects, at most as many as those; -1 for all others."""
    labels = np.full(len(space), -1)
    rows = np.flatnonzero(space.informed)
    if len(rows) > 1:
        labels[rows] = cut(space.take(rows).tree(), min(n_clusters, len(rows)))
    return labels


def kept_by_chance(
    answers: Triplets, model: Model, shown: NDArray[np.intp], n_clusters: int, *, n_resamples: int, seed: int
) -> float:
    """What ``kept`` is, in the median, for the same questions answered at random; NaN where there are no clusters."""
    noise = permuted(answers, seed)
    again = resample(
        noise, model, model, n_resamples=min(CHANCE_RESAMPLES, n_resamples), seed=seed, shown=shown
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NearfarWarning)
        known = model.fit(noise).take(shown)
    informed = int(known.informed.sum())
    if informed < 2:
        return float("nan")
    return float(np.nanmedian(again.kept(tree_labels(known, n_clusters), min(n_clusters, informed))))
