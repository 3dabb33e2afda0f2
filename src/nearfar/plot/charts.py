"""Charts: models, learning curve, scales, dimensions; and for the bundle participants and positions."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from nearfar._tools.records import plain
from nearfar.errors import InputError
from nearfar.plot import style
from nearfar.plot.style import Axes

ROW = 4.2  # millimetres of a line of a dot plot
HEIGHT = 80.0  # millimetres of a chart
TITLE = 1.9  # of a dimension, as wide as so many objects


def comparison(comparison: Any, ax: Axes = None, *, chosen: Sequence[str] = (), labels: bool = True) -> Axes:
    """Draw a dot per model with its 95 % interval, as the page does: chosen ones blue; shaded: the best possible accuracy.

    Parameters
    ----------
    comparison : what ``nf.compare`` gives, or an Analysis, whose own model and map then stand out.
    chosen : names of models that stand out.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> import nearfar as nf
    >>> rows = nf.simulate.answers(nf.design.random_questions(8, 160), points=np.arange(8.0)[:, None]).triplets
    >>> ax = comparison(nf.compare(rows, ["score", "k1"]))
    >>> sorted(text.get_text() for text in ax.get_yticklabels())
    ['k1', 'score']
    """
    if hasattr(comparison, "scores") and hasattr(comparison, "plane_name"):
        chosen, comparison = (comparison.best.name, comparison.plane_name), comparison.scores
    data = plain(comparison)
    rows = [(m["name"], m["accuracy"], m["low"], m["high"], m["name"] in chosen) for m in data["scores"]]
    ax = _dots(rows[::-1], ax, "held-out answers predicted", labels, colours=(style.QUIET, style.ACCENT))
    if possible := data["ceiling"]["best_possible"]:
        ax.axvspan(possible["low"], possible["high"], color=style.SHADE, lw=0, zorder=0)
    return _guessing(ax)


def participants(people: Sequence[dict[str, Any]], ax: Axes = None, *, labels: bool = True) -> Axes:
    """Draw participants by agreement with the model's prediction of their held-out answers; those to check stand out."""
    rows = [
        (person["name"], rate["value"], rate["low"], rate["high"], bool(person["reason"]))
        for person in people
        if (rate := person["with_prediction"])
    ]
    return _guessing(_dots(sorted(rows, key=lambda row: row[1]), ax, "agreement with the model", labels))


def scale(
    points: Any,
    low: ArrayLike | None = None,
    high: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    ax: Axes = None,
    *,
    placed: ArrayLike | None = None,
    label: str = "",
    labels: bool = True,
) -> Axes:
    """Draw a scale: objects by their value on one dimension, the highest on top, with intervals.

    Parameters
    ----------
    points : (n,) values, NaN where nothing is drawn; or a Space, of which the first dimension is drawn.
    low, high : (n,) limits of the values.
    names : what to call the objects.
    ax : matplotlib's axes to draw into; default: those of a new figure.
    placed : (n,) objects that nobody was asked about, drawn hollow.
    label : of the axis.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> ax = scale([0.1, 0.9], [0.0, 0.7], [0.2, 1.0], ["fig", "lime"])
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['fig', 'lime']
    """
    if hasattr(points, "informed"):
        names, label = points.objects if names is None else names, label or "dimension 1"
        points = np.where(points.informed, points.map(1)[:, 0], np.nan)
    values = np.asarray(points, dtype=np.float64)
    if values.ndim != 1:
        raise InputError(f"points: expected a Space or (n,) values, got shape {values.shape}")
    n, ends = len(values), {"low": low, "high": high}
    limits = [np.asarray(style.one_each(each, n, what, np.nan), float) for what, each in ends.items()]
    called = list(map(str, range(n) if names is None else style.one_each(names, n, "names")))
    order = [int(x) for x in np.argsort(values, kind="stable") if np.isfinite(values[x])]
    rows = [(called[x], values[x], *(each[x] for each in limits), False) for x in order]
    inside = np.asarray(style.one_each(placed, n, "placed", False), dtype=bool)
    return _dots(rows, ax, label, labels, hollow=set(np.flatnonzero(inside[order]).tolist()))


def _dots(
    rows: Sequence[Any],
    ax: Axes,
    label: str,
    labels: bool,
    hollow: Container[int] = (),
    colours: tuple[str, str] = (style.ACCENT, style.STRIKING),
) -> Axes:
    """A line per (name, value, low, high, whether it stands out); limits are None or NaN where they are not known."""
    ax = _bare(style.axes_of(ax, ROW * len(rows) + 14), label)
    for at, (_, value, low, high, stands_out) in enumerate(rows):
        colour = colours[stands_out]
        if low is not None and high is not None:
            ax.plot([low, high], [at, at], color=colour, lw=1)
        fill = {"mfc": "white", "zorder": 3} if at in hollow else {}
        ax.plot(value, at, "D" if stands_out else "o", ms=4, color=colour, **fill)
    ax.set_ylim(-0.7, max(len(rows), 1) - 0.3)
    size = style.name_size(ax, len(rows))
    shown = style.briefly([row[0] for row in rows]) if labels and size else []
    ax.set_yticks(range(len(shown)), shown, size=size, parse_math=False)
    style.settle(ax)
    return ax


def _guessing(ax: Axes) -> Axes:
    ax.axvline(0.5, color=style.FAINT, lw=0.8, ls="--", zorder=0)
    _percent(ax.xaxis)
    return ax


def dimensions(
    weights: ArrayLike,
    names: Sequence[str],
    ax: Axes = None,
    *,
    top: int = 8,
    titles: Sequence[str] | None = None,
    images: Mapping[Any, str | Path] | None = None,
) -> Axes:
    """Draw a row per dimension: the objects with the largest weights on it, a bar under each.

    Parameters
    ----------
    weights : (n, d) values that are not negative, a column per dimension; bars are shares of its largest.
    names : n names of objects.
    ax : matplotlib's axes to draw into; default: those of a new figure.
    top : how many objects of a dimension are shown, without those of weight 0.
    titles : d names of dimensions; default: their numbers.
    images : name or index of an object -> picture file, drawn above its name.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> ax = dimensions([[0.9, 0.0], [0.1, 0.7]], ["lime", "cherry"], titles=["sour", "red"])
    >>> [text.get_text() for text in ax.texts]
    ['sour', 'lime', 'cherry', 'red', 'cherry']
    """
    W = np.asarray(weights, dtype=np.float64)
    if W.ndim != 2 or len(W) != len(names) or (titles is not None and len(titles) != W.shape[1]):
        raise InputError(f"weights: expected (n, d), a row for each of {len(names)}, got shape {W.shape}")
    pictured, d = style.by_index(images, names), W.shape[1]
    ax = style.axes_of(ax, max(d, 1) * (22.0 if pictured else 9.0))
    ax.set(xlim=(0, top + TITLE), ylim=(max(d, 1), 0))
    ax.set_axis_off()
    cell = style.settle(ax) / [top + TITLE, max(d, 1)]  # points
    size = max(style.SMALLEST, 0.8 * style.font_size())
    look = {"color": style.INK, "parse_math": False}
    called = style.briefly(names, max(int(1.7 * cell[0] / size), 3))
    shown = {i for column in W.T for i in np.argsort(-column, kind="stable")[:top].tolist()}
    widest = style.text_sizes(ax, [called[i] for i in shown], size)[:, 0].max(initial=1.0)
    size = max(style.SMALLEST, size * min(1.0, 0.95 * cell[0] / widest))
    heads = [f"{r + 1}" if titles is None else style.shortened(titles[r]) for r in range(d)]
    wide = 1.2 * style.text_sizes(ax, heads, style.font_size())[:, 0]  # in bold
    for r in range(d):
        bold: Any = {"weight": "bold", "size": style.font_size() * min(1.0, TITLE * cell[0] / wide[r])}
        ax.text(0, r + (0.5 if pictured else 0.86), heads[r], va="bottom", **bold, **look)
        for k, i in enumerate(np.argsort(-W[:, r], kind="stable")[:top].tolist()):
            x, share = TITLE + k, W[i, r] / max(W[:, r].max(), 1e-12)
            if share <= 0:
                continue
            ax.text(x, r + 0.86, called[i], size=size, va="bottom", **look)
            ax.plot([x, x + 0.86 * share], [r + 0.9] * 2, color=style.ACCENT, lw=2, solid_capstyle="butt")
            side = float(min(0.86 * cell[0], 0.8 * cell[1] - 1.4 * size))
            picture = style.thumbnail(pictured[i], side) if i in pictured and side > 3 else None
            if picture is not None:
                at, up = (x + 0.43, r + 0.86), (0, 1.4 * size + side / 2)
                ax.add_artist(style.picture_box(picture, side, at, up, style.FAINT, pad=0))
    return ax


def curve(analysis: Any, ax: Axes = None, *, ceiling: Any = None) -> Axes:
    """Draw accuracy against the number of answers; open dot: expected with twice the answers; band, line: 95 % intervals.

    Parameters
    ----------
    analysis : an Analysis, or what ``nf.learning_curve`` gives.
    ceiling : what ``nf.noise_ceiling`` gives, drawn as a shade; default: that of the analysis.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> import nearfar as nf
    >>> rows = nf.simulate.answers(nf.design.random_questions(8, 160), points=np.arange(8.0)[:, None]).triplets
    >>> curve(nf.learning_curve(rows, "score")).get_xlabel()
    'answers the model was fitted to'
    """
    if hasattr(analysis, "curve"):
        ceiling = analysis.ceiling if ceiling is None else ceiling
        analysis = analysis.curve
    if analysis is None:
        raise InputError("analysis: there is no learning curve, since nothing can be held out")
    data, possible = plain(analysis), None if ceiling is None else plain(ceiling)["best_possible"]
    ax = _bare(style.axes_of(ax, HEIGHT), "answers the model was fitted to", "held-out answers predicted")
    if possible:
        ax.axhspan(possible["low"], possible["high"], color=style.SHADE, lw=0, zorder=0)
    x, y = ([point[key] for point in data["points"]] for key in ("answers", "accuracy"))
    known = [point for point in data["points"] if point["low"] is not None]
    band = ([point[key] for point in known] for key in ("answers", "low", "high"))
    ax.fill_between(*band, color=style.ACCENT, alpha=0.2, lw=0)
    ax.plot(x, y, "o-", color=style.ACCENT, ms=4, lw=1.5)
    if gain := data["next_gain"]:
        if gain["low"] is not None:
            ax.plot([2 * x[-1]] * 2, [y[-1] + gain["low"], y[-1] + gain["high"]], color=style.ACCENT, lw=1)
        further = [y[-1], y[-1] + gain["value"]]
        ax.plot([x[-1], 2 * x[-1]], further, "o--", color=style.ACCENT, lw=1, ms=5, mfc="white", zorder=0)
    ax.axhline(0.5, color=style.FAINT, lw=0.8, ls="--")
    _percent(ax.yaxis)
    ax.xaxis.set_major_formatter("{x:,.0f}")
    return ax


def positions(objects: Sequence[dict[str, Any]], ax: Axes = None) -> Axes:
    """Draw the uncertainty of positions against the number of answers."""
    ax = _bare(style.axes_of(ax, HEIGHT), "answers about the object", "uncertainty of its position")
    known = [row for row in objects if row["circle"] is not None]
    at = ([row[key] for row in known] for key in ("answers", "circle"))
    ax.plot(*at, "o", ms=4, color=style.ACCENT, alpha=0.7)
    ax.set_ylim(bottom=0)
    _percent(ax.yaxis)
    return ax


def _percent(axis: Any) -> None:
    axis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")


def _bare(ax: Axes, x: str, y: str = "") -> Axes:
    """Axes with their labels and without a box."""
    ax.set_xlabel(x, color=style.QUIET)
    ax.set_ylabel(y, color=style.QUIET)
    ax.tick_params(colors=style.INK, length=2)
    ax.spines[["top", "right"]].set_visible(False)
    return ax
