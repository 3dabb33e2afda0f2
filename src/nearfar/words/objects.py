"""Sentences about what was collected, about clusters, positions and dimensions of objects, and about vectors of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
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
    from nearfar.evaluate.comparison import Score
    from nearfar.evaluate.dimensions import Dimension, Dimensions
    from nearfar.evaluate.map_stability import Stability
    from nearfar.evaluate.properties import Explained, Property
    from nearfar.evaluate.worth import Worth

OUTLIERS = "An outlier's mean similarity to its nearest neighbours is more than three robust standard deviations below the median."


def collected(analysis: Analysis, gone: Sequence[tuple[str, int, str]] = ()) -> Finding:
    """How many answers, of whom, about what; ``gone`` : (what, how many, why) was left out."""
    answers, counts = analysis.answers, analysis.counts
    people = 0 if answers.participant is None else len(answers.participant.known)
    asked = f"{count(counts.questions, 'question')} about {count(answers.n_objects, 'object')}"
    text = f"{count(people, 'participant')} gave these answers to {asked}." if people else f"to {asked}."
    if gone:
        text += f" {number(sum(size for _, size, _ in gone))} left out."
    again = "No question was answered twice."
    if counts.repeated:
        several = analysis.ceiling.agreement if people > 1 else None
        by = f", {number(several.questions)} of them by several participants" if several else ""
        again = f"{count(counts.repeated, 'question was', 'questions were')} answered more than once{by}. "
        again += f"{number(counts.contradicted)} of these {number(counts.repeated)} received both answers."
    stated = f" The answers come from {count(counts.statements, 'trial')}."
    details = again + (stated if counts.statements < len(answers) else "")
    return Finding("note", count(len(answers), "answer"), text, f"{details} {left_out(gone)}".strip())


def left_out(gone: Sequence[tuple[str, int, str]]) -> str:
    """What is not in the analysis, and why."""
    if not gone:
        return "Nothing was left out."
    return f"Left out: {'; '.join(f'{number(size)} {what} ({why})' for what, size, why in gone)}."


def controls(questions: int, answers: int) -> str:
    """Control questions that are not declared as such, with so many answers in all.

    >>> print(controls(1, 146))
    1 control question was asked 146 times, far more often than the others. Every answer counts; a column check sets them aside.
    """
    if not questions:
        return ""
    asked = count(questions, "control question was", "control questions were")
    return f"{asked} asked {number(answers)} times, far more often than the others. Every answer counts; a column check sets them aside."


def clusters(counted: ClusterCount | None, n_clusters: int) -> Finding:
    """Whether the objects fall into clusters, and into how many; ``counted`` is None where a number was asked for."""
    if counted is None:
        return Finding("note", f"{n_clusters} clusters", f"{n_clusters} clusters were asked for.")
    aid = f"The tree is cut into {n_clusters} clusters as a reading aid." if n_clusters > 1 else ""
    if counted.unknown:
        why = (
            "The answers are too noisy" if counted.unknown == "noise" else f"There are too {counted.unknown}"
        )
        return Finding("note", "Unknown", f"{why} to look for clusters.", aid)
    k = counted.best_cut
    seen = (
        f"The best candidate is {k} clusters. Elbow: the drop in within-cluster variance from {k - 1} to {k} clusters, divided by "
        f"the mean drop of the next steps, is {counted.elbow:.1f}; unclustered objects give about 1. Gap: these {k} clusters are "
        f"{counted.gap:.1f} standard deviations apart; unclustered objects give about 3.5."
    )
    if counted.outcome == "unclear":
        text = f"The objects form clusters, but their number is unclear: {counted.low} to {counted.high}; {counted.k} is the likeliest."
        return Finding("good", f"{counted.low} to {counted.high} clusters", text, seen)
    if counted.outcome == "clear":
        text = f"The objects form {counted.k} separate clusters."
        return Finding("good", f"{counted.k} clusters", text, seen)
    text = "No separate clusters were found: the objects vary gradually, or clusters overlap."
    if counted.outcome == "unknown":
        times = counted.wanted / counted.per_object
        text = f"No separate clusters were found. This does not rule them out: a reliable test needs about {times:.2g} times as many answers."
    details = f"{aid} {seen} Together, these values give no clear evidence of clusters.".strip()
    return Finding("note", "None found", text, details)


def stability(positions: Stability) -> Finding:
    """How uncertain positions on the map and clusters are."""
    known = sorted(radius for radius in positions.circle.tolist() if math.isfinite(radius))
    text = "For about 9 in 10 objects, the circle contains the position that unlimited data would give."
    if known:
        median = percent(known[len(known) // 2], 0)
        text += f" The median radius of the circles is {median} of the map's radius."
    details = f"The uncertainty circles on the map come from {count(len(positions.cloud), 'bootstrap resample')} of {positions.resampled}s."
    few = list(compress(display_names(positions.objects), positions.few.tolist()))
    if few:
        details += f" Too few answers to say where they are: {listed(few)}."
    return Finding("note", "Positions", text, details)


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
    named = f"{len(sure) or 'none'} of {of} better than chance{': ' * bool(sure)}{listed(sure)}"
    how = (
        f"Numbers: R² of ridge regression on the coordinates of {found.model}, in 10 folds over objects. Categories: share of "
        "objects whose category is the most frequent one among their 5 nearest others. Chance is the mean over "
        f"{number(found.n_permutations)} permutations of the objects. p is corrected for the number of properties: in every "
        "permutation the largest result of all properties counts."
    )
    gone = "".join(f" {name} is left out: {reason}." for name, reason in found.left_out.items())
    return Finding("note", f"{len(sure)} of {of}", f"{found.model} predicts {named}.", how + gone)


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
    if not found:
        none = f"None of {count(of, 'dimension')} comes back"
        return f"{none} {tested}: collect more answers before naming any."
    others = " The others are not shown." if of > found else ""
    return f"{found} of {count(of, 'dimension')} {'comes' if found == 1 else 'come'} back {tested}.{others}"


def dimension_facts(each: Dimension) -> str:
    """Share, use, and what else it goes with."""
    facts = [f"{percent(each.share, 0)} of the similarity", count(each.objects, "object")]
    facts.append(f"r = {each.starts:.2f} from another start, {each.halves:.2f} from halves")
    # below 0.3 even the highest of several properties explains less than a tenth
    if abs(each.correlation) >= 0.3:
        facts.append(f"correlates most with {each.goes_with} (r = {each.correlation:.2f})")
    return "; ".join(facts)


def dimensions_text(result: Dimensions) -> str:
    """The dimensions that come back, a paragraph each."""
    lines = [dimensions_found(result)]
    for each in result.found:
        lines += ["", f"{each.number}. {each.title}" if each.name else f"{each.number}."]
        lines[-1] += f"  {', '.join(display_names(list(each.top)))}"
        lines.append(f"   {dimension_facts(each)}")
    return "\n".join(lines).replace("\xa0", " ")


def _times(worth: Worth) -> str:
    times = worth.times
    if times is None or math.isinf(times.value):
        return "more than 8 times as many answers"
    high = "more than 8" if math.isinf(times.high) else f"{times.high:.1f}"
    return f"about {times.value:.1f} times as many answers (95\xa0% interval {times.low:.1f} to {high})"


def worth(found: Worth) -> Finding:
    """What vectors add to the answers."""
    gain = found.gain
    if not found.shares or gain.high <= 0:
        text = "The vectors add nothing to the answers: models without them predict as well."
        return Finding("note", "Vectors add nothing", text, _details(found))
    if gain.low > 0:
        text = f"With the vectors, accuracy is {points_with_interval(gain)} higher. They are worth {_times(found)}."
        return Finding("good", f"Vectors add {100 * gain.value:.1f} points", text, _details(found))
    text = f"Whether the vectors help is not certain: with them, accuracy changes by {points_with_interval(gain)}."
    return Finding("note", "Not certain", text, _details(found))


def _details(found: Worth) -> str:
    shares = ", ".join(f"{source} {value:.2g}" for source, value in found.shares.items())
    told = [f"Share of the vectors in the prior: {shares}."] if shares else []
    if found.missing:
        names = listed(list(found.missing), 3)
        told.append(f"{count(len(found.missing), 'object has', 'objects have')} no vector: {names}.")
    if found.n_extra:
        told.append(f"{count(found.n_extra, 'vector belongs', 'vectors belong')} to no object.")
    return " ".join(told)


def vector_correlation(found: Estimate | None) -> str:
    """How distances from the answers alone correlate with those of the vectors; "" where that is not known."""
    if found is None:
        return ""
    limits = f"; 95\xa0% interval {found.low:.2f} to {found.high:.2f}" if math.isfinite(found.low) else ""
    return f"Distances from the answers alone correlate {found.value:.2f} with distances of the vectors (Spearman{limits})."


def worth_rows(found: Worth, ceiling: NoiseCeiling | None = None) -> list[tuple[str, str, str]]:
    """(what, accuracy, 95 % interval) of vectors, answers, both, and what is possible."""
    rows = [
        (what, percent(score.accuracy), _limits(score))
        for what, score in (
            ("vectors alone", found.alone),
            (f"answers alone ({found.answers.name})", found.answers),
            (f"both ({found.both.name})", found.both),
        )
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
