"""Sentences about how many questions to ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nearfar._tools.text import count

if TYPE_CHECKING:
    from nearfar.evaluate.advice import Advice


def advice(plan: Advice) -> str:
    """How many questions to ask, and why; what a budget that was given is worth."""
    rows = {row.questions: row for row in plan.rows}
    if plan.recommended is None:
        most = plan.rows[-1]
        text = f"No budget up to {most.questions:,} questions is enough: they reach {most.accuracy:.3f}, and more would still help."
    else:
        best = rows[plan.recommended]
        text = (
            f"Recommended: {best.questions:,} questions. Twice as many would add {max(best.gain, 0):.3f} to the "
            f"accuracy ({best.accuracy:.3f} of at most {plan.ceiling:.3f})."
        )
    if plan.budget is not None:
        row = rows[plan.budget]
        worth = "is enough" if row.is_enough else "is not enough"
        text += f" Your budget of {row.questions:,} {worth}: twice as many would add {max(row.gain, 0):.3f}."
    return text


def advice_text(plan: Advice) -> str:
    """What an advice rests on, its table, and the recommendation."""
    lines = [f"Assumed: {text}" for text in _assumed(plan)]
    lines += ["", "  questions   people    hours      cost  accuracy  twice adds"]
    lines += [
        f"{row.questions:11,}{row.people:9,}{row.hours:9,.1f}{row.cost:10,.0f}{row.accuracy:10.3f}{max(row.gain, 0):12.3f}"
        + ("  <- recommended" if row.questions == plan.recommended else "")
        for row in plan.rows
    ]
    return "\n".join([*lines, "", f"Best possible accuracy: {plan.ceiling:.3f}", advice(plan)])


def _assumed(plan: Advice) -> list[str]:
    """What an advice rests on."""
    scheme, given, pilot = plan.scheme, plan.assumptions, plan.pilot
    kinds = {
        "near": "is a nearer to b or to c",
        "odd": "odd one out of three",
        "central": "most central of three",
        "grid": f"pick {scheme.pick} of {scheme.size} that are nearest",
    }
    draw = "drawn evenly" if scheme.draw == "random" else f"the landmark design of {scheme.draw}"
    told = [f"{plan.n_objects:,} objects; questions '{kinds[scheme.kind]}', {draw}."]
    shape = count(given.dimension, "dimension")
    if pilot is None:
        told.append(f"Objects are random points in {shape} (normal distribution).")
        told.append(f"Two people give the same answer to {given.agreement:.0%} of random questions.")
    else:
        told.append(
            f"As in the pilot of {count(pilot.n_answers, 'answer')}: predicted best in {shape}, accuracy {pilot.accuracy.value:.3f} "
            f"(95 % interval {pilot.accuracy.low:.3f} to {pilot.accuracy.high:.3f})."
        )
        told.append(f"Simulated people reach that who agree on {pilot.agreement:.0%} of random questions.")
    total = scheme.total(plan.n_objects)
    if total < plan.rows[-1].questions:
        told.append(
            f"There are {total:,} different questions; larger budgets ask several people each of them."
        )
    from_pilot = " (median of the pilot)" if pilot and pilot.seconds and not given.seconds else ""
    pace = f"{plan.seconds:.3g} s a question{from_pilot}, {given.minutes:g} min a person, pay {given.pay:g} an hour"
    told.append(f"{pace}; people differ by chance only.")
    if plan.n_objects > plan.n_simulated:
        told.append(f"Simulated with {plan.n_simulated} objects and as many answers for each.")
    return told
