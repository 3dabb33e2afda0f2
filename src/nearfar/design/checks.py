"""Questions whose answer is known, which show who reads them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearfar.arrays import Indices
from nearfar.checks import Seed, check_count, generator
from nearfar.design._inputs import Objects, object_names
from nearfar.design.questions import QuestionKind, Questions
from nearfar.errors import InputError

__all__ = ["check_questions", "expected_objects"]


def check_questions(
    objects: Objects, count: int, kind: QuestionKind = "near", *, size: int = 8, pick: int = 1, seed: Seed = 0
) -> Questions:
    """Make ``count`` questions that answer themselves: an object stands beside itself.

    "near" and "grid": the anchor is one of its own options, and nothing is nearer. "odd": two of the three are the
    same, the third is odd. "central": two of the three are the same, either of them is right. Objects come equally
    often, give or take one. Such rows are no triplets; they grade people.

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
    rounds = -(-count // n)
    subject = np.concatenate([rng.permutation(n) for _ in range(rounds)] or [np.zeros(0, int)])[:count]
    beside = np.array([_others(int(x), n, others, rng) for x in subject], dtype=np.int32).reshape(
        count, others
    )
    own = subject[:, None].astype(np.int32)
    shown = [own, beside] if kind in ("near", "grid") else [own, own, beside]
    options = rng.permuted(np.concatenate(shown, axis=1), axis=1)
    rows = np.concatenate([own, options], axis=1) if kind in ("near", "grid") else options
    return Questions(rows.astype(np.int32), names, kind, pick if kind == "grid" else 1)


def _others(own: int, n: int, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    drawn: NDArray[np.int64] = rng.choice(n - 1, count, replace=False)
    return drawn + (drawn >= own)


def expected_objects(checks: Questions) -> Indices:
    """(m,) the object that is the right choice in each check question."""
    if checks.anchored:
        return np.asarray(checks.anchor, dtype=np.int32)
    first, second, third = checks.array.T
    doubled = np.where((first == second) | (first == third), first, second)
    if checks.kind == "central":
        return np.asarray(doubled, dtype=np.int32)
    return np.asarray(first ^ second ^ third, dtype=np.int32)  # the two alike cancel out
