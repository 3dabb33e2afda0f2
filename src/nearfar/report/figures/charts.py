"""Charts for print, from the data of a report: models, learning curve, participants, positions, coverage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nearfar.report.figures.sheet import COLOURS, FAINT, INK, QUIET, Figure, below, sheet, shortened, style

ACCENT, SHADE, STRIKING = COLOURS[0], "#dbe7f3", COLOURS[5]
WIDTH, HEIGHT = 6.6, 3.6  # inches


def models_figure(models: dict[str, Any]) -> Figure:
    """A dot per model with its 95 % interval, the range of the possible behind them."""
    chosen = (models["best"], models["map"])
    rows = [(m["name"], m["accuracy"], m["low"], m["high"], m["name"] in chosen) for m in models["scores"]]
    note = f"Lines: 95 % intervals. Orange: chosen, and the map. {_possible(models['ceiling'])}"
    figure = _dot_plot("Held-out accuracy", note, rows[::-1], "share of held-out answers predicted")
    if possible := models["ceiling"]["best_possible"]:
        figure.axes[0].axvspan(possible["low"], possible["high"], color=SHADE, lw=0, zorder=0)
    return figure


def participants_figure(people: Sequence[dict[str, Any]]) -> Figure:
    """Participants by agreement with the model's prediction of their held-out answers."""
    rows = [
        (person["name"], rate["share"], rate["low"], rate["high"], bool(person["reason"]))
        for person in people
        if (rate := person["with_prediction"])
    ]
    note = "Lines: 95 % intervals. Orange: to check. Dashed: guessing."
    return _dot_plot("Participants", note, sorted(rows, key=lambda row: row[1]), "agreement with the model")


@style()
def _dot_plot(title: str, note: str, rows: Sequence[tuple[Any, ...]], label: str) -> Figure:
    """A line per (name, value, low, high, whether it stands out); limits are None where they are not known."""
    height = min(9.6, 1.3 + 0.17 * len(rows))
    figure, axes = _chart(title, note, label, "", height)
    for at, (_, value, low, high, stands_out) in enumerate(rows):
        colour = STRIKING if stands_out else ACCENT
        if low is not None:
            axes.plot([low, high], [at, at], color=colour, lw=1)
        axes.plot(value, at, "D" if stands_out else "o", ms=4.5, color=colour)
    size = min(8.0, 60 * height / max(len(rows), 1))
    axes.set_yticks(range(len(rows)), [shortened(row[0]) for row in rows], size=size)
    axes.axvline(0.5, color=FAINT, lw=0.8, ls="--")
    _percent(axes.xaxis)
    return figure


@style()
def curve_figure(curve: dict[str, Any], ceiling: dict[str, Any]) -> Figure:
    """Accuracy against the number of answers, with what more of them would bring."""
    note = f"{curve['model']}; band: 95 % interval; open dot: expected with twice the answers. {_possible(ceiling)}"
    figure, axes = _chart("Learning curve", note, "answers the model was fitted to", "held-out accuracy")
    if possible := ceiling["best_possible"]:
        axes.axhspan(possible["low"], possible["high"], color=SHADE, lw=0, zorder=0)
    x, y = ([point[key] for point in curve["points"]] for key in ("answers", "accuracy"))
    known = [point for point in curve["points"] if point["low"] is not None]
    band = ([point[key] for point in known] for key in ("answers", "low", "high"))
    axes.fill_between(*band, color=ACCENT, alpha=0.2, lw=0)
    axes.plot(x, y, "o-", color=ACCENT, ms=4, lw=1.5)
    if gain := curve["next_gain"]:
        if gain["low"] is not None:
            axes.plot([2 * x[-1]] * 2, [y[-1] + gain["low"], y[-1] + gain["high"]], color=ACCENT, lw=1)
        further = [y[-1], y[-1] + gain["value"]]
        axes.plot([x[-1], 2 * x[-1]], further, "o--", color=ACCENT, lw=1, ms=5, mfc="white", zorder=0)
    axes.axhline(0.5, color=FAINT, lw=0.8, ls="--")
    _percent(axes.yaxis)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    return figure


@style()
def positions_figure(objects: Sequence[dict[str, Any]]) -> Figure:
    """Uncertainty of positions against the number of answers."""
    known = [row for row in objects if row["circle"] is not None]
    note = "Radius of the circle of uncertainty, as a share of the map's radius."
    figure, axes = _chart(
        "Uncertainty of positions", note, "answers about the object", "uncertainty of its position"
    )
    x, y = ([row[key] for row in known] for key in ("answers", "circle"))
    axes.plot(x, y, "o", ms=4, color=ACCENT, alpha=0.7)
    axes.set_ylim(bottom=0)
    _percent(axes.yaxis)
    return figure


@style()
def coverage_figure(objects: Sequence[dict[str, Any]]) -> Figure:
    """Answers per object, the fewest first."""
    counts = sorted(row["answers"] for row in objects)
    figure, axes = _chart("Answers per object", "", "objects, fewest answers first", "answers")
    axes.bar(range(len(counts)), counts, width=0.85, color=ACCENT)
    axes.margins(x=0.01)
    axes.yaxis.set_major_formatter("{x:,.0f}")
    return figure


def _possible(ceiling: dict[str, Any]) -> str:
    possible = ceiling["best_possible"]
    if not possible:
        return "The best possible accuracy is unknown."
    return f"Shaded: the best possible accuracy, {100 * possible['low']:.0f} to {100 * possible['high']:.0f} % (95 % interval)."


def _percent(axis: Any) -> None:
    axis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")


def _chart(title: str, note: str, x: str, y: str, height: float = HEIGHT) -> tuple[Figure, Any]:
    """An empty chart without a box around it."""
    figure, axes = sheet(title, below(note), WIDTH, height)
    axes.set_xlabel(x, color=QUIET)
    axes.set_ylabel(y, color=QUIET)
    axes.tick_params(colors=INK, length=2)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return figure, axes
