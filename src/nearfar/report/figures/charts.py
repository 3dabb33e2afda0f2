"""Charts for print, from the data of a report: models, learning curve, participants, positions, coverage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from nearfar.report.figures.sheet import COLOURS, FAINT, INK, QUIET, Figure, below, sheet, style

__all__ = ["coverage_figure", "curve_figure", "models_figure", "participants_figure", "positions_figure"]

ACCENT, SHADE, STRIKING = COLOURS[0], "#dbe7f3", COLOURS[5]
WIDTH, HEIGHT = 6.2, 3.2  # inches


class _Row(NamedTuple):
    """One line of a dot plot; limits are None where they are not known."""

    name: str
    value: float
    low: float | None
    high: float | None
    striking: bool


def models_figure(models: dict[str, Any]) -> Figure:
    """A dot per model with its 95 % interval, the range of the possible behind them."""
    chosen = (models["best"], models["map"])
    rows = [
        _Row(m["name"], m["accuracy"], m["low"], m["high"], m["name"] in chosen)
        for m in models["scores"][::-1]
    ]
    note = f"Lines: 95 % intervals. Orange: chosen, and the map. {_possible(models['ceiling'])}"
    return _dot_plot(
        "Held-out accuracy", note, rows, "share of held-out answers predicted", models["ceiling"]
    )


def participants_figure(rows: Sequence[dict[str, Any]]) -> Figure:
    """Participants by agreement with the model's prediction of their held-out answers."""
    known = [
        _Row(p["name"], *_rate(p["with_prediction"]), bool(p["reason"])) for p in rows if p["with_prediction"]
    ]
    note = "Lines: 95 % intervals. Orange: to check. Dashed: guessing."
    return _dot_plot(
        "Participants", note, sorted(known, key=lambda row: row.value), "agreement with the model"
    )


def _rate(rate: dict[str, Any]) -> tuple[float, float, float]:
    return rate["share"], rate["low"], rate["high"]


def _dot_plot(
    title: str, note: str, rows: Sequence[_Row], label: str, ceiling: dict[str, Any] | None = None
) -> Figure:
    height = min(9.0, 0.8 + 0.17 * len(rows))
    with style():
        figure, axes = sheet(title, below(note), WIDTH, height)
        if ceiling and ceiling["best_possible"]:
            axes.axvspan(
                ceiling["best_possible"]["low"], ceiling["best_possible"]["high"], color=SHADE, lw=0, zorder=0
            )
        for at, row in enumerate(rows):
            colour = STRIKING if row.striking else ACCENT
            if row.low is not None and row.high is not None:
                axes.plot([row.low, row.high], [at, at], color=colour, lw=1)
            axes.plot(row.value, at, "D" if row.striking else "o", ms=4.5, color=colour)
        axes.set_yticks(
            range(len(rows)), [row.name for row in rows], size=min(8.0, 60 * height / max(len(rows), 1))
        )
        axes.axvline(0.5, color=FAINT, lw=0.8, ls="--")
        _percent(axes.xaxis)
        _bare(figure, axes, label, "")
    return figure


def curve_figure(curve: dict[str, Any], ceiling: dict[str, Any]) -> Figure:
    """Accuracy against the number of answers, with what more of them would bring."""
    with style():
        note = f"{curve['model']}; band: 95 % interval; open dot: expected with twice the answers. {_possible(ceiling)}"
        figure, axes = sheet("Learning curve", below(note), WIDTH, HEIGHT)
        possible = ceiling["best_possible"]
        if possible and possible["low"] is not None:
            axes.axhspan(possible["low"], possible["high"], color=SHADE, lw=0, zorder=0)
        x, y = ([point[key] for point in curve["points"]] for key in ("answers", "accuracy"))
        known = [point for point in curve["points"] if point["low"] is not None]
        band = ([point[key] for point in known] for key in ("answers", "low", "high"))
        axes.fill_between(*band, color=ACCENT, alpha=0.2, lw=0)
        axes.plot(x, y, "o-", color=ACCENT, ms=4, lw=1.5)
        gain = curve["next_gain"]
        if gain:
            if gain["low"] is not None:
                axes.plot([2 * x[-1]] * 2, [y[-1] + gain["low"], y[-1] + gain["high"]], color=ACCENT, lw=1)
            further = [y[-1], y[-1] + gain["value"]]
            axes.plot([x[-1], 2 * x[-1]], further, "o--", color=ACCENT, lw=1, ms=5, mfc="white", zorder=0)
        axes.axhline(0.5, color=FAINT, lw=0.8, ls="--")
        _percent(axes.yaxis)
        _thousands(axes.xaxis)
        _bare(figure, axes, "answers the model was fitted to", "held-out accuracy")
    return figure


def positions_figure(objects: Sequence[dict[str, Any]]) -> Figure:
    """Uncertainty of positions against the number of answers."""
    known = [found for found in objects if found["circle"] is not None]
    with style():
        note = "Radius of the circle that contains the long-run position of 9 in 10 objects, as a share of the map's radius."
        figure, axes = sheet("Uncertainty of positions", below(note), WIDTH, HEIGHT)
        axes.plot(
            [o["answers"] for o in known], [o["circle"] for o in known], "o", ms=4, color=ACCENT, alpha=0.7
        )
        axes.set_ylim(bottom=0)
        _percent(axes.yaxis)
        _bare(figure, axes, "answers about the object", "uncertainty of its position")
    return figure


def coverage_figure(objects: Sequence[dict[str, Any]]) -> Figure:
    """Answers per object, the fewest first."""
    counts = sorted(found["answers"] for found in objects)
    with style():
        figure, axes = sheet("Answers per object", "", WIDTH, HEIGHT)
        axes.bar(range(len(counts)), counts, width=0.85, color=ACCENT)
        axes.margins(x=0.01)
        _thousands(axes.yaxis)
        _bare(figure, axes, "objects, fewest answers first", "answers")
    return figure


def _possible(ceiling: dict[str, Any]) -> str:
    possible = ceiling["best_possible"]
    if not possible or possible["low"] is None:
        return "The best possible accuracy is unknown."
    return f"Shaded: the best possible accuracy, {100 * possible['low']:.0f} to {100 * possible['high']:.0f} % (95 % interval)."


def _percent(axis: Any) -> None:
    axis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")


def _thousands(axis: Any) -> None:
    axis.set_major_formatter(lambda value, _: f"{value:,.0f}")


def _bare(figure: Any, axes: Any, x: str, y: str) -> None:
    """Titles of the axes, no box, and room for both inside the sheet."""
    axes.set_xlabel(x, color=QUIET)
    axes.set_ylabel(y, color=QUIET)
    axes.tick_params(colors=INK, length=2)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    inner, tight = axes.get_position(), axes.get_tightbbox()
    wide, high = figure.get_size_inches() * figure.dpi
    left = max(0.0, inner.x0 - tight.x0 / wide)
    under = max(0.0, inner.y0 - tight.y0 / high)
    axes.set_position((inner.x0 + left, inner.y0 + under, inner.width - left, inner.height - under))
