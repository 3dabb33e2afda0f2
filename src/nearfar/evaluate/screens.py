"""Recognise screens (grids, lists, rankings) in bare triplets that have lost their statement ids.

One screen gives many rows about one anchor: every option that was picked against every option that was not. That shows in two
ways. Where two of six are picked, every count of wins is a multiple of four. Or pairs (anchor, option) come back far more often
than independent questions would bring them, and an option wins or loses all of its comparisons of one screen, or rows of one
screen follow each other in the file, or comparisons are transitive, as those of a ranking are. Adaptive questions bring pairs
back too, but do not agree like that. In booklets two objects come back together whichever of them is the anchor.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearfar.triplets import Triplets

FEWEST = 50  # different questions, or pairs


def are_screens(answers: Triplets) -> bool:
    """Whether bare triplets came from screens, by their structure alone.

    >>> rng = np.random.default_rng(0)
    >>> trios = np.argsort(rng.random((400, 30)))[:, :3]
    >>> are_screens(Triplets.from_array(trios, n_objects=30))
    False
    >>> lists = [[a, near, far] for a, near, *rest in np.argsort(rng.random((60, 30)))[:, :9] for far in rest]
    >>> are_screens(Triplets.from_array(lists, n_objects=30))
    True
    """
    first = np.unique(answers.question_ids, return_index=True)[1]  # repeats do not indicate a screen
    if len(first) < FEWEST:
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
        or _in_runs(answers)
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
        return np.bincount(np.unique(np.tile(run, len(roles)) * n + np.concatenate(roles)) // n)

    near, far, both = different(answers.near), different(answers.far), different(answers.near, answers.far)
    whole = (size > 1) & ((2 * size >= near * far) & (near + far == both) | (2 * size == both * (both - 1)))
    return run if np.sum(size[whole]) >= complete * len(run) else None


def _in_runs(answers: Triplets) -> bool:
    """Whether 40 % of rows go on with (anchor, near) of the row before; a sorted file has one run per pair."""
    pair = answers.anchor.astype(np.int64) * answers.n_objects + answers.near
    goes_on = pair[1:] == pair[:-1]
    return bool(goes_on.mean() >= 0.4 and 1 + np.sum(~goes_on) >= 1.2 * len(np.unique(pair)))


def _in_multiples(answers: Triplets, most_lost: int = 60) -> bool:
    """Whether nine in ten pairs (anchor, near) win in multiples of one number; by chance at most about half do.

    Not by the same rows coming back, as those of planned repeats, or of a file joined with itself, do.
    """
    n = np.int64(answers.n_objects)
    pair = answers.anchor.astype(np.int64) * n + answers.near
    often = np.unique(pair * n + answers.far, return_counts=True)[1]
    wins = np.unique(pair, return_counts=True)[1]
    if len(wins) < FEWEST:
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
