"""The report's other figures for print: models, learning curve, participants, certainty, coverage."""

from __future__ import annotations

import math
from typing import Any

from nearfar.report.facts import Curve, Judge, Object, Participant
from nearfar.report.print.sheet import COLOURS, FAINT, INK, QUIET, Figure, below, sheet, style

__all__ = ["coverage_figure", "curve_figure", "judge_figure", "people_figure", "sure_figure"]

ACCENT, SHADE = COLOURS[0], "#dbe7f3"
WIDTH, HEIGHT = 6.2, 3.2  # inches


def judge_figure(judge: Judge) -> Figure:
    """A dot per model with its standard error, the range of the possible behind them."""
    models = judge.models[::-1]
    with style():
        note = f"{judge.cv} folds, by {judge.unit}; lines: one standard error, clustered by {judge.clustered_by}."
        figure, axes = sheet(
            "Held-out accuracy", below(_ceiling(judge, note), [], []), WIDTH, 0.8 + 0.17 * len(models)
        )
        _shade(axes.axvspan, judge)
        for row, model in enumerate(models):
            chosen = model.name in (judge.best, judge.map)
            colour = ACCENT if chosen else QUIET
            axes.errorbar(model.accuracy, row, xerr=model.error or 0, fmt="o", ms=4.5, color=colour, lw=1)
        axes.set_yticks(range(len(models)), [model.name for model in models], size=8)
        axes.axvline(0.5, color=FAINT, lw=0.8, ls="--")
        _percent(axes.xaxis)
        _bare(figure, axes, "", "")
    return figure


def curve_figure(curve: Curve, judge: Judge) -> Figure:
    """Accuracy against the number of answers, with what more of them would bring."""
    with style():
        note = f"{curve.model}; band: one standard error; open dots: expected, with 90 % intervals."
        figure, axes = sheet("Learning curve", below(_ceiling(judge, note), [], []), WIDTH, HEIGHT)
        _shade(axes.axhspan, judge)
        x = [p.answers for p in curve.points]
        y = [p.accuracy for p in curve.points]
        error = [p.error or 0.0 for p in curve.points]
        low, high = ([a + s * e for a, e in zip(y, error, strict=True)] for s in (-1, 1))
        axes.fill_between(x, low, high, color=ACCENT, alpha=0.2, lw=0)
        axes.plot(x, y, "o-", color=ACCENT, ms=4, lw=1.5)
        if curve.change is not None:
            _ahead(axes, curve)
        axes.axhline(0.5, color=FAINT, lw=0.8, ls="--")
        _percent(axes.yaxis)
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        _bare(figure, axes, "answers the model was fitted to", "held-out accuracy")
    return figure


def _ahead(axes: Any, curve: Curve) -> None:
    change = curve.change
    if change is None:
        return
    last = curve.points[-1]
    steps = [(change.answers, change.now), (2 * change.answers, change.doubled)]
    xs, ys = [m for m, _ in steps], [forecast.value for _, forecast in steps]
    axes.plot([last.answers, *xs], [last.accuracy, *ys], "--", color=ACCENT, lw=1)
    for m, forecast in steps:
        if math.isfinite(forecast.low) and math.isfinite(forecast.high):
            axes.plot([m, m], [forecast.low, forecast.high], color=ACCENT, lw=1)
    axes.plot(xs, ys, "o", ms=5, mfc="white", mec=ACCENT)


def people_figure(people: tuple[Participant, ...]) -> Figure:
    """Participants by agreement with the held-out prediction; those to review are filled."""
    known = [p for p in people if p.with_prediction is not None]
    ordered = sorted(known, key=lambda p: p.with_prediction or 0.0)
    with style():
        note = "Filled: suggested for review. Lines: 95 % intervals. Dashed: guessing."
        figure, axes = sheet("Participants", below(note, [], []), WIDTH, min(9.0, 1.0 + 0.13 * len(ordered)))
        for row, person in enumerate(ordered):
            share = person.with_prediction or 0.0
            low = share if person.low is None else person.low
            high = share if person.high is None else person.high
            colour = COLOURS[5] if person.reasons else ACCENT
            fill = colour if person.reasons else "white"
            axes.errorbar(
                share,
                row,
                xerr=[[share - low], [high - share]],
                fmt="D" if person.reasons else "o",
                ms=4,
                color=colour,
                mfc=fill,
                lw=0.8,
            )
        axes.axvline(0.5, color=FAINT, lw=0.8, ls="--")
        size = min(8.0, 60 * (figure.get_figheight() - 1) / max(len(ordered), 1))
        axes.set_yticks(range(len(ordered)), [p.name for p in ordered], size=size)
        _percent(axes.xaxis)
        _bare(figure, axes, "agreement with the held-out prediction", "")
    return figure


def sure_figure(objects: tuple[Object, ...]) -> Figure:
    """How far locations move against the number of answers."""
    known = [found for found in objects if found.spread is not None]
    with style():
        note = "Root mean square move between resamples, as a share of the map's radius."
        figure, axes = sheet("How sure each location is", below(note, [], []), WIDTH, HEIGHT)
        axes.plot(
            [found.answers for found in known],
            [found.spread for found in known],
            "o",
            ms=4,
            color=ACCENT,
            alpha=0.7,
        )
        axes.set_ylim(bottom=0)
        _percent(axes.yaxis)
        _bare(figure, axes, "answers about the object", "how far its location moves")
    return figure


def coverage_figure(objects: tuple[Object, ...]) -> Figure:
    """Answers per object, least covered first."""
    counts = sorted(found.answers for found in objects)
    with style():
        figure, axes = sheet("Answers per object", "", WIDTH, HEIGHT)
        axes.bar(range(len(counts)), counts, width=0.85, color=ACCENT)
        axes.margins(x=0.01)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        _bare(figure, axes, "objects, least covered first", "answers")
    return figure


def _ceiling(judge: Judge, note: str) -> str:
    if judge.ceiling is None:
        return f"{note} The best possible accuracy is unknown."
    low, high = judge.ceiling
    return f"{note} Shaded: the best possible accuracy, {100 * low:.1f} % to {100 * high:.1f} %."


def _shade(span: Any, judge: Judge) -> None:
    if judge.ceiling is not None:
        span(*judge.ceiling, color=SHADE, lw=0, zorder=0)


def _percent(axis: Any) -> None:
    axis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")


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
