"""What the USPS rows say about the paper: two figures, a table, six claims."""

from __future__ import annotations

from statistics import median
from typing import Any

from experiments import _lines, _methods, _plots
from experiments._data import Data
from experiments._experiment import Claim, Figure, Row, Section, Verdict, table
from experiments._lines import Way
from experiments._rows import (
    average,
    between,
    matching,
    median_of,
    on_one_machine,
    paired,
    runs_of,
    values_of,
    with_error,
)

__all__ = ["TITLE", "ours", "section"]

TITLE = "USPS: purity and time against the number of triplets"
LEAD = 0.02  # of mean purity: clearly superior from here on
SLIGHT = 0.1  # of purity: no longer slight
FAR = 10  # times as fast: far faster


def ways(rows: list[Row]) -> dict[str, Way]:
    """The methods that the paper compares: kernels on landmark triplets, the published programs on all three."""
    return _lines.kernels("k1", "k2") | _lines.published(dimensions(rows))


def dimensions(rows: list[Row]) -> list[int]:
    return values_of(matching(rows, start="published"), "d")


def section(rows: list[Row], data: Data) -> Section:
    budgets, flips, lines = values_of(rows, "budget"), values_of(rows, "flip"), ways(rows)
    times = on_one_machine(rows, *lines.values())
    runs, kernel_runs = (runs_of(rows, "budget", **way) for way in ({"start": "published"}, lines["k1"]))
    pixels, chance = average(rows, method="pixels"), average(rows, method="chance")
    text = (
        f"1,000 digits (1, 2, 3) drawn anew in each run, 15 random landmarks, three clusters; kernel k-means with "
        f"{_methods.REPLICATES} replicates and {_methods.ITERATIONS} iterations, k-means on the embeddings likewise. Each kernel gets "
        "the landmark questions of its own design; the embeddings get those of k1, those of k2, or as many random ones. Mean "
        f"purity ± one standard error ({kernel_runs} runs of the kernels, {runs} of the published programs), "
        f"and median CPU seconds with {budgets[-1]:,} triplets. k-means on the pixels has {pixels:.3f}, random labels "
        f"{chance:.3f}."
    )
    head = [
        "method",
        *(f"flips {flip:g}, {budget // 1000}k" for flip in flips for budget in budgets),
        "CPU s",
    ]
    purities = {
        name: [with_error(rows, **way, flip=flip, budget=budget) for flip in flips for budget in budgets]
        for name, way in lines.items()
    }
    seconds = {name: median_of(times, "seconds", **way, budget=budgets[-1]) for name, way in lines.items()}
    cells = [
        [name, *purities[names[0]], between(*(seconds[one] for one in names))]
        for name, names in _lines.alike(lines, purities).items()
    ]
    figures = {
        f"usps_{kernel}": Figure(
            lambda kernel=kernel: draw(rows, kernel),  # type: ignore[misc]
            f"{kernel} beside the published programs on {kernel}'s landmark triplets (solid) and on random ones (dashed): purity "
            "without flips and with 30 %, seconds of a kernel matrix or an embedding. Shaded: one standard error.",
        )
        for kernel in ("k1", "k2")
    }
    return Section("\n\n".join((text, table(head, cells))), _claims(rows, budgets, flips), figures)


# ---------------------------------------------------------------- claims


def _claims(rows: list[Row], budgets: list[int], flips: list[float]) -> list[Claim]:
    grid = [{"flip": flip, "budget": budget} for flip in flips for budget in budgets]
    lines = ways(rows).values()
    if not dimensions(rows) or any(not matching(rows, **way, **where) for way in lines for where in grid):
        return []  # no verdict that its rows do not support
    times = on_one_machine(rows, *(way | where for way in lines for where in grid))
    if not times:
        return []
    return [
        _superior(rows, grid),
        _k2_worse(rows, grid),
        _k2_behind(rows, grid),
        _gnmds(rows, budgets, flips),
        _faster(times, budgets),
        _what_time_depends_on(times, budgets, flips),
    ]


def families(rows: list[Row], grid: list[Way]) -> dict[str, float]:
    """Mean purity over all settings of each method on each kind of triplets; embeddings in the better dimension."""
    best = {}
    for name, way in ways(rows).items():
        values = [average(rows, **way, **where) for where in grid]
        family = name if "d" not in way or way["d"] is None else name.replace(f" {way['d']}-d", "")
        best[family] = max(best.get(family, 0.0), sum(values) / len(values))
    return {name: value for name, value in best.items() if value == value}


def _superior(rows: list[Row], grid: list[Way]) -> Claim:
    means = families(paired(rows, "budget"), grid)
    order = sorted(means, key=lambda name: -means[name])
    lead = means[order[0]] - means[order[1]]
    verdict: Verdict = "holds" if lead <= LEAD else "does not hold"
    shown = ", ".join(f"{name} {means[name]:.3f}" for name in order)
    return Claim(
        "By purity no method is clearly superior to the others.",
        f"Averaged over {len(grid)} settings (flips and numbers of triplets), embeddings in the better of their dimensions: {shown}.",
        verdict,
        f"Rule: nobody leads the second by more than {LEAD}; the lead is {lead:.3f}.",
        short="no method superior",
    )


def _k2_worse(rows: list[Row], grid: list[Way]) -> Claim:
    lines = _lines.kernels("k1", "k2")
    gaps = [average(rows, **lines["k1"], **where) - average(rows, **lines["k2"], **where) for where in grid]
    mean, behind = sum(gaps) / len(gaps), sum(gap > 0 for gap in gaps)
    slight = 0 < mean <= SLIGHT and behind > len(gaps) / 2
    verdict: Verdict = "holds" if slight else "holds in part" if mean > 0 else "does not hold"
    why = f"Rule: behind on average and in most settings, by at most {SLIGHT}."
    if matching(rows, asked="all", method="k2"):
        k1, k2 = (average(rows, asked="all", method=kernel) for kernel in ("k1", "k2"))
        far = average(rows, "axis_is_distance", asked="all", method="k2")
        why += (
            f" More questions do not help: with all of its questions, none flipped, k2 has {k2:.3f}, k1 {k1:.3f}. k2 sees above all how "
            f"far an object is from everything (its first axis correlates with the mean distance to the landmarks at {far:.2f})."
        )
    return Claim(
        "k2 performs slightly worse than k1.",
        f"Averaged over {len(grid)} settings k2 is behind by {mean:.3f} of purity ({min(gaps):.2f} to {max(gaps):.2f}), behind in {behind} of them.",
        verdict,
        why,
        short="k2 slightly worse than k1",
    )


def _k2_behind(rows: list[Row], grid: list[Way]) -> Claim:
    rows, k2 = paired(rows, "budget"), _lines.kernels("k2")["k2"]
    others = {
        name: way
        for name, way in _lines.published(dimensions(rows), ("landmark-k2",)).items()
        if way["method"] != "GNMDS"
    }
    gaps = {
        name: sum(average(rows, **way, **where) - average(rows, **k2, **where) for where in grid) / len(grid)
        for name, way in others.items()
    }
    ahead = sum(gap > 0 for gap in gaps.values())
    verdict: Verdict = "holds" if ahead == len(gaps) else "holds in part" if ahead else "does not hold"
    return Claim(
        "On its own triplets k2 is behind the embeddings (GNMDS apart), too.",
        "Purity of the embedding minus that of k2, averaged over all settings: "
        + ", ".join(f"{name.split(',')[0]} {gap:+.3f}" for name, gap in gaps.items())
        + ".",
        verdict,
        "Rule: every one of CKL and t-STE, in every dimension, is ahead on average.",
        short="k2 behind embeddings",
    )


def _gnmds(rows: list[Row], budgets: list[int], flips: list[float]) -> Claim:
    chance, largest = average(rows, method="chance"), budgets[-1]
    pairs = {
        (flip, d): tuple(
            average(rows, method="GNMDS", start="published", d=d, design=design, flip=flip, budget=largest)
            for design in ("landmark", "rand")
        )
        for flip in flips
        for d in dimensions(rows)
    }
    useless = max(landmark for landmark, _ in pairs.values()) - chance < SLIGHT
    lost = min(rand - landmark for landmark, rand in pairs.values())
    verdict: Verdict = (
        "holds" if useless and lost > SLIGHT else "holds in part" if lost > LEAD else "does not hold"
    )
    shown = ", ".join(
        f"{a:.2f} against {b:.2f} (flips {flip:g}, {d}-d)" for (flip, d), (a, b) in pairs.items()
    )
    return Claim(
        "GNMDS is not able to make use of landmark triplets; it needs random ones.",
        f"{largest:,} triplets, landmark against random ones: {shown}; random labels {chance:.2f}.",
        verdict,
        f"Rule: holds if its purity is within {SLIGHT} of random labels and more than {SLIGHT} below that on random triplets; in part "
        f"if it is more than {LEAD} below everywhere. It is the search that fails, not the loss: it does not leave the saddle at the "
        "origin, since a landmark is in many times as many triplets as others and its steps are too long. The same loss with another "
        "search makes a good map of landmark triplets ([our own methods](paper-ours.md)).",
        short="GNMDS cannot use landmark triplets",
    )


def _faster(rows: list[Row], budgets: list[int]) -> Claim:
    largest = matching(rows, budget=budgets[-1])
    seconds = {name: median_of(largest, "seconds", **way) for name, way in ways(rows).items()}
    others = {name: value for name, value in seconds.items() if name not in ("k1", "k2") and value == value}
    first = min(others, key=lambda name: others[name])
    slow = max(seconds["k1"], seconds["k2"])
    ratio, middle = others[first] / slow, median(others.values()) / slow
    verdict: Verdict = "holds" if ratio >= FAR else "holds in part" if ratio > 1 else "does not hold"
    return Claim(
        "The kernels are far faster than all embedding methods.",
        f"{budgets[-1]:,} triplets: k1 {seconds['k1']:.3f} s, k2 {seconds['k2']:.3f} s, the fastest embedding ({first}) {others[first]:.2f} s. "
        f"The slower kernel is {ratio:.0f} times as fast as the fastest embedding and {middle:.0f} times as fast as the middle one.",
        verdict,
        f"Rule: {FAR} times as fast as every embedding at the largest number of triplets, kernel matrix against embedding.",
        short="far faster than embeddings",
    )


def _what_time_depends_on(rows: list[Row], budgets: list[int], flips: list[float]) -> Claim:
    largest = matching(rows, budget=budgets[-1])
    few, many = (
        matching(largest, start="published", d=d) for d in (dimensions(rows)[0], dimensions(rows)[-1])
    )
    by_d = median_of(many, "seconds") / median_of(few, "seconds")
    quiet, noisy = (
        {name: median_of(largest, "seconds", **way, flip=flip) for name, way in ways(rows).items()}
        for flip in (flips[0], flips[-1])
    )
    ratios = {
        name: noisy[name] / quiet[name] for name in quiet if quiet[name] > 0 and noisy[name] == noisy[name]
    }
    kernels = max(abs(ratios[name] - 1) for name in ("k1", "k2"))
    others = [value for name, value in ratios.items() if name not in ("k1", "k2")]
    fine = by_d > 1.1 and median(abs(value - 1) for value in others) > kernels
    return Claim(
        "The time of an embedding depends on its dimension and on the noise; that of a kernel does not.",
        f"{budgets[-1]:,} triplets: {dimensions(rows)[-1]} dimensions take {by_d:.1f} times as long as {dimensions(rows)[0]}. With flips "
        f"{flips[-1]:g} embeddings take {min(others):.2f} to {max(others):.2f} times as long as without, k1 {ratios['k1']:.2f}, k2 {ratios['k2']:.2f}.",
        "holds" if fine else "holds in part" if by_d > 1.1 else "does not hold",
        "Rule: more dimensions take over 1.1 times as long, and noise changes the middle embedding's time by more than a kernel's. Most "
        "searches end at their 1,000th step with and without noise; times of some hundredths of a second vary as the machine is used.",
        short="time against dimension and noise",
    )


# ---------------------------------------------------------------- figures


def draw(rows: list[Row], kernel: str) -> Any:
    d = dimensions(rows)
    flips = values_of(rows, "flip")
    own = "landmark" if kernel == "k1" else "landmark-k2"
    figure, axes = _plots.panels(3, len(d), width=3.9 * len(d) + 0.4, height=7.4, sharex=True, sharey="row")
    for column, dimension in enumerate(d):
        lines = _lines.published([dimension], (own, "rand")) | _lines.kernels(kernel)
        for axis, flip in zip(axes[:2, column], flips, strict=True):
            _lines.draw_lines(axis, matching(rows, flip=flip), "budget", lines)
            for name in ("pixels", "chance"):
                axis.axhline(
                    average(rows, method=name), color=_plots.COLOURS[name], linestyle=":", linewidth=1.2
                )
            axis.set(xscale="log", ylim=(0.38, 1.0))
        timed = matching(on_one_machine(rows, *ways(rows).values()), flip=flips[-1])
        _lines.draw_lines(axes[2, column], timed, "budget", lines, "seconds")
        axes[2, column].set(xscale="log", yscale="log", xlabel="triplets")
        _plots.thousands(axes[2, column], values_of(rows, "budget"))
        axes[0, column].set_title(f"embeddings in {dimension} dimensions")
    for axis, flip in zip(axes[:2, 0], flips, strict=True):
        axis.set_ylabel(f"purity, flips {flip:g}")
    axes[2, 0].set_ylabel(f"CPU seconds, flips {flips[-1]:g}")
    _lines.legend(figure, axes[0, 0], [kernel, *_methods.PUBLISHED], ("pixels", "chance"))
    return figure


# ---------------------------------------------------------------- the second page


def ours(rows: list[Row], data: Data) -> Section:
    """The score kernel, k1+k2, kernel PCA before k-means, our embeddings, on the same axes."""
    budgets, flips = values_of(rows, "budget"), values_of(rows, "flip")
    d = values_of(matching(rows, start="kernel"), "d")
    lines = _lines.kernels("k1", "k2", "k1+k2", "score", "score rand")
    lines |= _lines.mapped(d, "k1", "score", "score rand") | _lines.ours(d)
    lines = {name: way for name, way in lines.items() if matching(rows, **way)}
    times = on_one_machine(rows, *lines.values())
    head = [
        "method",
        *(f"flips {flip:g}, {budget // 1000}k" for flip in flips for budget in budgets),
        "CPU s",
    ]
    cells = [
        [
            name,
            *(with_error(rows, **way, flip=flip, budget=budget) for flip in flips for budget in budgets),
            f"{_answers_to_points(times, way, budgets[-1]):.2g}",
        ]
        for name, way in lines.items()
    ]
    text = (
        "k1+k2 gets half its questions from k1's design and half from k2's; score and the embeddings those of k1, or as many random "
        f"ones (rand). CPU seconds with {budgets[-1]:,} triplets: features (and kernel PCA), or the embedding.\n\n"
        + table(head, cells)
        + "\n\n"
        + _beside(rows, lines, budgets, flips)
    )
    figure = Figure(
        lambda: draw_ours(rows),
        "The four kernels on landmark triplets, and STE (ours, 10-d) on landmark and random ones.",
    )
    return Section(text, (), {"usps_ours": figure})


def _answers_to_points(rows: list[Row], way: Way, budget: int) -> float:
    name = "feature_seconds" if _methods.is_kernel(way["method"]) else "seconds"
    return median_of(rows, name, **way, budget=budget)


def _beside(rows: list[Row], lines: dict[str, Way], budgets: list[int], flips: list[float]) -> str:
    grid = [{"flip": flip, "budget": budget} for flip in flips for budget in budgets]
    means = {
        name: sum(average(rows, **way, **where) for where in grid) / len(grid) for name, way in lines.items()
    }
    means = {name: value for name, value in means.items() if value == value}
    first = max(means, key=lambda name: means[name])
    kernels = ", ".join(
        f"{name} {means[name]:.3f}" for name in ("k1", "k2", "k1+k2", "score") if name in means
    )
    gnmds = ", ".join(
        f"{average(rows, **lines[name], flip=flip, budget=budgets[-1]):.2f} (flips {flip:g}, {name.split()[1]})"
        for name in lines
        for flip in flips
        if name.startswith("GNMDS") and not name.endswith("rand")
    )
    return (
        f"Averaged over all settings, kernels by kernel k-means: {kernels}; best of all here: {first} {means[first]:.3f}. GNMDS with our "
        f"start and search makes good use of landmark triplets: {gnmds} with {budgets[-1]:,} of them, where the published program stays at the origin."
    )


def draw_ours(rows: list[Row]) -> Any:
    flips = values_of(rows, "flip")
    figure, axes = _plots.panels(1, len(flips), width=8.0, height=3.5, sharey=True)
    d = values_of(matching(rows, start="kernel"), "d")[-1]
    lines = _lines.kernels("k1", "k2", "k1+k2", "score")
    lines |= {name: way for name, way in _lines.ours([d]).items() if way["method"] == "STE"}
    for axis, flip in zip(axes[0], flips, strict=True):
        _lines.draw_lines(axis, matching(rows, flip=flip), "budget", lines)
        axis.set(xscale="log", xlabel="triplets", title=f"flips {flip:g}")
        _plots.thousands(axis, values_of(rows, "budget"))
    axes[0, 0].set_ylabel("purity")
    _lines.legend(figure, axes[0, 0], ["k1", "k2", "k1+k2", "score", "STE"])
    return figure
