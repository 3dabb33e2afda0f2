"""Sentences about what was collected, about clusters, positions and dimensions of objects, and about vectors of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfar._tools.text import MINUS, count, display_names, listed, number, percent
from nearfar.words.finding import Finding, interval, points_with_interval

if TYPE_CHECKING:
    from nearfar.evaluate.analysis import Analysis
    from nearfar.evaluate.bootstrap import Estimate
    from nearfar.evaluate.ceiling import NoiseCeiling
    from nearfar.evaluate.clusters import ClusterCount
    from nearfar.evaluate.collection import AnswerCounts
    from nearfar.evaluate.comparison import Score
    from nearfar.evaluate.dimensions import Dimension, Dimensions
    from nearfar.evaluate.map_stability import Stability
    from nearfar.evaluate.properties import Explained, Property
    from nearfar.evaluate.worth import Worth


# What one trial asked: its name, the question, and what its answers are.
TASKS = {
    "near": ("trial", "Is A nearer to B or to C?", ""),
    "odd": (
        "odd-one-out trial",
        "Which of three is the odd one out?",
        "Each trial gives two answers: each of the other two is nearer to the other one than to the odd one.",
    ),
    "central": (
        "most-central trial",
        "Which of three is the most central?",
        "Each trial gives two answers: each of the other two is nearer to the central one than to the other.",
    ),
    "grid": (
        "trial",
        "Which of these are most similar to A?",
        "Each trial gives an answer for every pair of a picked object and one that was not.",
    ),
    "ranking": (
        "trial",
        "Rank these by similarity to A",
        "Each trial gives an answer for every pair of ranked objects.",
    ),
    "mixed": ("trial", "Which of these are similar?", "Each trial gives several answers."),
    "screens": (
        "answer",
        "Which of these are similar to A?",
        "They come from trials with several answers, whose ids are lost.",
    ),
}


def collected(analysis: Analysis, gone: Sequence[tuple[str, int, str]] = ()) -> Finding:
    """How many trials and answers, of whom, about what; ``gone`` : (what, how many, why) was left out."""
    answers, counts = analysis.answers, analysis.counts
    people = 0 if answers.participant is None else len(answers.participant.known)
    trial, question, _ = TASKS[counts.task]
    who, about = (
        count(people, "participant") if people else "Participants",
        count(answers.n_objects, "object"),
    )
    gives = "" if counts.task == "near" else f", which gives {count(len(answers), 'answer')}"
    text = f'{who} answered "{question}" ({about}){gives}.'
    if gone:
        text += f" {number(sum(size for _, size, _ in gone))} left out."
    short = count(len(answers), "answer") if counts.task == "near" else count(counts.statements, trial)
    return Finding("note", short, text, f"{repeats(counts)} {left_out(gone)}")


def repeats(counts: AnswerCounts) -> str:
    """How many questions were answered more than once; of trials with several answers these are comparisons."""
    asked = "question" if counts.task == "near" else "comparison"
    of = f"Of {count(counts.questions, f'different {asked}')}"
    if not counts.repeated:
        return f"{of}, none was answered more than once."
    several = f" ({number(counts.by_several)} by several participants)" if counts.by_several else ""
    return f"{of}, {number(counts.repeated)} were answered more than once{several}; {number(counts.contradicted)} received both answers."


def left_out(gone: Sequence[tuple[str, int, str]]) -> str:
    """What is not in the analysis, and why."""
    if not gone:
        return "Nothing was left out."
    return f"Left out: {'; '.join(f'{number(size)} {what} ({why})' for what, size, why in gone)}."


def controls(questions: int, answers: int) -> str:
    """Questions asked far more often than the others, with so many answers in all.

    >>> print(controls(1, 146))
    1 question was asked far more often than the others (146 answers). The models use it; the noise ceiling does not. If it is an attention check, mark it in a column check.
    """
    if not questions:
        return ""
    asked = count(questions, "question was", "questions were")
    them, are = (
        ("it", "it is an attention check") if questions == 1 else ("them", "they are attention checks")
    )
    used = f"The models use {them}; the noise ceiling does not. If {are}, mark {them} in a column check."
    return f"{asked} asked far more often than the others ({number(answers)} answers). {used}"


def clusters(counted: ClusterCount | None, n_clusters: int) -> Finding:
    """Whether the objects fall into clusters, and into how many; ``counted`` is None where a number was asked for."""
    if counted is None:
        return Finding("note", f"{n_clusters} clusters", f"{n_clusters} clusters were asked for.")
    if counted.unknown:
        why = (
            "The answers are too noisy" if counted.unknown == "noise" else f"There are too {counted.unknown}"
        )
        return Finding("note", "Unknown", f"{why} to look for clusters.")
    k = counted.best_cut
    seen = (
        f"Best candidate: {k} clusters. Elbow (drop in within-cluster variance over the mean of the next drops): {counted.elbow:.1f}; "
        f"unclustered objects give about 1. Gap (standard deviations between clusters): {counted.gap:.1f}; they give about 3.5."
    )
    if counted.outcome == "unclear":
        text = f"The objects form clusters, but their number is unclear: {counted.low} to {counted.high}; {counted.k} is the likeliest."
        return Finding("good", f"{counted.low} to {counted.high} clusters", text, seen)
    if counted.outcome == "clear":
        text = f"The objects form {counted.k} separate clusters."
        return Finding("good", f"{counted.k} clusters", text, seen)
    text = "No separate clusters were found: the objects vary gradually, or clusters overlap."
    if counted.outcome == "unknown":
        text = "No separate clusters were found. More answers are needed to rule them out."
    return Finding("note", "None found", text, seen)


def stability(positions: Stability) -> Finding:
    """How uncertain positions on the map and clusters are."""
    known = sorted(radius for radius in positions.circle.tolist() if math.isfinite(radius))
    text = "For about 9 in 10 objects, the circle contains the position that unlimited data would give."
    if known:
        median = percent(known[len(known) // 2], 0)
        text += f" The median radius of the circles is {median} of the map's radius."
    few = list(compress(display_names(positions.objects), positions.few.tolist()))
    if few:
        text += f" Too few answers to say where they are: {listed(few)}."
    resamples = count(len(positions.positions), "bootstrap resample")
    drawn = positions.resampled.replace("statement", "trial")
    return Finding("note", "Positions", text, f"The uncertainty circles come from {resamples} of {drawn}s.")


def kept_by_chance(positions: Stability | None) -> str:
    """How often resamples of random answers keep objects in their cluster; "" where that is not known."""
    share = None if positions is None else positions.kept_by_chance
    if positions is None or positions.labels is None or share is None or math.isnan(share):
        return ""
    made = f"{positions.labels.max() + 1} clusters and random answers"
    return f"For comparison: with {made}, objects would stay in their cluster in {percent(share, 0)} of resamples."


def stability_text(positions: Stability) -> str:
    """Positions and clusters in the terminal, with the least certain objects."""
    said = stability(positions)
    lines = [f"{positions.model}: {said.text}", said.details]

    def least(by: Any) -> str:
        order = [i for i in np.argsort(by, kind="stable")[:5].tolist() if math.isfinite(by[i])]
        return ", ".join(f"{positions.objects[i]} ({abs(by[i]):.2f})" for i in order)

    if np.isfinite(positions.circle).any():
        lines.append(f"Least certain positions: {least(-positions.circle)}")
    if positions.kept is not None and np.isfinite(positions.kept).any():
        kept = percent(float(np.nanmedian(positions.kept)), 0)
        stay = f"Objects stay in their cluster in {kept} of resamples (median)"
        lines += [f"{stay}. Least certain: {least(positions.kept)}", kept_by_chance(positions)]
    return "\n".join(line for line in lines if line)


def explained(found: Explained) -> Finding:
    """Which properties of the objects a space predicts."""
    of = count(len(found.properties), "property", "properties")
    sure = [each.name for each in found.properties if each.p <= 0.05]
    named = f"{len(sure) or 'none'} of {of} better than chance{': ' * bool(sure)}{listed(sure)}."
    how = (
        f"Numbers: R² of ridge regression on the coordinates of {found.model}, in 10 folds over objects. Categories: share of "
        "objects whose category is the most frequent one among their 5 nearest others. Chance is the mean over "
        f"{number(found.n_permutations)} permutations of the objects. p is corrected for the number of properties: in every "
        "permutation the largest result of all properties counts."
    )
    told = [f"{found.model} predicts {named}"] if found.properties else []
    told += [f"{name} is left out: {reason}." for name, reason in found.left_out.items()]
    return Finding("note", f"{len(sure)} of {of}", " ".join(told) or "There are no properties.", how)


def explained_text(found: Explained) -> str:
    """What the terminal prints: a line per property."""
    rows = [f"{each.name}: {predicted(each)}, p = {each.p:.3f}" for each in found.properties]
    return "\n".join([explained(found).text, *rows])


def predicted(found: Property) -> str:
    """How well one property is predicted: R2, or accuracy beside chance."""
    if found.is_numeric:
        return f"R² {found.value:.2f}".replace("-", MINUS)
    return f"accuracy {percent(found.value, 0)} (chance {percent(found.chance, 0)})"


def dimensions_found(result: Dimensions) -> str:
    """How many dimensions come back, and what is said of the others."""
    found, of = len(result.found), len(result.dimensions)
    tested = f"from another random start and from both halves of the {result.halved_by} (r\xa0>\xa00.8)"
    if not of:
        return "No dimension has an object: collect more answers before naming any."
    if not result.predicts:
        return "Answers to other questions are not clearly predicted: collect more answers before naming a dimension."
    if not found:
        return (
            f"None of {count(of, 'dimension')} comes back {tested}: collect more answers before naming any."
        )
    others = " The others are not shown." if of > found else ""
    return f"{found} of {count(of, 'dimension')} {'comes' if found == 1 else 'come'} back {tested}.{others}"


def dimension_facts(each: Dimension) -> str:
    """Share, use, and what else it goes with."""
    facts = [f"{percent(each.share, 0)} of the similarity", count(each.objects, "object")]
    again, halved, r = (f"{x:z.2f}".replace("-", MINUS) for x in (each.starts, each.halves, each.correlation))
    facts.append(f"r = {again} from another start, {halved} from halves")
    # below 0.3 even the highest of several properties explains less than a tenth
    if abs(each.correlation) >= 0.3:
        facts.append(f"correlates most with {each.goes_with} (r = {r})")
    return "; ".join(facts)


def dimensions_text(result: Dimensions) -> str:
    """The dimensions that come back, a paragraph each."""
    lines = [dimensions_found(result)]
    for each in result.found:
        top = ", ".join(display_names(list(each.top)))
        lines += ["", f"{f'{each.number}. {each.name}'.rstrip()}  {top}", f"   {dimension_facts(each)}"]
    return "\n".join(lines).replace("\xa0", " ")


def _times(times: Estimate | None) -> str:
    if times is None:
        return ""
    value, low, high = (
        "more than 8" if math.isinf(x) else f"{x:.1f}" for x in (times.value, times.low, times.high)
    )
    limits = "" if math.isinf(times.low) else f" (95\xa0% interval {low} to {high})"
    return f" They are worth {'about ' * math.isfinite(times.value)}{value} times as many answers{limits}."


NOT_COMBINED = "The vectors are not combined with the answers: it is not clear that this predicts better."


def worth(found: Worth) -> Finding:
    """What vectors add to the answers."""
    gain, alone, others = found.gain, found.alone, (found.answers, found.both)
    if gain.low > 0:
        text = f"With the vectors, accuracy is {points_with_interval(gain)} higher.{_times(found.times)}"
        return Finding("good", f"Vectors add {100 * gain.value:.1f} points", text, _details(found))
    if not (alone.behind or any(other.as_good_as_best for other in others)):
        reached = percent(max(other.accuracy for other in others))
        text = f"The vectors alone predict {percent(alone.accuracy)}. No model of the answers reaches this (at most {reached})."
        return Finding("good", "Vectors alone predict best", text, _details(found))
    if not found.shares:
        return Finding("note", "No clear gain", NOT_COMBINED, _details(found))
    if gain.high <= 0:
        text = "The vectors add nothing to the answers: models without them predict as well."
        return Finding("note", "Vectors add nothing", text, _details(found))
    text = f"Whether the vectors help is not certain: with them, accuracy changes by {points_with_interval(gain)}."
    return Finding("note", "Not certain", text, _details(found))


def _details(found: Worth) -> str:
    told = [vector_shares(found.shares)] if found.shares else []
    if found.missing:
        names = listed(list(found.missing), 3)
        told.append(
            f"{count(len(found.missing), 'object has', 'objects have')} no vector: {names}. Vectors alone guess about them."
        )
    if found.n_extra:
        told.append(f"{count(found.n_extra, 'vector belongs', 'vectors belong')} to no object.")
    return " ".join(told)


def vector_shares(shares: Mapping[str, float]) -> str:
    """How much of the prior each source of vectors makes up, in the model of all answers."""
    if not shares:
        return NOT_COMBINED
    told = ", ".join(f"{source} {value:.2g}" for source, value in shares.items())
    return f"Share of the vectors in the prior: {told}."


def correlation(found: Estimate | None, others: str = "distances of the vectors") -> str:
    """How distances from the answers alone correlate with others; "" where that is not known."""
    if found is None or math.isnan(found.value):
        return ""
    limits = f"; 95\xa0% interval {found.low:z.2f} to {found.high:z.2f}" if math.isfinite(found.low) else ""
    figures = f"Distances from the answers alone correlate {found.value:z.2f}".replace("-", MINUS)
    return f"{figures} with {others} (Spearman{limits.replace('-', MINUS)})."


def worth_rows(found: Worth, ceiling: NoiseCeiling | None = None) -> list[tuple[str, str, str]]:
    """(what, accuracy, 95 % interval) of vectors, answers, both, and what is possible."""
    rows = [
        (what, percent(score.accuracy), _limits(score))
        for what, score in (
            ("vectors alone", found.alone),
            (f"answers alone ({found.answers.name})", found.answers),
            (f"both ({found.both.name})", found.both),
        )[: 3 if found.shares else 2]
    ]
    if found.new_objects is not None:
        new = found.new_objects
        rows.append(("both, for objects left out of the answers", percent(new.value), _limits(new)))
    if ceiling is not None and ceiling.best_possible is not None:
        best = ceiling.best_possible
        rows.append(("best possible (noise ceiling)", percent(best.value, 0), _limits(best)))
    return rows


def _limits(estimate: Score | Estimate) -> str:
    return interval(estimate.low, estimate.high).partition("interval ")[2] or "unknown"


def worth_text(found: Worth, ceiling: NoiseCeiling | None = None) -> str:
    """What vectors are worth, a line each."""
    rows = worth_rows(found, ceiling)
    width = max(len(what) for what, _, _ in rows)
    rows.insert(0, ("predicted from", "accuracy", "95 % interval"))
    lines = [f"{what:<{width}}  {value:>8}  {limits}" for what, value, limits in rows]
    return "\n".join([*lines, str(worth(found))]).replace("\xa0", " ")
