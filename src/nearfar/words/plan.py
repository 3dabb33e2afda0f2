"""Sentences about how many questions to ask, and about what adaptive ones save."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nearfar._tools.text import count, plural

if TYPE_CHECKING:
    from nearfar._tools.arrays import Ints
    from nearfar.evaluate.advice import Advice, Lists
    from nearfar.evaluate.bootstrap import Estimate
    from nearfar.evaluate.planned_saving import ExpectedSaving
    from nearfar.evaluate.saving import Saving
    from nearfar.evaluate.simulated import Assumptions


def advice(plan: Advice) -> str:
    """How many questions to ask, and why; what a budget that was given is worth; nothing about given people."""
    rows = {row.answers: row for row in plan.rows}
    if plan.lists is not None:
        return ""
    if plan.recommended is None:
        most = plan.rows[-1]
        text = f"No budget up to {most.answers:,} questions is enough: they reach {most.accuracy:.3f}, and more would still help."
    else:
        best = rows[plan.recommended]
        adds = (
            f"add {max(best.gain, 0):.3f} to the accuracy ({best.accuracy:.3f} of at most {plan.ceiling:.3f})"
        )
        text = f"Recommended: {best.answers:,} questions. Twice as many would {adds}."
    if plan.budget is not None:
        row = rows[plan.budget]
        worth = "is enough" if row.is_enough else "is not enough"
        text += f" Your budget of {row.answers:,} {worth}: twice as many would add {max(row.gain, 0):.3f}."
    return text


def advice_text(plan: Advice) -> str:
    """What an advice rests on, what given people can answer, the table, and the recommendation."""
    lines = [*(f"Assumed: {text}" for text in _assumed(plan)), ""]
    last, marked, mark = "twice adds", plan.recommended, "recommended"
    if (lists := plan.lists) is not None:
        lines += [*_given(lists, plan.assumptions), ""]
        last, marked, mark = "width of its 95 % interval", lists.people * lists.n_new, "yours"
    lines.append(f"    answers   people    hours      cost  accuracy  {last}")
    for row in plan.rows:
        value = max(row.gain, 0) if lists is None else 2 * row.half_width
        told = f"{row.answers:11,}{row.people:9,}{row.hours:9,.1f}{row.cost:10,.0f}{row.accuracy:10.3f}"
        told += f"{value:12.3f}".replace("nan", "  –")
        lines.append(told + f"  <- {mark}" * (row.answers == marked))
    return "\n".join([*lines, "", f"Best possible accuracy: {plan.ceiling:.3f}", advice(plan)]).rstrip()


def _given(lists: Lists, given: Assumptions) -> list[str]:
    """What given people can answer in their minutes."""
    parts = [(lists.n_new, "new question"), (lists.n_again, "repeat"), (lists.checks, "check")]
    booklet = ", ".join(count(number, what) for number, what in parts if number)
    answers, asked = lists.people * lists.n_new, count(lists.questions, "different question")
    verb, within = plural(lists.people, "gives", "give"), lists.people * lists.n_again
    said = ["with one another"] * (lists.each >= 1.5) + [f"with themselves ({within:,} repeats)"] * bool(
        within
    )
    known = f"The repeats show how well participants agree {' and '.join(said)}."
    return [
        f"In {given.minutes:g} min a participant answers {count(lists.per_person, 'question')}: {booklet}.",
        f"{count(lists.people, 'participant')} {verb} {count(answers, 'answer')} to {asked}, {lists.each:.2g} to each.",
        known if said else "Nothing is asked twice, so agreement and the noise ceiling will be unknown.",
    ]


def _asked(plan: Advice) -> str:
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


def _assumed(plan: Advice) -> list[str]:
    """What an advice rests on."""
    scheme, given, pilot = plan.scheme, plan.assumptions, plan.pilot
    told, shape = [_asked(plan)], count(given.dimension, "dimension")
    if pilot is None:
        told.append(f"Objects are random points in {shape} (normal distribution).")
        told.append(
            f"Two attentive people give the same answer to {given.agreement:.0%} of random questions."
        )
        told.append("People differ in precision, and 1 in 10 answers at random.")
    else:
        accuracy, limits = pilot.accuracy.value, f"{pilot.accuracy.low:.3f} to {pilot.accuracy.high:.3f}"
        told.append(f"As in the pilot of {count(pilot.n_answers, 'answer')}: predicted best in {shape}, ")
        told[-1] += f"accuracy {accuracy:.3f} (95 % interval {limits})."
        told.append(f"Simulated people reach that who agree on {pilot.agreement:.0%} of random questions.")
        told.append("People differ by chance only.")
    total = scheme.total(plan.n_objects)
    if plan.lists is None and total < plan.rows[-1].answers:
        told.append(
            f"There are {total:,} different questions; larger budgets ask several people each of them."
        )
    from_pilot = " (median of the pilot)" if pilot and pilot.seconds and not given.seconds else ""
    told.append(
        f"{plan.seconds:.3g} s a question{from_pilot}, {given.minutes:g} min a person, pay {given.pay:g} an hour."
    )
    if plan.n_objects > plan.n_simulated:
        told.append(f"Simulated with {plan.n_simulated} objects and as many answers for each.")
    return told


def accuracy_at_any_time(held: Estimate) -> str:
    """The accuracy so far, with an interval that holds at every look."""
    limits = f"{100 * held.low:.1f} to {100 * held.high:.1f}\xa0%"
    return f"Accuracy {100 * held.value:.1f}\xa0% (95\xa0% interval {limits})."


def saving(found: Saving | None) -> str:
    """What adaptive questions have saved so far; that they are switched off, where they harm."""
    if found is not None and found.harms:
        return "Adaptive questions were switched off: their answers predict random questions worse."
    if found is None or found.times is None:
        return "Not enough data to tell yet what adaptive questions save."
    times = found.times
    return f"So far an adaptive answer is worth about {times.value:.1f} random ones (90\xa0% interval {_limits(times)})."


def adaptive_balance(*often: Ints) -> str:
    """How evenly adaptive questions are spread, from how often each object was their anchor, if they have one, and in them."""
    *anchor, within = (f"{one.min():,} to {one.max():,}" for one in often)
    anchors = "".join(f"the anchor of {one} and " for one in anchor)
    return f"Each object was {anchors}in {within} adaptive questions."


def expected_saving(found: ExpectedSaving) -> str:
    """What adaptive questions would save in a study that is planned."""
    text = "Simulated studies differ too much to say what adaptive questions would save."
    if found.times is not None:
        limits = f"{_limits(found.times)} in {found.n_studies} simulated studies of {found.n_objects} objects"
        text = f"With adaptive questions an answer would be worth about {found.times.value:.1f} random ones ({limits})."
    reached = f"{found.adaptive:.3f} with adaptive questions, {found.random:.3f} with random ones"
    return f"{text} Accuracy after {found.n_answers:,} answers: {reached}."


def _limits(times: Estimate) -> str:
    return f"{times.low:.1f} to " + ("more than 16" if times.high > 16 else f"{times.high:.1f}")
