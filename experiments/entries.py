"""How sure is an entry of K? Its standard error from the number of questions that both objects got."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments import _plots, usps
from experiments._data import Data
from experiments._experiment import Cell, Experiment, Figure, Row, Section, seed_of, table
from experiments._rows import values_of
from nearfar import FeatureMap
from nearfar.design import landmark_questions
from nearfar.simulate import answers

N, N_LANDMARKS = 150, 15
PER_OBJECT, QUICK_PER_OBJECT = (10, 20, 35, 50, 70, 90), (20, 50)
RUNS, QUICK_RUNS = 5, 1
EDGES = (2, 5, 10, 20, 40, 80)  # of the numbers of shared questions
FLIPS = (0.0, 0.15)
Z = 1.96


def cells(quick: bool) -> list[Cell]:
    return [
        Cell({"run": run, "per_object": each, "flip": flip}, 0.2)
        for run in range(QUICK_RUNS if quick else RUNS)
        for each in (QUICK_PER_OBJECT if quick else PER_OBJECT)
        for flip in FLIPS
    ]


def agreements(phi: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """(n, n) mean agreement over shared columns, k1 freed of its norms, and how many columns are shared."""
    signs, asked = np.sign(phi), (phi != 0).astype(np.float64)
    shared = asked @ asked.T
    with np.errstate(invalid="ignore"):
        return np.asarray(signs @ signs.T / shared), shared.astype(np.int64)


def interval(tau: NDArray[Any], shared: NDArray[Any], columns: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Wilson's interval of the share of agreements, as an interval of tau, for questions drawn without replacement."""
    p = (1 + tau) / 2
    m = shared / np.maximum(
        1 - shared / columns, 1e-9
    )  # fewer questions left to draw: as if there were more answers
    middle = (p + Z**2 / (2 * m)) / (1 + Z**2 / m)
    half = Z / (1 + Z**2 / m) * np.sqrt(p * (1 - p) / m + Z**2 / (4 * m**2))
    return 2 * (middle - half) - 1, 2 * (middle + half) - 1


def compute(settings: Mapping[str, Any], data: Data) -> dict[str, Any]:
    """Errors of k1's entries against those from all landmark questions, by the number of shared questions."""
    run, flip = settings["run"], settings["flip"]
    points = usps.sample(data, run)[0][:N]
    marks = np.arange(N_LANDMARKS, dtype=np.int32)
    seed = seed_of("entries", run, settings["per_object"], flip)
    questions = landmark_questions(N, marks, "k1")
    rng = np.random.default_rng(seed)
    everything = answers(
        questions, points=points, flip=flip, seed=rng
    ).triplets  # who answers may be wrong, once and for all
    truth, _ = agreements(FeatureMap("k1", landmarks=marks).fit_transform(everything))
    some = everything[np.sort(rng.permutation(len(everything))[: settings["per_object"] * N])]
    tau, shared = agreements(FeatureMap("k1", landmarks=marks).fit_transform(some))
    pairs = np.array(list(combinations(range(N_LANDMARKS, N), 2))).T  # landmarks have fewer columns
    tau, shared, truth = tau[*pairs], shared[*pairs], truth[*pairs]
    columns = N_LANDMARKS * (N_LANDMARKS - 1) // 2
    low, high = interval(tau, shared, columns)
    result: dict[str, Any] = {}
    for first, last in pairwise(EDGES):
        chosen = (shared >= first) & (shared < last)
        if chosen.sum() < 50:
            continue
        m = shared[chosen]
        expected = np.sqrt(np.mean((1 - truth[chosen] ** 2) / m * (columns - m) / (columns - 1)))
        result[str(first)] = {
            "pairs": int(chosen.sum()),
            "shared": float(m.mean()),
            "error": float(np.sqrt(np.mean((tau[chosen] - truth[chosen]) ** 2))),
            "expected": float(expected),
            "covered": float(np.mean((low[chosen] <= truth[chosen]) & (truth[chosen] <= high[chosen]))),
        }
    return result


def _pooled(rows: list[Row]) -> list[dict[str, float]]:
    """Bins of shared questions over all rows."""
    bins = []
    for first in EDGES[:-1]:
        parts = [row[str(first)] for row in rows if str(first) in row]
        if parts:
            weight = np.array([one["pairs"] for one in parts], dtype=float)
            mean = {
                name: float(np.average([one[name] for one in parts], weights=weight))
                for name in ("shared", "covered")
            }
            mean |= {
                name: float(np.sqrt(np.average([one[name] ** 2 for one in parts], weights=weight)))
                for name in ("error", "expected")
            }
            bins.append(mean | {"first": first, "pairs": weight.sum()})
    return bins


def section(rows: list[Row], data: Data) -> Section:
    bins = _pooled(rows)
    lines = [
        [
            f"{one['first']} to {last - 1}",
            f"{one['pairs']:,.0f}",
            f"{one['error']:.3f}",
            f"{one['expected']:.3f}",
            f"{one['covered']:.3f}",
        ]
        for one, last in zip(bins, EDGES[1:], strict=False)
    ]
    text = (
        "k1 of two objects is the mean agreement τ over the m questions that both got, times m / sqrt(m_a m_b) for the m_a and m_b "
        "answers of each. If the M questions that could be shared are a random draw, τ has the standard error of a share,\n\n"
        "    se(τ) = sqrt((1 - τ²) / m · (M - m) / (M - 1)),      se(k1) = se(τ) · m / sqrt(m_a m_b),\n\n"
        f"and Wilson's interval covers what all questions would give. Measured on {N} digits, {N_LANDMARKS} landmarks "
        f"(M = {N_LANDMARKS * (N_LANDMARKS - 1) // 2}), {len(rows)} draws, flips {', '.join(f'{flip:g}' for flip in values_of(rows, 'flip'))}; "
        "root mean square error of τ, what the formula expects, and how often a 95 % interval covers:\n\n"
        + table(["shared questions", "pairs", "error", "formula", "covered"], lines)
        + "\n\nSo an entry that rests on fewer than about ten shared questions is off by a quarter or more: look at the coverage "
        "before reading single entries. Sums over many entries (clusters, axes) are much surer."
    )
    figure = Figure(
        lambda: draw(bins),
        "Against the number of shared questions: left, the error of τ, measured (dots) and by the formula (line); right, how often the "
        "95 % interval covers.",
    )
    return Section(text, (), {"entries": figure})


def draw(bins: list[dict[str, float]]) -> Any:
    figure, axes = _plots.panels(1, 2, width=8.0, height=3.0)
    shared = [one["shared"] for one in bins]
    axes[0, 0].plot(shared, [one["expected"] for one in bins], color=_plots.FAINT, label="formula")
    axes[0, 0].scatter(
        shared, [one["error"] for one in bins], color=_plots.COLOURS["k1"], zorder=3, label="measured"
    )
    axes[0, 0].set(xscale="log", yscale="log", ylabel="error of τ")
    axes[0, 0].set_yticks([0.05, 0.1, 0.2, 0.4], ["0.05", "0.1", "0.2", "0.4"])
    axes[0, 0].legend()
    axes[0, 1].axhline(0.95, color=_plots.FAINT, linestyle=":")
    axes[0, 1].plot(shared, [one["covered"] for one in bins], color=_plots.COLOURS["k1"], marker="o")
    axes[0, 1].set(xscale="log", ylim=(0.85, 1.0), ylabel="95 % intervals that cover")
    for axis in axes[0]:
        axis.set_xlabel("shared questions")
        axis.set_xticks([3, 5, 10, 20, 40], ["3", "5", "10", "20", "40"])
        axis.minorticks_off()
    return figure


EXPERIMENT = Experiment("entries", "How sure is an entry of K", cells, compute, ours=section)
