"""What the rows about general collections say: a figure, a table, a claim; and what the score kernel does to it."""

from __future__ import annotations

from typing import Any

from experiments import _plots
from experiments._data import Data
from experiments._experiment import Claim, Figure, Row, Section, Verdict, table
from experiments._lines import Way
from experiments._rows import average, matching, runs_of, values_of, with_error

__all__ = ["TITLE", "ours", "reached", "section"]

TITLE = "General collections: how many random triplets the kernels need"
GOOD = 0.75  # purity that counts as having found the digits
WAYS: dict[str, Way] = {
    "k1": {"method": "k1"},
    "k2": {"method": "k2"},
    "GNMDS 2-d, published": {"method": "GNMDS", "start": "published"},
}
OURS: dict[str, Way] = {
    "score": {"method": "score", "d": None},
    "score, kernel PCA 10-d": {"method": "score", "d": 10},
    "STE 10-d, ours": {"method": "STE"},
}


def section(rows: list[Row], data: Data) -> Section:
    budgets, runs = values_of(rows, "budget"), runs_of(rows, "budget", method="k1")
    programs = runs_of(rows, "budget", start="published")
    text = (
        f"The same 1,000 digits, random triplets, no landmarks: {budgets[0]:,} to {budgets[-1]:,} of the 498.5 million questions there "
        f"are; {runs} runs of the kernels, {programs} of the published program. Coverage is the number of columns that two objects share "
        "on average: k1 and k2 see nothing while it is far below 1.\n\n" + _table(rows, WAYS)
    )
    return Section(text, _claims(rows))


def _table(rows: list[Row], ways: dict[str, Way]) -> str:
    flips = values_of(rows, "flip")
    lines = [
        [
            f"{budget:,}",
            f"{average(rows, 'coverage', method='k1', budget=budget):.2g}",
            *(with_error(rows, **way, budget=budget, flip=flip) for flip in flips for way in ways.values()),
        ]
        for budget in values_of(rows, "budget")
    ]
    head = ["triplets", "coverage of k1", *(f"flips {flip:g}: {name}" for flip in flips for name in ways)]
    return table(head, lines)


def reached(rows: list[Row], way: Way, flip: float) -> int | None:
    """The smallest number of triplets from which on the mean purity is good; None if there is none."""
    matched = matching(rows, **way, flip=flip)
    enough = None
    for budget in reversed(values_of(matched, "budget")):
        if average(matched, budget=budget) < GOOD:
            break
        enough = budget
    return enough


def _needs(rows: list[Row], ways: dict[str, Way]) -> str:
    return "; ".join(
        f"flips {flip:g}: " + ", ".join(f"{name} {_count(rows, way, flip)}" for name, way in ways.items())
        for flip in values_of(rows, "flip")
    )


def _claims(rows: list[Row]) -> list[Claim]:
    flips, most = values_of(rows, "flip"), values_of(rows, "budget")[-1]
    if any(not matching(rows, **WAYS["GNMDS 2-d, published"], flip=flip) for flip in flips):
        return []
    more = [
        (reached(rows, WAYS[kernel], flip) or 10 * most)
        > (reached(rows, WAYS["GNMDS 2-d, published"], flip) or 10 * most)
        for kernel in ("k1", "k2")
        for flip in flips
    ]
    verdict: Verdict = "holds" if all(more) else "holds in part" if any(more) else "does not hold"
    claim = Claim(
        "On general (random) collections the kernels need more triplets than embedding methods.",
        f"Random triplets needed for a purity of {GOOD}: {_needs(rows, WAYS)}.",
        verdict,
        "Rule: k1 and k2 need more than GNMDS does, with and without flips. Two objects share a column of k1 only if both were asked "
        "about the same pair.",
        short="kernels need more random triplets",
    )
    return [claim]


def _count(rows: list[Row], way: Way, flip: float) -> str:
    triplets = reached(rows, way, flip)
    most = values_of(matching(rows, **way, flip=flip), "budget")[-1:]
    if triplets is None:
        return f"more than {most[0]:,}" if most else "not computed"
    return f"{triplets:,}"


def ours(rows: list[Row], data: Data) -> Section:
    runs = len(values_of(rows, "run"))
    text = (
        "The score kernel has one column per object instead of one per pair, and takes back the claim that kernels need more triplets "
        f"than embeddings. Triplets needed for a purity of {GOOD}: {_needs(rows, OURS)}.\n\n"
        + _table(rows, OURS)
    )
    figure = Figure(
        lambda: draw(rows),
        f"Purity against the number of random triplets, mean of {runs} runs (published GNMDS: fewer). Dotted: 0.75.",
    )
    return Section(text, (), {"general": figure})


def draw(rows: list[Row]) -> Any:
    flips = values_of(rows, "flip")
    figure, axes = _plots.panels(1, len(flips), width=8.2, height=3.6, sharey=True)
    for axis, flip in zip(axes[0], flips, strict=True):
        for name, way in (WAYS | OURS).items():
            matched = matching(rows, **way, flip=flip)
            budgets = values_of(matched, "budget")
            style: Any = {
                "color": _plots.COLOURS[way["method"]],
                "linewidth": 2.6 if name in ("k1", "k2", "score") else 1.4,
            }
            style["linestyle"] = (0, (5, 1, 1, 1)) if "PCA" in name else "-"
            axis.plot(
                budgets,
                [average(matched, budget=b) for b in budgets],
                **style,
                marker="o",
                markersize=3,
                label=name,
            )
        axis.axhline(GOOD, color=_plots.FAINT, linestyle=":", linewidth=1)
        axis.set(xscale="log", xlabel="random triplets", title=f"flips {flip:g}")
    axes[0, 0].set_ylabel("purity")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure
