"""Maps in the plane: the best plane first, others beside it, all turned the same way."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearfar._tools.arrays import Floats
from nearfar.errors import NearfarWarning
from nearfar.evaluate.analysis import Analysis
from nearfar.evaluate.map_stability import align, along_axes, coordinates
from nearfar.report.facts import Judge, MapFacts
from nearfar.space import EMBEDDINGS, Space

__all__ = ["MapPoints", "make_maps"]

TITLES = {"ste": "STE", "tste": "t-STE", "ckl": "CKL", "soe": "SOE", "gnmds": "GNMDS"}


@dataclass(frozen=True, eq=False)
class MapPoints:
    """A map: (n, 2) points, NaN where the model does not know the object."""

    name: str
    title: str
    points: Floats

    def facts(self, judge: Judge, shown: NDArray[np.intp]) -> MapFacts:
        """As plain data, with what the judge says about it."""
        score = next((model for model in judge.models if model.name == self.name), None)
        points = self.points[shown]
        return MapFacts(
            name=self.name,
            title=self.title,
            accuracy=score.accuracy if score else None,
            error=score.error if score else None,
            x=tuple(_or_none(points[:, 0])),
            y=tuple(_or_none(points[:, 1])),
        )


def make_maps(analysis: Analysis, judge: Judge) -> tuple[MapPoints, ...]:
    """The best plane; beside it the next one, and the first two axes of the space that the tree comes from."""
    if not judge.map:
        return ()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NearfarWarning)  # the table of models carries the remarks
        first = MapPoints(judge.map, title(judge.map), along_axes(_plane(analysis.plane)))
        found = [first]
        names = [
            model.name for model in judge.models if model.name.endswith("-2") and model.name != judge.map
        ]
        for name in names[:1]:
            found.append(MapPoints(name, title(name), align(_plane(analysis.fit(name)), first.points)))
    if analysis.space.n_components != 2 and analysis.best.name != judge.map:
        flat = analysis.space.map(2)
        flat[analysis.space.uninformed] = np.nan
        found.append(
            MapPoints(
                f"{analysis.best.name} axes", f"First axes of {analysis.best.name}", align(flat, first.points)
            )
        )
    return tuple(found)


def _plane(space: Space) -> Floats:
    return coordinates(space)[:, :2]


def title(name: str) -> str:
    """What a map is called on the page.

    >>> title("k1+k2-2"), title("tste-2")
    ('Kernel PCA of k1+k2', 'Embedding, t-STE')
    """
    base = name.rpartition("-")[0]
    if base in EMBEDDINGS:
        return f"Embedding, {TITLES[base]}"
    return f"Kernel PCA of {base}" if base else f"Kernel PCA of {name}"


def _or_none(values: Floats) -> list[Any]:
    return [round(float(value), 5) if np.isfinite(value) else None for value in values]
