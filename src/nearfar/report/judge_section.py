"""Which model and which map, in words: what the analysis found on held-out answers."""

from __future__ import annotations

import numpy as np

from nearfar import words
from nearfar.evaluate.analysis import Analysis
from nearfar.evaluate.comparison import Score
from nearfar.report.facts import Judge, Judged
from nearfar.report.words import number, percent

__all__ = ["make_judge"]


def make_judge(analysis: Analysis) -> Judge:
    """The judged models, the chosen one and the map, as plain data with their reasons."""
    ceiling, best = analysis.ceiling, analysis.best
    found, possible = ceiling.agreement, ceiling.best_possible
    judged = bool(analysis.splits)
    scores = analysis.scores if judged else None
    has_map = len(analysis.shown) > 2 and bool(analysis.space.informed.any())
    return Judge(
        models=tuple(_judged(score, len(analysis.splits)) for score in scores.ranked()) if scores else (),
        best=best.name,
        accuracy=_known(best.accuracy),
        error=_error(best.low, best.high),
        why=_why(analysis),
        map=analysis.plane_name if has_map else "",
        map_why=_map_why(analysis) if has_map else "Too few objects for a map.",
        ceiling=None if possible is None else (possible.low, possible.high),
        unknown=words.ceiling_unknown(ceiling),
        outer=None if possible is None else (possible.low, possible.high),
        above_guessing=scores.above_guessing if scores else False,
        few_people=scores.scope.n_participants if scores and scores.scope.participants == "same" else 0,
        in_sets=bool(scores and scores.scope.questions == "same sets"),
        chosen=bool(scores and scores.scope.questions == "adaptive"),
        remembers_pairs=scores.remembers_pairs if scores else False,
        agreement=found.share if found else None,
        agreement_error=_error(found.low, found.high) if found else None,
        repeated=found.questions if found else 0,
        cv=len(analysis.splits),
        unit=scores.unit if scores else "trio",
        clustered_by=scores.unit if scores else "trio",
        named=analysis.is_named,
        answers=len(analysis.judged),
        remark=_remark(analysis),
    )


def _judged(score: Score, fits: int) -> Judged:
    return Judged(
        score.name,
        score.accuracy,
        _error(score.low, score.high),
        score.ties,
        score.seconds,
        score.as_good_as_best,
        (words.warned(score, fits),) if score.warned else (),
    )


def _remark(analysis: Analysis) -> str:
    if len(analysis.judged) == len(analysis.answers):
        return ""
    judged, all_answers = number(len(analysis.judged)), number(len(analysis.answers))
    return f"Compared on a random {judged} of the {all_answers} answers, to keep the report quick."


def _why(analysis: Analysis) -> str:
    best = analysis.best
    if not analysis.splits:
        return (
            f"There are too few different questions to compare models; {best.name} needs the fewest answers."
        )
    if analysis.is_named:
        text = f"{best.name} was asked for."
        top = analysis.scores.best
        if top.name != best.name:
            text += f" {top.name} predicts more held-out answers, {percent(top.accuracy)}."
        return text
    text = f"It predicts held-out answers best of {len(analysis.models)} models."
    if best.second:
        text += f" Second is {best.second}, {percent(analysis.scores[best.second].accuracy)}."
    return text


def _map_why(analysis: Analysis) -> str:
    name = analysis.plane_name
    if not analysis.splits:
        return ""
    if name == analysis.best.name and analysis.space.n_components != 2:
        return f"The map shows the first two axes of {name}."
    planes = [model.name for model in analysis.models if model.n_components == 2]
    others = sorted(
        (analysis.scores[other] for other in planes if other != name), key=lambda score: -score.accuracy
    )
    own = analysis.scores[name].accuracy
    text = f"Of the models with two dimensions, {name} predicts held-out answers best: {percent(own)}"
    if others:
        text += f" (next {others[0].name}, {percent(others[0].accuracy)})"
    # by the same folds and answers: that of choosing may come from more of them
    lost = analysis.scores[analysis.best.name].accuracy - own
    if lost > 0.005:
        text += (
            f"; the plane costs {100 * lost:.1f} points against {analysis.best.name}, which tree, clusters and "
            "neighbours come from"
        )
    return text + "."


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _error(low: float, high: float) -> float | None:
    """The standard error that a 95 % interval stands for."""
    return None if np.isnan(low) else float((high - low) / 3.92)
