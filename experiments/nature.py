"""Nature: 120 scenes, maps by k1 and k2, a tree, GNMDS; the same on a simulated stand-in while the data is absent."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments import _maps, _methods, _trees
from experiments._data import Data
from experiments._experiment import Absent, Cell, Claim, Experiment, Figure, Row, Section, seed_of, turned
from nearfar import FeatureMap, KernelPCA, Triplets
from nearfar.evaluate.metrics import triplet_accuracy
from nearfar.methods import cut, linkage

SOURCES = ("nature", "stand-in")
N, STATEMENTS, GROUPS = (
    120,
    3_355,
    4,
)  # objects and odd-one-out statements of the real set; groups of the stand-in
CLUSTERS = 4
FITS = 0.6  # share of its own triplets that a meaningful map reproduces
NOISE = 0.5  # of a judged distance in the stand-in, in standard deviations of the points


def cells(quick: bool) -> list[Cell]:
    wanted: list[dict[str, Any]] = [{"map": "k1"}, {"map": "k2"}, {"map": "GNMDS"}, {"tree": "k1"}]
    return [Cell({"source": source} | what, 0.5) for source in SOURCES for what in wanted]


def compute(settings: Mapping[str, Any], data: Data) -> dict[str, Any]:
    given = data.nature.triplets if settings["source"] == "nature" else stand_in()[0]
    facts = {"objects": given.n_objects, "answers": len(given)}
    if "tree" in settings:
        tree = linkage(FeatureMap(settings["tree"]).fit_transform(given), method="complete")
        return facts | {"merges": np.asarray(tree).tolist(), "labels": cut(tree, CLUSTERS)}
    if settings["map"] == "GNMDS":
        points = _methods.published("GNMDS", 2, seed_of("nature")).fit_transform(given)
    else:
        points = KernelPCA(n_components=2).fit_transform(FeatureMap(settings["map"]).fit_transform(given))
    return facts | {"points": points, "agreement": float(triplet_accuracy(given, points=points))}


@lru_cache(maxsize=1)
def stand_in() -> tuple[Triplets, NDArray[np.int64]]:
    """Answers of the size and kind of the real ones about simulated scenes in four groups, and their groups."""
    rng = np.random.default_rng(seed_of("nature", "stand-in"))
    labels = np.sort(rng.integers(0, GROUPS, N))
    points = 2.5 * rng.normal(size=(GROUPS, 5))[labels] + rng.normal(size=(N, 5))
    trios = np.argsort(rng.random((STATEMENTS, N)), axis=1)[:, :3]
    others = ((1, 2), (0, 2), (0, 1))
    apart = np.stack(
        [np.linalg.norm(points[trios[:, a]] - points[trios[:, b]], axis=1) for a, b in others], axis=1
    )
    odd = (apart + NOISE * points.std() * rng.normal(size=apart.shape)).argmin(
        axis=1
    )  # the closest pair stays
    rows = np.stack([[*np.delete(trio, o).tolist(), trio[o]] for trio, o in zip(trios, odd, strict=True)])
    return Triplets.from_odd_one_out(rows, [f"scene{i}" for i in range(N)]), labels


def section(rows: list[Row], data: Data) -> Section:
    source = "nature" if any(row["source"] == "nature" for row in rows) else "stand-in"
    own = [row for row in rows if row["source"] == source]
    maps = {row["map"]: row for row in own if "map" in row}
    tree = next(row for row in own if "tree" in row)
    first = own[0]
    lines = [
        [name if name != "GNMDS" else "GNMDS, published", f"{row['agreement']:.3f}"]
        for name, row in maps.items()
    ]
    text = _intro(source, first) + turned(["map (2-d)", "agreement with its own triplets"], lines)
    labels = stand_in()[1] if source == "stand-in" else None
    names = (
        [f"scene{i}" for i in range(first["objects"])]
        if source == "stand-in"
        else list(data.nature.triplets.objects)
    )
    titles = {"k1": "kernel PCA on k1", "k2": "kernel PCA on k2", "GNMDS": "GNMDS, published program"}
    kinds = "Simulated scenes" if source == "stand-in" else "120 scenes"
    what = f"{kinds}, coloured by their simulated group" if source == "stand-in" else kinds
    figures = {
        "nature": Figure(
            lambda: _maps.dots({titles[name]: row["points"] for name, row in maps.items()}, labels),
            f"{what}: what the paper's supplement shows of its scenes, in dots.",
        ),
        "nature_tree": Figure(
            lambda: _trees.draw(tree["merges"], CLUSTERS, names),
            f"{kinds}: complete linkage on k1, cut into four clusters (colours; their sizes at the bottom).",
        ),
    }
    return Section(text, [_claim(source, maps)], figures)


def _intro(source: str, first: Row) -> str:
    count = f"{first['answers']:,} triplets about {first['objects']} scenes"
    if source == "nature":
        return f"{count}, as published by Heikinheimo and Ukkonen.\n\n"
    return (
        "The data is absent: `nature_and_vogue_triplets.zip` is not in the data folder and its server (osf.io) could not be "
        "reached when this page was made. Everything the paper does with it is ready and runs here on a simulated stand-in of "
        f"the same size and kind ({count} in four groups, from odd-one-out statements judged with noise); no claim is judged "
        "by it. With the file in `--data-dir` (or `NEARFAR_DATA`), `python -m experiments nature` does the same with the real "
        "answers.\n\n"
    )


def _claim(source: str, maps: Mapping[str, Row]) -> Claim:
    paper = "Nature: kernel PCA, linkage and GNMDS give meaningful pictures of 120 scenes."
    if source == "stand-in":
        return Claim(
            paper,
            "The answers are not at hand; run on a simulated stand-in only.",
            "no data",
            short="maps and a tree of scenes",
        )
    least, most = (choose(row["agreement"] for row in maps.values()) for choose in (min, max))
    return Claim(
        paper,
        "Agreement of the maps with their own triplets: "
        + ", ".join(f"{name} {row['agreement']:.3f}" for name, row in maps.items()),
        "holds" if least > FITS else "holds in part" if most > FITS else "does not hold",
        f"Rule: every map reproduces more than {FITS} of the triplets (chance 0.5); in part if one does.",
        short="maps and a tree of scenes",
    )


def absent(data: Data) -> str:
    """What to say where not even the stand-in was run."""
    try:
        count = data.nature.triplets.n_objects
    except Absent:
        return "Not run yet; the data is absent: `python -m experiments nature` runs on a simulated stand-in."
    return f"Not run yet, though the {count} scenes are at hand: `python -m experiments nature`."


EXPERIMENT = Experiment("nature", "Nature: maps and a tree of scenes", cells, compute, section, absent=absent)
