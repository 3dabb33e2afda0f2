"""Nature: 120 scenes, kernel PCA on k2, once the data is there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from experiments import _maps, car
from experiments._data import Data
from experiments._experiment import Absent, Cell, Experiment, Figure, Row, Section
from nearfar.evaluate.metrics import triplet_accuracy


def cells(quick: bool) -> list[Cell]:
    return [Cell({"method": "k1"}, 0.3), Cell({"method": "k2"}, 0.3)]


def compute(settings: Mapping[str, Any], data: Data) -> dict[str, Any]:
    given = data.nature.triplets
    result = car.judge(settings, given, data.nature.groups)
    return result | {
        "objects": given.n_objects,
        "answers": len(given),
        "agreement": float(triplet_accuracy(given, points=result["points"])),
    }


def section(rows: list[Row], data: Data) -> Section:
    k2 = next(row for row in rows if row["method"] == "k2")
    text = (
        f"{k2['answers']:,} triplets about {k2['objects']} scenes, a map by kernel PCA. Agreement of the map in the plane "
        "with the same answers: " + ", ".join(f"{row['method']} {row['agreement']:.3f}" for row in rows) + "."
    )
    return Section(
        text, (), {"nature": Figure(lambda: _maps.dots(k2["points"]), "Kernel PCA on k2: 120 scenes.")}
    )


def absent(data: Data) -> str:
    """Whether the data is missing or only not run yet."""
    try:
        count = data.nature.triplets.n_objects
    except Absent:
        return (
            "The data is absent: `nature_and_vogue_triplets.zip` is not in the data folder and its server (osf.io) could "
            "not be reached when this page was made. Loader and experiment are ready: put the file into the folder given "
            "by `--data-dir` (or `NEARFAR_DATA`) and run `python -m experiments nature`."
        )
    return f"Not run yet, though the {count} scenes are at hand: `python -m experiments nature`."


EXPERIMENT = Experiment("nature", "Nature: a map of scenes", cells, compute, section, absent=absent)
