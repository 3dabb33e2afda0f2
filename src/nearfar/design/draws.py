"""Questions drawn from all there are: random ones, trios and grids; and check questions, whose answer is known."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from nearfar._tools.arrays import distinct, pair_of
from nearfar._tools.checks import Seed, check_count, generator
from nearfar.design._even import balanced_rows, count_rows, near_rows
from nearfar.design.questions import (
    Objects,
    QuestionKind,
    Questions,
    check_budget,
    object_names,
    warn_uninformed,
)
from nearfar.errors import InputError, TooLargeError

MAX_OBJECTS = 2_000_000  # above it, the number of all questions does not fit in 64 bits


def random_questions(objects: Objects, budget: int, seed: Seed = 0) -> Questions:
    """Draw ``budget`` distinct "near" questions, all equally likely, in random order.

    There are n (n - 1) (n - 2) / 2 questions about n objects. Objects that happen to be in none are named in an
    ``UninformedWarning``. For a study take ``near_questions``, which asks about all objects equally often.

    >>> random_questions(["red", "pink", "blue"], 3).array.shape
    (3, 3)
    """
    n = int(objects) if isinstance(objects, (int, np.integer)) else len(objects)
    if n > MAX_OBJECTS:
        raise TooLargeError(f"{n:,} objects: random questions are drawn for at most {MAX_OBJECTS:,}")
    names, rng, total = object_names(objects), generator(seed), count_rows(n, [1, 2])
    check_budget(budget, total)
    codes = _distinct(total, budget, rng)
    rng.shuffle(codes)
    out = unrank(codes, n)
    warn_uninformed(names, out, budget, "random draws need several questions per object to reach them all")
    return Questions(out.T, names)


def _distinct(total: int, count: int, rng: Generator) -> NDArray[np.int64]:
    """``count`` distinct numbers below ``total``, all sets equally likely, in memory O(count)."""
    if count > total // 2:  # then marking all of them costs no more than the result
        keep = np.ones(total, dtype=bool)
        keep[_distinct(total, total - count, rng)] = False
        return np.flatnonzero(keep)
    codes = np.empty(0, dtype=np.int64)
    while len(codes) < count:
        more = rng.integers(total, size=int(1.05 * (count - len(codes))) + 10)
        codes = distinct(np.concatenate([codes, more]))
    # Drawing treats all numbers alike, and so does dropping the surplus: the set stays uniform.
    surplus = rng.choice(len(codes), len(codes) - count, replace=False)
    return np.delete(codes, surplus)


def unrank(codes: NDArray[np.int64], n: int) -> NDArray[np.int32]:
    """(3, m) anchor, one, other of the questions with these numbers, of the n (n - 1)(n - 2) / 2 there are."""
    anchor, pair = np.divmod(codes, (n - 1) * (n - 2) // 2)
    low, high = pair_of(pair)
    return np.array([anchor, low + (low >= anchor), high + (high >= anchor)], dtype=np.int32)


def near_questions(
    objects: Objects, budget: int, *, besides: Questions | None = None, seed: Seed = 0
) -> Questions:
    """Draw ``budget`` distinct "near" questions, evenly over the objects, in random order.

    Every object is the anchor equally often, and stands in equally many questions, give or take one. Each question is
    about three objects that no other is about, as long as there are such; then every three are asked about twice, and so on.

    Parameters
    ----------
    objects : names, or their number.
    budget : how many of the n (n - 1) (n - 2) / 2 there are.
    besides : "near" questions about the same objects that are asked anyway: they count as drawn, and what they leave may
        not allow questions that are as even.
    seed : whole number or numpy Generator.

    >>> import numpy as np
    >>> questions = near_questions(9, 18)
    >>> np.bincount(questions.anchor).tolist(), np.bincount(questions.array.ravel()).tolist()
    ([2, 2, 2, 2, 2, 2, 2, 2, 2], [6, 6, 6, 6, 6, 6, 6, 6, 6])
    """
    names = at_least_three(objects)
    if besides is not None and (besides.kind != "near" or besides.objects != names):
        raise InputError(f"besides: expected near questions about the same objects, got {besides!r}")
    asked = [] if besides is None else besides.array.tolist()
    check_budget(budget, count_rows(len(names), [1, 2]) - len({(x, *sorted(pair)) for x, *pair in asked}))
    rows = near_rows(len(names), budget, generator(seed), asked)
    warn_uninformed(names, rows, budget, f"{-(-len(names) // 3):,} is enough to ask about every object")
    return Questions(rows, names)


def trio_questions(
    objects: Objects, budget: int | None = None, kind: Literal["odd", "central"] = "odd", *, seed: Seed = 0
) -> Questions:
    """Draw ``budget`` distinct trios in which every object stands equally often, give or take one.

    Parameters
    ----------
    objects : names, or their number.
    budget : how many; None asks all n (n - 1) (n - 2) / 6.
    kind : "odd" asks for the odd one out, "central" for the most central one.
    seed : whole number or numpy Generator.

    >>> import numpy as np
    >>> trios = trio_questions(9, 6)
    >>> np.bincount(trios.array.ravel()).tolist()
    [2, 2, 2, 2, 2, 2, 2, 2, 2]
    """
    if kind not in ("odd", "central"):
        raise InputError(f"kind: expected 'odd' or 'central', got {kind!r}")
    names = at_least_three(objects)
    total = count_rows(len(names), [3])
    wanted = total if budget is None else budget
    check_budget(wanted, total)
    rows = balanced_rows(len(names), wanted, [3], generator(seed))
    warn_uninformed(names, rows, wanted, f"{-(-len(names) // 3):,} is enough to ask about every object")
    return Questions(rows, names, kind)


def grid_questions(
    objects: Objects, budget: int | None = None, *, size: int = 8, pick: int = 2, seed: Seed = 0
) -> Questions:
    """Draw ``budget`` distinct screens "pick the ``pick`` of these ``size`` objects that are nearest to the anchor".

    Every object is the anchor equally often, and an option equally often, give or take one.

    Parameters
    ----------
    objects : names, or their number.
    budget : screens in total; None takes one for each object as the anchor.
    size : options on a screen, at most n - 1.
    pick : options to pick, fewer than ``size``. A screen gives pick * (size - pick) triplets.
    seed : whole number or numpy Generator.

    >>> grid_questions(20, size=6, pick=2)
    Questions(20 grid questions, 20 objects)
    """
    names = at_least_three(objects)
    n = len(names)
    check_screen(n, size, pick)
    wanted = n if budget is None else budget
    check_budget(wanted, count_rows(n, [1, size]))
    rows = balanced_rows(n, wanted, [1, size], generator(seed))
    warn_uninformed(names, rows, wanted, f"{-(-n // size):,} is enough to show every object")
    return Questions(rows, names, "grid", pick)


def check_screen(n: int, size: int, pick: int) -> None:
    """Refuse a screen with more options than there are objects, or with nothing left to pick from."""
    check_count(size, "size", least=2)
    if size > n - 1:
        raise InputError(f"size: {size} options and an anchor need {size + 1} objects, got {n:,}")
    check_count(pick, "pick", most=size - 1)


def at_least_three(objects: Objects) -> tuple[str, ...]:
    """Names of the objects, of which a question needs three."""
    names = object_names(objects)
    if len(names) < 3:
        raise InputError(f"objects: a question needs three objects, got {len(names)}")
    return names


def check_questions(
    objects: Objects, count: int, kind: QuestionKind = "near", *, size: int = 8, pick: int = 1, seed: Seed = 0
) -> Questions:
    """Make ``count`` questions that answer themselves: an object stands beside itself.

    "near" and "grid": the anchor is one of its own options, and nothing is nearer. "odd": two of the three are the
    same, the third is odd. "central": two of the three are the same, either of them is right. Objects are asked about
    equally often, give or take one, and so are those beside them. Such rows are no triplets; they grade people.

    Parameters
    ----------
    objects : names, or their number.
    kind, size, pick : as the questions they stand among.
    seed : whole number or numpy Generator.

    >>> checks = check_questions(["red", "pink", "blue"], 2)
    >>> bool((checks.options == checks.anchor[:, None]).any(axis=1).all())
    True
    """
    names = object_names(objects)
    n = len(names)
    check_count(count, "count", least=0)
    others = 1 if kind != "grid" else size - 1
    if n < others + 1:
        raise InputError(f"objects: a check question of this kind needs {others + 1} objects, got {n}")
    rng = generator(seed)
    rounds = [np.empty((0, 1 + others), np.int64)]
    for _ in range(
        -(-count // n)
    ):  # every object once as the subject, and in each place beside it: one circle, turned
        circle, turns = rng.permutation(n), np.append(0, rng.choice(n - 1, others, replace=False) + 1)
        rounds.append(circle[(np.arange(n)[:, None] - turns) % n])
    options = np.concatenate(rounds)[:count]
    own, anchored = options[:, :1], kind in ("near", "grid")
    options = rng.permuted(options if anchored else np.concatenate([own, options], axis=1), axis=1)
    rows = np.concatenate([own, options], axis=1) if anchored else options
    return Questions(rows.astype(np.int32), names, kind, pick if kind == "grid" else 1)
