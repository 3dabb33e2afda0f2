"""Sentences about how many questions to ask, and about what adaptive ones save."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nearfar._tools.text import count, points
from nearfar.words.finding import Finding

if TYPE_CHECKING:
    from nearfar.evaluate.advice import Advice, Assumptions
    from nearfar.evaluate.bootstrap import Estimate
    from nearfar.evaluate.forecast import ExpectedSaving, Forecast
    from nearfar.evaluate.saving import Saving

AT_ANY_TIME = "This interval holds whenever you look."


def advice(plan: Advice) -> str:
    """How many questions to ask, and why; what a budget that was given is worth."""
    rows = {row.questions: row for row in plan.rows}
    if plan.recommended is None:
        most = plan.rows[-1]
        text = f"No budget up to {most.questions:,} questions is enough: they reach {most.accuracy:.3f}, and more would still help."
    else:
        best = rows[plan.recommended]
        adds = (
            f"add {max(best.gain, 0):.3f} to the accuracy ({best.accuracy:.3f} of at most {plan.ceiling:.3f})"
        )
        text = f"Recommended: {best.questions:,} questions. Twice as many would {adds}."
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


def forecast_text(plan: Forecast) -> str:
    """What some participants can answer in their minutes, and what that tells."""
    given, within = plan.assumptions, plan.people * plan.n_again
    assumed = [_asked(plan), *_guessed(given)]
    assumed.append("Participants differ in precision, and 1 in 10 answers at random.")
    if plan.n_objects > plan.n_simulated:
        assumed.append(f"Simulated with {plan.n_simulated} objects and as many answers for each.")
    parts = [(plan.n_new, "new question"), (plan.n_again, "repeat"), (plan.checks, "check")]
    booklet = ", ".join(count(number, what) for number, what in parts if number)
    answers, asked = count(plan.people * plan.n_new, "answer"), count(plan.questions, "different question")
    said = ["with one another"] * (plan.each >= 1.5)
    said += [f"with themselves ({within:,} repeats)"] * bool(within)
    known = f"The repeats show how well participants agree {' and '.join(said)}."
    lines = [
        *(f"Assumed: {text}" for text in assumed),
        "",
        f"In {given.minutes:g} min a participant answers {count(plan.per_person, 'question')}: {booklet}.",
        f"{count(plan.people, 'participant')} give {answers} to {asked}, {plan.each:.2g} to each.",
        known if said else "Nothing is asked twice, so agreement and the noise ceiling will be unknown.",
        "",
        "     people    answers      cost  accuracy  width of its 95 % interval",
    ]
    lines += [
        f"{row.people:11,}{row.answers:11,}{row.cost:10,.0f}{row.accuracy:10.3f}{2 * row.half_width:13.3f}"
        + ("  <- yours" if row.people == plan.people else "")
        for row in plan.rows
    ]
    return "\n".join([*lines, "", f"Best possible accuracy: {plan.ceiling:.3f}"])


def _asked(plan: Advice | Forecast) -> str:
    """The objects and the questions about them."""
    scheme = plan.scheme
    kinds = {
        "near": "is a nearer to b or to c",
        "odd": "odd one out of three",
        "central": "most central of three",
        "grid": f"pick {scheme.pick} of {scheme.size} that are nearest",
    }
    draw = "drawn evenly" if scheme.draw == "random" else f"the landmark design of {scheme.draw}"
    return f"{plan.n_objects:,} objects; questions '{kinds[scheme.kind]}', {draw}."


def _guessed(given: Assumptions) -> list[str]:
    """What is assumed where there is no pilot."""
    return [
        f"Objects are random points in {count(given.dimension, 'dimension')} (normal distribution).",
        f"Two people give the same answer to {given.agreement:.0%} of random questions.",
    ]


def _assumed(plan: Advice) -> list[str]:
    """What an advice rests on."""
    scheme, given, pilot = plan.scheme, plan.assumptions, plan.pilot
    told, shape = [_asked(plan)], count(given.dimension, "dimension")
    if pilot is None:
        told += _guessed(given)
    else:
        accuracy, limits = pilot.accuracy.value, f"{pilot.accuracy.low:.3f} to {pilot.accuracy.high:.3f}"
        told.append(f"As in the pilot of {count(pilot.n_answers, 'answer')}: predicted best in {shape}, ")
        told[-1] += f"accuracy {accuracy:.3f} (95 % interval {limits})."
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


def accuracy_at_any_time(held: Estimate) -> str:
    """The accuracy so far, with an interval that holds at every look."""
    limits = f"{100 * held.low:.1f} to {100 * held.high:.1f}\xa0%"
    return f"Accuracy {100 * held.value:.1f}\xa0% (95\xa0% interval {limits}). {AT_ANY_TIME}"


def saving(found: Saving | None) -> Finding:
    """What adaptive questions have saved so far; that they are switched off, where they harm."""
    if found is not None and found.harms:
        text = "Adaptive questions were switched off: their answers predict random questions worse."
        return Finding("poor", "Adaptive questions switched off", text, _compared(found))
    if found is None or found.times is None:
        text = "Not enough data to tell yet what adaptive questions save."
        return Finding("note", "Not known yet", text, "" if found is None else _compared(found))
    times = found.times
    text = f"So far an adaptive answer is worth about {times.value:.1f} random ones (90\xa0% interval {_limits(times)})."
    level = "good" if times.low > 1 else "fair" if times.high < 1 else "note"
    return Finding(level, f"Worth {times.value:.1f} random answers", text, _compared(found))


def expected_saving(found: ExpectedSaving) -> str:
    """What adaptive questions would save in a study that is planned."""
    return (
        f"An adaptive answer would be worth about {found.times.value:.1f} random ones ({_limits(found.times)} in "
        f"{found.n_studies} simulated studies). Accuracy after {found.n_answers:,} answers: {found.adaptive:.3f} with adaptive "
        f"questions, {found.random:.3f} with random ones."
    )


def _limits(times: Estimate) -> str:
    return f"{times.low:.1f} to " + ("more than 16" if times.high > 16 else f"{times.high:.1f}")


def _compared(found: Saving) -> str:
    gain = found.difference
    value, low, high = (points(each).lstrip("+") for each in (gain.value, gain.low, gain.high))
    return (
        f"With {found.n_answers:,} answers of either kind, adaptive ones are more accurate on random questions by {value} points "
        f"(90\xa0% interval {low} to {high}; {found.n_adaptive} and {found.n_control} participants)."
    )
