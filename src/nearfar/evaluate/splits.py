"""Honest splits: what a model is tested on never stood, in any form, in what it was fitted on.

The unit that is drawn is a trio (all repeats, and both triplets of an odd-one-out, stay on one side). A statement
that spans several trios, such as a grid screen, is a unit of its own; then the rows whose question stands in the
test part are taken out of training. The test part is never filtered by what was answered.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nearfar.errors import InputError
from nearfar.triplets import Triplets, as_triplets

__all__ = ["Split", "as_number", "holdout", "kfold", "split_units"]

Rows = NDArray[np.intp]


class Split(NamedTuple):
    """Row numbers to fit on and to test on, each in ascending order."""

    train: Rows
    test: Rows


@dataclass(frozen=True)
class Units:
    """``codes[t]`` in 0..count-1 is the unit of answer t; ``spans``: whether some statement spans several trios."""

    codes: NDArray[np.int64]
    count: int
    spans: bool


def split_units(answers: Triplets | ArrayLike) -> Units:
    """What may not be torn apart: the trio of an answer, or its statement where that spans several trios.

    >>> answers = Triplets.from_odd_one_out([[0, 1, 2], [0, 3, 1], [2, 0, 1]])
    >>> split_units(answers).codes
    array([0, 0, 1, 1, 0, 0])
    >>> screen = Triplets.from_array([[0, 1, 2], [0, 1, 3], [0, 1, 2]], statement=[7, 7, 8])
    >>> split_units(screen)
    Units(codes=array([1, 1, 0]), count=2, spans=True)
    """
    answers = as_triplets(answers)
    trios = np.unique(answers.trio_ids, return_inverse=True)[1].astype(np.int64)
    statements = answers.statement_ids
    some_trio = np.zeros(int(statements.max(initial=-1)) + 1, dtype=np.int64)
    some_trio[statements] = trios
    spanning = np.zeros(len(some_trio), dtype=bool)
    spanning[statements[trios != some_trio[statements]]] = True
    if spanning.any():
        own = len(trios) + statements  # past every trio code
        trios = np.unique(np.where(spanning[statements], own, trios), return_inverse=True)[1].astype(np.int64)
    return Units(trios, int(trios.max(initial=-1)) + 1, bool(spanning.any()))


def holdout(
    answers: Triplets | ArrayLike, share: float = 0.2, *, seed: int | np.random.Generator = 0
) -> Split:
    """Put about ``share`` of the units (trios, or statements that span trios) into the test part.

    Parameters
    ----------
    answers : what was answered.
    share : between 0 and 1, exclusive.
    seed : a number or a numpy Generator; the order of the answers does not matter.

    Returns
    -------
    Split : row numbers ``train`` and ``test``; rows in neither were answers to a test question.

    Examples
    --------
    >>> answers = Triplets.from_odd_one_out([[0, 1, 2], [0, 3, 1], [2, 0, 1], [3, 1, 2]])
    >>> train, test = holdout(answers, 0.3, seed=1)
    >>> answers[test].array.tolist()
    [[0, 1, 2], [1, 0, 2], [2, 0, 1], [0, 2, 1]]
    """
    answers = as_triplets(answers)
    if not 0 < share < 1:
        raise InputError(
            f"share: {share} came, expected a number between 0 and 1, such as 0.2",
        )
    units = split_units(answers)
    _need_units(units, 2, "a training and a test part")
    held = min(max(1, round(share * units.count)), units.count - 1)
    chosen = np.zeros(units.count, dtype=bool)
    chosen[np.random.default_rng(seed).permutation(units.count)[:held]] = True
    return _split(chosen[units.codes], _questions(answers, units))


def kfold(
    answers: Triplets | ArrayLike, cv: int = 5, *, seed: int | np.random.Generator = 0
) -> Iterator[Split]:
    """Cut the units into ``cv`` parts of (almost) equal size; each is the test part once.

    Every answer is in exactly one test part. Parameters and result as for ``holdout``.

    >>> answers = Triplets.from_array([[0, 1, 2], [0, 2, 1], [0, 1, 3], [3, 0, 2]])
    >>> [test.tolist() for train, test in kfold(answers, 3)]
    [[3], [0, 1], [2]]
    """
    answers = as_triplets(answers)
    if cv != int(cv) or cv < 2:
        raise InputError(
            f"cv: {cv} came, expected a whole number of parts, at least 2",
        )
    units = split_units(answers)
    _need_units(units, int(cv), f"{int(cv)} parts")
    part = np.empty(units.count, dtype=np.int64)
    part[np.random.default_rng(seed).permutation(units.count)] = np.arange(units.count) % int(cv)
    own = part[units.codes]
    questions = _questions(answers, units)
    return (_split(own == number, questions) for number in range(int(cv)))


def as_number(seed: int | np.random.Generator) -> int:
    """One number from a seed, for work that draws several times; a Generator moves on by it."""
    return int(seed.integers(2**31)) if isinstance(seed, np.random.Generator) else int(seed)


def _need_units(units: Units, needed: int, what: str) -> None:
    if units.count < needed:
        kind = "statement" if units.spans else "trio"
        found = f"1 {kind}" if units.count == 1 else f"{units.count} different {kind}s"
        raise InputError(
            f"answers: they hold {found}, too few for {what}; collect more answers or ask for fewer parts",
        )


def _questions(answers: Triplets, units: Units) -> NDArray[np.int64] | None:
    """Codes of the questions where a split by unit could leave one question on both sides, else None."""
    if not units.spans:
        return None
    return np.unique(answers.question_ids, return_inverse=True)[1].astype(np.int64)


def _split(is_test: NDArray[np.bool_], questions: NDArray[np.int64] | None) -> Split:
    if questions is None:
        return Split(np.flatnonzero(~is_test), np.flatnonzero(is_test))
    asked = np.zeros(int(questions.max(initial=-1)) + 1, dtype=bool)
    asked[questions[is_test]] = True
    return Split(np.flatnonzero(~(is_test | asked[questions])), np.flatnonzero(is_test))
