"""Classification: a support vector machine on K, cross-validated over objects, on car and USPS."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.svm import SVC

from experiments import _methods, _plots, usps
from experiments._data import Data
from experiments._experiment import Cell, Experiment, Figure, Row, Section, seed_of, table
from experiments._rows import average, spread, values_of
from nearfar import Triplets, embedding, kernel_matrix

METHODS = ("k1", "k2", "k1+k2", "score", "STE 5-d")
PENALTIES = (0.1, 1.0, 10.0, 100.0)
FOLDS, RUNS, QUICK_RUNS = 5, 3, 1
BUDGET, FLIP = 20_000, 0.15


def cells(quick: bool) -> list[Cell]:
    return [
        Cell({"set": name, "run": run, "method": method}, 2.0)
        for run in range(QUICK_RUNS if quick else RUNS)
        for name, method in (product(("car",), METHODS[:2]) if quick else product(("car", "usps"), METHODS))
    ]


@lru_cache(maxsize=4)
def _answers(
    data: Data, name: str, run: int, questions: str
) -> tuple[Triplets, NDArray[Any], NDArray[Any] | None]:
    if name == "car":
        return data.car.triplets, np.array(data.car.groups), None
    points, truth, landmarks = usps.sample(data, run)
    return (
        _methods.ask(points, landmarks, questions, BUDGET, FLIP, seed_of("classify", run, questions)),
        truth,
        landmarks,
    )


def compute(settings: Mapping[str, Any], data: Data) -> dict[str, Any]:
    """Accuracy over held-out objects, C chosen within the training objects; the answers are all at hand, as K is."""
    name, run, method = settings["set"], settings["run"], settings["method"]
    questions = method if method in ("k2", "k1+k2") else "k1"
    given, truth, landmarks = _answers(data, name, run, questions)
    if method.startswith("STE"):
        points = embedding.STE(5).fit_transform(given)
        K = points @ points.T
    else:
        K = kernel_matrix(given, method, landmarks=landmarks)
    K = K / np.mean(np.diag(K))
    folds = [StratifiedKFold(FOLDS, shuffle=True, random_state=seed % 2**31) for seed in (run, run + 100)]
    search = GridSearchCV(SVC(kernel="precomputed"), {"C": PENALTIES}, cv=folds[0])
    scores = cross_val_score(search, K, truth, cv=folds[1])
    return {
        "accuracy": float(scores.mean()),
        "largest_class": float(np.unique(truth, return_counts=True)[1].max() / len(truth)),
    }


def section(rows: list[Row], data: Data) -> Section:
    runs = len(values_of(rows, "run"))
    lines = [
        [
            method,
            *(
                f"{average(rows, 'accuracy', set=name, method=method):.3f} ± {spread(rows, 'accuracy', set=name, method=method):.3f}"
                for name in ("car", "usps")
            ),
        ]
        for method in METHODS
    ]
    largest = [f"{average(rows, 'largest_class', set=name):.3f}" for name in ("car", "usps")]
    means = {(m, s): average(rows, "accuracy", set=s, method=m) for m in METHODS for s in ("car", "usps")}
    best = {s: max(METHODS[:4], key=lambda m, s=s: means[m, s]) for s in ("car", "usps")}  # type: ignore[misc]
    text = (
        '`SVC(kernel="precomputed")` on K, five folds over objects, C chosen within the training objects by five more. Car: all '
        f"answers, four classes. USPS: {BUDGET:,} landmark questions of each kernel's own design, flips {FLIP:g}, digits 1, 2, 3. "
        f"Share of held-out objects classified rightly, mean of {runs} runs (car: of {runs} cuts into folds) ± one standard "
        "error:\n\n" + table(["kernel", "car", "USPS"], [*lines, ["largest class", *largest]]) + "\n\n"
        f"Best kernel: {best['car']} on car ({means[best['car'], 'car']:.3f}), {best['usps']} on USPS ({means[best['usps'], 'usps']:.3f})."
    )
    return Section(
        text,
        (),
        {
            "classify": Figure(
                lambda: draw(rows),
                "Held-out objects classified rightly; bars one standard error. Dotted: the largest class.",
            )
        },
    )


def draw(rows: list[Row]) -> Any:
    figure, axes = _plots.panels(1, 2, width=8.0, height=2.9, sharey=True)
    for axis, name in zip(axes[0], ("car", "usps"), strict=True):
        y = np.arange(len(METHODS))[::-1]
        means = [average(rows, "accuracy", set=name, method=method) for method in METHODS]
        errors = [spread(rows, "accuracy", set=name, method=method) for method in METHODS]
        colours = [_plots.COLOURS[method.split(" ")[0]] for method in METHODS]
        axis.barh(y, means, xerr=errors, color=colours, height=0.62, error_kw={"elinewidth": 1})
        axis.axvline(average(rows, "largest_class", set=name), color=_plots.FAINT, linestyle=":")
        axis.set_yticks(y, METHODS)
        axis.set(
            xlim=(0, 1.02), xlabel="accuracy", title={"car": "car, 4 classes", "usps": "USPS 1, 2, 3"}[name]
        )
    return figure


EXPERIMENT = Experiment(
    "classify", "Classification: a support vector machine on K", cells, compute, ours=section
)
