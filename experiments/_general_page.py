"""What the rows about general collections say: a figure, a table, a claim."""

from __future__ import annotations

from typing import Any

from experiments import _methods, _plots
from experiments._data import Data
from experiments._experiment import Claim, Figure, Row, Section, Verdict, table
from experiments._rows import average, matching, values_of

__all__ = ["TITLE", "reached", "section"]

TITLE = "General collections: how many random triplets the kernels need"
GOOD = 0.75  # purity that counts as having found the digits
STEP = 10 / 3  # between two numbers of triplets that were tried, at most
SHORT = {"GNMDS": "GNMDS 2-d", "STE": "STE 10-d, our start"}


def section(rows: list[Row], data: Data) -> Section:
    budgets, flips, runs = values_of(rows, "budget"), values_of(rows, "flip"), len(values_of(rows, "run"))
    methods = list(dict.fromkeys(row["method"] for row in rows))
    text = (
        f"The same 1,000 digits (1, 2, 3), random triplets, no landmarks: {budgets[0]:,} to {budgets[-1]:,} of the 498.5 "
        f"million questions there are, mean of {runs} runs. Coverage is the number of columns two objects share on "
        "average: k1 and k2 see nothing while it is far below 1."
    )
    head = ["triplets", "flips", "coverage of k1", *(SHORT.get(method, method) for method in methods)]
    lines = [
        [
            f"{budget:,}",
            f"{flip:g}",
            f"{average(rows, 'coverage', method='k1', budget=budget, flip=flip):.2g}",
            *(_cell(rows, method, budget, flip) for method in methods),
        ]
        for flip in flips
        for budget in budgets
    ]
    figure = Figure(lambda: draw(rows), f"Purity against the number of random triplets, mean of {runs} runs.")
    return Section(f"{text}\n\n{table(head, lines)}", [_claim(rows, flips)], {"general": figure})


def _cell(rows: list[Row], method: str, budget: int, flip: float) -> str:
    found = matching(rows, method=method, budget=budget, flip=flip)
    return f"{average(found):.2f}" if found else "-"


def reached(rows: list[Row], method: str, flip: float) -> int | None:
    """The smallest number of triplets from which on the mean purity is good; None if there is none."""
    found = matching(rows, method=method, flip=flip)
    enough = None
    for budget in reversed(values_of(found, "budget")):
        if average(found, budget=budget) < GOOD:
            break
        enough = budget
    return enough


def _claim(rows: list[Row], flips: list[float]) -> Claim:
    methods = ("k1", "k2", "GNMDS", "score")
    need = {(method, flip): reached(rows, method, flip) for method in methods for flip in flips}
    most = values_of(rows, "budget")[-1]
    ours = "; ".join(
        f"flips {flip:g}: " + ", ".join(f"{method} {_count(need[method, flip], most)}" for method in methods)
        for flip in flips
    )
    slow = all((need["k1", flip] or 10 * most) > (need["GNMDS", flip] or most) for flip in flips)
    close = all((need["score", flip] or 10 * most) <= STEP * (need["GNMDS", flip] or most) for flip in flips)
    why = "Rule: k1 needs more than GNMDS does. Two objects share a column of k1 only if both were asked about the same pair. "
    if close:
        flip = flips[0]
        why += (
            "The score kernel has one column per object instead and takes the sentence back: it needs as many as GNMDS or one "
            f"step (about three times) more. With 100,000 triplets and no flips it has purity "
            f"{average(rows, method='score', budget=100_000, flip=flip):.2f} where k1 has "
            f"{average(rows, method='k1', budget=100_000, flip=flip):.2f} and GNMDS "
            f"{average(rows, method='GNMDS', budget=100_000, flip=flip):.2f}, without an optimisation."
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
    figure, axes = _plots.panels(1, len(flips), width=7.6, height=3.3, sharey=True)
    for axis, flip in zip(axes[0], flips, strict=True):
        for method in dict.fromkeys(row["method"] for row in rows):
            found = matching(rows, method=method, flip=flip)
            budgets = values_of(found, "budget")
            style = "-" if _methods.is_kernel(method) or method == "GNMDS" else "--"
            axis.plot(
                budgets,
                [average(found, budget=budget) for budget in budgets],
                style,
                color=_plots.COLOURS[method],
                linewidth=2.4 if _methods.is_kernel(method) else 1.2,
                marker="o",
                markersize=3,
                label=SHORT.get(method, method),
            )
        axis.axhline(GOOD, color=_plots.FAINT, linestyle=":", linewidth=1)
        axis.set(xscale="log", xlabel="random triplets", title=f"flips {flip:g}")
    axes[0, 0].set_ylabel("purity")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return figure
