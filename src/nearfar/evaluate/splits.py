"""Honest splits: what a model is tested on never stood, in any form, in what it was fitted on.

The unit that is drawn is a trio (all repeats, and both triplets of an odd-one-out, stay on one side). A statement
that spans several trios, such as a grid screen, is a unit of its own; then the rows whose question stands in the
test set are taken out of training. The test set is never filtered by what was answered.

Bare triplets may come from screens too, with the statements lost: then rows of one screen share (anchor, near), and
a split by trio lets a model remember that pair (one real set: 97.7 % instead of 84 %). Such structure is recognised
(``nearfar.evaluate.screens``), named by a warning, and each screen, or else (anchor, near), is kept in one fold.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nearfar._tools.checks import Seed, generator
from nearfar.errors import InputError, ScreenWarning
from nearfar.evaluate.screens import Screens, recognise_screens, screen_runs
from nearfar.triplets import Triplets, as_triplets

__all__ = [
    "KINDS",
    "By",
    "Split",
    "Units",
    "holdout",
    "kfold",
    "some_units",
    "split_units",
    "warn_of_screens",
]

RowNumbers = NDArray[np.intp]


class Split(NamedTuple):
    """Row numbers to fit on and to test on, each in ascending order."""

    train: RowNumbers
    test: RowNumbers


By = Literal["trio", "statement", "pair", "anchor", "participant"]
KINDS = get_args(By)


@dataclass(frozen=True)
class Units:
    """``codes[t]`` in 0..count-1 is the unit of answer t.

    ``kind``: "trio"; "statement" where some statement spans several trios (other answers go by trio), or where screens were
    recognised in the order of the rows; "pair" for (anchor, near), where they were recognised without it; or what was
    asked for, "anchor" or "participant".
    """

    codes: NDArray[np.int64]
    count: int
    kind: By
    screens: Screens | None = field(
        default=None, repr=False
    )  # the evidence, where they were looked for and found

    @property
    def spans(self) -> bool:
        """Whether one question may stand in several units, so that training must be cleared of test questions."""
        return self.kind in ("statement", "pair")


def split_units(answers: Triplets | ArrayLike, by: By | None = None) -> Units:
    """The unit of every answer that is kept on one side of a split.

    By default the trio, or the statement where that spans several trios. Bare triplets that came from screens have
    lost their statements, which ``recognise_screens`` sees; then the runs of rows that look like screens, where the file kept
    its order, else the pair (anchor, near).

    >>> answers = Triplets.from_odd_one_out([[0, 1, 2], [0, 3, 1], [2, 0, 1]])
    >>> split_units(answers).codes
    array([0, 0, 1, 1, 0, 0])
    >>> screen = Triplets.from_array([[0, 1, 2], [0, 1, 3], [0, 1, 2]], statement=[7, 7, 8])
    >>> split_units(screen)
    Units(codes=array([1, 1, 0]), count=2, kind='statement')
    >>> split_units(screen, "anchor").count
    1
    """
    answers = as_triplets(answers)
    if by is not None and by not in KINDS:
        raise InputError(f"by: {by!r} is not a way to split; expected one of {', '.join(KINDS)}")
    if by == "participant" and answers.participant is None:
        raise InputError("by: a split by participant needs answers with participants, and these have none")
    if by == "participant" and answers.participant is not None:
        unknown = answers.participant == ""
        people = answers.participant.codes.astype(np.int64)
        return _units(np.where(unknown, len(answers.participant.names) + answers.statement_ids, people), by)
    if by == "anchor":
        return _units(answers.anchor, by)
    if by == "trio":
        return _units(answers.trio_ids, by)
    spanning = _spanning(answers)
    screens = recognise_screens(answers) if by is None and not spanning.any() else None
    if by == "pair" or (screens is not None and screens.found):
        runs = None if by == "pair" else screen_runs(answers)
        if runs is not None:
            return _units(runs, "statement", screens)
        return _units(answers.anchor.astype(np.int64) * answers.n_objects + answers.near, "pair", screens)
    if by == "statement" and not spanning.any():
        return _units(answers.statement_ids, by)
    if not spanning.any():
        return _units(answers.trio_ids, "trio")
    trios = np.unique(answers.trio_ids, return_inverse=True)[1].astype(np.int64)
    statements = answers.statement_ids
    own = len(trios) + statements  # past every trio code
    return _units(np.where(spanning[statements], own, trios), "statement")


def _units(ids: NDArray[Any], kind: By, screens: Screens | None = None) -> Units:
    codes = np.unique(ids, return_inverse=True)[1].astype(np.int64)
    return Units(codes, int(codes.max(initial=-1)) + 1, kind, screens)


def _spanning(answers: Triplets) -> NDArray[np.bool_]:
    """Whether each statement, by its code, concerns several trios."""
    trios, statements = answers.trio_ids, answers.statement_ids
    some_trio = np.zeros(int(statements.max(initial=-1)) + 1, dtype=np.int64)
    some_trio[statements] = trios
    spanning = np.zeros(len(some_trio), dtype=bool)
    spanning[statements[trios != some_trio[statements]]] = True
    return spanning


def holdout(
    answers: Triplets | ArrayLike,
    share: float = 0.2,
    *,
    by: By | Units | None = None,
    seed: Seed = 0,
) -> Split:
    """Put about ``share`` of the units (by default trios, or statements that span trios) into the test set.

    Parameters
    ----------
    answers : what was answered.
    share : between 0 and 1, exclusive.
    by : what is kept on one side: "trio", "statement", "pair" (anchor and near), "anchor" (does it predict for an
        object whose own answers were never seen?) or "participant" (... for a person?), or what ``split_units`` found.
        Default: by the structure of the answers, with a ``ScreenWarning`` where they came from screens and their statements
        are lost.
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
            f"share: got {share}, expected a number between 0 and 1, such as 0.2",
        )
    units = _units_or_warning(answers, by)
    _need_units(units, 2, "a training and a test set")
    held = min(max(1, round(share * units.count)), units.count - 1)
    chosen = np.zeros(units.count, dtype=bool)
    chosen[generator(seed).permutation(units.count)[:held]] = True
    return _split(chosen[units.codes], _questions(answers, units))


def kfold(
    answers: Triplets | ArrayLike,
    cv: int = 5,
    *,
    by: By | Units | None = None,
    seed: Seed = 0,
) -> Iterator[Split]:
    """Cut the units into ``cv`` folds of (almost) equal size; each is the test set once.

    Every answer is in exactly one test set. Parameters and result as for ``holdout``.

    >>> answers = Triplets.from_array([[0, 1, 2], [0, 2, 1], [0, 1, 3], [3, 0, 2]])
    >>> [test.tolist() for train, test in kfold(answers, 3)]
    [[3], [0, 1], [2]]
    """
    answers = as_triplets(answers)
    if cv != int(cv) or cv < 2:
        raise InputError(
            f"cv: got {cv}, expected a whole number of folds, at least 2",
        )
    units = _units_or_warning(answers, by)
    _need_units(units, int(cv), f"{int(cv)} folds")
    fold = np.empty(units.count, dtype=np.int64)
    fold[generator(seed).permutation(units.count)] = np.arange(units.count) % int(cv)
    own = fold[units.codes]
    questions = _questions(answers, units)
    return (_split(own == number, questions) for number in range(int(cv)))


def some_units(units: Units, wanted: int, *, seed: Seed = 0) -> NDArray[np.intp]:
    """Rows of whole units drawn at random, together at most ``wanted``."""
    order = generator(seed).permutation(units.count)
    chosen = np.zeros(units.count, dtype=bool)
    chosen[order[np.cumsum(np.bincount(units.codes)[order]) <= wanted]] = True
    return np.flatnonzero(chosen[units.codes])


def warn_of_screens(units: Units) -> None:
    """Say so where screens were recognised."""
    if units.screens is not None:
        kept = (
            "runs of rows that look like one screen are" if units.kind == "statement" else "(anchor, near) is"
        )
        warnings.warn(
            f"these answers look like grid, list or ranking screens that have lost their statement ids: pairs of anchor "
            f"and option come back {units.screens.excess:.1f} times as often as independent questions would bring them, so "
            f"{kept} kept in one fold; give a statement column to split by screen",
            ScreenWarning,
            stacklevel=4,
        )


def _units_or_warning(answers: Triplets, by: By | Units | None) -> Units:
    if isinstance(by, Units):
        return by
    units = split_units(answers, by)
    warn_of_screens(units)
    return units


def _need_units(units: Units, needed: int, what: str) -> None:
    if units.count < needed:
        kind = "pair of anchor and near" if units.kind == "pair" else units.kind
        found = (
            f"1 {kind}"
            if units.count == 1
            else f"{units.count} different {kind.replace('pair', 'pairs') if 'pair' in kind else kind + 's'}"
        )
        raise InputError(
            f"answers: they hold {found}, too few for {what}; collect more answers or ask for fewer folds",
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
