"""The noun of this room: questions of one kind, as they are put to people."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from nearfar._tools.arrays import Indices, Ints
from nearfar._tools.checks import Seed, check_count, generator
from nearfar.errors import InputError, UninformedWarning
from nearfar.triplets import Triplets
from nearfar.triplets.columns import numbered_names, sound_names

Objects = Sequence[str] | int
QuestionKind = Literal["near", "odd", "central", "grid"]
KINDS: dict[str, str] = {
    "near": "which of two objects is nearer to the anchor?",
    "odd": "which of three objects is the odd one out?",
    "central": "which of three objects is the most central?",
    "grid": "which objects of a grid are nearest to the anchor?",
}
# for one question, where nobody measured it
SECONDS = {"near": 3.0, "odd": 4.0, "central": 5.0, "grid": 12.0}


@dataclass(frozen=True, eq=False, repr=False)
class Questions:
    """Questions of one kind; indices into ``objects``.

    Parameters
    ----------
    array : (m, w) one row per question. "near": anchor, one, other; "odd" and "central": the three objects;
        "grid": anchor, then the options. The order of the options means nothing until ``shuffled`` or ``booklets``
        gives it: then it is the order on the screen.
    objects : names of all objects.
    kind : "near", "odd", "central" or "grid".
    pick : how many options of a grid are to be picked.

    >>> from nearfar.design import landmark_questions
    >>> questions = landmark_questions(["red", "pink", "blue", "navy"], ["red", "blue"])
    >>> questions
    Questions(2 questions, 4 objects)
    >>> questions.array.tolist()
    [[1, 0, 2], [3, 0, 2]]
    """

    array: Indices
    objects: tuple[str, ...]
    kind: QuestionKind = "near"
    pick: int = 1

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"kind: expected one of {', '.join(KINDS)}, got {self.kind!r}")
        width = self.array.shape[1] if self.array.ndim == 2 else 0
        if width < 3 or (self.kind != "grid" and width > 3):
            got = f"got an array of shape {self.array.shape}"
            raise InputError(f"array: expected one row per {self.kind} question, {got}")
        n = self.options.shape[1]
        if not 1 <= self.pick < max(2, n):
            raise InputError(f"pick must be from 1 to {n - 1} for {n} options, got {self.pick}")

    def __len__(self) -> int:
        return len(self.array)

    def __repr__(self) -> str:
        kind = "" if self.kind == "near" else f"{self.kind} "
        return f"Questions({len(self):,} {kind}questions, {len(self.objects):,} objects)"

    def __getitem__(self, rows: Any) -> Questions:
        """The questions chosen by a mask, a slice or row numbers; all objects stay."""
        return self.replaced(self.array[rows])

    def replaced(self, array: Indices) -> Questions:
        """Other rows of the same kind about the same objects."""
        return Questions(array, self.objects, self.kind, self.pick)

    @property
    def anchored(self) -> bool:
        """Whether the first column is an anchor ("near" and "grid")."""
        return self.kind in ("near", "grid")

    @property
    def options(self) -> Indices:
        """(m, 2), (m, 3) or (m, size): what can be chosen."""
        return self.array[:, 1:] if self.anchored else self.array

    @property
    def anchor(self) -> Indices:
        """(m,) anchors of "near" and "grid" questions."""
        return self._column(0, ("near", "grid"), "an anchor")

    @property
    def one(self) -> Indices:
        """(m,) first option of "near" questions."""
        return self._column(1, ("near",), "the columns one and other")

    @property
    def other(self) -> Indices:
        """(m,) second option of "near" questions."""
        return self._column(2, ("near",), "the columns one and other")

    def _column(self, at: int, kinds: tuple[str, ...], what: str) -> Indices:
        if self.kind not in kinds:
            raise InputError(f"questions of kind {self.kind!r} do not have {what}")
        return self.array[:, at]

    def shuffled(self, seed: Seed = 0) -> Questions:
        """The same questions in random order, the options of each in random order.

        Of "near" questions every object stands left and right equally often, give or take one.
        """
        rng = generator(seed)
        order = rng.permutation(len(self))
        return as_shown(self, order, np.zeros_like(order), rng)

    def turned(self) -> Questions:
        """The same questions with every option elsewhere: two are exchanged, more of them move round by half.

        >>> Questions(np.array([[7, 1, 2]]), tuple("abcdefgh")).turned().array.tolist()
        [[7, 2, 1]]
        """
        half = self.options.shape[1] // 2
        kept = self.array[:, : int(self.anchored)]
        return self.replaced(np.concatenate([kept, np.roll(self.options, half, axis=1)], axis=1))

    def answered(self, choice: ArrayLike, **columns: Any) -> Triplets:
        """Triplets from what was chosen.

        Parameters
        ----------
        choice : (m,) position of the chosen option, from 0; (m, pick) positions for grids. -1: not answered, no
            triplet.
        columns : ``participant``, ``seconds``, ``answered_at`` and the like, one value per question.

        Returns
        -------
        Triplets, in the order of the questions. "odd" and "central" give two each, a grid
        pick * (size - pick), all with one statement id (the row number of the question unless given).

        >>> Questions(np.array([[0, 1, 2]]), ("a", "b", "c"), "odd").answered([2]).array.tolist()
        [[0, 1, 2], [1, 0, 2]]
        """
        chosen = self._positions(choice)
        given = {name: values for name, values in columns.items() if values is not None}
        if self.kind != "near" and "statement" not in given:
            given["statement"] = np.arange(len(self))
        answered = np.flatnonzero((chosen >= 0).all(axis=1))
        (anchor, near, far), per_question = _expand(self[answered], chosen[answered])
        kept = {name: np.repeat(np.asarray(values)[answered], per_question) for name, values in given.items()}
        return Triplets(anchor, near, far, self.objects, **kept)

    def _positions(self, choice: ArrayLike) -> NDArray[Any]:
        """(m, pick) positions, checked."""
        given = np.asarray(choice)
        chosen = given[:, None] if given.ndim == 1 and self.pick == 1 else given
        if chosen.shape != (len(self), self.pick) or (chosen.size and chosen.dtype.kind not in "iu"):
            raise InputError(
                f"choice: expected {self.pick} position(s) for each of {len(self):,} questions, "
                f"got {chosen.dtype} values of shape {given.shape}"
            )
        most = self.options.shape[1] - 1
        ordered = np.sort(chosen, axis=1)
        twice = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)
        for wrong, said in (
            ((chosen < -1) | (chosen > most), f"is outside 0..{most} (-1: not answered)"),
            (twice, "names an option twice"),
        ):
            if wrong.any():
                row = int(np.argmax(wrong.any(axis=1)))
                raise InputError(f"choice, question {row}: {chosen[row].tolist()} {said}")
        return chosen


def as_shown(questions: Questions, question: Ints, person: Ints, rng: Generator) -> Questions:
    """The question of each slot as shown: its options take turns at the places on the screen."""
    rows = questions.array[question].astype(np.int32)
    options = rows[:, int(questions.anchored) :]
    if questions.kind == "near":
        swap = even_sides(options, person, question, rng)
        options[swap] = options[swap, ::-1]
        return questions.replaced(rows)
    width = options.shape[1]
    start = rng.permuted(np.tile(np.arange(width), (len(questions), 1)), axis=1)
    order = rng.permutation(len(question))  # of slots; which of those of a question is its first, second, ...
    order = order[np.argsort(question[order], kind="stable")]
    turn = np.empty_like(question)
    turn[order] = np.arange(len(order)) - np.searchsorted(question[order], question[order])
    np.put_along_axis(options, (start[question] + turn[:, None]) % width, options.copy(), axis=1)
    return questions.replaced(rows)


def even_sides(options: NDArray[np.int32], person: Ints, question: Ints, rng: Generator) -> NDArray[np.bool_]:
    """(slots,) whether to exchange the (slots, 2) options, so that each object is left and right equally often.

    Every question stands either way, and every object left and right, equally often, give or take one; so does every
    object for every person, or where questions are asked of several people, as far as exchanges even it out.
    """
    if len(np.unique(question)) == len(question):
        return _along_circles(options.tolist(), person.tolist(), rng)
    return _by_exchanges(options.tolist(), person.tolist(), question, rng)


def _along_circles(options: list[list[int]], person: list[int], rng: Generator) -> NDArray[np.bool_]:
    """Euler's circles: a slot joins its two objects of the person, and whoever walks along them leaves as often as they come.

    Objects that a person sees an odd number of times are joined with the same object of another person, and those
    left over with each other.
    """
    nodes: dict[tuple[int, int], int] = {}
    ends = [
        [nodes.setdefault((p, x), len(nodes)) for x in pair] for p, pair in zip(person, options, strict=True)
    ]
    degree = np.bincount(np.array(ends, dtype=np.int64).ravel(), minlength=len(nodes))
    lonely: dict[int, int] = {}
    for (_, x), node in nodes.items():
        if degree[node] % 2 and x in lonely:
            ends.append([lonely.pop(x), node])
        elif degree[node] % 2:
            lonely[x] = node
    left_over = list(lonely.values())  # an even number: every slot has two ends
    ends += [list(pair) for pair in zip(left_over[::2], left_over[1::2], strict=True)]
    at: list[list[int]] = [[] for _ in nodes]
    for edge in rng.permutation(len(ends)).tolist():
        for node in ends[edge]:
            at[node].append(edge)
    swap, gone = np.zeros(len(ends), dtype=bool), [False] * len(ends)
    for start in range(len(nodes)):
        here = start
        while at[here]:
            edge = at[here].pop()
            if not gone[edge]:
                gone[edge] = True
                swap[edge] = ends[edge][0] != here
                here = ends[edge][0] if swap[edge] else ends[edge][1]
    return swap[: len(options)]


def _by_exchanges(
    options: list[list[int]], person: list[int], question: Ints, rng: Generator
) -> NDArray[np.bool_]:
    """Slots of a question in pairs of different sides, those left over along circles; then exchanges within questions."""
    slots: dict[int, list[int]] = defaultdict(list)
    for slot in rng.permutation(len(person)).tolist():
        slots[int(question[slot])].append(slot)
    asked = list(slots.values())
    sides = np.zeros(len(person), dtype=bool)
    sides[[slot for own in asked for slot in own[1::2]]] = True
    alone = [own[-1] for own in asked if len(own) % 2]
    sides[alone] = _along_circles([options[slot] for slot in alone], [person[slot] for slot in alone], rng)
    swap: list[bool] = sides.tolist()
    balance: dict[tuple[int, int], int] = defaultdict(int)  # how much more often a person sees an object left

    def show(slot: int, by: int) -> None:
        left, right = options[slot][::-1] if swap[slot] else options[slot]
        balance[person[slot], left] += by
        balance[person[slot], right] -= by

    def flip(moved: list[int]) -> int:
        """Exchange the sides; by how much that makes lists less even (one difference of 3 is worse than two of 2)."""
        seen = [(person[slot], x) for slot in moved for x in options[slot]]
        before = sum(balance[each] ** 4 for each in seen)
        for slot in moved:
            swap[slot] = not swap[slot]
            show(slot, 2)
        return sum(balance[each] ** 4 for each in seen) - before

    for slot in range(len(swap)):
        show(slot, 1)
    several = [own for own in asked if len(own) > 1]
    for _ in range(min(20, 400_000 // len(several) + 1)):  # at most about two seconds
        for number in rng.permutation(len(several)).tolist():
            turned = [slot for slot in several[number] if swap[slot]]
            straight = [slot for slot in several[number] if not swap[slot]]
            moved = [part[int(rng.integers(len(part)))] for part in (turned, straight)]
            if flip(moved) > 0:
                flip(moved)
    return np.array(swap)


def _expand(questions: Questions, chosen: NDArray[Any]) -> tuple[Indices, int]:
    """(3, t) triplets of answered questions, and how many each gives."""
    options, m = questions.options, len(questions)
    if questions.kind == "near":
        second = chosen[:, 0] == 1
        one, other = options.T
        return np.stack([questions.anchor, np.where(second, other, one), np.where(second, one, other)]), 1
    picked = np.zeros(options.shape, dtype=bool)
    np.put_along_axis(picked, chosen, True, axis=1)
    taken = options[picked].reshape(m, questions.pick)
    left = options[~picked].reshape(m, options.shape[1] - questions.pick)
    if questions.kind == "odd":  # the other two are near to each other
        triplets = np.stack([left, left[:, ::-1], np.repeat(taken, 2, axis=1)])
    elif questions.kind == "central":  # seen from either of the others, the central one is nearer
        triplets = np.stack([left, np.repeat(taken, 2, axis=1), left[:, ::-1]])
    else:  # every picked option is nearer to the anchor than every other
        near = np.repeat(taken, left.shape[1], axis=1)
        far = np.tile(left, (1, taken.shape[1]))
        triplets = np.stack([np.broadcast_to(questions.array[:, :1], near.shape), near, far])
    return triplets.reshape(3, -1), triplets.shape[2]


def object_names(objects: Objects) -> tuple[str, ...]:
    """Names of the objects; a number n stands for "0", "1", ..., n - 1."""
    if isinstance(objects, (int, np.integer)):
        return numbered_names(objects, "objects")
    if isinstance(objects, str):
        expected = "expected a list of names or their number"
        raise InputError(
            f"objects: {expected}, got the text {objects!r}; to read a file use nearfar.read_objects"
        )
    return sound_names(objects)


def check_budget(budget: int, total: int) -> None:
    """Refuse a budget below 0 or above the number of questions there are."""
    check_count(budget, "budget", least=0)
    if budget > total:
        got = f"{budget:,} questions were asked for, but there are {total:,} in all"
        raise InputError(f"budget: {got}; ask for at most that many")


def warn_uninformed(names: tuple[str, ...], asked: NDArray[Any], budget: int, remedy: str) -> None:
    """Say which objects are not among those ``asked`` about; the budget stays what it is."""
    missed = np.flatnonzero(np.bincount(asked.ravel(), minlength=len(names)) == 0)
    if not len(missed) or not budget:
        return
    some = ", ".join(names[i] for i in missed[:3]) + (", ..." if len(missed) > 3 else "")
    without = f"{len(missed):,} of {len(names):,} objects without a question ({some})"
    warnings.warn(f"budget: {budget:,} leaves {without}; {remedy}", UninformedWarning, stacklevel=3)
