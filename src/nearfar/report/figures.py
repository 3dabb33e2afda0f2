"""Figures as they are printed: ``nearfar.plot`` on a sheet of the wanted size, each with its caption as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from nearfar import plot, words
from nearfar._tools.arrays import Floats
from nearfar._tools.records import plain
from nearfar._tools.text import count, listed
from nearfar.methods.trees import uninformed_leaves
from nearfar.plot.maps import MARGIN
from nearfar.plot.placing import far_out
from nearfar.plot.style import INK, Look, save_figure, settle, shortened, style

if TYPE_CHECKING:
    from nearfar.evaluate.dimensions import Dimensions
    from nearfar.evaluate.map_stability import Scale

GUESSING = "Lines: 95 % intervals. Dashed: guessing."


class Printed(NamedTuple):
    """A figure and its caption."""

    figure: Any
    caption: str

    def save(self, path: str | Path, look: Look) -> str:
        """Write the figure; the characters that its font lacks."""
        with style(look):
            return save_figure(self.figure, path, dpi=look.dpi)


def print_map(
    look: Look,
    points: ArrayLike,
    names: Sequence[str],
    *,
    model: str,
    told: str = "",
    colours: str = "groups of objects",
    **drawn: Any,
) -> Printed:
    """A map of points, NaN for objects without a usable answer; with three coordinates one of every two of them.

    ``told`` : a sentence on the model, for the caption. ``colours`` : what ``groups`` are. ``drawn`` : as for ``plot.map``.
    """
    X, drawn = np.asarray(points, dtype=np.float64), {"names": names, "labels": look.labels, **drawn}
    known = [bool(here.all()) for here in np.isfinite(X)]
    told = _joined(f"Map of {count(sum(known), 'object')} ({model}).", told)
    read = ["Similar objects are close together; directions have no meaning."]
    if drawn.get("groups") is not None:
        read.append(f"Colours: {colours}.")
    if drawn.get("circles") is not None:
        read.append("Each circle contains the object's long-run position for 9 in 10 objects.")
    if drawn.get("images"):
        read.append("Pictures that would overlap are moved aside; lines end at the positions.")
    if drawn.get("arrows"):
        read.append("Arrows: where a property or a named dimension increases.")
    if any(hollow and here for hollow, here in zip(drawn.get("placed") or (), known, strict=False)):
        read.append("Hollow: nobody was asked about these objects; their vectors place them.")
    if X.shape[1] == 3:
        figure = _three_planes(look, X, drawn)
        told = _joined(told, "The planes of dimensions 1 and 2, 3 and 2, 1 and 3.")
    else:
        figure, ax = _sheet(look, partial(plot.map, X, **drawn))
        if X.shape[1] > 3:
            told = _joined(told, f"The first two of {X.shape[1]} dimensions.")
        named = sum(bool(text.get_text()) for text in ax.texts) - len(drawn.get("arrows") or ())
        named += sum(known[x] for x in drawn.get("images") or ())
        read.append(_unnamed(named, sum(known)))
    without = [name for name, here in zip(names, known, strict=True) if not here]
    return Printed(figure, _joined(told, *read, _missing(without)))


def print_scale(
    look: Look, points: Floats, scale: Scale | None, names: Sequence[str], *, model: str, told: str = ""
) -> Printed:
    """Objects on one dimension, NaN for those without a usable answer; with intervals where there is a ``scale``."""
    values, low, high = points.copy(), *np.full((2, len(points)), np.nan)
    if scale is not None:
        values[:] = np.nan
        values[scale.order], low[scale.order], high[scale.order] = scale.values, scale.low, scale.high
    without = [name for name, here in zip(names, np.isfinite(values), strict=True) if not here]
    caption = _joined(
        f"Scale of {count(len(names) - len(without), 'object')} ({model}).",
        told,
        "Lines: 95 % intervals." if scale is not None else "",
        "Unit and direction are arbitrary.",
        _missing(without),
    )
    draw = partial(plot.scale, values, low, high, names, labels=look.labels)
    return print_chart(look, draw, caption)


def _three_planes(look: Look, X: Floats, drawn: dict[str, Any]) -> Any:
    """Dimension 2 against 1, 2 against 3, and 3 against 1, in one scale: the same dimension stands in line."""
    spans = np.nanmax(X, axis=0) - np.nanmin(X, axis=0) if np.isfinite(X).any() else np.ones(3)
    one, two, three = np.maximum(spans, max(0.4 * float(spans.max()), 1e-9))
    grid = {"width_ratios": [one, three], "height_ratios": [two, three]}
    height = look.width * float((two + three) / (one + three))
    with look.figure(height, 2, 2, gridspec_kw=grid) as (figure, axes):
        axes[1, 1].set_axis_off()
        planes = list(zip(axes.ravel(), ([0, 1], [2, 1], [0, 2]), strict=False))
        for ax, (x, y) in planes:
            ax.set(xticks=[], yticks=[], xlabel=f"dimension {x + 1}", ylabel=f"dimension {y + 1}")
        unit = max(float((spans[plane] / settle(ax)).max()) for ax, plane in planes)
        for ax, plane in planes:
            plot.map(X[:, plane], ax, unit=MARGIN * unit, **drawn)
            if (legend := ax.get_legend()) is not None:  # one, in the free corner
                legend.remove()
                handles = {"handles": legend.legend_handles, "loc": "upper left", "labelcolor": INK}
                axes[1, 1].legend(**handles, frameon=False)
    return figure


def print_tree(
    look: Look, tree: Any, names: Sequence[str], *, model: str, method: str = "complete", **drawn: Any
) -> Printed:
    """A tree that fits a page; ``drawn`` : as for ``plot.tree``, which is cut into the ``clusters`` to colour by."""
    apart = [names[x] for x in uninformed_leaves(np.asarray(tree))]
    leaves, upright = len(names) - len(apart), drawn.get("orientation") == "top"
    clusters = drawn.get("clusters")
    k = None if clusters is None else int(np.max(clusters, initial=-1)) + 1
    drawn |= {"names": names, "labels": look.labels, "n_clusters": k}
    figure, ax = _sheet(look, partial(plot.tree, tree, **drawn))
    ticks = ax.get_xticklabels() if upright else ax.get_yticklabels()
    named = any(tick.get_text().strip() for tick in ticks)
    caption = _joined(
        f"Tree of {count(leaves, 'object')} ({method} linkage in the space of {model}).",
        "A join stands at the distance between the two branches it joins.",
        "" if k is None else f"Colours: the {k} clusters below the dashed line.",
        "" if named or not look.labels else "There is no room for names at this size.",
        _missing(apart),
    )
    return Printed(figure, caption)


def print_matrix(look: Look, K: ArrayLike, names: Sequence[str], order: Sequence[int], model: str) -> Printed:
    """A kernel matrix in the order of the tree, which has the objects with a usable answer."""
    told = f"Kernel matrix of {count(len(order), 'object')} ({model}), in the order of the tree."
    missing = _missing([name for x, name in enumerate(names) if x not in set(order)])
    draw = partial(plot.matrix, K, names=names, order=order, labels=look.labels)
    return print_chart(look, draw, _joined(told, "The diagonal may lie beyond the scale.", missing))


def print_comparison(look: Look, models: Any, chosen: Sequence[str], told: str = "") -> Printed:
    """Models side by side, from a Comparison or its plain data; ``told`` : what they are, and which are blue."""
    data = plain(models)
    n = len(data["scores"])
    told = told or f"{count(n, 'model')}. Blue: the chosen model, and the best in two dimensions."
    caption = f"Held-out accuracy of {told} {GUESSING} {possible(data['ceiling'])}"
    return print_chart(look, partial(plot.comparison, data, chosen=chosen), caption)


def print_groups(
    look: Look, comparison: Any, number: int = 0, names: Mapping[str, str] | None = None
) -> Printed:
    """Two groups side by side, or one below the other where names would find no room."""
    pair = comparison.pairs[number]
    figure, axes = _sheet(
        look, partial(plot.groups, comparison, pair=number, names=names, labels=look.labels)
    )
    far, _ = far_out(pair.maps)
    named = [sum(bool(text.get_text()) for text in ax.texts) for ax in axes]
    caption = _joined(
        f"Maps of {pair.names[0]} and {pair.names[1]}, turned onto each other.",
        words.group_pair(pair).text,
        words.GROUP_MAPS,
        words.beyond(pair, far, [(names or {}).get(name, name) for name in comparison.objects]),
        _unnamed(min(named), max(map(int, np.isfinite(pair.maps).all(axis=2).sum(axis=1)), default=0)),
    )
    return Printed(figure, caption)


def print_dimensions(
    look: Look, found: Dimensions, names: Sequence[str], images: Mapping[int, Path]
) -> Printed:
    """The dimensions that come back, with the objects highest on each; ``names`` and ``images`` are those of all objects."""
    titles = [f"{shortened(each.title, 20)}\n{100 * each.share:.0f} %" for each in found.found]
    caption = _joined(words.dimensions_found(found), "Below each name: its share of all similarity.")
    drawn: Any = {"top": 8 if look.width > 120 else 4, "titles": titles, "images": images}
    draw = partial(plot.dimensions, found.points(), names, **drawn)
    return print_chart(look, draw, caption)


def print_chart(look: Look, draw: Callable[[Any], Any], caption: str) -> Printed:
    """A chart on a sheet of its own."""
    return Printed(_sheet(look, draw)[0], caption)


def _sheet(look: Look, draw: Callable[[Any], Any]) -> tuple[Any, Any]:
    """A new figure, and the axes that were drawn."""
    with style(look):
        axes = draw(look)
    return np.ravel(axes)[0].get_figure(), axes


def possible(ceiling: dict[str, Any]) -> str:
    """What is shaded in a chart of accuracies."""
    if not (best := ceiling["best_possible"]):
        return "The best possible accuracy is unknown."
    return f"Shaded: the best possible accuracy, {100 * best['low']:.0f} to {100 * best['high']:.0f} % (95 % interval)."


def _unnamed(named: int, known: int) -> str:
    return f"Not all names fit: {named} of {known} are shown." if 0 < named < known else ""


def _missing(without: Sequence[str]) -> str:
    return f"Not shown, no usable answer: {listed(list(without))}." if without else ""


def _joined(*parts: str) -> str:
    return " ".join(part for part in parts if part).replace("\xa0", " ")
