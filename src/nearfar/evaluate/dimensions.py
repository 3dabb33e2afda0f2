"""Dimensions one can name: sparse non-negative ones, and which of them come back from other starts and other participants."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment

from nearfar import words
from nearfar._tools.arrays import Floats
from nearfar._tools.checks import Seed, check_count, seed_number
from nearfar._tools.progress import step
from nearfar._tools.records import Record
from nearfar._tools.text import listed
from nearfar.embedding.nonneg import NonNegative, shares
from nearfar.embedding.prior import as_vectors
from nearfar.errors import InputError, NearfarWarning
from nearfar.evaluate.bootstrap import make_draws
from nearfar.evaluate.map_stability import resampled_units
from nearfar.evaluate.priors import settle
from nearfar.evaluate.properties import property_columns
from nearfar.evaluate.splits import holdout, split_units
from nearfar.space.models import Model, parse_model
from nearfar.space.space import Space
from nearfar.triplets import Triplets, as_triplets

TOP = 8  # objects that show what a dimension is about
MIN_CORRELATION = 0.8  # with a dimension of another fit, above which it has come back
STARTS = 4  # of which the best is kept; a dimension comes back if one of the others finds it, or for a half one of three


@dataclass(frozen=True)
class Dimension(Record):
    """One dimension.

    Parameters
    ----------
    number : its place by ``share``, from 1.
    name : what a person calls it; "" before.
    share : of the similarity of all pairs of objects, how much it makes up.
    objects : how many objects use it: at least a tenth of the largest coordinate.
    starts, halves : its correlation with the most similar dimension of a fit from another random start, and of fits to
        halves of the participants (of the answers, where nobody is known), the smaller one of the two.
    top, values : the objects highest on it, and their coordinates.
    goes_with, correlation : the given property that it correlates with most; "" and NaN without any.
    """

    number: int
    name: str
    share: float
    objects: int
    starts: float
    halves: float
    top: tuple[str, ...]
    values: tuple[float, ...]
    goes_with: str = ""
    correlation: float = np.nan

    @property
    def comes_back(self) -> bool:
        """Whether another start and both halves of the participants find it, too."""
        return min(self.starts, self.halves) > MIN_CORRELATION

    @property
    def title(self) -> str:
        """Its name, or its number."""
        return self.name or f"dimension {self.number}"

    def to_dict(self) -> dict[str, Any]:
        """As of other records, and whether it comes back."""
        return {**super().to_dict(), "comes_back": self.comes_back}


@dataclass(frozen=True, repr=False)
class Dimensions(Record):
    """The dimensions of a non-negative space; prints as a table of those that come back.

    Parameters
    ----------
    dimensions : all that some object uses, the largest share first.
    halved_by : what the halves are of: "participants", or "answers" where these are not known.
    predicts : whether held-out answers are predicted clearly more often than by guessing; where they are not, nothing is a finding.
    space : the space that they are columns of.
    """

    dimensions: tuple[Dimension, ...]
    halved_by: str
    predicts: bool
    space: Space = field(repr=False)

    @property
    def found(self) -> tuple[Dimension, ...]:
        """Those that come back: the findings; none where held-out answers are not predicted."""
        return tuple(each for each in self.dimensions if each.comes_back and self.predicts)

    def __repr__(self) -> str:
        return f"Dimensions({len(self.found)} of {len(self.dimensions)} come back)"

    def __str__(self) -> str:
        return words.dimensions_text(self)

    def points(self) -> Floats:
        """(n, found) coordinates of all objects on the dimensions that come back."""
        at = [each.number - 1 for each in self.found]
        return np.asarray(self.space.rows[:, at], dtype=np.float64)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    def named(self, names: Any) -> Dimensions:
        """With the names of a table written before: every row names the dimension with most of its top objects.

        ``names`` : a data frame, columns by name, or rows, with "name" and "top1", "top2", ...; fewer than half of them in common are another
        dimension. A warning lists names that belong to none that comes back, or to one that has a name.
        """
        if isinstance(names, Mapping) or hasattr(names, "columns"):
            columns = {column: names[column] for column in getattr(names, "columns", names)}
            names = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        matches = []
        for row in names:
            known = {
                key: str(value) for key, value in row.items() if isinstance(value, str | int | np.integer)
            }
            objects = {value for key, value in known.items() if str(key).startswith("top") and value}
            common = [len(objects & set(each.top)) for each in self.dimensions] or [0]
            name = " ".join(known.get("name", "").split())
            matches.append((max(common) / max(len(objects), 1), int(np.argmax(common)), name))
        called: dict[int, str] = {}
        best_first = [each for each in sorted(matches, key=lambda each: -each[0]) if each[2]]
        lost = [name for r, k, name in best_first if r < 0.5 or called.setdefault(k, name) != name]
        lost += [name for k, name in called.items() if self.dimensions[k] not in self.found]
        if lost or not called:
            told = f"belong to no dimension that comes back, or to one that has a name: {listed(lost)}"
            told = told if lost else "column name is empty in every row"
            warnings.warn(f"names of dimensions: {told}", NearfarWarning, stacklevel=2)
        named = (replace(each, name=called.get(k, each.name)) for k, each in enumerate(self.dimensions))
        return replace(self, dimensions=tuple(named))

    def to_frame(self) -> pl.DataFrame:
        """One row per dimension, as a polars data frame: write it, fill in column name, and give it to ``named``."""
        rows = []
        for each in self.to_dict()["dimensions"]:
            top, _ = each.pop("top"), each.pop("values")
            each["comes_back"] &= self.predicts
            rows.append(each | {f"top{k}": name for k, name in enumerate(top, 1)})
        return pl.DataFrame(
            rows or None, None if rows else ["number", "name", "top1"], infer_schema_length=None
        )


def find_dimensions(
    answers: Triplets | ArrayLike,
    model: str = "nonneg",
    *,
    properties: Any = None,
    features: Any = None,
    top: int = TOP,
    seed: Seed = 0,
) -> Dimensions:
    """Sparse non-negative dimensions, and which of them come back.

    Parameters
    ----------
    answers : Triplets, an (m, 3) array of indices, or a data frame.
    model : "nonneg" (as many dimensions as predict held-out choices best) or with a number of them, such as "nonneg-20".
    properties : of the objects, as the table of ``explain``; those of numbers count.
    features : vectors of the objects as a prior, as for ``fit``: they enter where held-out answers say that they help.
    top : objects that are listed for every dimension.
    seed : fixes the starts and the halves.

    Examples
    --------
    >>> from nearfar import simulate, design
    >>> points = np.repeat(np.eye(3), 6, axis=0) * 2.5  # three kinds of objects
    >>> asked = design.random_questions(18, 1500, seed=0)
    >>> found = find_dimensions(simulate.answers(asked, points=points, seed=0).triplets, "nonneg-3")
    >>> found, sorted(sorted(map(int, each.top[:6]))[0] for each in found.found)
    (Dimensions(3 of 3 come back), [0, 6, 12])
    """
    answers, start = as_triplets(answers), seed_number(seed)
    parsed = parse_model(model)
    if parsed.base != "nonneg":
        raise InputError(f"model: {model!r} has no dimensions to name; expected 'nonneg' or 'nonneg-12'")
    check_count(top, "top")
    nowhere = Space.of_points(np.zeros((answers.n_objects, 1)), answers.objects)
    known = {} if properties is None else property_columns(properties, nowhere)
    known = {name: values for name, values in known.items() if values.dtype.kind == "f"}
    if (vectors := as_vectors(features, answers.objects)) is not None:
        parsed = settle(parsed.with_vectors(vectors), answers)
    kind, unit = resampled_units(answers)
    order = np.random.default_rng(start).permutation(int(unit.max(initial=0)) + 1)
    fitted, starts, halves, predicts = _fits(answers, parsed, order[unit] < len(order) / 2, start)
    points, name = fitted.embedding_, model if parsed.prior is None else parsed.name
    space = Space(points, answers.objects, kind="points", model=name, estimator=fitted, similarity="product")
    explained = shares(points)
    described = []
    for c in np.flatnonzero(points.any(axis=0)).tolist():
        order = np.argsort(-(column := points[:, c]), kind="stable")[:top]
        order = order[column[order] > 0]
        r = {"": np.nan}
        for name, values in known.items():
            there = np.isfinite(values)
            r[name] = float(best_match(column[there, None], values[there, None])[0])
        goes_with = max(r, key=lambda name: np.nan_to_num(abs(r[name]), nan=-1.0))
        described.append(
            Dimension(
                number=c + 1,
                name="",
                share=float(explained[c]),
                objects=int(np.sum(column >= column.max() / 10)),
                starts=float(starts[c]),
                halves=float(halves[c]),
                top=tuple(answers.objects[x] for x in order),
                values=tuple(column[order].round(4).tolist()),
                goes_with=goes_with,
                correlation=r[goes_with],
            )
        )
    return Dimensions(
        tuple(described), "participants" if kind == "participant" else "answers", predicts, space
    )


class _Fits(NamedTuple):
    best: NonNegative
    starts: Floats
    halves: Floats
    predicts: bool


def _fits(answers: Triplets, model: Model, half: NDArray[np.bool_], seed: int) -> _Fits:
    """The best of some starts, how well others and both halves find its dimensions, and whether they predict."""
    prior: Any = model.prior
    # an object without an answer is listed by whoever reads them
    quiet = warnings.catch_warnings(action="ignore", category=NearfarWarning)
    with quiet, step("dimensions", total=3 * STARTS) as advance:

        def fit(some: Triplets, size: int | None, start: int, **given: Any) -> NonNegative:
            fitted = NonNegative(size, random_state=seed + start, prior=prior, **given).fit(some)
            advance(1)
            return fitted

        first = fit(answers, model.n_components, 0)
        d, pull = first.embedding_.shape[1], {"regularization": first.regularization_}
        if model.n_components is None and _used(first) > d - 2:
            d *= 2  # columns to spare, with which fewer starts end in a worse optimum
            first = fit(answers, d, 0, **pull)
        others = [fit(answers, d, start, **pull) for start in range(1, STARTS)]
        best, *others = sorted([first, *others], key=lambda fitted: fitted.objective_)
        halves = [
            [fit(answers[rows], 2 * _used(best), start, **pull) for start in range(1, STARTS)]
            for rows in (half, ~half)
            if 0 < half.sum() < len(half)
        ]
        predicts = False
        if split_units(answers).count > 1 and len((split := holdout(answers, 0.2, seed=seed)).train):
            held_out = answers[split.test]
            signs = fit(answers[split.train], _used(best), 0, **pull).predict(held_out)
            predicts = make_draws(held_out, seed=seed).p_guessing((1 + signs[None]) / 2) <= 0.05

    def again(fits: list[NonNegative]) -> Floats:
        return np.asarray(np.max([best_match(best.embedding_, fitted.embedding_) for fitted in fits], axis=0))

    found = np.min([again(fits) for fits in halves] or [np.zeros(d)], axis=0)
    return _Fits(best, again(others), found, predicts)


def _used(fitted: NonNegative) -> int:
    return max(1, int(fitted.embedding_.any(axis=0).sum()))


def best_match(points: Floats, other: Floats) -> Floats:
    """(d,) the correlation of every dimension with its own one of another fit, matched for the largest sum; 0 where none is left.

    >>> best_match(np.array([[1.0, 0.0], [2.0, 1.0], [3.0, 0.0]]), np.array([[2.0], [4.0], [6.0]])).round(2)
    array([1., 0.])
    """
    one, two = (each - each.mean(axis=0) for each in (points, other))
    x, y = (each / np.maximum(np.linalg.norm(each, axis=0), 1e-12) for each in (one, two))
    r, matched = x.T @ y, np.zeros(points.shape[1])
    rows, columns = linear_sum_assignment(r, maximize=True)
    matched[rows] = r[rows, columns]
    return matched
