"""The summary of a report in plain words: each sentence follows from facts, and says which."""

from __future__ import annotations

from collections.abc import Iterator

from nearfar.report.facts import Collection, Curve, Judge, Quality, Verdict
from nearfar.report.words import count, listed, number, percent, points

__all__ = ["asked_again", "make_verdict"]

FEW_PER_OBJECT = 10
LOW_COVERAGE = 1.0
CLOSE = 0.02  # below the bracket and still as good as at the ceiling


def make_verdict(
    answers: Collection, judge: Judge, quality: Quality, curve: Curve | None
) -> tuple[Verdict, ...]:
    """What was collected, whether it is enough, how accurate, what was left out, which model, whom to look at."""
    found = [
        _collected(answers),
        _enough(answers, quality, curve),
        _accuracy(judge, answers),
        _model(judge, quality),
        _people(quality),
        _left_out(answers),
    ]
    return tuple(verdict for verdict in found if verdict is not None)


def _collected(answers: Collection) -> Verdict:
    who = f" by {count(answers.participants, 'participant')}" if answers.participants else ""
    said = (
        f" They come from {count(answers.statements, 'statement')}."
        if answers.statements < answers.answers
        else ""
    )
    if answers.repeated:
        again = (
            f"{number(answers.repeated)} of {count(answers.questions, 'question')} were answered more than once, "
            f"{number(answers.contradicted)} of them both ways."
        )
    else:
        again = f"Every one of the {count(answers.questions, 'question')} was answered once."
    return Verdict(
        "Collected",
        "note",
        f"{count(answers.answers, 'answer')}, {count(answers.objects, 'object')}",
        f"{count(answers.answers, 'answer')} about {count(answers.objects, 'object')}{who}.{said} {again}",
    )


def _enough(answers: Collection, quality: Quality, curve: Curve | None) -> Verdict:
    least, middle, _ = quality.answers_per_object
    per_object = f"Objects are in {number(middle)} answers each (median), at least {number(least)}."
    if quality.uninformed:
        missing = count(len(quality.uninformed), "object has", "objects have")
        per_object += f" {missing} no usable answer and no location on the map."
    text = f"{curve.text} {per_object}" if curve else per_object
    if curve is not None and (not curve.foreseeable or (curve.sampled and curve.verdict != "levelled off")):
        level, short = "fair", "Not enough data to tell"
    elif curve is None or curve.change is None:
        level, short = "fair", "Too few answers to tell"
    elif curve.verdict == "levelled off":
        level, short = "good", "Enough answers"
    elif curve.verdict == "still rising":
        level, short = "fair", "More answers would help"
    else:
        level, short = "fair", f"Twice the answers: {points(curve.change.gain.value)} points"
    if quality.uninformed or middle < FEW_PER_OBJECT:
        level = "poor"
        short = "Some objects lack answers" if quality.uninformed else "Few answers per object"
    return Verdict("Enough?", level, short, text)


def _accuracy(judge: Judge, answers: Collection) -> Verdict:
    if not judge.models:
        return Verdict(
            "Accuracy", "poor", "Cannot be judged", "Too few different questions to hold any of them out."
        )
    how = " ".join(_about_accuracy(judge, answers))
    if not judge.above_guessing:
        unsure = (
            "That is not clearly better than guessing: collect more answers before reading anything into it."
        )
        return Verdict("Accuracy", "poor", "Not clearly above guessing", f"{how} {unsure}")
    level, possible = _beside_ceiling(judge, answers)
    short = f"{percent(judge.accuracy or 0.0)} of unseen answers"
    return Verdict("Accuracy", level, short, f"{how} {possible}")


def _about_accuracy(judge: Judge, answers: Collection) -> Iterator[str]:
    """The accuracy, and of whom and of which questions it is."""
    yield f"{judge.best} predicts {_share(judge)} of answers it has not seen; guessing gives {percent(0.5, 0)}."
    if judge.few_people:
        yield f"{count(judge.few_people, 'person', 'people')} are too few to say how well it would predict others."
    elif judge.error is not None and not answers.participants:
        yield "Who answered is not known: the ± is for answers of the same people, and others may differ by more."
    if judge.in_sets:
        yield (
            "Questions were asked within sets of objects, such as booklets: the figure is for the same sets and people, and how "
            "well it predicts other people, or questions about objects of different sets, is not known."
        )
    if judge.chosen:
        yield (
            "Questions were chosen for being undecided, as adaptive designs do: the figure is the share of these answers, and how well "
            "it predicts answers to other questions is not known."
        )
    if judge.remembers_pairs:
        yield (
            "Merely remembering which pairs were called near predicts as much: the answers come from screens or lists, "
            "and the figure may say little about new objects."
        )


def _beside_ceiling(judge: Judge, answers: Collection) -> tuple[str, str]:
    """How good the accuracy is, and a sentence about the best possible."""
    if judge.ceiling is None:
        return "fair", f"How much is possible is unknown: {judge.unknown}."
    best = judge.accuracy or 0.0
    low, high = judge.ceiling
    most = high
    possible = (
        f"From {asked_again(judge, answers)}, the best that any model could reach lies between "
        f"{percent(low)} and {percent(high)}"
    )
    level = "fair"
    if high <= 0.52:
        level, end = "poor", "people agree hardly more than by chance."
    elif best > most:
        end = "the model is above that range, which suggests that the repeated questions are harder than the others."
    elif best > high:
        level, end = "good", "the model is at the upper end of what these repeats can tell."
    elif best >= low - CLOSE:
        where = "inside that range" if best >= low else "just below that range"
        level, end = (
            "good",
            f"the model is {where}, at most about {points(most - best)[1:]} points from the limit.",
        )
    else:
        end = f"the model is about {points(low - best)[1:]} points or more short of it."
    return level, f"{possible}: {end}"


def asked_again(judge: Judge, answers: Collection) -> str:
    """The questions that the ceiling comes from: with people known, fewer than those answered more than once."""
    how = "that several people answered" if (answers.participants or 0) > 1 else "answered more than once"
    return f"{count(judge.repeated, 'question')} {how}"


def _share(judge: Judge) -> str:
    error = f" (± {100 * judge.error:.1f})" if judge.error is not None else ""
    return percent(judge.accuracy or 0.0) + error


def _model(judge: Judge, quality: Quality) -> Verdict:
    text = judge.why
    pairs = {name: value for name, value in quality.coverage.items() if name != "score"}
    if pairs and len(pairs) == len(quality.coverage) and max(pairs.values()) < LOW_COVERAGE:
        text += (
            f" Two objects share only {max(pairs.values()):.2g} of its columns, too few to compare them well."
        )
    return Verdict("Model", "note", f"Model {judge.best}", text)


def _left_out(answers: Collection) -> Verdict:
    if not answers.left_out:
        return Verdict("Left out", "note", "Nothing left out", "Every row that was read is in the analysis.")
    clauses = [f"{number(group.count)} {group.what}: {group.why}" for group in answers.left_out]
    total = sum(group.count for group in answers.left_out)
    return Verdict("Left out", "note", f"{number(total)} left out", "; ".join(clauses) + ".")


def _people(quality: Quality) -> Verdict | None:
    if quality.participants is None:
        return None
    odd = [person.name for person in quality.participants if person.reasons]
    if not odd:
        return Verdict(
            "Participants", "good", "Nobody stands out", "No participant gives a reason for a second look."
        )
    return Verdict(
        "Participants",
        "fair",
        f"{number(len(odd))} of {number(len(quality.participants))} to review",
        f"{listed(odd)} {'answers' if len(odd) == 1 else 'answer'} unlike the others; see data quality for the "
        "reasons. Their answers are in this analysis: to leave somebody out, list them in a file for --exclude.",
    )
