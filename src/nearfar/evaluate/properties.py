"""What explains a space: properties of its objects that it predicts, and how its distances correlate with others (RSA)."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import pdist, squareform
from scipy.stats import rankdata, t

from nearfar import words
from nearfar._tools.arrays import Floats, Indices, dense_codes
from nearfar._tools.progress import track
from nearfar._tools.records import Record
from nearfar.errors import InputError, NearfarWarning
from nearfar.evaluate.bootstrap import Estimate, effective_groups
from nearfar.evaluate.map_stability import bootstrap_sample, resampled_units
from nearfar.io import ObjectList, read_objects
from nearfar.io.vectors import VectorTable
from nearfar.space.space import Space
from nearfar.triplets import positions

if TYPE_CHECKING:
    from nearfar.evaluate.analysis import Analysis

MIN_OBJECTS = 10  # with a value, below which nothing is said
NEIGHBOURS = 5  # that vote for a category: as many as ``Space.nearest`` names
MAX_AXES = 10  # of a kernel's PCA that numbers are predicted from; points have few dimensions by themselves
REFIT_OBJECTS = 1_000  # whose distances say how much refits differ, where there are more
PENALTIES = 10.0 ** np.arange(-3, 3)  # of the ridge, in units of the coordinates' variance


@dataclass(frozen=True)
class Property(Record):
    """How well a space predicts one property of its objects.

    ``value`` : of a number the cross-validated R2, of a category the share of objects whose 5 nearest others have it most often;
    ``chance`` : its mean over permutations; ``p`` : corrected for the number of properties; ``arrow`` : where on the map a number
    increases most, as long as its correlation there; None for a category.
    """

    name: str
    is_numeric: bool
    n_objects: int
    value: float
    chance: float
    p: float
    arrow: tuple[float, float] | None


@dataclass(frozen=True)
class Explained(Record):
    """The ``properties`` of the objects of a space, the surest first; ``left_out`` : property -> why nothing is said about it."""

    model: str
    properties: tuple[Property, ...]
    left_out: dict[str, str]
    n_permutations: int

    def __str__(self) -> str:
        return words.explained_text(self)


def explain(
    space: Space, table: Any, *, points: ArrayLike | None = None, n_permutations: int = 999, seed: int = 0
) -> Explained:
    """How well a space predicts properties of its objects: numbers by ridge regression in 10 folds, categories by near objects.

    All properties are permuted together over the objects. Each result is taken above the median of its permutations and divided
    by their upper semideviation; p is how often the largest of all properties is at least as large.

    Parameters
    ----------
    table : what ``read_objects`` returned, a data frame or a dict of columns; rows are matched by the column ``object``, and without
        it are in the order of the space. Text is a category.
    points : (n, 2) the map that arrows are for; default ``space.map(2)``.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> table = {"size": np.arange(30.0), "noise": rng.normal(size=30)}
    >>> size, noise = explain(Space.of_points(rng.normal(size=(30, 2)) + np.arange(30)[:, None]), table).properties
    >>> size.value > 0.9, size.p, noise.p > 0.05
    (True, 0.001, True)
    """
    columns = property_columns(table, space)
    left_out = {name: reason for name, column in columns.items() if (reason := _unusable(column))}
    names = [name for name in columns if name not in left_out]
    flat = space.map(2) if points is None else points
    axes = space.rows if space.kind == "points" else space.map(min(MAX_AXES, len(space) - 1))
    apart = space.distances() if names else np.zeros(0)
    rng = np.random.default_rng(seed)
    keys, folds = rng.random((n_permutations + 1, len(space))), rng.permutation(len(space)) % 10
    keys[0] = np.arange(len(space))  # the order as it is
    scores, found = np.zeros((len(names), len(keys))), list[Property]()
    for row, name in zip(scores, names, strict=True):
        numeric, known = columns[name].dtype.kind == "f", np.flatnonzero(_known(columns[name]))
        values = columns[name][known][np.argsort(keys[:, known], axis=1)]  # without gaps all move together
        near = apart[known][:, known]
        row[:] = _r2(axes[known], values.T, folds[known]) if numeric else _votes(near, values)
        way = arrow(flat, columns[name]) if numeric else None
        found.append(Property(name, numeric, len(known), float(row[0]), float(row[1:].mean()), np.nan, way))
    above = scores - np.median(scores, axis=1, keepdims=True)
    scaled = above / np.maximum(np.sqrt(np.mean(np.maximum(above, 0) ** 2, axis=1, keepdims=True)), 1e-12)
    p = (scaled.max(axis=0, initial=-np.inf) >= scaled[:, :1] - 1e-9).mean(axis=1)
    corrected = (replace(each, p=own) for each, own in zip(found, p.tolist(), strict=True))
    ranked = sorted(corrected, key=lambda each: (each.p, -each.value))
    return Explained(space.model, tuple(ranked), left_out, n_permutations)


def property_columns(table: Any, space: Space) -> dict[str, NDArray[Any]]:
    """Property -> (n,) numbers, NaN where unknown, or texts, "" where unknown, in the order of the space."""
    table = read_objects(table) if isinstance(table, (str, os.PathLike)) else table
    listed = isinstance(table, ObjectList)
    held = table.properties if listed else table
    wanted = "expected a value per object, in the order of the space or with a column 'object' that names each once"
    if not (isinstance(held, Mapping) or hasattr(held, "columns")):
        raise InputError(f"table: got {type(held).__name__}; {wanted}")
    given = {str(name): list(held[name]) for name in getattr(held, "columns", held)}
    names = table.names if listed else list(map(str, given.pop("object", space.objects)))
    at = {name: row for row, name in enumerate(names)}
    for name, values in given.items():
        if len(values) != len(names) or any(map(np.ndim, values)):
            raise InputError(f"table: {name!r} does not fit {len(names)} objects; {wanted}")
    if len(at) < len(names) or not set(at) & set(space.objects):
        found = len(set(at) & set(space.objects))
        raise InputError(f"table: it names {found} objects in {len(names)} rows; {wanted}")
    rows = np.where(space.informed, [at.get(name, -1) for name in space.objects], -1)
    columns = {}
    for name, values in given.items():
        said = [None if str(value) in ("", "nan", "<NA>", "None") else value for value in (*values, None)]
        real = [isinstance(value, (int, float, np.number)) and not isinstance(value, bool) for value in said]
        gap, kind = (np.nan, float) if sum(real) == sum(value is not None for value in said) else ("", str)
        columns[name] = np.array([gap if value is None else value for value in said], dtype=kind)[rows]
    return columns


def _known(column: NDArray[Any]) -> NDArray[np.bool_]:
    return np.asarray(np.isfinite(column) if column.dtype.kind == "f" else column != "")


def _unusable(column: NDArray[Any]) -> str:
    """Why nothing can be said about a property."""
    counts = np.unique(column[_known(column)], return_counts=True)[1]
    if counts.sum() < MIN_OBJECTS:
        return f"fewer than {MIN_OBJECTS} objects have a value"
    if len(counts) < 2:
        return "all values are the same"
    alone = column.dtype.kind != "f" and sum(counts > 1) < 2
    return "fewer than two categories have two objects" if alone else ""


def arrow(points: ArrayLike, values: NDArray[Any]) -> tuple[float, float]:
    """The direction in which values increase most on a map, by least squares, as long as their correlation along it."""
    points = np.asarray(points, dtype=np.float64)
    known = np.isfinite(points).all(axis=1) & np.isfinite(values)
    x, y = (each[known] - each[known].mean(axis=0) for each in (points, values))
    slope = np.linalg.lstsq(x, y, rcond=None)[0]
    length = max(float(np.linalg.norm(slope) * np.linalg.norm(y)), 1e-300)
    along = slope * np.linalg.norm(x @ slope) / length
    return float(along[0]), float(along[1])


def _r2(x: Floats, targets: Floats, folds: NDArray[np.intp]) -> Floats:
    """(columns,) R2 of ridge predictions of the columns of ``targets``, held out in folds.

    The other folds choose the penalty by generalised cross-validation (Golub, Heath and Wahba 1979).
    """
    predicted = np.empty_like(targets)
    for fold in np.unique(folds):
        test, train = folds == fold, folds != fold
        centre, mean = x[train].mean(axis=0), targets[train].mean(axis=0)
        left, size, right = np.linalg.svd(x[train] - centre, full_matrices=False)
        onto, total = left.T @ (targets[train] - mean), np.sum((targets[train] - mean) ** 2, axis=0)
        penalty = PENALTIES[:, None] * np.mean(size**2)
        shrunk = size**2 / (size**2 + penalty)
        free = np.maximum(1 - (1 + shrunk.sum(axis=1)) / train.sum(), 1e-9)[:, None]
        error = (total - (2 * shrunk - shrunk**2) @ onto**2) / free**2
        slopes = size[:, None] / (size[:, None] ** 2 + penalty[np.argmin(error, axis=0), 0]) * onto
        predicted[test] = mean + (x[test] - centre) @ right.T @ slopes
    total = np.sum((targets - targets.mean(axis=0)) ** 2, axis=0)
    return np.asarray(1 - np.sum((targets - predicted) ** 2, axis=0) / total)


def _votes(apart: Floats, labels: NDArray[Any]) -> Floats:
    """(permutations,) share of objects whose label is the most frequent among their nearest others, the nearest of them at a tie."""
    labels = dense_codes(labels).reshape(labels.shape)
    np.fill_diagonal(apart, np.inf)
    cast = labels[:, np.argsort(apart, axis=1, kind="stable")[:, :NEIGHBOURS]]
    votes = sum((cast == cast[..., [other]]).astype(np.int8) for other in range(NEIGHBOURS))
    named = np.take_along_axis(cast, np.argmax(votes, axis=2)[..., None], axis=2)[..., 0]
    return np.asarray((named == labels).mean(axis=1))


def rsa(
    of: Analysis | Space, distances: ArrayLike | VectorTable, *, names: Sequence[str] | None = None, metric: Any = None,
    seed: int = 0,
) -> Estimate:  # fmt: skip
    """Spearman's correlation of the distances of a space with others over pairs of objects (RSA).

    The 95 % interval is for other participants, and other objects of the same clusters, in a study as large. Its variance (of Fisher's
    z) is that of refits to resampled participants plus that of resampled objects. A space alone has no answers, and no interval;
    nor has a landmark design, where it would have held in .81 of simulated studies: other landmarks give another space.

    Parameters
    ----------
    of : an Analysis, whose chosen model is used (with vectors: the best without them), or a Space.
    distances : (n, n) distances, NaN where unknown, or a table of them; with ``metric``, one of SciPy's ``pdist`` such as "cosine",
        (n, p) features.
    names : of the n objects; default: they are in the order of the space. Only objects that both have count.

    Examples
    --------
    >>> line = Space.of_points(np.arange(12.0)[:, None])
    >>> rsa(line, np.arange(12.0)[:, None] ** 2, metric="euclidean").value > 0.8
    True
    """
    model = None if isinstance(of, Space) else of.settled(of.without_vectors)
    space = of if isinstance(of, Space) else of.fit(of.without_vectors)
    other, rows = shared_distances(space.objects, distances, names, metric)
    own = space.distances()[np.ix_(rows, rows)]
    rng, people = np.random.default_rng(seed), []
    roles = () if isinstance(of, Space) else (of.answers.anchor, of.answers.array[:, 1:])
    from_landmarks = any(len(np.unique(role)) < len(space) / 2 for role in roles)
    n_draws = 0 if isinstance(of, Space) or from_landmarks else 500
    draws = rng.multinomial(len(rows), np.full(len(rows), 1 / len(rows)), size=n_draws).T
    value, *objects = _spearman(own, other, np.hstack([np.ones((len(rows), 1)), draws])).tolist()
    if isinstance(of, Space) or model is None or not n_draws or np.isnan(value):
        return Estimate(value)
    kind, who = resampled_units(of.answers)
    n_shared = len(rows)
    some = np.sort(np.random.default_rng(seed).permutation(n_shared)[:REFIT_OBJECTS])
    rows, other = rows[some], other[np.ix_(some, some)]
    # a resample lacks people, and so objects, by design
    with warnings.catch_warnings(action="ignore", category=NearfarWarning):
        for _ in track(range(of.n_resamples), f"resampling {kind}s", total=of.n_resamples):
            fitted = model.fit(bootstrap_sample(of.answers, who, rng)).distances()
            people.append(_spearman(fitted[np.ix_(rows, rows)], other)[0])
    centre, *both = (np.arctanh(np.clip(each, -1 + 1e-9, 1 - 1e-9)) for each in (value, objects, people))
    df = min(effective_groups(who), n_shared, len(people)) - 1
    width = t.ppf(0.975, df) * np.sqrt(sum(np.nanvar(each) for each in both))
    return Estimate(value, float(np.tanh(centre - width)), float(np.tanh(centre + width)))


def shared_distances(
    objects: Sequence[str], distances: ArrayLike | VectorTable, names: Sequence[str] | None = None, metric: Any = None
) -> tuple[Floats, Indices]:  # fmt: skip
    """Distances between those of the objects that have some, and which objects these are; an error where they are too few."""
    if isinstance(distances, VectorTable):
        names, order = distances.objects, positions(distances.objects or (), distances.columns)
        named = len(order) == len(distances.columns) and min(order, default=-1) >= 0
        distances = distances.values[:, order] if named else distances.values
    other, names = _square(distances, metric), objects if names is None else list(map(str, names))
    given = set(names)
    shared = [name for name in objects if name in given]
    if len(other) != len(names) or len(given) < len(names) or len(shared) < MIN_OBJECTS:
        got = f"got {len(other)} rows for {len(names)} names, {len(shared)} of them objects of the space"
        wanted = f"expected a row per name, each once, and at least {MIN_OBJECTS} objects of the space"
        raise InputError(f"distances: {got}; {wanted}")
    rows, order = positions(shared, objects), positions(shared, names)
    return other[np.ix_(order, order)], rows


def _square(distances: ArrayLike, metric: Any) -> Floats:
    try:
        given = np.asarray(distances, dtype=np.float64)
        given = squareform(pdist(given, metric)) if metric is not None and given.ndim == 2 else given
    except (TypeError, ValueError) as error:
        raise InputError(f"distances: {error}") from error
    if given.ndim != 2 or given.shape[0] != given.shape[1] or not np.allclose(given, given.T, equal_nan=True):
        wanted = "expected a symmetric (n, n) matrix, or features and metric='cosine' (nearfar: --features)"
        raise InputError(f"distances: got shape {given.shape}; {wanted}")
    return given


def _spearman(one: Floats, other: Floats, draws: NDArray[Any] | None = None) -> Floats:
    """(draws,) correlation of the ranks over pairs; ``draws`` : (n, draws) how often each object is drawn, once by default.

    A pair counts as often as its two objects make it; an object drawn twice makes no pair with itself. NaN where all are alike.
    """
    weights = np.ones((len(one), 1)) if draws is None else draws.astype(np.float64)
    known = np.triu(np.isfinite(one) & np.isfinite(other), 1)
    x, y = np.zeros((2, *one.shape))
    pairs = known.sum()
    x[known], y[known] = ((rankdata(each[known]) - (pairs + 1) / 2) / pairs for each in (one, other))
    known, x, y = (each + each.T for each in (known, x, y))
    n, *sums = (np.sum(weights * (v @ weights), axis=0) for v in (known * 1.0, x, y, x * y, x * x, y * y))
    mx, my, xy, xx, yy = (each / np.maximum(n, 1) for each in sums)
    spread = np.sqrt(np.maximum((xx - mx**2) * (yy - my**2), 0))
    return np.asarray(np.where(spread > 1e-12, (xy - mx * my) / np.maximum(spread, 1e-12), np.nan))
