"""Honest splits: what a model is tested on never stood, in any form, in what it was fitted on.

The unit that is drawn is a trio (all repeats, and both triplets of an odd-one-out, stay in the same fold). A statement
that spans several trios, such as a grid screen, is a unit, together with all others about the same anchor and objects; then the
rows whose question stands in the test set are taken out of training. The test set is never filtered by what was answered.
Where a statement is about everything, as a pile sort is, no question is new: participants are held out.

Bare triplets may come from screens that have lost their statements (``nearfar.evaluate.collection``): then each screen, or else
(anchor, near), is kept in one fold. By trio, a model would remember that pair (one real set: 97.7 % instead of 84 %).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nearfar._tools.arrays import Codes, dense_codes, distinct
from nearfar._tools.checks import Seed, generator
from nearfar._tools.text import count
from nearfar.errors import InputError, ScreenWarning
from nearfar.evaluate.collection import are_screens, screen_runs
from nearfar.triplets import Triplets, as_triplets, random_rows

RowNumbers = NDArray[np.intp]


class Split(NamedTuple):
    """Row numbers to fit on and to test on, each in ascending order."""

    train: RowNumbers
    test: RowNumbers


By = Literal["trio", "statement", "pair", "anchor", "participant"]
Design = Literal["random", "list", "landmarks", "blocked", "screens", "adaptive"]


@dataclass(frozen=True)
class Units:
    """``codes[t]`` in 0..count-1 is the unit of answer t; ``screens`` : whether screens were recognised.

    ``kind`` : "trio"; "statement" where one spans several trios (other answers go by trio), or for screens in the order of the
    rows; "pair" (anchor, near) for other screens; or what was asked for, "anchor" or "participant".
    """

    codes: Codes
    count: int
    kind: By
    screens: bool = False


def split_units(answers: Triplets | ArrayLike, by: By | None = None, design: str | None = None) -> Units:
    """The unit of every answer that is kept in the same fold.

    By default the trio, or the statement where that spans several trios, or the participant where statements are about
    everything; of screens that have lost their statements, runs of rows, or else the pair (anchor, near). Whether they
    are screens is seen in the answers, unless ``design`` declares it.

    >>> answers = Triplets.from_odd_one_out([[0, 1, 2], [0, 3, 1], [2, 0, 1]])
    >>> split_units(answers).codes
    array([0, 0, 1, 1, 0, 0])
    >>> screen = Triplets.from_array([[0, 1, 2], [0, 1, 3], [0, 1, 2]], statement=[7, 7, 8])
    >>> split_units(screen)
    Units(codes=array([1, 1, 0]), count=2, kind='statement', screens=False)
    >>> split_units(screen, "anchor").count
    1
    """
    answers = as_triplets(answers)
    if by is not None and by not in get_args(By):
        raise InputError(f"by: {by!r} is not a way to split; expected one of {', '.join(get_args(By))}")
    if by == "participant" and answers.participant is None:
        raise InputError("by: a split by participant needs answers with participants, and these have none")
    pairs = answers.anchor.astype(np.int64) * answers.n_objects + answers.near
    if by is not None and by != "statement":
        ids: dict[str, NDArray[Any]] = {"anchor": answers.anchor, "trio": answers.trio_ids, "pair": pairs}
        return _units(respondents(answers) if by == "participant" else ids[by], by)
    spanning = _several(answers, answers.trio_ids)
    if spanning.any():
        trios, statements = dense_codes(answers.trio_ids), answers.statement_ids
        screens, are_whole = _screens(answers, spanning)
        if are_whole:
            people = respondents(answers)
            return _units(people if people.any() else statements, "participant")
        own = len(trios) + screens[statements]  # past every trio code
        return _units(np.where(spanning[statements], own, trios), "statement")
    if by == "statement":
        return _units(answers.statement_ids, by)
    seen = design in (None, "blocked", "adaptive")  # booklets and adaptive studies may have screens
    if not (are_screens(answers) if seen else design == "screens"):
        return _units(answers.trio_ids, "trio")
    runs = screen_runs(answers)
    return _units(pairs, "pair", True) if runs is None else _units(runs, "statement", True)


def _units(ids: NDArray[Any], kind: By, screens: bool = False) -> Units:
    codes = dense_codes(ids)
    return Units(codes, int(codes.max(initial=-1)) + 1, kind, screens)


def respondents(answers: Triplets) -> Codes:
    """(m,) code of who answered: the participant, and the statement where the participant is not known.

    They are numbered as they come, so that other names of the same people, such as pseudonyms, change nothing that is drawn.

    >>> respondents(Triplets.from_array([[0, 1, 2], [0, 1, 3], [1, 2, 3]], participant=["bob", "ann", "bob"]))
    array([0, 1, 0])
    """
    who = answers.statement_ids
    if (people := answers.participant) is not None:
        who = np.where(people == "", len(people.names) + who, people.codes)
    _, first, codes = np.unique(who, return_index=True, return_inverse=True)
    return dense_codes(first[codes])


def _several(answers: Triplets, ids: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether each statement, by its code, has several ``ids``."""
    statements = answers.statement_ids
    some = np.zeros(int(statements.max(initial=-1)) + 1, dtype=np.int64)
    some[statements] = ids
    several = np.zeros(len(some), dtype=bool)
    several[statements[ids != some[statements]]] = True
    return several


def _screens(answers: Triplets, spanning: NDArray[np.bool_]) -> tuple[Codes, bool]:
    """Code of the first statement of the same screen (same anchor, same objects), by the code of each; and whether statements are about everything.

    They are with several anchors and more than half of the objects, as in pile sorts: no question would be left to train on.
    """
    statements, n = answers.statement_ids, answers.n_objects
    pairs = distinct(statements[:, None] * np.int64(n) + answers.array)
    about, shown = pairs // n, pairs % n
    anchors = _several(answers, answers.anchor) & spanning
    size = np.bincount(about, minlength=len(spanning))
    if anchors.any() and 2 * size[anchors].mean() > len(np.unique(shown)):
        return np.arange(len(spanning)), True
    marks = np.random.default_rng(0).integers(1 << 62, size=(2, n), dtype=np.uint64)
    sums = np.zeros(len(spanning), np.uint64)
    np.add.at(sums, about, marks[0, shown])
    some_anchor = np.zeros(len(spanning), np.int64)
    some_anchor[statements] = answers.anchor
    alone = np.where(anchors, np.arange(len(spanning), dtype=np.uint64), marks[1, some_anchor])
    first, same = np.unique(sums + alone, return_index=True, return_inverse=True)[1:]
    return first[same], False


def holdout(
    answers: Triplets | ArrayLike, share: float = 0.2, *, by: By | Units | None = None, seed: Seed = 0
) -> Split:
    """Put about ``share`` of the units (by default trios, or statements that span trios) into the test set.

    Parameters
    ----------
    answers : what was answered.
    share : between 0 and 1, exclusive.
    by : what is kept in the same fold: "trio", "statement", "pair" (anchor and near), "anchor" (does it predict for an
        object whose own answers were never seen?) or "participant" (... for a person?), or what ``split_units`` found.
        Default: by the structure of the answers, with a ``ScreenWarning`` where screens lost their statements.
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
        raise InputError(f"share: got {share}, expected a number between 0 and 1, such as 0.2")
    units = _enough_units(answers, by, 2, "a training and a test set")
    held = min(max(1, round(share * units.count)), units.count - 1)
    chosen = np.zeros(units.count, dtype=bool)
    chosen[generator(seed).permutation(units.count)[:held]] = True
    return _split(answers, units, chosen[units.codes])


def kfold(
    answers: Triplets | ArrayLike, cv: int = 5, *, by: By | Units | None = None, seed: Seed = 0
) -> Iterator[Split]:
    """Cut the units into ``cv`` folds of (almost) equal size; each is the test set once.

    Every answer is in exactly one test set. Parameters and result as for ``holdout``.

    >>> answers = Triplets.from_array([[0, 1, 2], [0, 2, 1], [0, 1, 3], [3, 0, 2]])
    >>> [test.tolist() for train, test in kfold(answers, 3)]
    [[3], [0, 1], [2]]
    """
    answers = as_triplets(answers)
    if cv != int(cv) or cv < 2:
        raise InputError(f"cv: got {cv}, expected a whole number of folds, at least 2")
    units = _enough_units(answers, by, int(cv), f"{int(cv)} folds")
    fold = np.empty(units.count, dtype=np.int64)
    fold[generator(seed).permutation(units.count)] = np.arange(units.count) % int(cv)
    return (_split(answers, units, fold[units.codes] == number) for number in range(int(cv)))


def some_units(codes: Codes, wanted: int, *, seed: Seed = 0) -> RowNumbers:
    """Rows of whole units, by their codes, drawn at random, together at most ``wanted``, but one unit at least."""
    size = np.bincount(codes)
    order = generator(seed).permutation(len(size))
    chosen = np.zeros(len(size), dtype=bool)
    chosen[order[: max(1, int((np.cumsum(size[order]) <= wanted).sum()))]] = True
    return np.flatnonzero(chosen[codes])


def warn_of_screens(units: Units) -> None:
    """Say so where screens were recognised."""
    if units.screens:
        kept = "(anchor, near) is" if units.kind == "pair" else "runs of rows that look like one screen are"
        seen = "these answers look like grid, list or ranking screens that have lost their statement ids"
        said = f"{seen}, so {kept} kept in one fold; give a statement column to split by screen"
        warnings.warn(said, ScreenWarning, stacklevel=4)


def _enough_units(answers: Triplets, by: By | Units | None, needed: int, what: str) -> Units:
    units = by if isinstance(by, Units) else split_units(answers, by)
    if units is not by:
        warn_of_screens(units)
    if units.count < needed:
        one = "pair of anchor and near" if units.kind == "pair" else units.kind
        many = "different " + one.replace(units.kind, f"{units.kind}s")
        held = f"{count(units.count, one, many)}, too few for {what}"
        raise InputError(f"answers: they hold {held}; collect more answers or ask for fewer folds")
    return units


def _split(answers: Triplets, units: Units, is_test: NDArray[np.bool_]) -> Split:
    left = ~is_test
    if units.kind in ("statement", "pair"):  # these may ask the same question in training and in the test set
        left &= ~np.isin(answers.question_ids, answers.question_ids[is_test])
    return Split(np.flatnonzero(left), np.flatnonzero(is_test))


def design_of(answers: Triplets, units: Units, declared: str | None = None) -> str | None:
    """The design: as declared; "adaptive" where rules are known and none of them is random; "blocked" where it is seen.

    Accuracy comes from the random questions of an adaptive study, where rules tell which these are.

    >>> design_of(Triplets.from_array([[0, 1, 2]] * 3, rule=["ARR"] * 3), None)
    'adaptive'
    """
    if declared is not None and declared not in get_args(Design):
        raise InputError(f"design: {declared!r} is not one of {', '.join(get_args(Design))}")
    drawn = random_rows(answers)
    if drawn is not None and declared in (None, "adaptive"):
        return "random" if drawn.any() else "adaptive"
    if declared is not None:
        return declared
    return "blocked" if is_blocked(answers, units) else None


def is_blocked(answers: Triplets, units: Units, most: float = 0.9) -> bool:
    """Whether participants got questions about objects of their own, as in booklets; False where participants are not known.

    Then they were asked about at most 0.9 of the objects that as many questions drawn from all would bring.
    """
    if answers.participant is None or not len(answers):
        return False
    person = dense_codes(answers.participant.codes)
    first = np.unique(person * units.count + units.codes, return_index=True)[1]
    n, person = np.int64(answers.n_objects), np.repeat(person[first], 3)
    shown = answers.array[first].astype(np.int64).ravel()
    share = np.bincount(shown, minlength=n) / len(shown)
    slots, people = np.unique(np.bincount(person), return_counts=True)
    expected = people @ -np.expm1(np.outer(slots, np.log1p(-share))).sum(axis=1)
    return bool(len(distinct(person * n + shown)) < most * expected)
