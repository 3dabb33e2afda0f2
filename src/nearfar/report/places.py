"""Maps in the plane: the judge's choice first, others beside it, all turned the same way."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearfar.errors import NearfarWarning
from nearfar.progress import track
from nearfar.report.facts import Judge, Map
from nearfar.space import EMBEDDINGS, fit_space
from nearfar.triplets import Triplets

__all__ = ["Places", "make_places", "onto"]

Floats = NDArray[np.float64]
TITLES = {"ste": "STE", "tste": "t-STE", "ckl": "CKL", "soe": "SOE", "gnmds": "GNMDS"}


@dataclass(frozen=True, eq=False)
class Places:
    """A fitted map: (n, 2) points, NaN where the model does not know the object."""

    name: str
    points: Floats

    def facts(self, judge: Judge, shown: NDArray[np.intp]) -> Map:
        """As plain data, with what the judge says about it."""
        score = next((model for model in judge.models if model.name == self.name), None)
        points = self.points[shown]
        return Map(
            name=self.name,
            title=title(self.name),
            accuracy=score.accuracy if score else None,
            error=score.error if score else None,
            x=tuple(_or_none(points[:, 0])),
            y=tuple(_or_none(points[:, 1])),
        )


def title(name: str) -> str:
    """What a map is called on the page.

    >>> title("k1+k2-2"), title("tste-2")
    ('Kernel PCA of k1+k2', 'Embedding, t-STE')
    """
    loss = name.partition("-")[0]
    if loss in EMBEDDINGS:
        return f"Embedding, {TITLES.get(loss, loss)}"
    return f"Kernel PCA of {name.rpartition('-')[0]}"


def make_places(answers: Triplets, judge: Judge) -> tuple[Places, ...]:
    """The judge's map, the kernel PCA of the kernel used, and the best embedding, each once."""
    if not judge.map:
        return ()
    embeddings = [
        model.name
        for model in judge.models
        if model.name.partition("-")[0] in EMBEDDINGS and model.name.endswith("-2")
    ]
    names = dict.fromkeys([judge.map, f"{judge.kernel}-2", *embeddings[:1]])
    found: list[Places] = []
    for name in track(list(names), "maps"):
        points = _fit(name, answers)
        points = onto(points, found[0].points) if found else _along_axes(points)
        found.append(Places(name, points))
    return tuple(found)


def _fit(name: str, answers: Triplets) -> Floats:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NearfarWarning)  # the judge's table carries the remarks
        space = fit_space(answers, name)
    points = space.map(2)
    points[space.uninformed] = np.nan
    return points


def _along_axes(points: Floats) -> Floats:
    """Centred and turned so that the widest direction lies flat; scaled so that the typical radius is 1."""
    known = np.isfinite(points).all(axis=1)
    centred = points - points[known].mean(axis=0)
    _, _, axes = np.linalg.svd(centred[known], full_matrices=False)
    turned: Floats = centred @ axes.T
    for column in range(turned.shape[1]):
        values = turned[known, column]
        if values[np.argmax(np.abs(values))] < 0:
            turned[:, column] *= -1
    return turned / radius(turned)


def radius(points: Floats) -> float:
    """Root mean square distance from the middle; 1 where all places are the same."""
    known = points[np.isfinite(points).all(axis=1)]
    size = float(np.sqrt(np.mean(np.sum((known - known.mean(axis=0)) ** 2, axis=1)))) if len(known) else 0.0
    return size or 1.0


def onto(points: Floats, reference: Floats) -> Floats:
    """Points moved, turned, mirrored and scaled onto the reference, by the objects that both know."""
    both = np.isfinite(points).all(axis=1) & np.isfinite(reference).all(axis=1)
    if not both.any():
        return points
    x, y = reference[both], points[both]
    left, _, right = np.linalg.svd((y - y.mean(axis=0)).T @ (x - x.mean(axis=0)))
    turned: Floats = (points - y.mean(axis=0)) @ (left @ right)
    moved: Floats = turned / radius(turned[both]) * radius(x) + x.mean(axis=0)
    return moved


def _or_none(values: Floats) -> list[Any]:
    return [round(float(value), 5) if np.isfinite(value) else None for value in values]
