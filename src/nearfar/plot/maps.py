"""Maps: points with names or pictures, coloured by group; and the maps of two groups of people side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nearfar._tools.arrays import Floats
from nearfar.errors import InputError
from nearfar.plot import style
from nearfar.plot.placing import far_out, place_names, spread, to_border
from nearfar.plot.style import Axes

Kind = tuple[str, str]  # colour and marker
MARKERS = "osD^vP*X<>"
GAP = 3.6  # points between a mark and its name
MIN_BESIDE = 120.0  # millimetres that two maps side by side need
MARGIN = 1.14  # times as large as the map: room for names at its border
MOST_NAMES, MOST_PICTURES = 2000, 400  # above which none could be seen


def map(
    space: Any,
    ax: Axes = None,
    *,
    names: Sequence[str] | None = None,
    images: Mapping[Any, str | Path] | None = None,
    groups: Mapping[Any, Any] | Sequence[Any] | None = None,
    circles: ArrayLike | None = None,
    arrows: Mapping[str, ArrayLike] | None = None,
    placed: ArrayLike | None = None,
    labels: bool = True,
    unit: float = 0.0,
) -> Axes:
    """Draw a map of objects: similar ones are close together, directions mean nothing.

    Parameters
    ----------
    space : a Space, or (n, 2) points; objects that are uninformed or NaN are not drawn.
    ax : matplotlib's axes to draw into; default: those of a new figure.
    names : what to call the objects; default: as the space does.
    images : name or index of an object -> picture file, drawn in place of its point.
    groups : of objects, by name or one per object: colours, and a legend.
    circles : (n,) radii of the uncertainty, as shares of the map's radius, as ``Stability.circle`` has them.
    arrows : name of a property -> its direction on the map (2 numbers); the longest reaches the border.
    placed : (n,) objects that nobody was asked about, drawn hollow; default: as the space says.
    labels : whether names are drawn; those that find no room never are.
    unit : how much of the map a point (1/72 inch) shows at least, so that several maps have one scale.

    Returns
    -------
    The Axes.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> ax = map([[0.0, 0.0], [1.0, 0.5], [0.2, 1.0]], names=["fig", "lime", "plum"])
    >>> sorted(text.get_text() for text in ax.texts)
    ['fig', 'lime', 'plum']
    """
    points, called = _points(space, names)
    shown = np.flatnonzero(np.isfinite(points).all(axis=1)).tolist()
    pictured = style.by_index(images, called) if len(shown) <= MOST_PICTURES else {}
    bare = [x for x in shown if x not in pictured]
    kinds, legend = _kinds(None if groups is None else style.by_index(groups, called), shown)
    ax = style.axes_of(ax, 0.0, _shape(points))
    ax.set(xticks=[], yticks=[])  # numbers mean nothing here
    if legend:
        _draw_legend(ax, legend)
    radii = _radii(
        points[shown], np.asarray(style.one_each(circles, len(points), "circles", 0.0), float)[shown]
    )
    _frame(ax, np.concatenate([points[shown] - radii[:, None], points[shown] + radii[:, None]]), unit)
    if circles is not None:
        _draw_circles(ax, points, dict(zip(shown, radii, strict=True)), kinds)
    boxes = _draw_images(ax, points, {x: pictured[x] for x in shown if x in pictured}, kinds)
    placed = getattr(space, "placed", None) if placed is None else placed
    hollow = np.asarray(style.one_each(placed, len(points), "placed", False), dtype=bool)
    _draw_points(ax, points, {x: kinds[x] for x in bare}, hollow)
    tips, shafts = _draw_arrows(ax, points[shown], arrows or {})
    written = [*(called[x] for x in bare), *(arrows or ())]
    if labels and len(written) <= MOST_NAMES:
        first = np.arange(len(written)) >= len(bare)
        ink = [style.INK] * len(bare) + [style.STRIKING] * len(tips)
        blocked = np.concatenate([boxes, shafts])
        draw_names(ax, np.concatenate([points[bare], tips]), written, ink, first, True, blocked)
    return ax


def _points(space: Any, names: Sequence[str] | None) -> tuple[Floats, list[str]]:
    """(n, 2) points, NaN for what is not drawn, and what the objects are called."""
    if hasattr(space, "informed"):
        points = np.array(space.map(2), dtype=np.float64)
        points[~space.informed] = np.nan
        names = space.objects if names is None else names
    else:
        points = np.array(space, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] < 2:
            raise InputError(f"space: expected a Space or (n, 2) points, got shape {points.shape}")
    called = range(len(points)) if names is None else style.one_each(names, len(points), "names")
    return points[:, :2], [str(name) for name in called]


def _shape(points: Floats) -> float:
    """Height over width that suits a map."""
    known = points[np.isfinite(points).all(axis=1)]
    spans = np.ptp(known, axis=0) if len(known) else np.ones(2)
    return float(np.clip(spans[1] / max(spans[0], 1e-12), 0.55, 1.1))


def _kinds(groups: Mapping[int, Any] | None, shown: Sequence[int]) -> tuple[dict[int, Kind], dict[str, Kind]]:
    """Colour and marker of every object, and of the groups shown."""
    if groups is None:
        return dict.fromkeys(shown, (style.ACCENT, MARKERS[0])), {}
    group_of = {x: str(groups.get(x, "")) for x in shown}
    order = sorted(set(group_of.values()) - {""}, key=_number_or_text)
    kinds = ((colour, marker) for marker in cycle(MARKERS) for colour in style.PALETTE)
    looks = dict(zip(order, kinds, strict=False))
    return {x: looks.get(group, (style.FAINT, MARKERS[0])) for x, group in group_of.items()}, looks


def _number_or_text(text: str) -> tuple[str, int, str]:
    """Sorts "cluster 10" behind "cluster 9"."""
    head = text.rstrip("0123456789")
    return head, int(text[len(head) :] or -1), text


def _frame(ax: Axes, points: Floats, unit: float = 0.0) -> None:
    """One scale for both axes, since distances on the map are to be read, and room for names around the points."""
    low, high = (points.min(axis=0), points.max(axis=0)) if len(points) else (np.zeros(2), np.ones(2))
    size = style.settle(ax)
    half = np.maximum((high - low) / 2, 1e-9) * MARGIN
    half = max((half / size).max(), unit / 2) * size  # the axes are filled, whatever the shape of the map
    middle = (low + high) / 2
    ax.set_xlim(middle[0] - half[0], middle[0] + half[0])
    ax.set_ylim(middle[1] - half[1], middle[1] + half[1])
    ax.set_aspect("equal", adjustable="box")


def _draw_points(ax: Axes, points: Floats, kinds: Mapping[int, Kind], hollow: NDArray[np.bool_]) -> None:
    many = len(kinds) > 5000
    size = float(np.clip(2000 / max(len(kinds), 1), 2 if many else 5, 20))
    look: dict[str, Any] = {"s": size, "alpha": 0.5 if many else 0.9, "rasterized": many}
    for marker, inside in dict.fromkeys((kind[1], bool(hollow[x])) for x, kind in kinds.items()):
        mine = [x for x, kind in kinds.items() if (kind[1], bool(hollow[x])) == (marker, inside)]
        ink = [kinds[x][0] for x in mine]
        fill = {"facecolors": "none", "edgecolors": ink, "linewidths": 0.9} if inside else {"c": ink}
        ax.scatter(*points[mine].T, marker=marker, **{"linewidths": 0, **fill}, **look)


def draw_names(
    ax: Axes,
    points: Floats,
    names: Sequence[str],
    colours: Sequence[str],
    first: NDArray[np.bool_],
    always: bool,
    blocked: Floats | None = None,
) -> None:
    """Names beside their points, as many as fit without lying on each other; a line where one stands off.

    ``first`` choose their places before the others; ``always`` : and are drawn under their point where there is no room.
    """
    n = len(names)
    size = style.font_size() * (1.0 if n <= 60 else 0.85 if n <= 150 else 0.75)
    frame, at = style.settle(ax), _in_points(ax, points)
    given: dict[str, Any] = {"gap": GAP, "frame": (frame[0], frame[1])}
    marks, lines = np.column_stack([at - GAP, at + GAP]), np.zeros((0, 4)) if blocked is None else blocked
    written = style.briefly(names, 14)
    sizes = _name_sizes(ax, written, size)
    centres = place_names(at, sizes, first=first, always=always, blocked=lines, **given)
    for most in (21, 28) if n <= 200 else ():  # as much of a name as there is room for, once all have theirs
        longer = style.briefly(names, most)
        wide = _name_sizes(ax, longer, size)
        for x in np.flatnonzero(np.isfinite(centres[:, 0]) & (wide[:, 0] > sizes[:, 0])).tolist():
            boxes = np.column_stack([centres - sizes / 2, centres + sizes / 2])
            boxes = boxes[np.isfinite(boxes[:, 0]) & (np.arange(n) != x)]
            taken = np.concatenate([lines, np.delete(marks, x, axis=0), boxes])
            found = place_names(at[[x]], wide[[x]], blocked=taken, **given)[0]
            if np.isfinite(found[0]):
                written[x], sizes[x], centres[x] = longer[x], wide[x], found
    look = {"size": size, "ha": "center", "va": "center", "parse_math": False, "annotation_clip": False}
    for x in np.flatnonzero(np.isfinite(centres[:, 0])).tolist():
        offset = centres[x] - at[x]
        away = (np.abs(offset) - sizes[x] / 2).max() > 1.6 * GAP
        where = {"xytext": tuple(offset), "textcoords": "offset points", "color": colours[x]}
        tie = style.tie(style.FAINT, end=2.5) if away else None
        ax.annotate(written[x], points[x], arrowprops=tie, **where, **look).set_in_layout(False)


def _name_sizes(ax: Axes, names: Sequence[str], size: float) -> Floats:
    sizes: Floats = style.text_sizes(ax, names, size) + np.array([4.0, 0.0])
    return sizes


def _in_points(ax: Axes, points: Floats) -> Floats:
    """Where points of the map are, in points (1/72 inch) from the lower left corner of the axes."""
    pixels = ax.transData.transform(points.reshape(-1, 2)) - ax.get_window_extent().min
    return np.asarray(pixels * 72 / ax.get_figure(root=True).dpi, dtype=np.float64)


def _draw_images(ax: Axes, points: Floats, images: Mapping[int, Any], kinds: Mapping[int, Kind]) -> Floats:
    """Pictures, moved apart where they would hide each other, each tied to its point by a line; the boxes they take, in points."""
    frame = style.settle(ax)
    side = float(np.clip(np.sqrt(0.22 * frame[0] * frame[1] / max(len(kinds), 1)), 10, 65))
    pictures = {x: pixels for x in images if (pixels := style.thumbnail(images[x], side)) is not None}
    if not pictures:
        return np.zeros((0, 4))
    at = _in_points(ax, points[list(pictures)])
    sizes = np.array([(p.shape[1], p.shape[0]) for p in pictures.values()], dtype=np.float64)
    sizes *= side / sizes.max(axis=1, keepdims=True)
    centres = spread(at, sizes + 3, frame=(frame[0], frame[1]))
    for (x, picture), offset in zip(pictures.items(), centres - at, strict=True):
        moved, colour = np.abs(offset).max() > side / 4, kinds[x][0]
        if moved:
            ax.scatter(*points[x], s=4, color=colour, linewidths=0, zorder=2)
        more = {"pad": 0.08, "zorder": 3, "arrowprops": style.tie(colour) if moved else None}
        ax.add_artist(style.picture_box(picture, side, points[x], offset, colour, **more))
    return np.concatenate([centres - sizes / 2, centres + sizes / 2], axis=1)


def _radii(points: Floats, shares: Floats) -> Floats:
    """Radii of circles on the map, from shares of its own radius; 0 where they are not known."""
    unit = np.sqrt(((points - points.mean(axis=0)) ** 2).sum(axis=1).mean()) if len(points) else 0.0
    return np.nan_to_num(unit * shares)


def _draw_circles(ax: Axes, points: Floats, radii: Mapping[int, float], kinds: Mapping[int, Kind]) -> None:
    from matplotlib.patches import Circle

    for x, radius in radii.items():
        if radius > 0:
            ax.add_patch(Circle(tuple(points[x]), radius, color=kinds[x][0], alpha=0.16, lw=0.5))


def _draw_arrows(ax: Axes, points: Floats, arrows: Mapping[str, ArrayLike]) -> tuple[Floats, Floats]:
    """Arrows from the middle of the map, in proportion, as long as the frame leaves room for their names; tips and shafts."""
    if any(np.shape(vector) != (2,) for vector in arrows.values()):
        raise InputError("arrows: expected two numbers for every property")
    vectors = np.array(list(arrows.values()), dtype=np.float64).reshape(-1, 2)
    middle = points.mean(axis=0) if len(points) else np.zeros(2)
    room = np.array([ax.get_xlim(), ax.get_ylim()]).T - middle
    parts = vectors / np.where(vectors < 0, room[0], room[1])  # of the way to the border
    tips: Floats = middle + vectors * (0.85 / max(parts.max(initial=0.0), 1e-12))
    look = {**style.tie(style.STRIKING), "arrowstyle": "-|>,head_length=0.35,head_width=0.15", "lw": 1.0}
    for tip in tips:
        ax.annotate("", tip, xytext=middle, arrowprops=look, annotation_clip=False)
    return tips, _along(ax, [(middle, tip) for tip in tips])


def _along(ax: Axes, lines: Sequence[tuple[Floats, Floats]]) -> Floats:
    """(k, 4) boxes every few points of lines on the map, where no name may stand."""
    boxes = [np.zeros((0, 4))]
    for line in lines:
        ends = _in_points(ax, np.array(line))
        at = np.linspace(ends[0], ends[1], 2 + int(np.abs(ends[1] - ends[0]).max() / GAP))
        boxes.append(np.column_stack([at - 1, at + 1]))
    return np.concatenate(boxes)


def _draw_legend(ax: Axes, kinds: Mapping[str, Kind], most: int = 30) -> None:
    """Below the map: it hides nothing, and the map keeps the width."""
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=colour, marker=marker, linestyle="", markersize=4, label=style.shortened(group))
        for group, (colour, marker) in islice(kinds.items(), most)
    ]
    if len(kinds) > most:
        handles.append(Line2D([], [], linestyle="", label=f"and {len(kinds) - most} more"))
    look = {"frameon": False, "fontsize": "medium", "labelcolor": style.INK, "handletextpad": 0.1}
    widths = style.text_sizes(ax, [str(each.get_label()) for each in handles], style.font_size())[:, 0]
    columns = int(np.clip(style.settle(ax)[0] // (widths.max() + 24), 1, len(handles)))
    place = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "ncols": columns, "columnspacing": 1.0}
    ax.legend(handles=handles, **place, **look)


# ---------------------------------------------------------------- two groups of people


def groups(
    comparison: Any,
    axes: Axes = None,
    *,
    pair: int = 0,
    names: Mapping[str, str] | None = None,
    labels: bool = True,
) -> NDArray[Any]:
    """Draw the maps of two groups of people side by side, turned onto each other.

    Coloured: objects that clearly differ, with a line to where the other group sees them. An object far outside stands at the
    border as an arrow that points to it.

    Parameters
    ----------
    comparison : what ``compare_groups`` gives.
    axes : two Axes; default: those of a new figure.
    pair : which two groups, where there are more.
    names : object -> what to call it.
    labels : whether names are drawn: of up to 60 objects, else of those that differ.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> import nearfar as nf
    >>> lists = nf.design.booklets(nf.design.random_questions(9, 100), people=6, each=2)
    >>> said = nf.simulate.answers(lists, points=np.random.default_rng(0).normal(size=(9, 2))).triplets
    >>> said = said.replace(participant=lists.participant)
    >>> found = nf.analyse(said, "score", models=["score"]).groups({p: "ab"[p % 2] for p in range(1, 7)})
    >>> [ax.get_title() for ax in groups(found)]
    ['a (n = 3)', 'b (n = 3)']
    """
    two = comparison.pairs[pair]
    called = [(names or {}).get(name, name) for name in comparison.objects]
    far, near = far_out(two.maps)
    rows = 2 if isinstance(axes, style.Look) and axes.width < MIN_BESIDE else 1  # else names find no room
    axes = style.axes_of(axes, 6.0 * rows, rows / 2 * rows * _shape(near), (rows, 3 - rows))
    sure = {move.name for move in two.moves if move.sure}
    moves = np.array([name in sure for name in comparison.objects])
    for ax, name, n in zip(axes, two.names, two.people, strict=True):
        ax.set_title(f"{style.shortened(name)} (n = {n})", size="medium", color=style.INK, parse_math=False)
        ax.set(xticks=[], yticks=[])
    for which, ax in enumerate(axes):
        _frame(ax, near)
        _draw_group(
            ax, two.maps[which].copy(), two.maps[1 - which], far[which], moves, called if labels else []
        )
    return np.asarray(axes)


def _draw_group(
    ax: Axes,
    here: Floats,
    there: Floats,
    far: NDArray[np.bool_],
    moves: NDArray[np.bool_],
    names: Sequence[str],
) -> None:
    """One of two maps, with lines to the places ``there``; objects ``far`` out stand at the border."""
    low, high = (np.array(limits) for limits in zip(ax.get_xlim(), ax.get_ylim(), strict=True))
    known = np.isfinite(here).all(axis=1)
    here -= low
    away = to_border(here, far, high - low, 0.03 * float(min(high - low)))
    here += low
    lines = []
    for x in np.flatnonzero(known):
        colour, inside = style.ACCENT if moves[x] else style.FAINT, bool(np.isnan(away[x]))
        if moves[x] and np.isfinite(there[x]).all():
            ax.plot(*zip(here[x], there[x], strict=True), color=colour, lw=0.8, alpha=0.6)
            lines.append((here[x], there[x]))
        marker: Any = "o" if inside else (3, 0, away[x] - 90)  # a triangle that points there
        ax.plot(*here[x], marker=marker, ms=3.6 if inside else 7, color=colour, mew=0)
    matter = moves | np.isfinite(away)
    named = np.flatnonzero(known & (matter | (len(here) <= 60))).tolist() if names else []
    if named:
        ink = [style.INK if matter[x] else style.QUIET for x in named]
        draw_names(ax, here[named], [names[x] for x in named], ink, matter[named], False, _along(ax, lines))
