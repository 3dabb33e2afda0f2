"""What the USPS rows say: two figures, two tables, four claims."""

from __future__ import annotations

from typing import Any

from experiments import _methods, _plots
from experiments._data import Data
from experiments._experiment import Claim, Figure, Row, Section, Verdict, table
from experiments._rows import average, matching, spread, typical_seconds, values_of

__all__ = ["TITLE", "section"]

TITLE = "USPS: purity and time against the number of triplets"
CLOSE = 0.01  # of the best mean purity: among the best
SLIGHT = 0.1  # of purity: no longer slight
FAR = 10  # times as fast: far faster

Way = dict[str, Any]  # the settings that name a line of the figure


def ways(rows: list[Row], start: str = "random") -> dict[str, Way]:
    """The methods the paper compares: kernels on landmarks, embeddings on both kinds of triplets."""
    found: dict[str, Way] = {name: {"method": name, "design": "landmark"} for name in ("k1", "k2")}
    for method in _methods.EMBEDDINGS:
        for d in values_of(rows, "d"):
            for design, mark in (("landmark", ""), ("rand", " rand")):
                found[f"{method} {d}-d{mark}"] = {"method": method, "d": d, "design": design, "start": start}
    return found


def ours(rows: list[Row]) -> dict[str, Way]:
    """What the paper did not have: the score kernel, and embeddings started from the kernel."""
    found: dict[str, Way] = {
        "score": {"method": "score", "design": "landmark"},
        "score rand": {"method": "score", "design": "rand"},
    }
    started = {
        name: way for name, way in ways(rows, "kernel").items() if not _methods.is_kernel(way["method"])
    }
    return found | {f"{name}, our start": way for name, way in started.items()} | plain(rows)


def plain(rows: list[Row]) -> dict[str, Way]:
    """GNMDS as others start it: from unit-normal points, with nothing that pulls them together."""
    return {
        f"GNMDS {d}-d{mark}, plain": {"method": "GNMDS", "d": d, "design": design, "start": "plain"}
        for d in values_of(rows, "d")
        for design, mark in (("landmark", ""), ("rand", " rand"))
        if matching(rows, start="plain")
    }


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
    parts = [
        text,
        _purity_table(rows, ways(rows) | ours(rows), flips, budgets),
        "Median CPU seconds from answers to clusters:",
    ]
    parts.append(_time_table(rows, ways(rows) | ours(rows), budgets))
    figures = {
        "usps_purity": Figure(
            lambda: draw_purity(rows), f"Mean purity of {runs} runs; shaded: one standard error of the mean."
        ),
        "usps_time": Figure(
            lambda: draw_time(rows), "Median CPU seconds from answers to clusters, flips 0.3."
        ),
    }
    return Section("\n\n".join(parts), _claims(rows, budgets, flips), figures)


def _purity_table(rows: list[Row], lines: dict[str, Way], flips: list[float], budgets: list[int]) -> str:
    head = ["method", *(f"flip {flip:g}, {budget // 1000}k" for flip in flips for budget in budgets)]
    return table(
        head,
        [
            [
                name,
                *(
                    f"{average(rows, **way, flip=flip, budget=budget):.2f}"
                    for flip in flips
                    for budget in budgets
                ),
            ]
            for name, way in lines.items()
        ],
    )


def _time_table(rows: list[Row], lines: dict[str, Way], budgets: list[int]) -> str:
    head = ["method", *(f"{budget // 1000}k" for budget in budgets)]
    cells = [
        [name, *(f"{typical_seconds(rows, **way, budget=budget):.2g}" for budget in budgets)]
        for name, way in lines.items()
    ]
    return table(head, cells)


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
    largest = max(grid, key=lambda where: where["budget"])["budget"]
    full = [gap for gap, where in zip(k1, grid, strict=True) if where["budget"] == largest]
    mine = {name: average(rows, **way) for name, way in ours(rows).items()}
    top = max(mine, key=lambda name: mine[name])
    return Claim(
        "USPS: by purity no method is clearly superior to the others.",
        f"Of {len(lines)} methods the one most often among the best is {best}, in {among[best]} of {len(grid)} settings "
        f"(flips and numbers of triplets); k1 is behind the best by {min(k1):.2f} to {max(k1):.2f}, with "
        f"{largest:,} triplets by {min(full):.2f} to {max(full):.2f}.",
        "does not hold" if len(always) == 1 else "holds",
        f"Rule: superior is who alone is within {CLOSE} of the best mean purity in every setting. Of our own, "
        f"{top} has the highest purity averaged over all settings, {mine[top]:.2f} (k1 {average(rows, **lines['k1']):.2f}, "
        f"best of the paper's {max(average(rows, **way) for way in lines.values()):.2f}).",
    )


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
    where = {"method": "GNMDS", "flip": flips[0], "budget": largest}

    def both(start: str) -> dict[int, tuple[float, float]]:
        return {
            d: (
                average(rows, **where, start=start, d=d, design="landmark"),
                average(rows, **where, start=start, d=d, design="rand"),
            )
            for d in values_of(rows, "d")
        }

    small = both("random")
    lost = min(rand - landmark for landmark, rand in small.values())
    near_chance = max(landmark for landmark, _ in small.values()) - chance < SLIGHT
    verdict: Verdict = (
        "holds" if lost > SLIGHT and near_chance else "holds in part" if lost > CLOSE else "does not hold"
    )
    say = _pairs(small)
    why = (
        f"Rule: holds if purity is within {SLIGHT} of random labels and more than {SLIGHT} below the same on random triplets; in "
        f"part if it is more than {CLOSE} below."
    )
    if matching(rows, start="plain"):
        why += (
            " The start decides. The landmark triplets leave GNMDS with poor local optima. From unit-normal points and without "
            f"a pull towards the centre it has {_pairs(both('plain'))}; from our kernel {_pairs(both('kernel'))}; the numbers "
            "above are from small random points with the pull. The best of these comes close to what it has on random "
            "triplets, so the triplets carry the information; what fails is the search."
            if max(pair[0] for start in ("plain", "kernel") for pair in both(start).values()) > 0.8
            else f" From unit-normal points, without a pull, it has {_pairs(both('plain'))}; from our kernel {_pairs(both('kernel'))}."
        )
    return Claim(
        "GNMDS is not able to make use of landmark triplets; it needs random ones.",
        f"{largest:,} triplets, no flips, landmark against random triplets: GNMDS {say}; random labels {chance:.2f}.",
        verdict,
        why,
    )


def _pairs(found: dict[int, tuple[float, float]]) -> str:
    return ", ".join(f"{landmark:.2f} against {rand:.2f} ({d}-d)" for d, (landmark, rand) in found.items())


def _faster(rows: list[Row], budgets: list[int]) -> Claim:
    lines = ways(rows)
    slowest_kernel = {
        budget: max(typical_seconds(rows, **lines[name], budget=budget) for name in ("k1", "k2"))
        for budget in budgets
    }
    others = {name: way for name, way in lines.items() if not _methods.is_kernel(way["method"])}
    times = {
        budget: {name: typical_seconds(rows, **way, budget=budget) for name, way in others.items()}
        for budget in budgets
    }
    ratios = {budget: min(times[budget].values()) / slowest_kernel[budget] for budget in budgets}
    middle = {
        budget: sorted(times[budget].values())[len(others) // 2] / slowest_kernel[budget]
        for budget in budgets
    }
    last = budgets[-1]
    who = min(times[last], key=lambda name: times[last][name])
    verdict: Verdict = (
        "holds" if ratios[last] >= FAR else "holds in part" if ratios[last] > 1 else "does not hold"
    )
    k1 = typical_seconds(rows, **lines["k1"], budget=last)
    return Claim(
        "USPS: the kernels are far faster than all embedding methods.",
        f"{last:,} triplets: k1 {k1:.3f} s from answers to clusters, the fastest embedding ({who}) {times[last][who]:.2f} s; "
        f"the slower kernel is {ratios[last]:.1f} times as fast as the fastest embedding and {middle[last]:.0f} times as fast "
        f"as the middle one.",
        verdict,
        f"Rule: {FAR} times as fast as every embedding at the largest number of triplets. All are ours, compiled, on the same machine.",
    )


# ---------------------------------------------------------------- figures


def draw_purity(rows: list[Row]) -> Any:
    flips, dimensions = values_of(rows, "flip"), values_of(rows, "d")
    columns = [(d, design) for design in ("landmark", "rand") for d in dimensions]
    figure, axes = _plots.panels(
        len(flips),
        len(columns),
        width=2.3 * len(columns) + 0.8,
        height=2.45 * len(flips) + 0.6,
        sharex=True,
        sharey=True,
    )
    for line, flip in zip(axes, flips, strict=True):
        for axis, (d, design) in zip(line, columns, strict=True):
            _panel(axis, matching(rows, flip=flip), d, design)
            _references(axis, rows)
        line[0].set_ylabel(f"purity, flips {flip:g}")
    for axis, (d, design) in zip(axes[0], columns, strict=True):
        axis.set_title(f"{'landmark' if design == 'landmark' else 'random'} triplets, {d}-d")
    for axis in axes[-1]:
        axis.set_xlabel("triplets")
    _plots.method_legend(figure, axes[0, 0], ["pixels", "chance"])
    return figure


def _panel(axis: Any, rows: list[Row], d: int, design: str) -> None:
    for method in (*_methods.EMBEDDINGS, *_methods.KERNELS):
        kernel = _methods.is_kernel(method)
        for start in (None,) if kernel else ("random", "kernel"):
            way: Way = {"method": method, "design": design} | ({} if kernel else {"d": d, "start": start})
            found = matching(rows, **way)
            budgets = values_of(found, "budget")
            y = [average(found, budget=budget) for budget in budgets]
            style = "--" if start == "kernel" else "-"
            axis.plot(
                budgets,
                y,
                style,
                color=_plots.COLOURS[method],
                linewidth=2.4 if kernel else 1.2,
                zorder=3 if kernel else 2,
            )
            if kernel:
                error = [spread(found, budget=budget) for budget in budgets]
                low, high = ([a + sign * b for a, b in zip(y, error, strict=True)] for sign in (-1, 1))
                axis.fill_between(budgets, low, high, color=_plots.COLOURS[method], alpha=0.15, linewidth=0)
    axis.set(xscale="log", ylim=(0.35, 1.0))
    _plots.thousands(axis, values_of(rows, "budget"))


def _references(axis: Any, rows: list[Row]) -> None:
    axis.axhline(average(rows, method="pixels"), color=_plots.COLOURS["pixels"], linestyle=":", linewidth=1.2)
    axis.axhline(average(rows, method="chance"), color=_plots.COLOURS["chance"], linestyle=":", linewidth=1.2)


def draw_time(rows: list[Row]) -> Any:
    dimensions = values_of(rows, "d")
    columns = [(d, design) for design in ("landmark", "rand") for d in dimensions]
    figure, axes = _plots.panels(
        1, len(columns), width=2.3 * len(columns) + 0.8, height=3.2, sharex=True, sharey=True
    )
    shown = matching(rows, flip=values_of(rows, "flip")[-1])
    for axis, (d, design) in zip(axes[0], columns, strict=True):
        for method in (*_methods.EMBEDDINGS, *_methods.KERNELS):
            kernel = _methods.is_kernel(method)
            for start in (None,) if kernel else ("random", "kernel"):
                way: Way = {"method": method, "design": design} | ({} if kernel else {"d": d, "start": start})
                found = matching(shown, **way)
                budgets = values_of(found, "budget")
                y = [typical_seconds(found, budget=budget) for budget in budgets]
                style = "--" if start == "kernel" else "-"
                axis.plot(budgets, y, style, color=_plots.COLOURS[method], linewidth=2.4 if kernel else 1.2)
        axis.set(
            xscale="log",
            yscale="log",
            xlabel="triplets",
            title=f"{'landmark' if design == 'landmark' else 'random'} triplets, {d}-d",
        )
    for axis in axes[0]:
        _plots.thousands(axis, values_of(rows, "budget"))
    axes[0, 0].set_ylabel("CPU seconds")
    _plots.method_legend(figure, axes[0, 0])
    return figure
