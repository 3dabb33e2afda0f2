"""What the USPS rows say: two figures, two tables, four claims."""

from __future__ import annotations

from typing import Any

from experiments import _lines, _methods, _plots
from experiments._data import Data
from experiments._experiment import Claim, Figure, Row, Section, Verdict, folded, number, table
from experiments._lines import Way
from experiments._rows import average, matching, median_of, typical_seconds, values_of

__all__ = ["TITLE", "section"]

TITLE = "USPS: purity and time against the number of triplets"
CLOSE = 0.01  # of the best mean purity: among the best
SLIGHT = 0.1  # of purity: no longer slight
FAR = 10  # times as fast: far faster


def ways(rows: list[Row]) -> dict[str, Way]:
    """The methods the paper compares: kernels on landmarks, embeddings on both kinds of triplets."""
    return _lines.kernels("k1", "k2") | _lines.embeddings(_dimensions(rows), "random")


def ours(rows: list[Row]) -> dict[str, Way]:
    """What the paper did not have: the score kernel, kernel PCA first, embeddings started from the kernel."""
    d = _dimensions(rows)
    kernels = _lines.kernels("score", "score rand") | _lines.mapped(d, "k1", "score", "score rand")
    return kernels | _lines.embeddings(d, "kernel") | _lines.embeddings(d, "plain", ("GNMDS",))


def _dimensions(rows: list[Row]) -> list[int]:
    return values_of(matching(rows, start="random"), "d")


def section(rows: list[Row], data: Data) -> Section:
    budgets, flips = values_of(rows, "budget"), values_of(rows, "flip")
    runs = len(values_of(rows, "run"))
    pixels, chance = average(rows, method="pixels"), average(rows, method="chance")
    text = (
        f"1,000 digits (1, 2, 3) drawn anew in each of {runs} runs, 15 random landmarks, three clusters; kernel k-means with "
        f"{_methods.REPLICATES} replicates and {_methods.ITERATIONS} iterations, k-means on the embeddings likewise. "
        'k1 and k2 get the landmark questions of their design, embeddings those of k1 or as many random ones ("rand"), '
        "from small random starts. "
        f"k-means on the pixels has purity {pixels:.3f}, random labels {chance:.3f}. Mean purity over the runs:"
    )
    more = (
        "Ours on the same axes: the score kernel, kernel PCA before k-means, embeddings started from the kernel, and GNMDS "
        "without a pull from unit-normal points (plain):"
    )
    parts = [text, _purity_table(rows, ways(rows), flips, budgets), _times(rows, ways(rows), budgets)]
    parts += [more, _purity_table(rows, ours(rows), flips, budgets), _times(rows, ours(rows), budgets)]
    figures = {
        "usps_purity": Figure(
            lambda: draw_purity(rows), f"Mean purity of {runs} runs; shaded: one standard error of the mean."
        ),
        "usps_time": Figure(
            lambda: draw_time(rows), f"Median CPU seconds from answers to clusters, flips {flips[-1]:g}."
        ),
    }
    return Section("\n\n".join(parts), _claims(rows, budgets, flips), figures)


def _purity_table(rows: list[Row], lines: dict[str, Way], flips: list[float], budgets: list[int]) -> str:
    head = ["method", *(f"flip {flip:g}, {budget // 1000}k" for flip in flips for budget in budgets)]
    cells = [
        [
            name,
            *(
                number(average(rows, **way, flip=flip, budget=budget), 2)
                for flip in flips
                for budget in budgets
            ),
        ]
        for name, way in lines.items()
    ]
    return table(head, cells)


def _times(rows: list[Row], lines: dict[str, Way], budgets: list[int]) -> str:
    head = ["method", *(f"{budget // 1000}k" for budget in budgets)]
    cells = [
        [name, *(f"{typical_seconds(rows, **way, budget=budget):.2g}" for budget in budgets)]
        for name, way in lines.items()
    ]
    return folded("Median CPU seconds from answers to clusters", table(head, cells))


# ---------------------------------------------------------------- claims


def _claims(rows: list[Row], budgets: list[int], flips: list[float]) -> list[Claim]:
    grid = [{"flip": flip, "budget": budget} for flip in flips for budget in budgets]
    return [
        _superior(rows, grid),
        _k2_worse(rows, grid),
        _gnmds(rows, budgets, flips),
        _faster(rows, budgets),
    ]


def _superior(rows: list[Row], grid: list[Way]) -> Claim:
    lines = ways(rows)
    means = [{name: average(rows, **way, **where) for name, way in lines.items()} for where in grid]
    among = {name: sum(mean[name] >= max(mean.values()) - CLOSE for mean in means) for name in lines}
    best = max(among, key=lambda name: among[name])
    always = [name for name, count in among.items() if count == len(grid)]
    k1 = [max(mean.values()) - mean["k1"] for mean in means]
    largest = max(where["budget"] for where in grid)
    full = [gap for gap, where in zip(k1, grid, strict=True) if where["budget"] == largest]
    return Claim(
        "USPS: by purity no method is clearly superior to the others.",
        f"Of {len(lines)} methods the one most often among the best is {best}, in {among[best]} of {len(grid)} settings "
        f"(flips and numbers of triplets); k1 is behind the best by {min(k1):.2f} to {max(k1):.2f}, with "
        f"{largest:,} triplets by {min(full):.2f} to {max(full):.2f}.",
        "does not hold" if len(always) == 1 else "holds",
        f"Rule: superior is who alone is within {CLOSE} of the best mean purity in every setting. {_with_ours(rows)}",
    )


def _with_ours(rows: list[Row]) -> str:
    """How the paper's methods and ours compare."""
    both = []
    for lines in (ways(rows), ours(rows)):
        means = {name: average(rows, **way) for name, way in lines.items() if matching(rows, **way)}
        top = max(means, key=lambda name: means[name])
        both.append(f"{top} {means[top]:.3f}")
    return f"Averaged over all settings, the best of the paper's methods is {both[0]}, the best of ours {both[1]}."


def _k2_worse(rows: list[Row], grid: list[Way]) -> Claim:
    gaps = [
        average(rows, method="k1", design="landmark", **where)
        - average(rows, method="k2", design="landmark", **where)
        for where in grid
    ]
    mean, behind = sum(gaps) / len(gaps), sum(gap > 0 for gap in gaps)
    slight = 0 < mean <= SLIGHT and behind > len(gaps) / 2
    verdict: Verdict = "holds" if slight else "holds in part" if mean > 0 else "does not hold"
    why = f"Rule: ahead on average and in most settings, by at most {SLIGHT}."
    if matching(rows, asked="all", method="k2"):
        k1, k2 = (
            {
                name: average(rows, name, asked="all", method=kernel)
                for name in ("purity", "axis_is_distance", "triplets")
            }
            for kernel in ("k1", "k2")
        )
        why += (
            f" More questions do not help k2: with all {k2['triplets']:,.0f} of its questions, none flipped, it has {k2['purity']:.3f}, "
            f"k1 with all {k1['triplets']:,.0f} of its own {k1['purity']:.3f}. k2 asks whether x is nearer to l than l' is, so it sees "
            "above all how far x is from everything: its first principal axis correlates with the mean distance to the "
            f"landmarks at {k2['axis_is_distance']:.2f} (k1: {k1['axis_is_distance']:.2f})."
        )
    return Claim(
        "USPS: k2 performs slightly worse than k1.",
        f"On average over {len(grid)} settings k1 is ahead by {mean:.3f} of purity ({min(gaps):.2f} to {max(gaps):.2f}), and "
        f"ahead in {behind} of them.",
        verdict,
        why,
    )


def _gnmds(rows: list[Row], budgets: list[int], flips: list[float]) -> Claim:
    chance, largest = average(rows, method="chance"), budgets[-1]
    pairs = {
        (start, flip, d): tuple(
            average(rows, method="GNMDS", start=start, d=d, design=design, flip=flip, budget=largest)
            for design in ("landmark", "rand")
        )
        for start in ("random", "kernel", "plain")
        for flip in flips
        for d in _dimensions(rows)
        if matching(rows, method="GNMDS", start=start, d=d)
    }
    small = {key: pair for key, pair in pairs.items() if key[0] == "random"}
    lost = min(rand - landmark for landmark, rand in small.values())
    useless = max(landmark for landmark, _ in small.values()) - chance < SLIGHT
    verdict: Verdict = (
        "holds" if useless and lost > SLIGHT else "holds in part" if lost > CLOSE else "does not hold"
    )
    why = (
        f"Rule: holds if its purity is within {SLIGHT} of random labels and more than {SLIGHT} below that on random triplets; in "
        f"part if it is more than {CLOSE} below everywhere. "
    )
    return Claim(
        "GNMDS is not able to make use of landmark triplets; it needs random ones.",
        f"{largest:,} triplets, landmark against random ones: {_pairs(small)}; random labels {chance:.2f}.",
        verdict,
        why + _gnmds_starts(pairs, chance),
    )


def _gnmds_starts(pairs: dict[tuple[str, float, int], tuple[float, ...]], chance: float) -> str:
    """What another start does to GNMDS on landmark triplets."""
    plain = {key: pair for key, pair in pairs.items() if key[0] == "plain"}
    kernel = {key: pair for key, pair in pairs.items() if key[0] == "kernel"}
    if not plain:
        return ""
    text = (
        f"It depends on the start and on the pull towards the centre that our embeddings have. From unit-normal points and "
        f"without a pull: {_pairs(plain)}; from our kernel: {_pairs(kernel)}."
    )
    lowest = min(plain, key=lambda key: plain[key][0])
    if plain[lowest][0] - chance < SLIGHT:
        text += f" So the claim is true of plain GNMDS where answers are noisy (flips {lowest[1]:g}, {lowest[2]}-d), and of no other."
    return text


def _pairs(found: dict[tuple[str, float, int], tuple[float, ...]]) -> str:
    return ", ".join(
        f"{a:.2f} against {b:.2f} (flips {flip:g}, {d}-d)" for (_, flip, d), (a, b) in found.items()
    )


def _faster(rows: list[Row], budgets: list[int]) -> Claim:
    last = budgets[-1]
    found = matching(rows, budget=last)
    lines = ways(rows)
    total = {name: typical_seconds(found, **way) for name, way in lines.items()}
    alone = {name: median_of(found, "seconds", **way) for name, way in lines.items()}
    others = [name for name, way in lines.items() if not _methods.is_kernel(way["method"])]
    who, first = (min(others, key=lambda name: times[name]) for times in (total, alone))
    slow, slow_alone = (max(times["k1"], times["k2"]) for times in (total, alone))
    ratio = total[who] / slow
    middle = sorted(total[name] for name in others)[len(others) // 2] / slow
    verdict: Verdict = "holds" if ratio >= FAR else "holds in part" if ratio > 1 else "does not hold"
    return Claim(
        "USPS: the kernels are far faster than all embedding methods.",
        f"{last:,} triplets, from answers to clusters: k1 {total['k1']:.3f} s, k2 {total['k2']:.3f} s, the fastest embedding ({who}) "
        f"{total[who]:.2f} s. The slower kernel is {ratio:.1f} times as fast as the fastest embedding and {middle:.0f} times as "
        f"fast as the middle one; without the clustering, {alone[first] / slow_alone:.0f} times as fast as the fastest.",
        verdict,
        f"Rule: {FAR} times as fast as every embedding, from answers to clusters, at the largest number of triplets. All are ours, "
        "compiled, on the same machine: the distance is smaller than the paper's because our embeddings are fast, not because "
        "our kernels are slow.",
    )


# ---------------------------------------------------------------- figures


def _columns(rows: list[Row]) -> list[tuple[str, int]]:
    return [(design, d) for design in ("landmark", "rand") for d in _dimensions(rows)]


def _title(design: str, d: int) -> str:
    return f"{'landmark' if design == 'landmark' else 'random'} triplets, {d}-d"


def draw_purity(rows: list[Row]) -> Any:
    flips, columns = values_of(rows, "flip"), _columns(rows)
    size = {"width": 2.3 * len(columns) + 0.8, "height": 2.45 * len(flips) + 0.6}
    figure, axes = _plots.panels(len(flips), len(columns), **size, sharex=True, sharey=True)
    for line, flip in zip(axes, flips, strict=True):
        for axis, (design, d) in zip(line, columns, strict=True):
            _lines.draw_purity(axis, matching(rows, flip=flip), "budget", design, d)
            for name in ("pixels", "chance"):
                axis.axhline(
                    average(rows, method=name), color=_plots.COLOURS[name], linestyle=":", linewidth=1.2
                )
            axis.set(xscale="log", ylim=(0.35, 1.0))
            _plots.thousands(axis, values_of(rows, "budget"))
        line[0].set_ylabel(f"purity, flips {flip:g}")
    for axis, column in zip(axes[0], columns, strict=True):
        axis.set_title(_title(*column))
    for axis in axes[-1]:
        axis.set_xlabel("triplets")
    _plots.method_legend(figure, axes[0, 0], ["pixels", "chance"])
    return figure


def draw_time(rows: list[Row]) -> Any:
    columns = _columns(rows)
    width = 2.3 * len(columns) + 0.8
    figure, axes = _plots.panels(1, len(columns), width=width, height=3.2, sharex=True, sharey=True)
    shown = matching(rows, flip=values_of(rows, "flip")[-1])
    for axis, column in zip(axes[0], columns, strict=True):
        _lines.draw_seconds(axis, shown, "budget", *column)
        axis.set(xscale="log", yscale="log", xlabel="triplets", title=_title(*column))
        _plots.thousands(axis, values_of(rows, "budget"))
    axes[0, 0].set_ylabel("CPU seconds")
    _plots.method_legend(figure, axes[0, 0])
    return figure
