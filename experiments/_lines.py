"""Which lines a figure or table has: kernels, their kernel PCA, embeddings by start."""

from __future__ import annotations

from typing import Any

from experiments import _methods, _plots
from experiments._experiment import Row
from experiments._rows import average, matching, spread, typical_seconds, values_of

__all__ = ["Way", "draw_purity", "draw_seconds", "embeddings", "kernels", "mapped"]

Way = dict[str, Any]  # the settings that name a line


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


def embeddings(
    dimensions: list[int], start: str, names: tuple[str, ...] = _methods.EMBEDDINGS
) -> dict[str, Way]:
    """Embeddings on landmark and on random triplets."""
    end = {"random": "", "kernel": ", our start", "plain": ", plain"}[start]
    return {
        f"{name} {d}-d{mark}{end}": {"method": name, "d": d, "design": design, "start": start}
        for name in names
        for d in dimensions
        for design, mark in (("landmark", ""), ("rand", " rand"))
    }


def _design(name: str) -> str:
    return "rand" if name.endswith(" rand") else "landmark"


def _styles(method: str, design: str, d: int) -> list[tuple[Way, dict[str, Any]]]:
    """Ways of a method in one panel and how each is drawn."""
    colour = {"color": _plots.COLOURS[method]}
    base = {"method": method, "design": design}
    if _methods.is_kernel(method):
        return [
            (base | {"d": None, "asked": None}, colour | {"linewidth": 2.4, "zorder": 3}),
            (base | {"d": d}, colour | {"linewidth": 1.6, "linestyle": (0, (5, 1, 1, 1)), "zorder": 3}),
        ]
    return [
        (base | {"d": d, "start": "random"}, colour | {"linewidth": 1.2}),
        (base | {"d": d, "start": "kernel"}, colour | {"linewidth": 1.2, "linestyle": "--"}),
    ]


def draw_purity(axis: Any, rows: list[Row], along: str, design: str, d: int) -> None:
    """Mean purity of every method; one standard error shaded around kernel k-means."""
    for method in (*_methods.EMBEDDINGS, *_methods.KERNELS):
        for way, style in _styles(method, design, d):
            found = matching(rows, **way)
            x = values_of(found, along)
            y = [average(found, **{along: value}) for value in x]
            axis.plot(x, y, **style)
            if style["linewidth"] > 2:
                error = [spread(found, **{along: value}) for value in x]
                low, high = ([a + sign * b for a, b in zip(y, error, strict=True)] for sign in (-1, 1))
                axis.fill_between(x, low, high, color=style["color"], alpha=0.15, linewidth=0)


def draw_seconds(axis: Any, rows: list[Row], along: str, design: str, d: int) -> None:
    """Median seconds from answers to clusters of every method."""
    for method in (*_methods.EMBEDDINGS, *_methods.KERNELS):
        for way, style in _styles(method, design, d):
            found = matching(rows, **way)
            x = values_of(found, along)
            axis.plot(x, [typical_seconds(found, **{along: value}) for value in x], **style)
