"""Dimensions one can name: sparse non-negative ones, and which of them come back from other starts and other participants."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from nearfar import words
from nearfar._tools.arrays import Floats, dense_codes
from nearfar._tools.checks import Seed, check_count, seed_number
from nearfar._tools.progress import step
from nearfar._tools.records import Record
from nearfar.embedding.nonneg import NonNegative, shares
from nearfar.embedding.prior import as_vectors
from nearfar.errors import InputError, NearfarWarning
from nearfar.evaluate.priors import settle
from nearfar.evaluate.splits import split_units
from nearfar.io.vectors import vector_tables
from nearfar.space.models import Model, parse_model
from nearfar.space.space import Space
from nearfar.triplets import Triplets, as_triplets, positions

TOP = 8  # objects that show what a dimension is about
MIN_CORRELATION = 0.8  # with a dimension of another fit, above which it has come back
STARTS = 2  # other random starts


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
        halves of the participants (of the questions, where nobody is known), the smaller one of the two.
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


@dataclass(frozen=True, repr=False)
class Dimensions(Record):
    """The dimensions of a non-negative space; prints as a table of those that come back.

    Parameters
    ----------
    dimensions : all that some object uses, the largest share first.
    halved_by : what the halves are of: "participants" or "questions".
    space : the space that they are columns of.
    """

    dimensions: tuple[Dimension, ...]
    halved_by: str
    space: Space

    @property
    def found(self) -> tuple[Dimension, ...]:
        """Those that come back: the findings."""
        return tuple(each for each in self.dimensions if each.comes_back)

    def __repr__(self) -> str:
        return f"Dimensions({len(self.found)} of {len(self.dimensions)} come back)"

    def __str__(self) -> str:
        return words.dimensions_text(self)

    def points(self) -> Floats:
        """(n, found) coordinates of all objects on the dimensions that come back."""
        at = [each.number - 1 for each in self.found]
        return np.asarray(self.space.rows[:, at], dtype=np.float64)

    def named(self, names: Sequence[Mapping[str, Any]]) -> Dimensions:
        """With the names of a table written before: every row names the dimension with most of its top objects.

        ``names`` : rows with "name" and "top1", "top2", ...; fewer than half of them in common are another dimension.
        """
        called: dict[int, str] = {}
        for row in names:
            objects = {str(value) for key, value in row.items() if str(key).startswith("top") and value}
            common = [len(objects & set(each.top)) for each in self.dimensions]
            if row.get("name") and objects and max(common, default=0) * 2 >= len(objects):
                called[int(np.argmax(common))] = str(row["name"])
        named = (replace(each, name=called.get(k, each.name)) for k, each in enumerate(self.dimensions))
        return replace(self, dimensions=tuple(named))

    def to_frame(self) -> pl.DataFrame:
        """One row per dimension, as a polars data frame: write it, fill in column name, and give it to ``named``."""
        rows = []
        for each in self.to_dict()["dimensions"]:
            top, _ = each.pop("top"), each.pop("values")
            rows.append(each | {f"top{k}": name for k, name in enumerate(top, 1)})
        return pl.DataFrame(rows, infer_schema_length=None)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and text, for JSON."""
        found = [{**each.to_dict(), "comes_back": each.comes_back} for each in self.dimensions]
        return {"dimensions": found, "halved_by": self.halved_by}


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
    properties : numbers per object from elsewhere, as features are given: a file or a data frame with a column "object", or a
        dict of arrays.
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
    known = {} if properties is None else _columns(properties, answers.objects)
    if (vectors := as_vectors(features, answers.objects)) is not None:
        parsed = settle(parsed.with_vectors(vectors), answers)
    halved_by, half = _halves(answers, start)
    points, starts, halves = _fits(answers, parsed, half, start)
    name = model if parsed.prior is None else parsed.name
    space = Space(points, answers.objects, kind="points", model=name, similarity="product")
    explained = shares(points)
    described = []
    for c, column in enumerate(points.T):
        order = np.argsort(-column, kind="stable")[:top]
        order = order[column[order] > 0]
        if not len(order):
            continue
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
    return Dimensions(tuple(described), halved_by, space)


def _fits(
    answers: Triplets, model: Model, half: NDArray[np.bool_], start: int
) -> tuple[Floats, Floats, Floats]:
    """Points of the best of three starts, and how well another start and both halves find every dimension of them."""
    prior: Any = model.prior
    # an object without an answer is listed by whoever reads them
    quiet = warnings.catch_warnings(action="ignore", category=NearfarWarning)
    with quiet, step("dimensions", total=3 + STARTS) as advance:

        def fit(some: Triplets, size: int | None, number: int, **given: Any) -> NonNegative:
            fitted = NonNegative(size, random_state=number, prior=prior, **given).fit(some)
            advance(1)
            return fitted

        first = fit(answers, model.n_components, start)
        d, pull = first.embedding_.shape[1], {"regularization": first.regularization_}
        others = [fit(answers, d, start + 1 + k, **pull) for k in range(STARTS)]
        best, *others = sorted([first, *others], key=lambda fitted: float(fitted.loss_))
        # of half the answers two dimensions may be found as one, where there is no room for more
        halves = [fit(answers[rows], 2 * d, start, **pull) for rows in (half, ~half) if rows.any()]
    points = best.embedding_
    again, halved = ([best_match(points, fit.embedding_) for fit in fits] for fits in (others, halves))
    return points, np.max(again, axis=0), np.min(halved, axis=0)


def best_match(points: Floats, other: Floats) -> Floats:
    """(d,) the largest correlation of every dimension with one of another fit; 0 with one that does not vary.

    >>> best_match(np.array([[1.0, 0.0], [2.0, 1.0], [3.0, 0.0]]), np.array([[2.0], [4.0], [6.0]])).round(2)
    array([1., 0.])
    """
    one, two = (each - each.mean(axis=0) for each in (points, other))
    x, y = (each / np.maximum(np.linalg.norm(each, axis=0), 1e-12) for each in (one, two))
    return np.asarray((x.T @ y).max(axis=1))


def _halves(answers: Triplets, seed: int) -> tuple[str, NDArray[np.bool_]]:
    """What is halved at random, and (m,) the answers of one half."""
    who = answers.participant
    if who is not None and len(who.known) > 1:
        name, codes = "participants", dense_codes(who.codes.astype(np.int64))
    else:
        name, codes = "questions", split_units(answers).codes
    order = np.random.default_rng(seed).permutation(int(codes.max(initial=0)) + 1)
    return name, order[codes] < len(order) / 2


def _columns(properties: Any, objects: tuple[str, ...]) -> dict[str, Floats]:
    """Name -> (n,) numbers of every property, NaN for an object without."""
    columns: dict[str, Floats] = {}
    for table in vector_tables(properties):
        at = positions(objects, table.objects or objects)
        if not len(table.values) > at.max() >= 0:
            raise InputError(f"properties: {table.name} has none of the objects, or not all without names")
        numbered = (f"{table.name} {c + 2}" for c in range(table.values.shape[1] - 1))
        names = table.columns or [table.name, *numbered]
        columns |= dict(zip(names, np.where(at >= 0, table.values[at].T, np.nan), strict=True))
    return columns
