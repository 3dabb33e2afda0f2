"""How uncertain positions and clusters are, by bootstrap resamples, and how alike the map of another study would be, by halves.

Participants are resampled (statements, where nobody is known). Each resample's map is moved, turned, mirrored and scaled onto that of
all answers (Procrustes), and its clusters are matched to theirs.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.linalg import orthogonal_procrustes

from nearfar import words
from nearfar._tools.arrays import Codes, Floats, dense_codes, distinct
from nearfar._tools.progress import track
from nearfar._tools.records import Record
from nearfar.errors import NearfarWarning
from nearfar.evaluate.bootstrap import Scope, effective_groups
from nearfar.evaluate.crossval import fit_timed
from nearfar.evaluate.splits import respondents
from nearfar.methods import Tree, cut, with_uninformed
from nearfar.space.models import Model
from nearfar.space.space import Space
from nearfar.triplets import Triplets

MIN_STATEMENTS = 20  # about an object, below which nothing is said about its position


@dataclass(frozen=True, repr=False, eq=False)
class Stability(Record):
    """How uncertain the position and the cluster of every object are.

    Parameters
    ----------
    model : its name.
    objects : names of the n objects.
    points : (n, d) the map of all answers.
    spread : (n,) how far an object's position varies between resamples (root mean square), as a share of the map's
        radius: 0 not at all, 1 as far as objects are from the centre. NaN where it was never placed.
    labels : (n,) cluster by the tree of all answers, -1 where unknown; None without clusters.
    kept : (n,) share of resamples in which the object is in the same cluster, clusters being matched one to one
        by the objects they have in common; None without clusters.
    positions : (resamples, n, d) of every resample, turned, moved and scaled onto ``points``; NaN where unknown.
    resampled : "participant" or "statement", what was drawn with replacement.
    circle : (n,) radius of the circle around its position that contains the long-run position for 9 in 10 objects, as such a
        share (``circles``). The long-run position is that of the same model with very many more people.
    few : (n,) whether fewer than 20 statements are about the object: then its spread and circle are NaN, as they are where
        nobody was asked about it and vectors put it in its place.
    kept_by_chance : the median of ``kept`` where the same questions are answered at random; None without clusters.
    """

    model: str
    objects: tuple[str, ...]
    points: NDArray[np.float64]
    spread: NDArray[np.float64]
    circle: NDArray[np.float64]
    labels: NDArray[np.integer] | None
    kept: NDArray[np.float64] | None
    positions: NDArray[np.float64]
    resampled: str
    few: NDArray[np.bool_]
    kept_by_chance: float | None

    def __repr__(self) -> str:
        return f"Stability({self.model!r}, {len(self.objects)} objects, {len(self.positions)} resamples)"

    def __str__(self) -> str:
        return words.stability_text(self)

    def to_frame(self) -> pl.DataFrame:
        """One row per object: its name, position, spread, cluster and how often that was kept, as a polars data frame."""
        columns: dict[str, Any] = {f"x{k + 1}": column for k, column in enumerate(self.points.T)}
        columns |= {"spread": self.spread, "circle": self.circle, "few": self.few}
        if self.labels is not None and self.kept is not None:
            columns |= {"cluster": self.labels, "kept": self.kept}
        return pl.DataFrame({"object": list(self.objects), **columns})


class Resamples(NamedTuple):
    """Bootstrap resamples of what ``kind`` says; ``drawn`` : how many of these there are, were they of equal size.

    ``points`` : (resamples, n, d) the maps as they were fitted, NaN where unknown; ``trees`` : of each.
    """

    kind: str
    points: Floats
    trees: list[Tree]
    drawn: float

    def kept(self, labels: NDArray[np.integer], n_clusters: int) -> Floats:
        """(n,) share of the resamples that know an object in which it is in the cluster that matches that of its label."""
        return kept_labels([tree_labels(tree, n_clusters) for tree in self.trees], labels)


def resample(
    answers: Triplets, model: Model, plane: Model, shown: NDArray[np.intp], *, n_resamples: int, seed: int
) -> Resamples:
    """Fit the model of the tree over ``shown`` objects, and that of the map where it is another, to every resample."""
    kind, who = resampled_units(answers)
    rng = np.random.default_rng(seed)
    points, trees = [], []
    # a resample lacks people, and so objects and coverage, by design; the full fit warns by itself
    with warnings.catch_warnings(action="ignore", category=NearfarWarning):
        for _ in track(range(n_resamples), f"resampling {kind}s", total=n_resamples):
            sample = bootstrap_sample(answers, who, rng)
            space = model.fit(sample)
            points.append(coordinates(space if plane.name == model.name else plane.fit(sample)))
            trees.append(_tree(space.take(shown)))
    return Resamples(kind, np.stack(points), trees, effective_groups(who))


def resampled_units(answers: Triplets) -> tuple[str, Codes]:
    """What is drawn with replacement, participants where at least two are known, and (m,) which of them an answer is of."""
    if answers.participant is not None and len(answers.participant.present) > 1:
        return "participant", respondents(answers)
    return "statement", dense_codes(answers.statement_ids)


def bootstrap_sample(answers: Triplets, codes: Codes, rng: np.random.Generator) -> Triplets:
    """Answers of as many participants (or statements), drawn with replacement, as the (m,) codes name.

    What is drawn twice was said twice: a copy of a statement is a statement of its own.
    """
    size = int(codes.max(initial=-1)) + 1
    times = np.bincount(rng.integers(size, size=size), minlength=size)[codes]
    rows = np.repeat(np.arange(len(codes)), times)
    sample = answers[rows]
    if answers.statement is None:
        return sample
    copy = np.arange(len(rows)) - np.repeat(np.cumsum(times) - times, times)
    return sample.replace(statement=answers.statement_ids[rows] * (size + 1) + copy)


def coordinates(space: Space) -> Floats:
    """The points of a space, or the plane of a kernel; NaN for uninformed objects."""
    points = np.array(space.rows if space.kind == "points" else space.map(2), dtype=np.float64)
    points[space.uninformed] = np.nan
    return points


def _tree(space: Space) -> Tree:
    """Complete linkage, its leaves in any order; the diagonal shift does not change its shape."""
    from scipy.cluster import hierarchy
    from scipy.spatial.distance import squareform

    rows = np.flatnonzero(space.informed)
    distances = squareform(space.distances("keep")[np.ix_(rows, rows)], checks=False)
    Z = hierarchy.linkage(distances, "complete") if len(rows) > 1 else np.zeros((0, 4))
    return with_uninformed(Z, rows, space.uninformed)


def tree_labels(tree: Tree, n_clusters: int) -> NDArray[np.integer]:
    """(n,) clusters, -1 for uninformed objects; -1 for all where fewer objects are informed."""
    n = len(tree) + 1
    return cut(tree, n_clusters) if 1 <= n_clusters <= n - len(tree.uninformed) else np.full(n, -1)


def kept_labels(again: list[NDArray[np.integer]], labels: NDArray[np.integer]) -> Floats:
    """(n,) how often an object's new cluster is the one matched to its old one; clusters are matched one to one."""
    from scipy.optimize import linear_sum_assignment

    same, count = np.zeros((2, len(labels)))
    for new_labels in again:
        both = (new_labels >= 0) & (labels >= 0)
        if not both.any():
            continue
        table = np.zeros((int(labels.max()) + 1, int(new_labels.max()) + 1))
        np.add.at(table, (labels[both], new_labels[both]), 1)
        old, new = linear_sum_assignment(-table)
        match = np.full(table.shape[1], -1)
        match[new] = old
        same[both] += match[new_labels[both]] == labels[both]
        count += both
    return np.where(count > 0, same / np.maximum(count, 1), np.nan)


def statements_per_object(answers: Triplets) -> NDArray[np.int64]:
    """(n,) how many statements are about every object.

    >>> statements_per_object(Triplets.from_array([[0, 1, 2]] * 10 + [[3, 1, 2]])).tolist()
    [10, 11, 11, 1]
    """
    statement = dense_codes(answers.statement_ids)
    n, roles = answers.n_objects, (answers.anchor, answers.near, answers.far)
    told = distinct(np.concatenate([statement * n + role for role in roles]))
    return np.bincount(told % n, minlength=n)


def circles(spread: Floats, statements: NDArray[np.int64], drawn: float) -> Floats:
    """(n,) radii that contain the long-run position for 9 in 10 objects; NaN below 20 statements.

    Objects with few statements are shrunk to the centre in every resample, so that their spread understates the uncertainty.
    Therefore no object is taken to be surer than the median one, by its number of statements: errors grow as a power of it.

    ``spread`` : (n,) root mean square of how far positions vary; ``statements`` : (n,) about every object; ``drawn`` : how many
    (effective) people or statements were drawn; few get the factor of Student's t.

    >>> circles(np.array([0.1, 0.1, 0.1, 0.1]), np.array([200, 200, 50, 10]), 1000).round(2)
    array([0.16, 0.16, 0.45,  nan])
    """
    from scipy.stats import norm, t

    enough = (statements >= MIN_STATEMENTS) & np.isfinite(spread)
    if not enough.any():
        return np.full(len(spread), np.nan)
    missing = np.maximum(1.0, np.median(statements[enough]) / np.maximum(statements, 1))
    expected = np.median(spread[enough]) * missing**0.75  # measured, where statements are few
    # from root mean square to nine of ten long-run positions: 1.6, measured; two even normal axes give 1.52
    factor = 1.6 * float(t.ppf(0.975, max(drawn - 1, 1.0)) / norm.ppf(0.975))
    return np.where(enough, np.minimum(factor * np.fmax(spread, expected), 2.0), np.nan)


def make_stability(answers: Triplets, points: Floats, resamples: Resamples, **about: Any) -> Stability:
    """What the resamples of answers say about a map of them; ``about`` : the model, and the clusters that were kept."""
    positions = np.stack([align(own, points) for own in resamples.points])
    squares = np.sum((positions - points) ** 2, axis=2)
    placed = np.isfinite(squares).sum(axis=0)
    statements = statements_per_object(answers)
    few = statements < MIN_STATEMENTS
    spread = np.sqrt(np.nansum(squares, axis=0) / np.maximum(placed, 1)) / radius(points)
    spread = np.where(few | (placed == 0), np.nan, spread)
    about |= {"points": points, "spread": spread, "circle": circles(spread, statements, resamples.drawn)}
    few &= (statements > 0) | np.isnan(points).any(axis=1)  # others are where their vectors put them
    return Stability(objects=answers.objects, positions=positions, resampled=resamples.kind, few=few, **about)


def kept_by_chance(
    answers: Triplets, model: Model, shown: NDArray[np.intp], n_clusters: int, *, n_resamples: int, seed: int
) -> float:
    """What ``kept`` is, in the median, for the same questions answered at random; NaN where there are no clusters."""
    statement = dense_codes(answers.statement_ids)
    turned = (np.random.default_rng(seed).random(int(statement.max(initial=-1)) + 1) < 0.5)[statement]
    near, far = np.where(turned, answers.far, answers.near), np.where(turned, answers.near, answers.far)
    noise = answers.replace(near=near, far=far)
    again = resample(noise, model, model, shown, n_resamples=min(4, n_resamples), seed=seed)
    known = fit_timed(model, noise).space.take(shown)
    wanted = min(n_clusters, int(known.informed.sum()))
    kept = again.kept(tree_labels(_tree(known), wanted), wanted)
    return float(np.nanmedian(kept)) if np.isfinite(kept).any() else float("nan")


def radius(points: Floats) -> float:
    """Root mean square distance of finite rows from their middle; 1 where all are at one point.

    >>> radius(np.array([[0.0, 0.0], [2.0, 0.0], [np.nan, 0.0]]))
    1.0
    """
    known = points[np.isfinite(points).all(axis=1)]
    size = float(np.sqrt(np.mean(np.sum((known - known.mean(axis=0)) ** 2, axis=1)))) if len(known) else 0.0
    return size or 1.0


def align(points: Floats, reference: Floats) -> Floats:
    """Points moved, turned, mirrored and scaled onto the reference, by least squares over rows finite in both."""
    both = np.isfinite(points).all(axis=1) & np.isfinite(reference).all(axis=1)
    if not both.any():
        return np.full(points.shape, np.nan)
    x, y = reference[both], points[both]
    x0, y0 = x.mean(axis=0), y.mean(axis=0)
    turn, total = orthogonal_procrustes(y - y0, x - x0)
    length = float(np.sum((y - y0) ** 2))
    return np.asarray((total / length if length > 0 else 0.0) * (points - y0) @ turn + x0)


def along_axes(points: Floats) -> Floats:
    """Centred, the widest direction flat, the typical radius 1; NaN rows stay NaN."""
    known = np.isfinite(points).all(axis=1)
    if not known.any():
        return points.copy()
    centred = points - points[known].mean(axis=0)
    _, _, axes = np.linalg.svd(centred[known].T @ centred[known])
    turned: Floats = centred @ axes.T
    inside = turned[known]
    widest = inside[np.argmax(np.abs(inside), axis=0), np.arange(inside.shape[1])]
    return turned * np.where(widest < 0, -1, 1) / radius(turned)


@dataclass(frozen=True, eq=False)
class Scale(Record):
    """Objects on one dimension, the lowest first.

    ``order`` : their indices; ``values``, ``low``, ``high`` : from 0 to 1, with 95 % intervals over resamples. Ends and unit
    of the scale are arbitrary, its direction too.
    """

    order: NDArray[np.intp]
    values: Floats
    low: Floats
    high: Floats


def make_scale(points: Floats, resamples: Resamples) -> Scale:
    """The scale of (n, 1) points, NaN for objects without an answer; ``resamples`` : their one-dimensional fits."""
    from scipy.stats import t

    positions = np.stack([align(own, points) for own in resamples.points])[:, :, 0]
    known = np.flatnonzero(np.isfinite(points[:, 0]) & (np.isfinite(positions).sum(axis=0) > 1))
    order = known[np.argsort(points[known, 0], kind="stable")]
    values = points[order, 0]
    half = t.ppf(0.975, max(resamples.drawn - 1, 1)) * np.nanstd(positions[:, order], axis=0, ddof=1)
    start, size = (values[0], (values[-1] - values[0]) or 1.0) if len(values) else (0.0, 1.0)
    low, middle, high = ((each - start) / size for each in (values - half, values, values + half))
    return Scale(order, middle, low, high)


@dataclass(frozen=True)
class Reliability(Record):
    """How alike the map of another study would be.

    Parameters
    ----------
    correlation : expected correlation of the distances on this map with those of a study with as many new participants; NaN where
        that is not known: for few or unknown participants, booklets, and few different questions.
    model : whose map.
    """

    correlation: float
    model: str

    def __str__(self) -> str:
        return words.reliability(self)


def measure_reliability(answers: Triplets, model: Model, scope: Scope, seed: int) -> Reliability:
    """Mean correlation of distances between halves of the participants, stepped up to whole studies (Spearman-Brown, 2r / (1 + r)).

    In simulated studies of booklets, few participants, or fewer than five different questions per object it was wrong by more
    than 0.1 in half of them: there it is NaN.
    """
    enough = len(distinct(answers.question_ids)) >= 5 * answers.n_objects
    if not enough or scope.participants != "new" or scope.questions == "within booklets":
        return Reliability(np.nan, model.name)
    people, rng = respondents(answers), np.random.default_rng([seed, 1910])
    count = int(people.max(initial=-1)) + 1
    correlations = []
    for _ in range(2):
        first = (rng.permutation(count) < count / 2)[people]
        spaces = [fit_timed(model, answers[half]).space for half in (first, ~first)]
        known = np.flatnonzero(spaces[0].informed & spaces[1].informed)[:2_000]
        upper = np.triu_indices(len(known), 1)
        one, other = (space.take(known).distances()[upper] for space in spaces)
        if len(known) > 2 and one.std() > 0 and other.std() > 0:
            correlations.append(float(np.corrcoef(one, other)[0, 1]))
    r = max(0.0, float(np.mean(correlations))) if correlations else np.nan
    return Reliability(2 * r / (1 + r), model.name)
