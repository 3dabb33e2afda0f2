"""Recognise screens (grids, lists, rankings) in bare triplets that have lost their statement ids.

One screen gives many rows about one anchor: every option that was picked against every option that was not. Such
rows are not independent questions, and two marks tell. Pairs (anchor, option) come back far more often than
independent questions would bring them; and within an anchor, an option wins or loses all of its comparisons of one
screen (grids, lists), or comparisons are transitive as only a ranking made in one go is. Questions chosen
adaptively bring pairs back too, but answers given one by one do not agree with each other like that. Nor do those within booklets, but
they are transitive where people are sure; in a booklet, though, two objects come back together whichever of them is the anchor. Where noisy screens are
so many that most comparisons of a pair come from different ones, agreement fades; then the order of the rows still
tells, if the file kept it: rows of one screen follow each other, and the same pair comes back in a later run. And if it did not,
arithmetic tells: where two of six are picked, each picked option wins four times, so that every count of wins is a multiple
of four, whatever was answered.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearfar.triplets import Triplets

__all__ = ["Screens", "recognise_screens", "screen_runs"]

EXCESS = 1.5  # of the variance of how often pairs come back; independent questions give 1, screens 1.8 to 8
SAME = 0.7  # independent answers along a line agree in at most 2/3
TRANSITIVE = 0.84
PATHS = 60
RECIPROCAL = 0.5  # of the excess of pairs (anchor, option) stands in (option, anchor), too: all of it within booklets, none on screens
FEWEST = 50  # different questions
RUNS = 0.4  # of rows that have the anchor and near of the row before them; sorted files have one run per pair
AGAIN = 1.2  # runs per pair
MULTIPLES = (
    0.9  # of the pairs (anchor, near) that win a multiple of some number; by chance at most about a half do
)
MOST_LOST = 60  # options of a screen that one option may win over
COMPLETE = 0.9  # of all possible questions: a complete design brings every pair back


@dataclass(frozen=True)
class Screens:
    """The evidence for screens.

    Parameters
    ----------
    found : whether the answers look like screens.
    excess : variance of how often pairs (anchor, option) come back, over that of independent questions.
    same : how often two different questions about one pair have the same outcome for the option.
    transitive : where b won over c, c over d, and b was compared with d: how often b won; NaN where not needed.
    runs : share of rows that have the anchor and near of the row before them.
    """

    found: bool
    excess: float
    same: float
    transitive: float
    runs: float


def recognise_screens(answers: Triplets) -> Screens:
    """Whether bare triplets came from screens, by their structure alone.

    >>> rng = np.random.default_rng(0)
    >>> trios = np.argsort(rng.random((400, 30)))[:, :3]
    >>> recognise_screens(Triplets.from_array(trios, n_objects=30)).found
    False
    >>> lists = [[a, near, far] for a, near, *rest in np.argsort(rng.random((60, 30)))[:, :9] for far in rest]
    >>> recognise_screens(Triplets.from_array(lists, n_objects=30)).found
    True
    """
    n = np.int64(answers.n_objects)
    first = np.unique(answers.question_ids, return_index=True)[
        1
    ]  # repeats of a question do not indicate a screen
    anchor, near, far = (role[first].astype(np.int64) for role in (answers.anchor, answers.near, answers.far))
    if len(first) < FEWEST:
        return Screens(False, np.nan, np.nan, np.nan, np.nan)
    pairs, codes = np.unique(np.concatenate([anchor * n + near, anchor * n + far]), return_inverse=True)
    count = np.bincount(codes).astype(np.float64)
    excess = _excess(anchor, np.concatenate([near, far]), pairs, count, int(n))
    won = np.bincount(codes[: len(first)], minlength=len(pairs)).astype(np.float64)
    lost = count - won
    ordered = np.sum(count * (count - 1))
    same = float(np.sum(won * (won - 1) + lost * (lost - 1)) / ordered) if ordered else np.nan
    runs, in_order = _runs(answers)
    if _in_multiples(answers):
        return Screens(True, excess, same, np.nan, runs)
    if not excess > EXCESS or not np.isfinite(same):
        return Screens(False, excess, same, np.nan, runs)
    if same >= SAME or in_order:
        return Screens(True, excess, same, np.nan, runs)
    paths, share = _transitivity(anchor, near, far)
    found = (
        paths >= PATHS
        and share >= TRANSITIVE
        and _reciprocal(anchor, np.concatenate([near, far]), pairs, count, int(n)) < RECIPROCAL * (excess - 1)
    )
    return Screens(bool(found), excess, same, share, runs)


def screen_runs(answers: Triplets, complete: float = 0.9) -> NDArray[np.int64] | None:
    """(m,) number of the run of rows with one anchor, where runs look like screens; None where they do not.

    A grid or list gives every picked option against every other one, a ranking every pair of options. Nine in ten rows
    must stand in a run that has so many rows, half of them for a grid, whose rows may have been selected. A file that is
    sorted, or shuffled, has no such runs.

    >>> rows = [[0, near, far] for near in (1, 2) for far in (3, 4)] + [[5, 1, far] for far in (0, 2)]
    >>> screen_runs(Triplets.from_array(rows, n_objects=6))
    array([0, 0, 0, 0, 1, 1])
    """
    run = np.cumsum(np.diff(answers.anchor, prepend=answers.anchor[:1]) != 0)
    size = np.bincount(run)
    near, far, both = (
        np.bincount(
            np.unique(np.tile(run, len(roles)) * np.int64(answers.n_objects) + np.concatenate(roles))
            // answers.n_objects
        )
        for roles in ([answers.near], [answers.far], [answers.near, answers.far])
    )
    whole = (size > 1) & ((2 * size >= near * far) & (near + far == both) | (2 * size == both * (both - 1)))
    return run if np.sum(size[whole]) >= complete * len(run) else None


def _runs(answers: Triplets) -> tuple[float, bool]:
    """The share of rows that go on with (anchor, near) of the row before, and whether runs are those of screens.

    A file sorted by anchor and near has long runs as well, but one per pair.
    """
    pair = answers.anchor.astype(np.int64) * answers.n_objects + answers.near
    goes_on = pair[1:] == pair[:-1]
    share = float(goes_on.mean()) if len(goes_on) else 0.0
    count = 1 + int((~goes_on).sum())
    return share, share >= RUNS and count >= AGAIN * len(np.unique(pair))


def _in_multiples(answers: Triplets) -> bool:
    """Whether pairs (anchor, near) win in multiples of one number, as the options picked on a screen do.

    Not by the same rows coming back, as those of planned repeats, or of a file joined with itself, do.
    """
    n = np.int64(answers.n_objects)
    pair = answers.anchor.astype(np.int64) * n + answers.near
    often = np.unique(pair * n + answers.far, return_counts=True)[1]
    wins = np.unique(pair, return_counts=True)[1]
    if len(wins) < FEWEST:
        return False
    return any(
        np.mean(wins % g == 0) >= MULTIPLES and np.mean(often % g == 0) < 0.5 for g in range(2, MOST_LOST + 1)
    )


def _excess(
    anchor: NDArray[np.int64], option: NDArray[np.int64], pairs: NDArray[Any], count: NDArray[Any], n: int
) -> float:
    """sum over pairs (a, o), a != o, of (count - expected)^2 / sum expected, over what a sample of questions gives.

    Expected: two options for every question of an anchor, each option as frequent as it is over all anchors.
    """
    of_anchor, of_option = _frequencies(anchor, option, n)
    sample = _of_a_sample(of_anchor, of_option)
    if sample <= 0:
        return 0.0
    expected = 2 * of_anchor[pairs // n] * of_option[pairs % n]
    itself = 2 * of_anchor * of_option
    squares = 4 * np.sum(of_anchor**2) * np.sum(of_option**2) - np.sum(itself**2)
    return float((np.sum(count**2 - 2 * count * expected) + squares) / sample)


def _reciprocal(
    anchor: NDArray[np.int64], option: NDArray[np.int64], pairs: NDArray[Any], count: NDArray[Any], n: int
) -> float:
    """sum over pairs (a, o), a != o, of (count - expected) of (a, o) and of (o, a), in the units of ``_excess``.

    Independent questions give 0. Sets of objects give as much as the excess is above 1, for it lies in both directions. How
    many pairs are there at all does not matter: in a few well-filled sets nearly all are.
    """
    of_anchor, of_option = _frequencies(anchor, option, n)
    turned = pairs % n * n + pairs // n
    at = np.minimum(np.searchsorted(pairs, turned), len(pairs) - 1)
    count_turned = np.where(pairs[at] == turned, count[at], 0.0)
    expected_turned = 2 * of_anchor[pairs % n] * of_option[pairs // n]
    itself = 2 * of_anchor * of_option
    products = itself.sum() ** 2 - np.sum(itself**2)
    total = np.sum(count * count_turned - 2 * count * expected_turned) + products
    return float(total / _of_a_sample(of_anchor, of_option))


def _frequencies(
    anchor: NDArray[np.int64], option: NDArray[np.int64], n: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How often every object is the anchor, and its share of the options."""
    return np.bincount(anchor, minlength=n).astype(np.float64), np.bincount(option, minlength=n) / len(option)


def _of_a_sample(of_anchor: NDArray[np.float64], of_option: NDArray[np.float64]) -> float:
    """What a sample of questions, none of them twice, gives for the squares of count - expected; 0 for a complete design."""
    options = int((of_option > 0).sum())
    possible = (of_anchor > 0).sum() * (options - 1) * (options - 2) / 2
    asked = of_anchor.sum() / possible if possible > 0 else 1.0
    total = 2 * of_anchor.sum() - np.sum(2 * of_anchor * of_option)
    return float(total * (1 - asked)) if asked < COMPLETE else 0.0


def _transitivity(
    anchor: NDArray[np.int64], near: NDArray[np.int64], far: NDArray[np.int64]
) -> tuple[float, float]:
    """How many paths b over c over d have ends that were compared too, and the share of them where b won."""
    straight = circles = 0.0
    order = np.argsort(anchor, kind="stable")
    edges = np.flatnonzero(np.diff(anchor[order], prepend=-1, append=-2))
    for start, stop in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        rows = order[start:stop]
        options, codes = np.unique(np.concatenate([near[rows], far[rows]]), return_inverse=True)
        beats = np.zeros((len(options), len(options)))
        beats[codes[: len(rows)], codes[len(rows) :]] = 1
        over = beats @ beats
        straight += float(np.sum(over * beats))
        circles += float(np.sum(over * beats.T))
    total = straight + circles
    return total, straight / total if total else np.nan
