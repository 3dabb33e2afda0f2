"""What a collection of answers holds: plain facts, how often everything was asked, what was sent twice, control questions, and screens."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nearfar import words
from nearfar._tools.arrays import dense_codes, distinct
from nearfar.triplets import Triplets, random_rows

if TYPE_CHECKING:
    from nearfar.io import ReadResult


class AnswerCounts:
    """How often everything was asked.

    ``per_object`` : (n,) answers that concern every object; ``task`` : what one trial asked, a key of ``words.TASKS``;
    ``statements``, ``triplets``, ``questions`` : how many different ones; ``repeated``, ``by_several``, ``contradicted`` :
    questions answered more than once, by several participants, and both ways; ``by_same`` : how often somebody answered one again.

    >>> counts = AnswerCounts(Triplets.from_array([[0, 1, 2], [0, 2, 1], [1, 0, 2]]))
    >>> counts.task, counts.questions, counts.repeated, counts.contradicted
    ('near', 2, 1, 1)
    """

    def __init__(self, answers: Triplets) -> None:
        ids, codes = np.unique(answers.question_ids, return_inverse=True)
        self.times = np.bincount(codes)
        first_option = np.bincount(codes[answers.near < answers.far], minlength=len(ids))
        self.both = (first_option > 0) & (first_option < self.times)
        self.per_object = np.bincount(answers.array.ravel(), minlength=answers.n_objects)
        self.task = task_of(answers)
        self.statements, self.questions = len(distinct(answers.statement_ids)), len(ids)
        self.repeated, self.contradicted = int((self.times > 1).sum()), int(self.both.sum())
        self.triplets = self.questions + self.contradicted
        self.by_several = self.by_same = 0
        if (people := answers.participant) is not None:
            known, size = np.isin(people.codes, people.known), len(people.names)
            pairs, times = np.unique((codes * size + people.codes)[known], return_counts=True)
            self.by_several = int((np.bincount(pairs // size) > 1).sum())
            self.by_same = int((times > 1).sum())


def task_of(answers: Triplets) -> str:
    """What one trial asked, seen from the triplets of its statement: "near", "odd", "central", "grid", "ranking" or "mixed".

    "screens" where rows look like those of screens that have lost their statement ids.
    """
    m, statement = len(answers), answers.statement_ids
    if (n_statements := len(distinct(statement))) == m:
        return "screens" if are_screens(answers) else "near"
    for task, role in (("odd", "far"), ("central", "near")):
        if 2 * len(choices_of_three(answers, role)) == m:
            return task
    code = dense_codes(statement) * answers.n_objects
    if len(distinct(code + answers.anchor)) > n_statements:
        return "mixed"
    return "ranking" if np.isin(code + answers.near, code + answers.far).any() else "grid"


def choices_of_three(answers: Triplets, role: str) -> NDArray[np.intp]:
    """A row of every statement of exactly two that chooses one of three: role "far" the odd one, "near" the most central.

    Odd-one-out gives (a, b, odd) and (b, a, odd); most-central gives (a, central, b) and (b, central, a).
    """
    statement = dense_codes(answers.statement_ids)
    by_statement = np.argsort(statement, kind="stable")
    size = np.bincount(statement)
    first = (np.cumsum(size) - size)[size == 2]
    one, two = by_statement[first], by_statement[first + 1]
    choice, trios = getattr(answers, role), answers.trio_ids
    twins = (choice[one] == choice[two]) & (trios[one] == trios[two])
    return np.asarray(one[twins & (answers.anchor[one] != answers.anchor[two])])


def summarise(result: ReadResult, examples: int = 3) -> dict[str, Any]:
    """Facts about what was read: of the answers, and of the rows that were not answers with the first of each reason."""
    import polars as pl

    from nearfar.io.suspicions import similar_names

    triplets, people = result.triplets, result.triplets.participant
    counts = AnswerCounts(triplets)
    right = {"correct": pl.col("correct").sum(), "wrong": (~pl.col("correct")).sum()}
    asides = result.checks.group_by("kind", maintain_order=True).agg(count=pl.len(), **right)
    return {
        "objects": triplets.n_objects,
        "answers": len(triplets),
        "unique": counts.triplets,
        "contradicting_pairs": counts.contradicted,
        "contradicting_answers": int(counts.times[counts.both].sum()),
        "task": counts.task,
        "statements": None if triplets.statement is None else counts.statements,
        "participants": None if people is None else len(people.known),
        "repeated_questions": counts.repeated,
        "repeated_answers": int(counts.times[counts.times > 1].sum()),
        "repeated_within": None if people is None else counts.by_same,
        "double_submits": int(double_submits(triplets).sum()),
        "controls": controls_text(triplets),
        "unanswered": [triplets.objects[i] for i in np.flatnonzero(counts.per_object == 0)],
        "similar_names": similar_names(triplets.objects),
        "sources": [asdict(source) for source in result.sources],
        "set_aside": asides.to_dicts(),
        "rejected": _rejections(result, examples),
    }


def _rejections(result: ReadResult, examples: int) -> list[dict[str, Any]]:
    """Rows that were not answers by reason, the commonest first."""
    words = {source.name: source.row_word for source in result.sources}
    reasons = []
    for (reason,), rows in result.rejected.group_by("reason", maintain_order=True):
        first = rows.head(examples).select("file", "line", "content").rows()
        shown = [f"{file}, {words[file]} {line}: {content}" for file, line, content in first]
        about = {"reason": reason, "count": len(rows), "expected": rows["expected"][0]}
        reasons.append({**about, "examples": shown})
    return sorted(reasons, key=lambda rejection: -rejection["count"])


def double_submits(triplets: Triplets, within: float = 0.5) -> NDArray[np.bool_]:
    """(m,) True where the same participant answered the same question less than ``within`` seconds before.

    Answers that arrive together, such as those given without a network, are told apart by their response times.
    """
    flags = np.zeros(len(triplets), dtype=bool)
    if triplets.participant is None or triplets.answered_at is None:
        return flags
    questions, who, when = triplets.question_ids, triplets.participant.codes, triplets.answered_at
    seconds = np.full(len(when), np.nan) if triplets.seconds is None else triplets.seconds
    order = np.lexsort((seconds, when, questions, who))
    before, after = order[:-1], order[1:]
    again = (who[before] == who[after]) & (questions[before] == questions[after])
    gap = when[after] - when[before]
    apart = np.abs(seconds[after] - seconds[before]) > gap + 1e-3
    flags[after] = again & (gap <= within) & ~apart
    return flags


def control_rows(answers: Triplets, often: int = 10, far_more: int = 5) -> NDArray[np.bool_]:
    """(m,) answers to control questions: asked at least 10 times, and 5 times as often as the median question.

    >>> often = Triplets.from_array([[0, 1, 2]] * 12 + [[1, 2, 3], [2, 3, 0], [3, 0, 1]])
    >>> control_rows(often).sum()
    np.int64(12)
    """
    ids = answers.question_ids
    ordered = np.sort(ids)  # quicker than counting, for the many collections without
    if not np.any(ordered[often - 1 :] == ordered[: max(len(ids) - often + 1, 0)]):
        return np.zeros(len(ids), dtype=bool)
    codes = dense_codes(ids)
    count = np.bincount(codes)
    control = (count >= often) & (count > far_more * np.median(count))
    return np.asarray(control[codes])


def controls_text(answers: Triplets) -> str:
    """The sentence about control questions that are not declared; "" where there are none. Adaptive questions may come often."""
    drawn = random_rows(answers)
    if drawn is not None:
        answers = answers[np.flatnonzero(drawn)]
    controls = control_rows(answers)
    return words.controls(len(np.unique(answers.question_ids[controls])), int(controls.sum()))


MIN_QUESTIONS = 50  # different questions, or pairs


def are_screens(answers: Triplets) -> bool:
    """Whether bare triplets came from screens (grids, lists, rankings) that have lost their statement ids, by their structure alone.

    One screen gives many rows about one anchor: every option that was picked against every option that was not. That shows in two
    ways. Where two of six are picked, every count of wins is a multiple of four. Or pairs (anchor, option) come back far more often
    than independent questions would bring them, and an option wins or loses all of its comparisons of one screen, or comparisons
    are transitive, as those of a ranking are. Adaptive questions bring pairs back too, but do not agree like that. In booklets two
    objects come back together whichever of them is the anchor.

    >>> rng = np.random.default_rng(0)
    >>> trios = np.argsort(rng.random((400, 30)))[:, :3]
    >>> are_screens(Triplets.from_array(trios, n_objects=30))
    False
    >>> lists = [[a, near, far] for a, near, *rest in np.argsort(rng.random((60, 30)))[:, :9] for far in rest]
    >>> are_screens(Triplets.from_array(lists, n_objects=30))
    True
    """
    first = np.unique(answers.question_ids, return_index=True)[1]  # repeats do not indicate a screen
    if len(first) < MIN_QUESTIONS:
        return False
    if _in_multiples(answers):
        return True
    anchor, near, far = answers.array[first].astype(np.int64).T
    n, option = answers.n_objects, np.concatenate([near, far])
    pairs, codes = np.unique(np.tile(anchor, 2) * n + option, return_inverse=True)
    count = np.bincount(codes).astype(np.float64)
    # independent questions have an excess of 1, screens 1.8 to 8; within booklets all that is above 1 is reciprocal
    roles = np.bincount(anchor, minlength=n), np.bincount(option, minlength=n)
    excess, reciprocal = _excess(*roles, pairs, count)
    if excess <= 1.5:
        return False
    won = np.bincount(codes[: len(first)], minlength=len(pairs))
    lost = count - won
    same = np.sum(won * (won - 1) + lost * (lost - 1)) / np.sum(count * (count - 1))
    return bool(
        same >= 0.7  # two questions about one pair; independent answers along a line agree in at most 2/3
        or (reciprocal < 0.5 * (excess - 1) and _is_transitive(anchor, near, far))
    )


def screen_runs(answers: Triplets, complete: float = 0.9) -> NDArray[np.int64] | None:
    """(m,) number of the run of rows with one anchor, where runs look like screens; None where they do not.

    A grid or list gives every picked option against every other one, a ranking every pair of options. Nine in ten rows
    must stand in a run that has so many rows (half of them for a grid, whose rows may have been selected).

    >>> rows = [[0, near, far] for near in (1, 2) for far in (3, 4)] + [[5, 1, far] for far in (0, 2)]
    >>> screen_runs(Triplets.from_array(rows, n_objects=6))
    array([0, 0, 0, 0, 1, 1])
    """
    run = np.cumsum(np.diff(answers.anchor, prepend=answers.anchor[:1]) != 0)
    size = np.bincount(run)

    def different(*roles: NDArray[Any]) -> NDArray[Any]:
        """(runs,) how many objects play these roles."""
        n = np.int64(answers.n_objects)
        return np.bincount(distinct(np.tile(run, len(roles)) * n + np.concatenate(roles)) // n)

    near, far, both = different(answers.near), different(answers.far), different(answers.near, answers.far)
    whole = (size > 1) & ((2 * size >= near * far) & (near + far == both) | (2 * size == both * (both - 1)))
    return run if np.sum(size[whole]) >= complete * len(run) else None


def _in_multiples(answers: Triplets, most_lost: int = 60) -> bool:
    """Whether nine in ten pairs (anchor, near) win in multiples of one number; by chance at most about half do.

    Not by the same rows coming back, as those of planned repeats, or of a file joined with itself, do.
    """
    n = np.int64(answers.n_objects)
    pair = answers.anchor.astype(np.int64) * n + answers.near
    often = np.unique(pair * n + answers.far, return_counts=True)[1]
    wins = np.unique(pair, return_counts=True)[1]
    if len(wins) < MIN_QUESTIONS or np.mean(wins == 1) > 0.1:
        return False
    several = range(2, most_lost + 1)
    return any(np.mean(wins % g == 0) >= 0.9 and np.mean(often % g == 0) < 0.5 for g in several)


def _excess(
    as_anchor: NDArray[Any], as_option: NDArray[Any], pairs: NDArray[Any], count: NDArray[Any]
) -> tuple[float, float]:
    """sum over pairs (a, o), a != o, of (count - expected)^2, and of (count - expected) of (a, o) times that of (o, a).

    Both over what a sample of questions gives for the first. Expected: two options for every question of an anchor, each
    option as frequent as it is over all anchors. 0 where nine in ten possible questions were asked, for a complete design
    brings every pair back.
    """
    n, share = len(as_anchor), as_option / as_option.sum()
    options = int((share > 0).sum())
    possible = (as_anchor > 0).sum() * (options - 1) * (options - 2) / 2
    asked = as_anchor.sum() / possible if possible > 0 else 1.0
    if asked >= 0.9:
        return 0.0, 0.0
    itself = 2 * as_anchor * share
    sample = (2 * as_anchor.sum() - itself.sum()) * (1 - asked)
    squares = 4 * np.sum(as_anchor.astype(np.float64) ** 2) * np.sum(share**2) - np.sum(itself**2)
    products = itself.sum() ** 2 - np.sum(itself**2)
    turned = pairs % n * n + pairs // n
    at = np.minimum(np.searchsorted(pairs, turned), len(pairs) - 1)
    count_turned = np.where(pairs[at] == turned, count[at], 0.0)
    expected, expected_turned = (2 * as_anchor[p // n] * share[p % n] for p in (pairs, turned))
    excess = np.sum(count**2 - 2 * count * expected) + squares
    reciprocal = np.sum(count * count_turned - 2 * count * expected_turned) + products
    return float(excess / sample), float(reciprocal / sample)


def _is_transitive(anchor: NDArray[np.int64], near: NDArray[np.int64], far: NDArray[np.int64]) -> bool:
    """Whether b won in 84 % of at least 60 paths b over c over d whose ends b and d were compared too."""
    straight = circles = 0.0
    order = np.argsort(anchor, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(anchor[order])) + 1):
        options, codes = np.unique(np.concatenate([near[rows], far[rows]]), return_inverse=True)
        beats = np.zeros((len(options), len(options)))
        beats[codes[: len(rows)], codes[len(rows) :]] = 1
        over = beats @ beats
        straight += float(np.sum(over * beats))
        circles += float(np.sum(over * beats.T))
    return straight + circles >= 60 and straight >= 0.84 * (straight + circles)
