"""The noun: an immutable collection of answers "anchor is nearer to near than to far"."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nearfar._tools.arrays import Indices
from nearfar.errors import TripletError
from nearfar.triplets import columns as given
from nearfar.triplets.columns import pack_ids, sound_names, three_columns
from nearfar.triplets.ids import Ids, codes_within

if TYPE_CHECKING:
    import polars as pl


class UniqueTriplets(NamedTuple):
    """Distinct triplets and how often each was answered.

    Examples
    --------
    >>> distinct = Triplets.from_array([[0, 1, 2], [0, 1, 2], [1, 0, 2]]).unique()
    >>> distinct.triplets, distinct.counts
    (Triplets(2 answers, 3 objects), array([2, 1]))
    """

    triplets: Triplets
    counts: NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Triplets:
    """Answers of the form "``anchor`` is nearer to ``near`` than to ``far``".

    Parameters
    ----------
    anchor, near, far : (m,) integers, indices into ``objects``; the three of a row are distinct.
    objects : the names of all n objects, in index order. A selection of rows keeps all of them.
    statement : (m,) ids; rows of one participant with one id are one statement, so that every participant may count
        from 1. None: every row is its own statement.
    participant : (m,) who answered. None: not known.
    seconds : (m,) response times; NaN where not known.
    near_side : (m,) side at which ``near`` was shown: 0 left, 1 right, -1 not known.
    answered_at : (m,) seconds since 1970-01-01 UTC; NaN where not known.
    rule : (m,) how the question was chosen, as the file says it ("random", "adaptive"); "" where not known.

    Examples
    --------
    >>> answers = Triplets([0, 1], [1, 2], [2, 0], objects=["red", "pink", "blue"], participant=["ann", "bob"])
    >>> answers
    Triplets(2 answers, 3 objects, 2 participants)
    >>> answers[answers.participant == "ann"].array
    array([[0, 1, 2]], dtype=int32)
    """

    anchor: Indices
    near: Indices
    far: Indices
    objects: tuple[str, ...]
    statement: Ids | None = None
    participant: Ids | None = None
    seconds: NDArray[np.float64] | None = None
    near_side: NDArray[np.int8] | None = None
    answered_at: NDArray[np.float64] | None = None
    rule: Ids | None = None

    def __init__(
        self,
        anchor: ArrayLike,
        near: ArrayLike,
        far: ArrayLike,
        objects: Sequence[str],
        *,
        statement: ArrayLike | Ids | None = None,
        participant: ArrayLike | Ids | None = None,
        seconds: ArrayLike | None = None,
        near_side: ArrayLike | None = None,
        answered_at: ArrayLike | None = None,
        rule: ArrayLike | Ids | None = None,
    ) -> None:
        names = sound_names(objects)
        put = object.__setattr__
        put(self, "objects", names)
        for role, values in (("anchor", anchor), ("near", near), ("far", far)):
            put(self, role, given.as_indices(values, role, len(names)))
        for role, ids in (("statement", statement), ("participant", participant), ("rule", rule)):
            put(self, role, None if ids is None else Ids.encode(ids))
        put(self, "seconds", given.as_numbers(seconds, "seconds"))
        put(self, "near_side", given.as_sides(near_side))
        put(self, "answered_at", given.as_numbers(answered_at, "answered_at"))
        self._check()

    def _check(self) -> None:
        m = len(self.anchor)
        for field in fields(self):
            column = getattr(self, field.name)
            if field.name != "objects" and column is not None and len(column) != m:
                what = f"{field.name} has {len(column)} values for {m} answers"
                raise TripletError(f"{what}; give one per answer")
        same = (self.near == self.far) | (self.anchor == self.near) | (self.anchor == self.far)
        if same.any():
            row = int(np.argmax(same))
            names = tuple(self.objects[column[row]] for column in (self.anchor, self.near, self.far))
            raise TripletError(
                f"answer {row}: anchor, near and far are {names}; a triplet needs three distinct objects "
                f"({int(same.sum())} such answers; drop them first)"
            )

    # ---------------------------------------------------------------- other ways in

    @classmethod
    def from_array(
        cls, triplets: ArrayLike, objects: Sequence[str] | None = None, *, n_objects: int | None = None, **columns: Any
    ) -> Triplets:  # fmt: skip
        """From an (m, 3) array of rows (anchor, near, far); numbers are indices, n = max + 1 unless given.

        >>> Triplets.from_array([[0, 2, 1]]).objects
        ('0', '1', '2')
        """
        array = three_columns(triplets)
        if objects is None:
            wanted = given.largest_index(array) + 1 if n_objects is None else n_objects
            objects = given.numbered_names(wanted, "n_objects")
        return cls(array[:, 0], array[:, 1], array[:, 2], objects, **columns)

    @classmethod
    def from_odd_one_out(
        cls, trios: ArrayLike, objects: Sequence[str] | None = None, *, n_objects: int | None = None, **columns: Any
    ) -> Triplets:  # fmt: skip
        """From rows (a, b, odd): each gives (a, b, odd) and (b, a, odd), with one statement id.

        >>> Triplets.from_odd_one_out([[0, 1, 2]]).array.tolist()
        [[0, 1, 2], [1, 0, 2]]
        """
        both = three_columns(trios)[:, [[0, 1, 2], [1, 0, 2]]].reshape(-1, 3)
        return cls.from_array(both, objects, n_objects=n_objects, **_doubled(columns, len(both) // 2))

    @classmethod
    def from_most_central(
        cls, trios: ArrayLike, objects: Sequence[str] | None = None, *, n_objects: int | None = None, **columns: Any
    ) -> Triplets:  # fmt: skip
        """From rows (central, a, b): each gives (a, central, b) and (b, central, a), with one statement id.

        >>> Triplets.from_most_central([[0, 1, 2]]).array.tolist()
        [[1, 0, 2], [2, 0, 1]]
        """
        both = three_columns(trios)[:, [[1, 0, 2], [2, 0, 1]]].reshape(-1, 3)
        return cls.from_array(both, objects, n_objects=n_objects, **_doubled(columns, len(both) // 2))

    @classmethod
    def concatenate(cls, collections: Sequence[Triplets]) -> Triplets:
        """Join collections: objects and participants are matched by name, statements kept apart.

        >>> one = Triplets.from_odd_one_out([[0, 1, 2]])
        >>> np.asarray(Triplets.concatenate([one, one]).statement).tolist()
        [0, 0, 1, 1]
        """
        if len(collections) == 1:
            return collections[0]
        from nearfar.triplets.joining import join_columns

        return cls(**join_columns(collections))

    # ---------------------------------------------------------------- looking at it

    def __len__(self) -> int:
        return len(self.anchor)

    def __repr__(self) -> str:
        people = f", {len(self.participant.known)} participants" if self.participant is not None else ""
        return f"Triplets({len(self)} answers, {self.n_objects} objects{people})"

    def _repr_html_(self) -> str:
        """The first answers as a table, for a notebook."""
        return f"<p>{escape(repr(self))}</p>{self[:10].to_frame()._repr_html_()}"

    def __eq__(self, other: object) -> bool:
        """Whether the same answers about the same objects stand in the same order, with the same columns."""
        if not isinstance(other, Triplets):
            return NotImplemented
        return all(_equal(getattr(self, field.name), getattr(other, field.name)) for field in fields(self))

    def __hash__(self) -> int:
        return hash((self.objects, *(column.tobytes() for column in (self.anchor, self.near, self.far))))

    def __getitem__(self, rows: Any) -> Triplets:
        """The answers chosen by a mask, a slice or row numbers; all objects stay."""
        if isinstance(rows, (int, np.integer)):
            if not -len(self) <= rows < len(self):
                raise IndexError(f"answer {rows} of {len(self)}")
            rows = slice(int(rows), int(rows) + 1 or None)
        chosen = object.__new__(Triplets)
        for field in fields(self):
            column = getattr(self, field.name)
            if column is not None and field.name != "objects":
                column = column[rows]
                if isinstance(column, np.ndarray):
                    column.flags.writeable = False
            object.__setattr__(chosen, field.name, column)
        return chosen

    @property
    def n_objects(self) -> int:
        """How many objects there are, answered about or not."""
        return len(self.objects)

    @property
    def shape(self) -> tuple[int, int]:
        """(m, 3), that of ``array``: with it, scikit-learn selects answers as it selects rows."""
        return len(self), 3

    @property
    def array(self) -> Indices:
        """(m, 3) rows (anchor, near, far), cblearn's list-order."""
        return np.stack([self.anchor, self.near, self.far], axis=1)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Refused: NumPy and scikit-learn would take the indices of objects for numbers."""
        raise TripletError(
            "these are answers, not rows of numbers; give FeatureMap(...).fit_transform(answers), or answers.array for "
            "the (m, 3) indices"
        )

    def to_frame(self) -> pl.DataFrame:
        """A polars data frame with columns anchor, near and far (names) and the optional columns there are.

        ``nearfar.read_triplets`` makes the same answers of it.

        >>> Triplets([0], [1], [2], ["red", "pink", "blue"], seconds=[1.5]).to_frame().rows()
        [('red', 'pink', 'blue', 1.5)]
        """
        import polars as pl

        named = {role: given.named_column(self, getattr(self, role)) for role in ("anchor", "near", "far")}
        return pl.DataFrame(named | given.optional_columns(self))

    def replace(self, **columns: Any) -> Triplets:
        """The same answers with some columns exchanged, e.g. ``replace(participant=None)``.

        Statements stay what they are: ids that several participants share are numbered anew when participants change.
        """
        if "participant" in columns and "statement" not in columns and self.statement is not None:
            numbers = self.statement_ids
            if not np.array_equal(numbers, self.statement.codes):
                columns["statement"] = numbers
        return replace(self, **columns)

    # ---------------------------------------------------------------- ids

    @property
    def question_ids(self) -> NDArray[np.int64]:
        """(m,) id of (anchor, {one, other}); comparable between Triplets with the same objects."""
        low, high = np.minimum(self.near, self.far), np.maximum(self.near, self.far)
        return pack_ids(self.anchor, low, high, self.n_objects)

    @property
    def trio_ids(self) -> NDArray[np.int64]:
        """(m,) id of the unordered three objects; comparable between Triplets with the same objects."""
        low = np.minimum(np.minimum(self.anchor, self.near), self.far)
        high = np.maximum(np.maximum(self.anchor, self.near), self.far)
        middle = self.anchor ^ self.near ^ self.far ^ low ^ high
        return pack_ids(low, middle, high, self.n_objects)

    @property
    def triplet_ids(self) -> NDArray[np.int64]:
        """(m,) id of (anchor, near, far); comparable between Triplets with the same objects."""
        return pack_ids(self.anchor, self.near, self.far, self.n_objects)

    @property
    def statement_ids(self) -> NDArray[np.int64]:
        """(m,) the number of the statement that a row belongs to; the row number where no statements are known.

        A statement is what one participant said: an id that several have is a statement of each of them.
        """
        if self.statement is None:
            return np.arange(len(self), dtype=np.int64)
        if self.participant is None:
            return self.statement.codes.astype(np.int64)
        return codes_within(self.statement, self.participant)

    def unique(self) -> UniqueTriplets:
        """Distinct triplets, ordered by (anchor, near, far), and how often each was answered.

        >>> Triplets.from_array([[0, 1, 2], [0, 1, 2], [0, 2, 1]]).unique().counts
        array([2, 1])
        """
        _, first, counts = np.unique(self.triplet_ids, return_index=True, return_counts=True)
        bare = Triplets(self.anchor[first], self.near[first], self.far[first], self.objects)
        return UniqueTriplets(bare, counts)


def as_triplets(answers: Triplets | ArrayLike, known: tuple[str, ...] = ()) -> Triplets:
    """The one gate: Triplets as they are, an (m, 3) array of indices by ``Triplets.from_array``, a data frame read.

    Indices of an array are those of the ``known`` objects, where a fitted model has such; past them they are new.

    >>> as_triplets([[3, 0, 1]], known=("red", "pink", "3")).objects
    ('red', 'pink', '3', '3 (new)')
    """
    if isinstance(answers, Triplets):
        return answers
    if isinstance(answers, (str, os.PathLike)):
        path = os.fspath(answers)
        raise TripletError(f"answers: got the path {path!r}; give nearfar.read_triplets({path!r})")
    if hasattr(answers, "pieces"):
        raise TripletError(
            "answers: distributed answers go to nearfar.scale; for one machine, read them with nearfar.read_triplets"
        )
    if hasattr(answers, "columns"):
        from nearfar.io import read_triplets

        return read_triplets(answers)
    made = Triplets.from_array(answers)
    if made.objects[: len(known)] == known[: made.n_objects]:
        return made
    taken = set(known)
    fresh = [f"{name} (new)" if name in taken else name for name in made.objects[len(known) :]]
    return made.replace(objects=(*known[: made.n_objects], *fresh))


def _doubled(columns: dict[str, Any], count: int) -> dict[str, Any]:
    """Columns of statements that give two triplets each; they are numbered where they have no ids."""
    columns = {"statement": np.arange(count)} | {name: v for name, v in columns.items() if v is not None}
    known = {
        name: Ids.encode(v) if name in ("statement", "participant", "rule") else np.asarray(v)
        for name, v in columns.items()
    }
    return {name: values[np.repeat(np.arange(len(values)), 2)] for name, values in known.items()}


def _equal(one: Any, other: Any) -> bool:
    """Whether two columns hold the same values; a value that is not known equals another one."""
    if isinstance(one, tuple):
        return bool(one == other)
    if one is None or other is None:
        return one is other
    first, second = np.asarray(one), np.asarray(other)
    return np.array_equal(first, second, equal_nan=first.dtype.kind == second.dtype.kind == "f")
