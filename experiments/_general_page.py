"""What the rows about general collections say: a figure, a table, a claim."""

from __future__ import annotations

from typing import Any

from experiments import _methods, _plots
from experiments._data import Data
from experiments._experiment import Claim, Figure, Row, Section, Verdict, number, table
from experiments._lines import Way
from experiments._rows import average, matching, values_of

__all__ = ["TITLE", "reached", "section"]

TITLE = "General collections: how many random triplets the kernels need"
GOOD = 0.75  # purity that counts as having found the digits
STEP = 10 / 3  # between two numbers of triplets that were tried, at most
WAYS: dict[str, Way] = {
    "k1": {"method": "k1"},
    "k2": {"method": "k2"},
    "score": {"method": "score", "d": None},
    "score, kernel PCA 10-d": {"method": "score", "d": 10},
    "GNMDS 2-d": {"method": "GNMDS"},
    "STE 10-d, our start": {"method": "STE"},
}


def section(rows: list[Row], data: Data) -> Section:
    budgets, flips, runs = (
        values_of(rows, "budget"),
        values_of(rows, "flip"),
        len(values_of(rows, "run")),
    )
    text = (
        f"The same 1,000 digits (1, 2, 3), random triplets, no landmarks: {budgets[0]:,} to {budgets[-1]:,} of the 498.5 "
        f"million questions there are, mean of {runs} runs. Kernels by kernel k-means, the score kernel also by kernel PCA "
        "and k-means. Coverage is the number of columns two objects share on average: k1 and k2 see nothing while it is far "
        "below 1."
    )
    lines = [
        [
            f"{budget:,}",
            f"{flip:g}",
            f"{average(rows, 'coverage', method='k1', budget=budget, flip=flip):.2g}",
            *(number(average(rows, **way, budget=budget, flip=flip), 2) for way in WAYS.values()),
        ]
        for flip in flips
        for budget in budgets
    ]
    figure = Figure(lambda: draw(rows), f"Purity against the number of random triplets, mean of {runs} runs.")
    text += "\n\n" + table(["triplets", "flips", "coverage of k1", *WAYS], lines)
    return Section(text, [_claim(rows, flips)], {"general": figure})


def reached(rows: list[Row], way: Way, flip: float) -> int | None:
    """The smallest number of triplets from which on the mean purity is good; None if there is none."""
    found = matching(rows, **way, flip=flip)
    enough = None
    for budget in reversed(values_of(found, "budget")):
        if average(found, budget=budget) < GOOD:
            break
        enough = budget
    return enough


def _claim(rows: list[Row], flips: list[float]) -> Claim:
    most = values_of(rows, "budget")[-1]
    need = {(name, flip): reached(rows, way, flip) for name, way in WAYS.items() for flip in flips}
    shown = [name for name in WAYS if not name.startswith("STE")]
    ours = "; ".join(
        f"flips {flip:g}: " + ", ".join(f"{name} {_count(need[name, flip], most)}" for name in shown)
        for flip in flips
    )
    gnmds = {flip: need["GNMDS 2-d", flip] or most for flip in flips}
    slow = all((need["k1", flip] or 10 * most) > gnmds[flip] for flip in flips)
    scores = [name for name in WAYS if name.startswith("score")]
    best = {flip: min(need[name, flip] or 10 * most for name in scores) for flip in flips}
    why = "Rule: k1 needs more than GNMDS does. Two objects share a column of k1 only if both were asked about the same pair. "
    if all(best[flip] <= STEP * gnmds[flip] for flip in flips):
        same = all(best[flip] <= gnmds[flip] for flip in flips)
        at = {
            name: average(rows, **WAYS[name], budget=100_000, flip=flips[-1])
            for name in ("k1", "GNMDS 2-d", *scores)
        }
        why += (
            "The score kernel has one column per object instead and takes the sentence back: it needs "
            + ("no more than GNMDS" if same else "as many as GNMDS or one step (about three times) more")
            + f". With 100,000 triplets and flips {flips[-1]:g}: "
            + ", ".join(f"{name} {value:.2f}" for name, value in at.items())
            + ". There is no optimisation in it."
        )
    else:
        why += "The score kernel needs fewer than k1, but more than three times as many as GNMDS."
    paper = "On general (random) collections the kernels need more triplets than embedding methods."
    verdict: Verdict = "holds" if slow else "does not hold"
    return Claim(paper, f"Random triplets needed for a purity of {GOOD}: {ours}.", verdict, why)


def _count(triplets: int | None, most: int) -> str:
    return f"more than {most:,}" if triplets is None else f"{triplets:,}"


def draw(rows: list[Row]) -> Any:
    flips = values_of(rows, "flip")
    figure, axes = _plots.panels(1, len(flips), width=7.6, height=3.4, sharey=True)
    for axis, flip in zip(axes[0], flips, strict=True):
        for name, way in WAYS.items():
            found = matching(rows, **way, flip=flip)
            budgets = values_of(found, "budget")
            thick = name in _methods.KERNELS
            style: Any = {"color": _plots.COLOURS[way["method"]], "linewidth": 2.4 if thick else 1.3}
            style["linestyle"] = "--" if "our start" in name else (0, (5, 1, 1, 1)) if "PCA" in name else "-"
            purity = [average(found, budget=budget) for budget in budgets]
            axis.plot(budgets, purity, **style, marker="o", markersize=3, label=name)
        axis.axhline(GOOD, color=_plots.FAINT, linestyle=":", linewidth=1)
        axis.set(xscale="log", xlabel="random triplets", title=f"flips {flip:g}")
    axes[0, 0].set_ylabel("purity")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure
