"""Maps: points with names or pictures, coloured by group; and the maps of two groups of people side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nearfar._tools.arrays import Floats
from nearfar.errors import InputError
from nearfar.plot.placing import far_out, place_names, spread, to_border
from nearfar.plot.style import (
    ACCENT,
    FAINT,
    INK,
    PALETTE,
    QUIET,
    STRIKING,
    Axes,
    axes_of,
    by_index,
    font_size,
    need_matplotlib,
    picture_box,
    settle,
    shortened,
    text_sizes,
    thumbnail,
)

MARKERS = "osD^vP*X<>"
GAP = 3.6  # points between a mark and its name
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
    placed : (n,) objects that nobody was asked about, drawn hollow.
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
    shown = np.flatnonzero(np.isfinite(points).all(axis=1))
    pictured = by_index(images, called) if len(shown) <= MOST_PICTURES else {}
    bare = np.array([x for x in shown if int(x) not in pictured], dtype=np.intp)
    colours, markers, legend = _kinds(None if groups is None else by_index(groups, called), shown)
    ax = axes_of(ax, height=178 * shape(points))
    ax.set(xticks=[], yticks=[])  # numbers mean nothing here
    if legend:
        _draw_legend(ax, legend)
    _frame(ax, points[shown], unit)
    if circles is not None:
        _draw_circles(ax, points, shown, np.asarray(circles), colours)
    _draw_images(ax, points, {x: path for x, path in pictured.items() if x in set(shown.tolist())}, colours)
    hollow = np.zeros(len(points), dtype=bool) if placed is None else np.asarray(placed, dtype=bool)
    _draw_points(ax, points, bare, colours, markers, hollow)
    tips = _draw_arrows(ax, points[shown], arrows) if arrows else np.zeros((0, 2))
    written = [*(called[x] for x in bare), *(arrows or ())]
    if labels and len(written) <= MOST_NAMES:
        first = np.arange(len(written)) >= len(bare)
        ink = [INK] * len(bare) + [STRIKING] * len(tips)
        draw_names(ax, np.concatenate([points[bare], tips]), written, ink, first=first, always=first)
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
    called = [str(x) for x in range(len(points))] if names is None else [str(name) for name in names]
    if len(called) != len(points):
        raise InputError(f"names: got {len(called)} names for {len(points)} objects; give one per object")
    return points[:, :2], called


def shape(points: Floats) -> float:
    """Height over width that suits a map."""
    known = points[np.isfinite(points).all(axis=1)]
    spans = np.ptp(known, axis=0) if len(known) else np.ones(2)
    return float(np.clip(spans[1] / max(spans[0], 1e-12), 0.55, 1.1))


def _kinds(
    groups: Mapping[int, Any] | None, shown: NDArray[np.intp]
) -> tuple[dict[int, str], dict[int, str], list[tuple[str, str, str]]]:
    """Colour and marker of every object, and (group, colour, marker) of the groups shown."""
    colours, markers = dict.fromkeys(shown.tolist(), ACCENT), dict.fromkeys(shown.tolist(), MARKERS[0])
    if groups is None:
        return colours, markers, []
    group_of = {x: str(groups.get(x, "")) for x in shown.tolist()}
    order = sorted({group for group in group_of.values() if group}, key=_number_or_text)
    looks = {
        group: (PALETTE[end % len(PALETTE)], MARKERS[end // len(PALETTE) % len(MARKERS)])
        for end, group in enumerate(order)
    }
    for x, group in group_of.items():
        colours[x], markers[x] = looks.get(group, (FAINT, MARKERS[0]))
    return colours, markers, [(group, *look) for group, look in looks.items()]


def _number_or_text(text: str) -> tuple[str, int, str]:
    """Sorts "cluster 10" behind "cluster 9"."""
    head = text.rstrip("0123456789")
    tail = text[len(head) :]
    return (head, int(tail) if tail else -1, text)


def _frame(ax: Axes, points: Floats, unit: float = 0.0) -> None:
    """One scale for both axes, since distances on the map are to be read, and room for names around the points."""
    low, high = (points.min(axis=0), points.max(axis=0)) if len(points) else (np.zeros(2), np.ones(2))
    size = settle(ax)
    half = np.maximum((high - low) / 2, 1e-9) * MARGIN
    half = max((half / size).max(), unit / 2) * size  # the axes are filled, whatever the shape of the map
    middle = (low + high) / 2
    ax.set_xlim(middle[0] - half[0], middle[0] + half[0])
    ax.set_ylim(middle[1] - half[1], middle[1] + half[1])
    ax.set_aspect("equal", adjustable="box")


def _draw_points(
    ax: Axes,
    points: Floats,
    chosen: NDArray[np.intp],
    colours: Mapping[int, str],
    markers: Mapping[int, str],
    hollow: NDArray[np.bool_],
) -> None:
    size = float(np.clip(2000 / max(len(chosen), 1), 5, 20)) if len(chosen) < 10_000 else 2.0
    many = len(chosen) > 5000
    look: dict[str, Any] = {"s": size, "alpha": 0.5 if many else 0.9, "rasterized": many}
    for marker, inside in dict.fromkeys((markers[x], bool(hollow[x])) for x in chosen.tolist()):
        mine = [x for x in chosen.tolist() if (markers[x], bool(hollow[x])) == (marker, inside)]
        ink = [colours[x] for x in mine]
        fill = {"facecolors": "none", "edgecolors": ink, "linewidths": 0.9} if inside else {"c": ink}
        ax.scatter(*points[mine].T, marker=marker, **{"linewidths": 0, **fill}, **look)


def draw_names(
    ax: Axes,
    points: Floats,
    names: Sequence[str],
    colours: Sequence[str],
    *,
    first: NDArray[np.bool_],
    always: NDArray[np.bool_],
) -> None:
    """Names beside their points, as many as fit without lying on each other; a line where one stands off.

    ``first`` choose their places before the others; ``always`` : drawn under their point where there is no room.
    """
    n = len(names)
    size = font_size() * (1.0 if n <= 60 else 0.85 if n <= 150 else 0.75)
    written = [shortened(name) for name in names]
    width = settle(ax)
    scale = 72 / ax.get_figure(root=True).dpi
    corner = ax.get_window_extent().min
    at = (ax.transData.transform(points.reshape(-1, 2)) - corner) * scale
    sizes = text_sizes(ax, written, size) + np.array([1.5, 0.0])
    centres = place_names(at, sizes, gap=GAP, frame=(width[0], width[1]), first=first)
    crowded = always & np.isnan(centres[:, 0])
    half = np.minimum(sizes / 2, width / 2)
    centres[crowded] = np.clip(at - [0.0, GAP + size / 2], half, width - half)[crowded]
    for text, point, pixel, centre, (w, h), colour in zip(
        written, points, at, centres, sizes, colours, strict=True
    ):
        if np.isnan(centre[0]):
            continue
        away = (np.abs(centre - pixel) - [w / 2, h / 2]).max() > 1.6 * GAP
        tie = {"arrowstyle": "-", "color": FAINT, "lw": 0.5, "shrinkA": 0, "shrinkB": 2.5} if away else None
        look = {"size": size, "color": colour, "ha": "center", "va": "center", "parse_math": False}
        where = {"xytext": tuple(centre - pixel), "textcoords": "offset points"}
        ax.annotate(text, point, annotation_clip=False, arrowprops=tie, **where, **look).set_in_layout(False)


def _draw_images(ax: Axes, points: Floats, images: Mapping[int, Any], colours: Mapping[int, str]) -> None:
    """Pictures, moved apart where they would hide each other, each tied to its point by a line."""
    if not images:
        return
    frame = settle(ax)
    side = float(np.clip(np.sqrt(0.22 * frame[0] * frame[1] / len(images)), 10, 65))
    pictures = {x: pixels for x in images if (pixels := thumbnail(images[x], side)) is not None}
    if not pictures:
        return
    scale = 72 / ax.get_figure(root=True).dpi
    at = (ax.transData.transform(points[list(pictures)]) - ax.get_window_extent().min) * scale
    longest = {x: max(pixels.shape[:2]) for x, pixels in pictures.items()}
    sizes = np.array([(p.shape[1], p.shape[0]) for p in pictures.values()]).reshape(-1, 2)
    sizes = sizes * (side / np.array(list(longest.values())))[:, None] + 3
    centres = spread(at, sizes, frame=(frame[0], frame[1]))
    for (x, picture), here, centre in zip(pictures.items(), at, centres, strict=True):
        tie = {"arrowstyle": "-", "color": colours[x], "lw": 0.7, "shrinkA": 0, "shrinkB": 0}
        moved = np.abs(centre - here).max() > side / 4
        if moved:
            ax.scatter(*points[x], s=4, color=colours[x], linewidths=0, zorder=2)
        more = {"pad": 0.08, "zorder": 3, "arrowprops": tie if moved else None}
        ax.add_artist(picture_box(picture, side, points[x], centre - here, colours[x], **more))


def _draw_circles(
    ax: Axes, points: Floats, shown: NDArray[np.intp], radii: Floats, colours: Mapping[int, str]
) -> None:
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Circle

    middle = points[shown].mean(axis=0)
    unit = float(np.sqrt(((points[shown] - middle) ** 2).sum(axis=1).mean()))
    known = [x for x in shown.tolist() if np.isfinite(radii[x])]
    rings = [Circle((points[x, 0], points[x, 1]), unit * radii[x]) for x in known]
    ink = [colours[x] for x in known]
    ax.add_collection(
        PatchCollection(rings, facecolors=ink, edgecolors=ink, alpha=0.16, linewidths=0.5), autolim=False
    )


def _draw_arrows(ax: Axes, points: Floats, arrows: Mapping[str, ArrayLike]) -> Floats:
    """Arrows from the middle of the map, in proportion, the longest as long as the farthest object is away; their tips."""
    vectors = np.array([np.asarray(vector, dtype=np.float64) for vector in arrows.values()])
    if vectors.shape != (len(arrows), 2):
        raise InputError("arrows: expected two numbers for every property")
    middle = points.mean(axis=0) if len(points) else np.zeros(2)
    reach = np.hypot(*(points - middle).T).max(initial=1e-9)
    tips: Floats = middle + vectors * (0.95 * reach / max(np.hypot(*vectors.T).max(), 1e-12))
    for tip in tips:
        look = {
            "arrowstyle": "-|>,head_length=0.35,head_width=0.15",
            "color": STRIKING,
            "lw": 1.0,
            "shrinkA": 0,
            "shrinkB": 0,
        }
        ax.annotate("", tip, xytext=middle, arrowprops=look, annotation_clip=False)
    return tips


def _draw_legend(ax: Axes, kinds: list[tuple[str, str, str]], most: int = 30) -> None:
    """Beside the map, or below it where that is narrow: it hides nothing, and the map makes room."""
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=colour, marker=marker, linestyle="", markersize=4, label=shortened(group))
        for group, colour, marker in kinds[:most]
    ]
    if len(kinds) > most:
        handles.append(Line2D([], [], linestyle="", label=f"and {len(kinds) - most} more"))
    look = {"frameon": False, "fontsize": "medium", "labelcolor": INK, "handletextpad": 0.1}
    width = settle(ax)[0]
    if width > 24 * 12:  # a legend of some 12 letters takes less than a quarter of it
        ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.0, 1.0), **look)
        return
    widest = text_sizes(ax, [str(handle.get_label()) for handle in handles], font_size())[:, 0].max() + 24
    columns = int(np.clip(width // widest, 1, len(handles)))
    place = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "ncols": columns, "columnspacing": 1.0}
    ax.legend(handles=handles, **place, **look)


# ---------------------------------------------------------------- two groups of people


def groups(
    comparison: Any,
    axes: Sequence[Axes] | None = None,
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
    """
    two = comparison.pairs[pair]
    called = [(names or {}).get(name, name) for name in comparison.objects]
    if axes is None:
        need_matplotlib()
        from matplotlib import pyplot

        axes = pyplot.subplots(1, 2, figsize=(7, 3.7), layout="constrained")[1]
    known = two.maps[np.isfinite(two.maps).all(axis=2)]
    near = known[~far_out(known, known)] if len(known) else np.array([[0.0, 0.0], [1.0, 1.0]])
    sure = {move.name for move in two.moves if move.sure}
    moves = np.array([name in sure for name in comparison.objects])
    for ax, title in zip(axes, zip(two.names, two.people, strict=True), strict=True):
        ax.set_title(f"{shortened(title[0])} (n = {title[1]})", size="medium", color=INK, parse_math=False)
        ax.set(xticks=[], yticks=[])
    for ax in axes:
        _frame(ax, near)
    for which, ax in enumerate(axes):
        far = far_out(two.maps[which], known) if len(known) else moves
        _draw_group(ax, two.maps[which].copy(), two.maps[1 - which], far, moves, called if labels else [])
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
    for x in np.flatnonzero(known):
        colour = ACCENT if moves[x] else FAINT
        if moves[x] and np.isfinite(there[x]).all():
            ax.plot(
                *zip(here[x], there[x], strict=True),
                color=ACCENT,
                lw=0.8,
                alpha=0.6,
                scalex=False,
                scaley=False,
            )
        marker = "o" if np.isnan(away[x]) else _arrow(away[x])
        ax.plot(
            *here[x],
            marker=marker,
            ms=3.6 if np.isnan(away[x]) else 7,
            color=colour,
            mew=0,
            scalex=False,
            scaley=False,
        )
    matter = moves | np.isfinite(away)
    named = np.flatnonzero(known & (matter | (len(here) <= 60))).tolist() if names else []
    ink = [INK if matter[x] else QUIET for x in named]
    if len(named):
        first = matter[named]
        draw_names(ax, here[named], [names[x] for x in named], ink, first=first, always=np.zeros_like(first))


def _arrow(degrees: float) -> Any:
    """The outline of a marker that points in a direction, anticlockwise from the right."""
    turn = np.radians(degrees)
    outline = np.array([[1.0, 0.0], [-0.7, 0.6], [-0.4, 0.0], [-0.7, -0.6], [1.0, 0.0]])
    return outline @ [[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]]
