"""Prior art: AddS-3 and MulK-3 of Perrot, Esser and Ghoshdastidar (2020) beside k1 and the score kernel."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments import _methods, _plots, usps
from experiments._data import Data
from experiments._experiment import Cell, Experiment, Figure, Row, Section, seed_of, table
from experiments._rows import average, spread, values_of
from nearfar import FeatureMap, KernelKMeans, Triplets, kernel_matrix
from nearfar.evaluate.metrics import purity, triplet_accuracy
from nearfar.evaluate.splits import kfold

SETS, QUICK_SETS = ("food", "car", "musicians", "things"), ("car",)
SIMILARITIES = ("AddS-3", "MulK-3", "k1", "score")
FOLDS = 5
RUNS, QUICK_RUNS, BUDGET = 3, 1, 100_000
FLIPS = (0.0, 0.3)


def cells(quick: bool) -> list[Cell]:
    accuracy = [
        Cell({"set": name, "fold": fold, "similarity": similarity}, 1.0)
        for name, fold, similarity in product(QUICK_SETS if quick else SETS, range(FOLDS), SIMILARITIES)
    ]
    clusters = [
        Cell({"set": "usps", "run": run, "flip": flip, "similarity": similarity}, 1.0)
        for run, flip, similarity in product(range(QUICK_RUNS if quick else RUNS), FLIPS, SIMILARITIES)
    ]
    return accuracy + clusters


def adds3(answers: Triplets) -> NDArray[np.float64]:
    """(n, n) S[i, j]: how often i was said to be near to j rather than to another, minus how often not, and back."""
    n, cell = answers.n_objects, answers.anchor.astype(np.int64) * answers.n_objects
    net = np.bincount(cell + answers.near, minlength=n * n) - np.bincount(cell + answers.far, minlength=n * n)
    S = net.reshape(n, n).astype(np.float64)
    return S + S.T


def similarity(name: str, answers: Triplets) -> NDArray[np.float64]:
    """AddS-3; MulK-3, which is k1 off the diagonal; or the shifted kernel matrix of k1 or score."""
    if name == "AddS-3":
        return adds3(answers)
    K = np.asarray(kernel_matrix(answers, "k1" if name == "MulK-3" else name))
    if name == "MulK-3":
        np.fill_diagonal(K, 0.0)
    return K


def compute(settings: Mapping[str, Any], data: Data) -> dict[str, Any]:
    name = settings["similarity"]
    if settings["set"] == "usps":
        return _clusters(settings, data)
    answers = getattr(data, settings["set"]).triplets
    train, test = list(_folds(data, settings["set"]))[settings["fold"]]
    W, held = similarity(name, answers[train]), answers[test]
    if name in ("k1", "score"):
        return {"accuracy": float(triplet_accuracy(held, K=W))}
    gap = (
        W[held.anchor, held.near] - W[held.anchor, held.far]
    )  # as their paper uses it: more similar is nearer
    return {"accuracy": float(np.mean(0.5 + 0.5 * np.sign(gap)))}


@lru_cache(maxsize=2)
def _folds(data: Data, name: str) -> tuple[Any, ...]:
    return tuple(kfold(getattr(data, name).triplets, FOLDS))


def _clusters(settings: Mapping[str, Any], data: Data) -> dict[str, Any]:
    """Kernels by kernel k-means, the two similarities by the eigenvectors of their largest eigenvalues and k-means."""
    run, name = settings["run"], settings["similarity"]
    _, truth, _ = usps.sample(data, run)
    given = usps.collect(data, run, BUDGET, settings["flip"], "rand", "k1")
    k, seed = len(usps.CLASSES), seed_of("fit", run)
    if name in ("k1", "score"):
        model = KernelKMeans(
            k, n_init=_methods.REPLICATES, max_iter=_methods.ITERATIONS, random_state=seed % 2**31
        )
        return {"purity": purity(model.fit_predict(FeatureMap(name).fit_transform(given)), truth)}
    _, vectors = np.linalg.eigh(similarity(name, given))
    return {"purity": purity(_methods.cluster_points(vectors[:, -k:], k, seed), truth)}


def section(rows: list[Row], data: Data) -> Section:
    sets = [name for name in SETS if any(row["set"] == name for row in rows)]
    flips = values_of(rows, "flip")
    lines = [
        [
            name,
            *(
                f"{average(rows, 'accuracy', set=s, similarity=name):.3f} ± {spread(rows, 'accuracy', set=s, similarity=name):.3f}"
                for s in sets
            ),
            *(
                f"{average(rows, set='usps', flip=f, similarity=name):.2f} ± {spread(rows, set='usps', flip=f, similarity=name):.2f}"
                for f in flips
            ),
        ]
        for name in SIMILARITIES
    ]
    head = [
        "similarity",
        *(f"accuracy, {name}" for name in sets),
        *(f"purity, USPS, flips {flip:g}" for flip in flips),
    ]
    text = (
        "Perrot, Esser and Ghoshdastidar (*Near-Optimal Comparison Based Clustering*, NeurIPS 2020) estimate similarities from "
        "triplets: AddS-3 adds up preferences, which is N + N' of our score kernel; MulK-3 is k1 off its diagonal. Ours in the score "
        "kernel: the own entry, unit rows and with them an explicit feature map, so that it is a kernel, has distances and takes new "
        f"objects ([score](score.md)). Held-out accuracy in {FOLDS} honest folds, mean ± one standard error; the two "
        "similarities predict by comparing entries, as their authors use them, the kernels by distance. Purity of three clusters of "
        f"USPS digits from {BUDGET:,} random triplets: kernels by kernel k-means, the two similarities by their leading eigenvectors and "
        "k-means (their authors use a semidefinite program).\n\n"
        + table(head, lines)
        + "\n\n"
        + _remark(rows, sets)
    )
    return Section(
        text,
        (),
        {"prior": Figure(lambda: draw(rows, sets), "Held-out accuracy; bars one standard error over folds.")},
    )


def _remark(rows: list[Row], sets: list[str]) -> str:
    gaps = {
        name: average(rows, "accuracy", set=name, similarity="score")
        - average(rows, "accuracy", set=name, similarity="AddS-3")
        for name in sets
    }
    return (
        "The score kernel minus AddS-3: "
        + ", ".join(f"{name} {gap:+.3f}" for name, gap in gaps.items())
        + "."
    )


def draw(rows: list[Row], sets: list[str]) -> Any:
    figure, axes = _plots.panels(1, 1, width=7.6, height=3.0)
    axis = axes[0, 0]
    colours = dict(
        zip(SIMILARITIES, ("#9aa0aa", "#e69f00", _plots.COLOURS["k1"], _plots.COLOURS["score"]), strict=True)
    )
    for shift, name in enumerate(SIMILARITIES):
        x = np.arange(len(sets)) + 0.2 * (shift - 1.5)
        y = [average(rows, "accuracy", set=s, similarity=name) for s in sets]
        error = [spread(rows, "accuracy", set=s, similarity=name) for s in sets]
        axis.bar(
            x,
            np.array(y) - 0.5,
            0.19,
            bottom=0.5,
            yerr=error,
            color=colours[name],
            label=name,
            error_kw={"elinewidth": 1},
        )
    axis.set_xticks(range(len(sets)), ["THINGS" if s == "things" else s for s in sets])
    axis.set(ylim=(0.49, 0.9), ylabel="held-out accuracy")
    figure.legend(*axis.get_legend_handles_labels(), loc="outside upper center", ncols=4)
    return figure


EXPERIMENT = Experiment(
    "prior", "Prior art: AddS-3 and MulK-3 beside k1 and score", cells, compute, ours=section
)
