"""What the MNIST rows say: a figure, a table, three claims; and ours on the same axes."""

from __future__ import annotations

from typing import Any

from experiments import _lines, _methods, _plots
from experiments._data import Data
from experiments._experiment import Claim, Figure, Row, Section, Verdict, table, unjudged
from experiments._lines import Way
from experiments._rows import (
    average,
    between,
    matching,
    median_of,
    on_one_machine,
    paired,
    runs_of,
    typical_seconds,
    values_of,
    with_error,
)

__all__ = ["TITLE", "ours", "section"]

TITLE = "MNIST: purity and time against the number of objects"
CLOSE = 0.02  # of purity: competes
FAR = 10  # times as fast: far faster
PAPER_SECONDS = {"k1": 100, "k2": 180, "fastest embedding": 2000}  # n = 10,000
D = 5
SHOWN = (1_000, 2_000, 5_000, 10_000)  # sizes of the table; the figure has all


CLAIMS = {
    "k1 competes with GNMDS": "For large n, k1 (on landmark triplets) competes with GNMDS on random triplets.",
    "GNMDS on random triplets best": "GNMDS on random triplets is the best of all.",
    "far faster at n = 10,000": "n = 10,000: k1 took about 100 seconds, k2 180, the fastest embedding 2,000: factors of 20 and 11.",
}


def ways() -> dict[str, Way]:
    """What the paper compares: kernels on landmark triplets, the published programs on three kinds of triplets."""
    return _lines.kernels("k1", "k2") | _lines.published([D])


def section(rows: list[Row], data: Data) -> Section:
    lines, times = ways(), timed_rows(rows)
    sizes = [n for n in values_of(rows, "n") if n in SHOWN or n < SHOWN[0]]
    runs, programs = (runs_of(rows, "n", **way) for way in (lines["k1"], {"start": "published"}))
    everywhere, computed = values_of(rows, "n"), values_of(matching(rows, start="published"), "n")
    text = (
        "n digits of all ten classes, 30 random landmarks, 150 n triplets, flips 0.15, embeddings in 5 dimensions, ten clusters. Mean "
        f"purity ± one standard error (kernels {runs} runs, the published programs {programs}; a single run has no error), and "
        f"median CPU seconds. The figure has all {len(everywhere)} sizes"
        + (
            "."
            if computed == everywhere
            else f", of the published programs {', '.join(f'{n:,}' for n in computed)}."
        )
    )
    head = ["method", *(f"purity, {n:,}" for n in sizes), *(f"s, {n:,}" for n in sizes)]
    present = {name: way for name, way in lines.items() if matching(rows, **way)}
    purities = {name: [with_error(rows, **way, n=n) for n in sizes] for name, way in present.items()}
    cells = [
        [
            name,
            *purities[names[0]],
            *(between(*(seconds(times, one, present[one], n) for one in names)) for n in sizes),
        ]
        for name, names in _lines.alike(present, purities).items()
    ]
    figure = Figure(
        lambda: draw(rows),
        "k1 (left) and k2 (right) beside the published programs on the kernel's landmark triplets (solid) and on random ones "
        "(dashed); seconds of a kernel matrix or an embedding. Shaded, or a bar between sizes with a single run: one standard error.",
    )
    competing = values_of(matching(paired(rows, "n"), **lines[f"GNMDS {D}-d, random triplets"]), "n")
    everything = [n for n in competing if all(matching(rows, **way, n=n) for way in lines.values())]
    claims = unjudged(CLAIMS)
    if competing[-1:] == everywhere[-1:]:
        claims[0] = _competes(rows, competing)
    if everything[-1:] == everywhere[-1:]:
        claims[1] = _best(rows, everything)
    if everything[-1:] == everywhere[-1:] and all(
        seconds(times, name, way, everything[-1]) > 0 for name, way in lines.items()
    ):
        claims[2] = _faster(times, everything[-1])
    return Section(f"{text}\n\n{table(head, cells)}", claims, {"mnist": figure})


def timed_rows(rows: list[Row]) -> list[Row]:
    """Rows of the machine that has both the times of kernel matrices and the published programs.

    A draw that only some of the programs were run on does not count: the fastest would depend on which.
    """
    whole = [row for row in rows if row.get("start") != "published"]
    whole += matching(paired(rows, "n"), start="published")
    return on_one_machine(whole, {"time": "k1"}, {"time": "k2"}, {"start": "published"})


def seconds(rows: list[Row], name: str, way: Way, n: int) -> float:
    """Median seconds of a kernel matrix or an embedding."""
    if _methods.is_kernel(way["method"]):
        return median_of(rows, "seconds", time=name, n=n)
    return median_of(rows, "seconds", **way, n=n)


def _competes(rows: list[Row], sizes: list[int]) -> Claim:
    """Judge "for large n" by GNMDS's mean lead over the larger half of the sizes, on the draws that both were run on.

    The claim is about a range of n, not about the last point of a curve, and the paper's curves are means over the same ten
    draws for every method, so that their difference is a mean of differences on the same digits. What another reading
    gives, the mean of all runs at the largest n alone, is said beside the verdict, and where the two disagree, that they do.
    """
    k1, rand = ways()["k1"], ways()[f"GNMDS {D}-d, random triplets"]
    draws, largest = paired(rows, "n"), sizes[-1]
    leads = {n: average(draws, **rand, n=n) - average(draws, **k1, n=n) for n in sizes}
    large = [n for n in sizes if n > largest / 2]
    lead = sum(leads[n] for n in large) / len(large)
    last = average(rows, **rand, n=largest) - average(rows, **k1, n=largest)
    verdict, other = _by_lead(lead), _by_lead(last)
    depends = (
        "the same verdict"
        if other == verdict
        else f"by that the claim {other}, so the verdict depends on the rule"
    )
    shown = ", ".join(f"{n:,} {leads[n]:+.3f}" for n in sizes)
    return Claim(
        CLAIMS["k1 competes with GNMDS"],
        f"GNMDS's lead in purity on the same draws, by n: {shown}. Its mean from n = {large[0]:,} on: {lead:+.3f}.",
        verdict,
        f"Rule: that mean is at most {CLOSE} (in part: {3 * CLOSE:.2f}). Over all runs, at n = {largest:,} alone, k1 has "
        f"{with_error(rows, digits=3, **k1, n=largest)} and GNMDS {with_error(rows, digits=3, **rand, n=largest)}, a lead of "
        f"{last:+.3f}: {depends}.",
        short="k1 competes with GNMDS",
    )


def _by_lead(lead: float) -> Verdict:
    return "holds" if lead <= CLOSE else "holds in part" if lead <= 3 * CLOSE else "does not hold"


def _best(rows: list[Row], sizes: list[int]) -> Claim:
    """On the draws that all methods were run on, as the paper's means are."""
    lines, draws = ways(), paired(rows, "n")
    rand = f"GNMDS {D}-d, random triplets"
    won: list[str] = []
    behind: dict[str, list[str]] = {}  # by who is better
    for n in sizes:
        means = {name: average(draws, **way, n=n) for name, way in lines.items()}
        first = max(means, key=lambda name: means[name])
        if means[rand] >= means[first] - CLOSE / 2:
            won.append(f"{n:,}")
        else:
            leads = behind.setdefault(first.replace(f" {D}-d,", " on"), [])
            leads.append(f"{means[first]:.3f} against {means[rand]:.3f} (n = {n:,})")
    verdict: Verdict = "holds" if not behind else "holds in part" if won else "does not hold"
    return Claim(
        CLAIMS["GNMDS on random triplets best"],
        f"On the same draws it is best, or within {CLOSE / 2:g} of the best, at {len(won)} of {len(sizes)} sizes"
        + (f" (n = {', '.join(won)})" if won and behind else "")
        + "".join(f"; {name} has {', '.join(leads)}" for name, leads in behind.items())
        + ".",
        verdict,
        f"Rule: within {CLOSE / 2:g} of the best mean purity at every size.",
        short="GNMDS on random triplets best",
    )


def _faster(rows: list[Row], n: int) -> Claim:
    took = {name: seconds(rows, name, way, n) for name, way in ways().items()}
    others = {name: value for name, value in took.items() if name not in ("k1", "k2") and value == value}
    who = min(others, key=lambda name: others[name])
    ratios = [others[who] / took[kernel] for kernel in ("k1", "k2")]
    verdict: Verdict = (
        "holds" if min(ratios) >= FAR else "holds in part" if min(ratios) > 1 else "does not hold"
    )
    return Claim(
        CLAIMS["far faster at n = 10,000"],
        f"n = {n:,}: k1 {took['k1']:.2f} s, k2 {took['k2']:.2f} s, the fastest embedding ({who}) {others[who]:.1f} s: factors of "
        f"{ratios[0]:.2f} and {ratios[1]:.2f}{_by_runs(rows, others[who], n)}.",
        verdict,
        f"Rule: both at least {FAR}, kernel matrix (n x n, written out; median of its runs) against embedding.",
        short="far faster at n = 10,000",
    )


def _by_runs(rows: list[Row], slow: float, n: int) -> str:
    """The factors of single runs of the kernels: how much a verdict near the limit owes to a busy machine."""
    ranges = []
    for kernel in ("k1", "k2"):
        factors = sorted(slow / row["seconds"] for row in matching(rows, time=kernel, n=n))
        ranges.append(f"{factors[0]:.1f} to {factors[-1]:.1f}")
    return f" (by single runs of the kernels {' and '.join(ranges)})"


def draw(rows: list[Row]) -> Any:
    figure, axes = _plots.panels(2, 2, width=8.2, height=5.9, sharex=True, sharey="row")
    timed = timed_rows(rows)
    for (top, bottom), (kernel, own) in zip(axes.T, (("k1", "landmark"), ("k2", "landmark-k2")), strict=True):
        lines = _lines.published([D], (own, "rand"))
        _lines.draw_lines(top, rows, "n", lines | _lines.kernels(kernel))
        _lines.draw_lines(bottom, timed, "n", lines, "seconds")
        times = matching(timed, time=kernel)
        sizes = values_of(times, "n")
        bottom.plot(
            sizes,
            [median_of(times, "seconds", n=n) for n in sizes],
            color=_plots.COLOURS[kernel],
            linewidth=2.6,
            marker="o",
            zorder=4,
        )
        top.axhline(
            average(rows, method="pixels"), color=_plots.COLOURS["pixels"], linestyle=":", linewidth=1.2
        )
        top.set_title(f"{kernel} and its landmark triplets")
        bottom.set(xlabel="objects n", yscale="log")
        sizes = values_of(rows, "n")
        shown = sizes if len(sizes) < 5 else sizes[1::2]
        bottom.set_xticks(shown, [f"{n:,}" for n in shown])
        bottom.minorticks_off()
    axes[0, 0].set_ylabel("purity")
    axes[1, 0].set_ylabel("CPU seconds")
    _lines.legend(figure, axes[0, 0], ["k1", "k2", *_methods.PUBLISHED], ("pixels",))
    return figure


def ours(rows: list[Row], data: Data) -> Section:
    """The score kernel, kernel PCA before k-means, our embeddings."""
    lines = (
        _lines.kernels("k1", "score", "score rand")
        | _lines.mapped([D, 2 * D], "k1", "score", "score rand")
        | _lines.ours([D])
    )
    lines = {name: way for name, way in lines.items() if matching(rows, **way)}
    sizes = values_of(matching(rows, start="kernel"), "n")
    times = on_one_machine(rows, *lines.values())
    head = ["method", *(f"purity, {n:,}" for n in sizes), *(f"s, {n:,}" for n in sizes)]
    cells = [
        [
            name,
            *(with_error(rows, **way, n=n) for n in sizes),
            *(between(typical_seconds(times, **way, n=n)) for n in sizes),
        ]
        for name, way in lines.items()
    ]
    means = {name: average(rows, **way, n=sizes[-1]) for name, way in lines.items()}
    best = max(means, key=lambda name: means[name])
    text = (
        "As on the first page, on k1's landmark triplets or on random ones (rand). Seconds here are from answers to clusters, the "
        "kernel matrix never written out.\n\n"
        + table(head, cells)
        + f"\n\nBest at n = {sizes[-1]:,}: {best}, {means[best]:.3f}; k-means on the pixels {average(rows, method='pixels', n=sizes[-1]):.3f}."
    )
    return Section(text)
