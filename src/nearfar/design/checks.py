"""Questions whose answer is known, which show who reads them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearfar._tools.arrays import Indices
from nearfar._tools.checks import Seed, check_count, generator
from nearfar.design._inputs import Objects, object_names
from nearfar.design.questions import QuestionKind, Questions
from nearfar.errors import InputError

__all__ = ["check_questions", "expected_objects"]


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
    rounds = [_round(n, others, rng) for _ in range(-(-count // n))]
    subject, *beside = np.concatenate([np.zeros((1 + others, 0), np.int64), *rounds], axis=1)[:, :count]
    own = subject[:, None].astype(np.int32)
    alike = [own] if kind in ("near", "grid") else [own, own]
    options = rng.permuted(np.concatenate([*alike, np.array(beside).T], axis=1), axis=1)
    rows = np.concatenate([own, options], axis=1) if kind in ("near", "grid") else options
    return Questions(rows.astype(np.int32), names, kind, pick if kind == "grid" else 1)


def _round(n: int, others: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """(1 + others, n) every object once as the subject, and once in each place beside it: one circle, turned."""
    circle = rng.permutation(n)
    turns = rng.choice(n - 1, others, replace=False) + 1
    return np.stack([circle, *(np.roll(circle, turn) for turn in turns.tolist())])


def expected_objects(checks: Questions) -> Indices:
    """(m,) the object that is the right choice in each check question."""
    if checks.anchored:
        return np.asarray(checks.anchor, dtype=np.int32)
    first, second, third = checks.array.T
    doubled = np.where((first == second) | (first == third), first, second)
    if checks.kind == "central":
        return np.asarray(doubled, dtype=np.int32)
    return np.asarray(first ^ second ^ third, dtype=np.int32)  # the two alike cancel out
