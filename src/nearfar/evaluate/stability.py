"""How sure the place and the cluster of every object are: the same analysis, had other people answered."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nearfar.errors import InputError, NearfarWarning
from nearfar.evaluate.models import as_model
from nearfar.evaluate.predictions import Fitted
from nearfar.evaluate.splits import as_number
from nearfar.evaluate.uncertainty import dense_codes, speakers
from nearfar.progress import track
from nearfar.triplets import Triplets, as_triplets

__all__ = ["Stability", "stability"]


@dataclass(frozen=True, repr=False, eq=False)
class Stability:
    """How sure the place and the cluster of every object are.

    Parameters
    ----------
    model : its name.
    objects : names of the n objects.
    points : (n, d) the map of all answers.
    spread : (n,) how far an object's place moves from resample to resample (root mean square), as a share of the
        size of the map: 0 not at all, 1 as far as objects are from the middle. NaN where it was never placed.
    labels : (n,) cluster in the analysis of all answers, -1 where unknown; None without clusters.
    kept : (n,) share of resamples in which the object is in the same cluster, clusters being matched one to one
        by the objects they have in common; None without clusters.
    placed : (n,) share of resamples with an answer about the object.
    cloud : (resamples, n, d) places in every resample, turned, moved and scaled onto ``points``; NaN where unknown.
    resampled : "participant" or "statement", what was drawn with replacement.
    """

    model: str
    objects: tuple[str, ...]
    points: NDArray[np.float64]
    spread: NDArray[np.float64]
    labels: NDArray[np.int64] | None
    kept: NDArray[np.float64] | None
    placed: NDArray[np.float64]
    cloud: NDArray[np.float64]
    resampled: str

    def __repr__(self) -> str:
        return f"Stability({self.model!r}, {len(self.objects)} objects, {len(self.cloud)} resamples)"

    def __str__(self) -> str:
        lines = [f"{self.model}, {len(self.cloud)} resamples of {self.resampled}s"]
        if np.isfinite(self.spread).any():
            lines.append(
                f"places move by {np.nanmedian(self.spread):.2f} of the map's size (median); "
                f"least sure: {self._list(-self.spread, self.spread)}"
            )
        if self.kept is not None and np.isfinite(self.kept).any():
            lines.append(
                f"clusters are kept in {np.nanmedian(self.kept):.0%} of resamples (median); "
                f"least sure: {self._list(self.kept, self.kept)}"
            )
        return "\n".join(lines)

    def _list(self, by: NDArray[np.float64], shown: NDArray[np.float64]) -> str:
        known = np.flatnonzero(np.isfinite(by))
        first = known[np.argsort(by[known], kind="stable")[:5]]
        return ", ".join(f"{self.objects[i]} ({shown[i]:.2f})" for i in first)

    def to_frame(self) -> Any:
        """One row per object: its name, place, spread, cluster and how often that was kept, as a polars data frame."""
        import polars as pl

        columns: dict[str, Any] = {"object": list(self.objects)}
        columns.update({f"x{k + 1}": self.points[:, k] for k in range(self.points.shape[1])})
        columns.update(spread=self.spread, placed=self.placed)
        if self.labels is not None and self.kept is not None:
            columns.update(cluster=self.labels, kept=self.kept)
        return pl.DataFrame(columns)


def stability(
    answers: Triplets | ArrayLike,
    model: Any = "score",
    *,
    n_clusters: int | None = 5,
    n_resamples: int = 50,
    seed: int | np.random.Generator = 0,
) -> Stability:
    """Redo a map and its clusters with people drawn again, with replacement, and see what stays.

    Participants are drawn where at least two are known, else statements. Each resample's map is turned, moved and
    scaled onto that of all answers (Procrustes), and its clusters are matched to those of all answers.

    Parameters
    ----------
    answers : what was answered.
    model : a name such as "score", "k1 pca-3" or "ste-2", or an object with ``fit_transform(answers)``, as for
        ``compare``. A kernel as it is gets a map by kernel PCA in two dimensions.
    n_clusters : clusters by kernel k-means on the model's rows (Phi or coordinates); None for no clusters.
    n_resamples : how often; 50 give shares to about 0.07.
    seed : a number or a numpy Generator; fixes everything random.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows = np.array([rng.permutation(12)[:3] for _ in range(3000)])  # objects 0..11 on a line, with a gap
    >>> at = np.array([0, 1, 2, 3, 4, 5, 20, 21, 22, 23, 24, 25])
    >>> d = np.abs(at[rows[:, :1]] - at[rows[:, 1:]])
    >>> rows[d[:, 0] > d[:, 1]] = rows[d[:, 0] > d[:, 1]][:, [0, 2, 1]]
    >>> sure = stability(rows, "score pca-1", n_clusters=2, n_resamples=10)
    >>> float(sure.kept.min()), bool(sure.spread.max() < 0.2)
    (1.0, True)
    """
    answers, seed = as_triplets(answers), as_number(seed)
    _check(answers, n_clusters, n_resamples)
    judged = as_model(model)
    kind = (
        "participant"
        if answers.participant is not None and len(answers.participant.present) > 1
        else "statement"
    )
    who = speakers(answers) if kind == "participant" else dense_codes(answers.statement_ids)
    with (
        warnings.catch_warnings()
    ):  # resamples lack objects and coverage by design; the full fit says so itself
        whole = _analyse(judged, answers, n_clusters, seed)
        warnings.simplefilter("ignore", NearfarWarning)
        rng = np.random.default_rng(seed)
        size = int(who.max()) + 1
        parts = []
        for _ in track(range(n_resamples), f"resampling {kind}s"):
            drawn = np.bincount(rng.integers(size, size=size), minlength=size)
            rows = np.repeat(np.arange(len(answers)), drawn[who])
            parts.append(_analyse(judged, answers[rows], n_clusters, seed))
    cloud = np.stack([_aligned(part, whole) for part in parts])
    placed = np.mean([part.known for part in parts], axis=0)
    return Stability(
        model=judged.name,
        objects=answers.objects,
        points=whole.points,
        spread=_spread(cloud, whole),
        labels=None if n_clusters is None else whole.labels,
        kept=None if n_clusters is None else _kept(parts, whole),
        placed=placed,
        cloud=cloud,
        resampled=kind,
    )


@dataclass(frozen=True, eq=False)
class _Analysis:
    points: NDArray[np.float64]
    labels: NDArray[np.int64]
    known: NDArray[np.bool_]


def _check(answers: Triplets, n_clusters: int | None, n_resamples: int) -> None:
    if not len(answers):
        raise InputError(
            "answers: there are none, so there is nothing to resample",
        )
    for name, value, least in (("n_clusters", n_clusters, 1), ("n_resamples", n_resamples, 1)):
        if value is not None and (value != int(value) or value < least):
            raise InputError(
                f"{name}: {value} came, expected a whole number from {least} on",
            )


def _analyse(model: Any, answers: Triplets, n_clusters: int | None, seed: int) -> _Analysis:
    """A map and clusters; only objects that the model knows have a place and a cluster."""
    from nearfar.methods import KernelPCA

    fitted = model.fit(answers)
    points = fitted.points
    if points is None:
        points = KernelPCA(n_components=2).fit_transform(fitted.phi)
    labels = np.full(len(points), -1, dtype=np.int64)
    if n_clusters is not None:
        labels[fitted.known] = _clusters(fitted, n_clusters, seed)
    return _Analysis(np.asarray(points, dtype=np.float64), labels, fitted.known)


def _clusters(fitted: Fitted, n_clusters: int, seed: int) -> NDArray[np.int64]:
    from nearfar.methods import KernelKMeans

    rows = fitted.phi[fitted.known] if fitted.points is None else fitted.points[fitted.known]
    # K of coordinates is what it is; only a kernel has a diagonal to be reduced
    diagonal = "shift" if fitted.points is None else "keep"
    k = min(n_clusters, rows.shape[0])
    labels = KernelKMeans(n_clusters=k, diagonal=diagonal, random_state=seed).fit_predict(rows)
    return np.asarray(labels, dtype=np.int64)


def _aligned(part: _Analysis, whole: _Analysis) -> NDArray[np.float64]:
    """The part's places moved, turned, mirrored and scaled onto the whole's, by the objects in both."""
    both = part.known & whole.known
    aligned = np.full(whole.points.shape, np.nan)
    if not both.any():
        return aligned
    x, y = whole.points[both], part.points[both]
    x0, y0 = x.mean(axis=0), y.mean(axis=0)
    left, values, right = np.linalg.svd((y - y0).T @ (x - x0))
    length = np.sum((y - y0) ** 2)
    scale = values.sum() / length if length > 0 else 0.0
    aligned[both] = scale * (y - y0) @ (left @ right) + x0
    return aligned


def _spread(cloud: NDArray[np.float64], whole: _Analysis) -> NDArray[np.float64]:
    """Root mean square distance between an object's places and its place in the whole, over the map's size."""
    x = whole.points[whole.known]
    size = np.sqrt(np.mean(np.sum((x - x.mean(axis=0)) ** 2, axis=1))) if len(x) else 0.0
    squares = np.sum((cloud - whole.points) ** 2, axis=2)
    there = np.isfinite(squares)
    count = there.sum(axis=0)
    total = np.where(there, squares, 0.0).sum(axis=0)
    spread = np.sqrt(total / np.maximum(count, 1)) / (size if size > 0 else 1.0)
    return np.where(count > 0, spread, np.nan)


def _kept(parts: list[_Analysis], whole: _Analysis) -> NDArray[np.float64]:
    """Share of the parts that know an object in which its cluster is the one matched to its own in the whole."""
    from scipy.optimize import linear_sum_assignment

    same, count = np.zeros(len(whole.labels)), np.zeros(len(whole.labels))
    for part in parts:
        both = part.known & whole.known
        a, b = whole.labels[both], part.labels[both]
        table = np.zeros((whole.labels.max() + 1, part.labels.max() + 1))
        np.add.at(table, (a, b), 1)
        own, matched = linear_sum_assignment(-table)
        of_part = np.full(table.shape[1], -1)
        of_part[matched] = own
        same[both] += of_part[b] == a
        count += both
    return np.where(count > 0, same / np.maximum(count, 1), np.nan)
