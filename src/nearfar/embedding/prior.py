"""Vectors that objects bring from elsewhere (a network, word vectors, measurements), as a prior of their points.

A point is what the vector says of it plus the object's own part,

    x_a = b_a Z + own_a z_a,

and Z and all z_a are pulled to zero by the ordinary pull. So points are a Gaussian process with the covariance
``B B' + diag(own^2)``, where B B' is ``share`` times a kernel of the vectors and the rest is the object's own. An object without
answers lies at ``b_a Z``, its conditional mean. Triplets with vectors go back to McFee and Lanckriet (2011) and Wilber et al.
(2015); this prior is ours.

B has at most 400 columns: the kernel's values at so many objects, whitened (Nystroem). What they miss belongs to the
object's own part (with the Gaussian kernel).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nearfar._tools.arrays import Floats
from nearfar._tools.memory import check_bytes
from nearfar._tools.text import count, listed, number
from nearfar.errors import FeatureWarning, InputError
from nearfar.io.naming import plain_name
from nearfar.io.vectors import VectorTable, vector_tables
from nearfar.triplets import positions

LANDMARKS = 400  # columns of B, at most


class Setting(NamedTuple):
    """How vectors enter: the share of the prior that they have, the kernel, and the weight of every source (sum 1).

    ``width`` : of a Gaussian kernel, where two objects are sqrt(2) apart on average; infinite for a linear one.
    """

    share: float
    width: float
    weights: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Prior:
    """``basis`` (n, r) is B, ``own`` (n, 1) the size of every object's own part.

    ``landmarks`` : the vectors of some objects, by source; ``whiten`` turns kernel values at them into rows of B.
    """

    vectors: Vectors
    setting: Setting
    landmarks: list[Floats]
    whiten: Floats
    basis: Floats
    own: Floats

    @classmethod
    def of(cls, vectors: Vectors, setting: Setting) -> Prior:
        """The prior of one setting."""
        n, wide = len(vectors.objects), max(rows.shape[1] for rows in vectors.rows)
        needed = 8 * n * (3 * LANDMARKS + 2 * wide)
        check_bytes(needed, f"features: the prior of {n:,} objects needs", "take fewer columns, or none")
        at = np.flatnonzero(vectors.known)
        if len(at) > LANDMARKS:
            at = np.sort(np.random.default_rng(0).permutation(at)[:LANDMARKS])
        landmarks = [rows[at] for rows in vectors.rows]
        values, axes = np.linalg.eigh(_kernel(landmarks, landmarks, setting))
        kept = values > 1e-8 * values[-1]
        nothing = np.zeros((n, 0))
        made = cls(vectors, setting, landmarks, axes[:, kept] / np.sqrt(values[kept]), nothing, nothing)
        basis, own = made.basis_of(vectors.rows)
        return replace(made, basis=basis, own=own)

    @property
    def known(self) -> NDArray[np.bool_]:
        """(n,) who has a vector."""
        return self.vectors.known

    @property
    def shares(self) -> dict[str, float]:
        """The share of the prior that each source has."""
        share, _, weights = self.setting
        return {source: w * share for source, w in zip(self.vectors.sources, weights, strict=True)}

    def basis_of(self, rows: Sequence[Floats]) -> tuple[Floats, Floats]:
        """Rows of B and sizes (n, 1) of the own parts of objects with these vectors: what the vectors do not hold of a variance of 1.

        A linear kernel holds the variance of an object at the average distance from the centre, whatever its own distance.
        """
        share, width, weights = self.setting
        basis = np.sqrt(share) * _kernel(rows, self.landmarks, self.setting) @ self.whiten
        held: Any = (basis**2).sum(axis=1)
        if np.isinf(width):
            held = share * sum(w * np.isfinite(part[:, 0]) for part, w in zip(rows, weights, strict=True))
        return basis, np.sqrt(np.maximum(1.0 - held, 0.0))[:, None]

    def points(self, coefficients: Floats) -> Floats:
        """(n, d) points of coefficients (n + r, d): every object's own ones, then those of B."""
        n = len(self.own)
        return np.ascontiguousarray(self.own * coefficients[:n] + self.basis @ coefficients[n:])

    def coefficients(self, points: Floats) -> Floats:
        """The transpose of ``points``: a gradient in the points as one in the coefficients."""
        return np.vstack([self.own * points, self.basis.T @ points])

    def precision(self, chosen: NDArray[np.intp]) -> Callable[[Floats], Floats]:
        """What multiplies (chosen, d) points by the inverse of their covariance, by Woodbury's identity."""
        own = np.maximum(self.own[chosen] ** 2, 0.05)  # vectors never explain an object wholly
        basis = self.basis[chosen]
        core = np.linalg.inv(np.eye(basis.shape[1]) + basis.T @ (basis / own))
        return lambda points: points / own - basis @ (core @ (basis.T @ (points / own))) / own

    def __sklearn_clone__(self) -> Prior:
        """Itself: nothing changes it, and copies would hold all vectors again."""
        return self


class Vectors:
    """Vectors matched with objects by name; where a source has no names, its rows are in the order of the objects.

    ``sources`` : their names; ``rows`` : per source, (n, p) standardised vectors, NaN for objects without one; ``known`` : (n,) objects
    that have a vector in some source; ``missing`` : names of the others; ``extra`` : names of vectors that belong to no object.

    >>> vectors = Vectors({"size": np.array([1.0, 2.0, 4.0])}, ("ant", "bee", "cow"))
    >>> vectors.sources, vectors.prior(Setting(0.5, np.inf, (1.0,))).basis.shape
    (('size',), (3, 1))
    """

    def __init__(self, features: Any, objects: Sequence[str]) -> None:
        self.tables = tables = vector_tables(features)
        self.objects = tuple(objects)
        self.sources = tuple(table.name for table in tables)
        self._units = [np.abs(table.values).max() or 1.0 for table in tables]  # so that no square overflows
        scaled = [table.values / unit for table, unit in zip(tables, self._units, strict=True)]
        spreads = [x.std(axis=0) * (x.max(axis=0) > x.min(axis=0)) for x in scaled]
        # squared lengths are 1 on average; a constant column is divided by infinity: it says nothing
        self._sizes = [np.where(x > 0, x * np.sqrt(np.sum(x > 0)), np.inf) for x in spreads]
        self._means = [x.mean(axis=0) for x in scaled]
        self.rows = self._matched(tables, self.objects)
        self.known = np.asarray(np.isfinite([rows[:, 0] for rows in self.rows]).any(axis=0))
        self.missing = tuple(self.objects[x] for x in np.flatnonzero(~self.known))
        named = dict.fromkeys(name for table in tables for name in table.objects or ())
        own = set(self.objects)
        self.extra = tuple(name for name in named if name not in own)
        self._priors: dict[Setting, Prior] = {}
        if len(self.objects) and not self.known.any():
            other = f"none of the {len(self.extra)} names is an object of the answers, such as {self.objects[0]!r}"
            raise InputError(f"features: {other}; the names must be the same in both")

    def _matched(self, tables: Sequence[VectorTable], objects: Sequence[str]) -> list[Floats]:
        """``rows`` of these objects."""
        matched = []
        parts = zip(tables, self.tables, self._units, self._means, self._sizes, strict=True)
        for table, fitted, unit, mean, size in parts:
            if table.objects is None and len(table.values) != len(objects):
                has = f"{len(table.values)} rows without names, and there are {len(objects)} objects"
                way_out = "give one row per object, or a table with a column 'object'"
                raise InputError(f"features: {table.name} has {has}; {way_out}")
            if table.values.shape[1] != len(mean):
                has = f"{table.values.shape[1]} columns, expected {len(mean)} as before"
                raise InputError(f"features: {table.name} has {has}")
            values = table.values
            if table.columns and fitted.columns:  # the titles say which is which, not their order
                order = positions(fitted.columns, table.columns)
                if (order < 0).any():
                    lacks = f"no column {fitted.columns[int(np.argmin(order))]!r}"
                    raise InputError(f"features: {table.name} has {lacks}; expected the columns as before")
                values = values[:, order]
            rows = np.full((len(objects), len(mean)), np.nan)
            at = np.arange(len(objects)) if table.objects is None else positions(objects, table.objects)
            rows[at >= 0] = (values[at[at >= 0]] / unit - mean) / size
            matched.append(rows)
        return matched

    def prior(self, setting: Setting) -> Prior:
        """The prior of one setting; made once."""
        if setting not in self._priors:
            self._priors[setting] = Prior.of(self, setting)
        return self._priors[setting]

    def others(self, features: Any) -> tuple[tuple[str, ...], list[Floats]]:
        """Names and ``rows`` of other objects, from the same sources; these go by name, or else in their order."""
        tables = vector_tables(features, vary=False)
        given = {table.name: table for table in tables}
        shared = len(given.keys() & set(self.sources))
        if len(tables) != len(self.sources) or (len(tables) > 1 and 0 < shared < len(tables)):
            wanted = f"{', '.join(self.sources)} as before"
            raise InputError(f"features: got {', '.join(given)}, expected {wanted}")
        tables = [given.get(source, table) for source, table in zip(self.sources, tables, strict=True)]
        names = tuple(dict.fromkeys(name for table in tables for name in table.objects or ()))
        names = names or tuple(map(str, range(len(tables[0].values))))
        matched = self._matched(tables, names)
        for source, own, rows in zip(self.sources, self.rows, matched, strict=True):
            reached, lengths = np.linalg.norm(np.nan_to_num(own), axis=1).max(), np.linalg.norm(rows, axis=1)
            if far := [name for name, length in zip(names, lengths, strict=True) if length > 3 * reached]:
                times = f"more than 3 times as far from the mean of {source} as any vector before"
                warnings.warn(
                    f"features: {listed(far, 3)}: {times}; are the units the same?",
                    FeatureWarning,
                    stacklevel=4,
                )
        return names, matched

    def alone(self, metric: Literal["euclidean", "cosine"], others: Sequence[Floats] | None = None) -> Floats:
        """(n, p) the vectors of the objects, or of ``others``, as points, all sources side by side; zero where there is none."""
        parts = []
        for rows, own, size in zip(others or self.rows, self.rows, self._sizes, strict=True):
            part, own = (np.nan_to_num(each) * np.where(np.isinf(size), 0.0, size) for each in (rows, own))
            lengths = np.linalg.norm(part, axis=1, keepdims=True)
            if metric == "euclidean":
                lengths = np.sqrt(np.mean(np.sum(own[self.known] ** 2, axis=1)))
            parts.append(part / np.maximum(lengths, 1e-300))
        return np.hstack(parts)


def _kernel(one: Sequence[Floats], other: Sequence[Floats], setting: Setting) -> Floats:
    """(a, b) the weighted sum of the kernels of all sources; 0 where an object has no vector."""
    total = np.zeros((len(one[0]), len(other[0])))
    for rows, columns, weight in zip(one, other, setting.weights, strict=True):
        if not weight:
            continue
        known = np.isfinite(rows[:, :1]) & np.isfinite(columns[:, 0])
        rows, columns = np.nan_to_num(rows), np.nan_to_num(columns)
        values = rows @ columns.T
        if np.isfinite(setting.width):
            squares = (rows**2).sum(axis=1)[:, None] + (columns**2).sum(axis=1) - 2 * values
            values = np.exp(np.maximum(squares, 0) / (-2 * setting.width**2))
        total += weight * np.where(known, values, 0.0)
    return total


def as_vectors(features: Any, objects: Sequence[str]) -> Vectors | None:
    """Vectors of these objects, however they are given; None without. A ``FeatureWarning`` tells what has no counterpart."""
    if features is None or (isinstance(features, Mapping | Sequence) and not len(features)):
        return None
    vectors = features if isinstance(features, Vectors) else Vectors(features, objects)
    missing, extra = vectors.missing, vectors.extra
    told = []
    if missing:
        without = f"{len(missing)} of {len(objects)} objects have no vector: {listed(missing, 3)}"
        told = [without, "they rely on their answers alone"]
    if extra:
        told.append(f"{count(len(extra), 'vector belongs', 'vectors belong')} to no object of the answers")
    if alike := len({*map(plain_name, missing)} & {*map(plain_name, extra)}):
        told[-1] += f" ({number(alike)} by case, blanks or Unicode form alone: write names as in the answers)"
    if told:
        warnings.warn(f"features: {'; '.join(told)}", FeatureWarning, stacklevel=3)
    return vectors
