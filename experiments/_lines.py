"""Which lines a figure or table has: kernels, their kernel PCA, embeddings by program and triplets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan, nan
from typing import Any

from experiments import _methods, _plots
from experiments._experiment import Row
from experiments._rows import average, matching, spread, values_of

__all__ = ["Way", "alike", "draw_lines", "kernels", "legend", "mapped", "ours", "published", "title"]

Way = dict[str, Any]  # the settings that name a line
DESIGNS = {"landmark": "k1's triplets", "landmark-k2": "k2's triplets", "rand": "random triplets"}


def kernels(*names: str) -> dict[str, Way]:
    """Kernels on landmark triplets, clustered by kernel k-means; "NAME rand" is on random triplets."""
    return {
        name: {"method": name.removesuffix(" rand"), "design": _design(name), "d": None, "asked": None}
        for name in names
    }


def mapped(dimensions: list[int], *names: str) -> dict[str, Way]:
    """The same by kernel PCA, then k-means."""
    return {
        f"{name}, kernel PCA {d}-d": {"method": name.removesuffix(" rand"), "design": _design(name), "d": d}
        for name in names
        for d in dimensions
    }


def published(dimensions: list[int], designs: tuple[str, ...] = tuple(DESIGNS)) -> dict[str, Way]:
    """GNMDS, CKL and t-STE by the programs that the paper used, on k1's, k2's and random triplets."""
    return {
        f"{title(method)} {d}-d, {DESIGNS[design]}": {
            "method": method,
            "d": d,
            "design": design,
            "start": "published",
        }
        for design in designs
        for method in _methods.PUBLISHED
        for d in dimensions
    }


def ours(dimensions: list[int]) -> dict[str, Way]:
    """Our embeddings on k1's landmark triplets and on random ones."""
    return {
        f"{title(method)} {d}-d{mark}": {"method": method, "d": d, "design": design, "start": "kernel"}
        for design, mark in (("landmark", ""), ("rand", " rand"))
        for method in _methods.EMBEDDINGS
        for d in dimensions
    }


def alike(lines: dict[str, Way], results: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Names of lines that can share a row of a table, by a name for all of them.

    Lines of one embedding share a row where they have the same results and are all pairs of some dimensions and some
    kinds of triplets.

    >>> both = published([2], ("landmark", "landmark-k2"))
    >>> list(alike(both, {name: ["GNMDS" in name or name] for name in both}))[0]
    "GNMDS 2-d, k1's and k2's triplets"
    """
    groups: dict[tuple[str, ...], list[str]] = {}
    for name, way in lines.items():
        groups.setdefault((way["method"], *map(str, results[name])), []).append(name)
    labels = {name: name for name in lines}
    for (method, *_), names in groups.items():
        pairs = [(lines[name].get("d"), lines[name].get("design")) for name in names]
        d, designs = (list(dict.fromkeys(part)) for part in zip(*pairs, strict=True))
        if len(names) > 1 and None not in d and len(names) == len(d) * len(designs):
            sizes = " and ".join(f"{size}-d" for size in d)
            kinds = " and ".join(DESIGNS[design].removesuffix(" triplets") for design in designs)
            labels |= dict.fromkeys(names, f"{title(method)} {sizes}, {kinds} triplets")
    grouped: dict[str, list[str]] = {}
    for name, label in labels.items():
        grouped.setdefault(label, []).append(name)
    return grouped


def title(method: str) -> str:
    return "t-STE" if method == "TSTE" else method


def _design(name: str) -> str:
    return "rand" if name.endswith(" rand") else "landmark"


def draw_lines(axis: Any, rows: list[Row], along: str, lines: dict[str, Way], name: str = "purity") -> None:
    """A result against one setting: kernels thick and on top, random triplets dashed, standard errors shaded, or bars."""
    for way in sorted(lines.values(), key=lambda way: _methods.is_kernel(way["method"])):
        matched = [row for row in matching(rows, **way) if name in row]
        x = values_of(matched, along)
        y = [average(matched, name, **{along: value}) for value in x]
        kernel = _methods.is_kernel(way["method"])
        style: dict[str, Any] = {"color": _plots.COLOURS[way["method"]], "zorder": 4 if kernel else 2}
        style |= (
            {"linewidth": 2.6, "marker": "o"}
            if kernel
            else {"linewidth": 1.4, "marker": "o", "markersize": 2.5}
        )
        if way.get("design") == "rand":
            style["linestyle"] = (0, (3, 1.5))
        axis.plot(x, y, **style)
        error = [spread(matched, name, **{along: value}) for value in x]
        low, high = ([a + sign * b for a, b in zip(y, error, strict=True)] for sign in (-1, 1))
        axis.fill_between(x, low, high, color=style["color"], alpha=0.15, linewidth=0, zorder=1)
        beside = [isnan(value) for value in (nan, *error, nan)]
        alone = [i for i in range(len(x)) if beside[i] and beside[i + 2] and not isnan(error[i])]
        for i in alone:  # nothing to shade between
            axis.errorbar(x[i], y[i], error[i], ecolor=style["color"], elinewidth=1.2, alpha=0.7)


def legend(
    figure: Any, axis: Any, methods: list[str], references: tuple[str, ...] = (), *, dashed: bool = True
) -> None:
    """One legend below all panels."""
    for method in methods:
        width = 2.6 if _methods.is_kernel(method) else 1.4
        axis.plot(
            [],
            [],
            color=_plots.COLOURS[method],
            linewidth=width,
            marker="o",
            markersize=3,
            label=title(method),
        )
    if dashed:
        axis.plot(
            [], [], linestyle=(0, (3, 1.5)), color="#7d838d", linewidth=1.4, label="dashed: random triplets"
        )
    for name in references:
        label = {"pixels": "k-means on pixels", "chance": "random labels"}[name]
        axis.plot([], [], ":", color=_plots.COLOURS[name], linewidth=1.2, label=label)
    figure.legend(
        *axis.get_legend_handles_labels(),
        loc="outside lower center",
        ncols=len(methods) + 1 + len(references),
    )
