"""The noun: an immutable collection of answers "anchor is nearer to near than to far"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nearfar.errors import TripletError
from nearfar.labels import Labels, read_only
from nearfar.limits import check_largest_index

if TYPE_CHECKING:
    import polars as pl

__all__ = ["SoundNames", "Triplets", "UniqueTriplets", "as_triplets", "sound_names"]

Indices = NDArray[np.int32]
LEFT, RIGHT, UNKNOWN_SIDE = 0, 1, -1
SHOWN_AT = (LEFT, RIGHT, UNKNOWN_SIDE)
SIDES: dict[Any, int] = {
    "left": LEFT,
    "right": RIGHT,
    "0": LEFT,
    "1": RIGHT,
    "": UNKNOWN_SIDE,
    None: UNKNOWN_SIDE,
}
MAX_OBJECTS_FOR_IDS = 2_097_151  # the largest n with n^3 < 2^63


class UniqueTriplets(NamedTuple):
    """Distinct triplets and how often each was answered.

    Examples
    --------
    >>> found = Triplets.from_array([[0, 1, 2], [0, 1, 2], [1, 0, 2]]).unique()
    >>> found.triplets, found.counts
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
    statement : (m,) ids; rows with one id were said in one go. None: every row is its own statement.
    participant : (m,) who answered. None: not known.
    seconds : (m,) response times; NaN where not known.
    near_side : (m,) side at which ``near`` was shown: 0 left, 1 right, -1 not known.
    answered_at : (m,) seconds since 1970-01-01 UTC; NaN where not known.

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
    statement: Labels | None = None
    participant: Labels | None = None
    seconds: NDArray[np.float64] | None = None
    near_side: NDArray[np.int8] | None = None
    answered_at: NDArray[np.float64] | None = None

    def __init__(
        self,
        anchor: ArrayLike,
        near: ArrayLike,
        far: ArrayLike,
        objects: Sequence[str],
        *,
        statement: ArrayLike | Labels | None = None,
        participant: ArrayLike | Labels | None = None,
        seconds: ArrayLike | None = None,
        near_side: ArrayLike | None = None,
        answered_at: ArrayLike | None = None,
    ) -> None:
        names = sound_names(objects)
        put = object.__setattr__
        put(self, "objects", names)
        for role, values in (("anchor", anchor), ("near", near), ("far", far)):
            put(self, role, _indices(values, role, len(names)))
        put(self, "statement", None if statement is None else Labels.encode(statement))
        put(self, "participant", None if participant is None else Labels.encode(participant))
        put(self, "seconds", _numbers(seconds, "seconds"))
        put(self, "near_side", _sides(near_side))
        put(self, "answered_at", _numbers(answered_at, "answered_at"))
        self._check()

    def _check(self) -> None:
        m = len(self.anchor)
        for field in fields(self):
            column = getattr(self, field.name)
            if field.name != "objects" and column is not None and len(column) != m:
                raise TripletError(
                    f"{field.name} has {len(column)} values for {m} answers; give one per answer",
                )
        same = (self.near == self.far) | (self.anchor == self.near) | (self.anchor == self.far)
        if same.any():
            row = int(np.argmax(same))
            came = tuple(self.objects[column[row]] for column in (self.anchor, self.near, self.far))
            raise TripletError(
                f"answer {row}: anchor, near and far are {came}; a triplet needs three distinct objects "
                f"({int(same.sum())} such answers; drop them first)",
            )

    # ---------------------------------------------------------------- other ways in

    @classmethod
    def from_array(
        cls,
        triplets: ArrayLike,
        objects: Sequence[str] | None = None,
        *,
        n_objects: int | None = None,
        **columns: Any,
    ) -> Triplets:
        """From an (m, 3) array of rows (anchor, near, far); numbers are indices, n = max + 1 unless given.

        >>> Triplets.from_array([[0, 2, 1]]).objects
        ('0', '1', '2')
        """
        array = _three_columns(triplets)
        if objects is None:
            if n_objects is None:
                n_objects = _largest_index(array) + 1
            objects = tuple(map(str, range(n_objects)))
        return cls(array[:, 0], array[:, 1], array[:, 2], objects, **columns)

    @classmethod
    def from_odd_one_out(
        cls,
        trios: ArrayLike,
        objects: Sequence[str] | None = None,
        *,
        n_objects: int | None = None,
        **columns: Any,
    ) -> Triplets:
        """From rows (a, b, odd): each gives (a, b, odd) and (b, a, odd), with one statement id.

        >>> Triplets.from_odd_one_out([[0, 1, 2]]).array.tolist()
        [[0, 1, 2], [1, 0, 2]]
        """
        a, b, odd = _three_columns(trios).T
        return cls._from_pairs((a, b, odd), (b, a, odd), objects, n_objects, columns)

    @classmethod
    def from_most_central(
        cls,
        trios: ArrayLike,
        objects: Sequence[str] | None = None,
        *,
        n_objects: int | None = None,
        **columns: Any,
    ) -> Triplets:
        """From rows (central, a, b): each gives (a, central, b) and (b, central, a), with one statement id.

        >>> Triplets.from_most_central([[0, 1, 2]]).array.tolist()
        [[1, 0, 2], [2, 0, 1]]
        """
        central, a, b = _three_columns(trios).T
        return cls._from_pairs((a, central, b), (b, central, a), objects, n_objects, columns)

    @classmethod
    def _from_pairs(
        cls,
        first: tuple[Any, ...],
        second: tuple[Any, ...],
        objects: Sequence[str] | None,
        n_objects: int | None,
        columns: dict[str, Any],
    ) -> Triplets:
        both = np.stack([np.stack(first, axis=1), np.stack(second, axis=1)], axis=1).reshape(-1, 3)
        if columns.get("statement") is None:
            columns["statement"] = np.arange(len(both) // 2)
        doubled: dict[str, Any] = {}
        for name, values in columns.items():
            if values is not None:
                labels = name in ("statement", "participant")
                array = Labels.encode(values) if labels else np.asarray(values)
                doubled[name] = array[np.repeat(np.arange(len(array)), 2)]
        return cls.from_array(both, objects, n_objects=n_objects, **doubled)

    @classmethod
    def concatenate(cls, parts: Sequence[Triplets]) -> Triplets:
        """Join collections: objects and participants are matched by name, statements kept apart.

        >>> one = Triplets.from_odd_one_out([[0, 1, 2]])
        >>> np.asarray(Triplets.concatenate([one, one]).statement).tolist()
        [0, 0, 1, 1]
        """
        if len(parts) == 1:
            return parts[0]
        from nearfar.joining import join_columns

        return cls(**join_columns(parts))

    # ---------------------------------------------------------------- looking at it

    def __len__(self) -> int:
        return len(self.anchor)

    def __repr__(self) -> str:
        people = f", {len(self.participant.present)} participants" if self.participant is not None else ""
        return f"Triplets({len(self)} answers, {self.n_objects} objects{people})"

    def __getitem__(self, rows: Any) -> Triplets:
        """The answers chosen by a mask, a slice or row numbers; all objects stay."""
        if isinstance(rows, (int, np.integer)):
            if not -len(self) <= rows < len(self):
                raise IndexError(f"answer {rows} of {len(self)}")
            rows = slice(int(rows), int(rows) + 1 or None)
        chosen = object.__new__(Triplets)
        for field in fields(self):
            column = getattr(self, field.name)
            keep = column is None or field.name == "objects"
            object.__setattr__(chosen, field.name, column if keep else _frozen(column[rows]))
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

    def to_frame(self) -> pl.DataFrame:
        """A polars data frame with columns anchor, near and far (names) and the optional columns there are.

        ``nearfar.read_triplets`` makes the same answers of it.

        >>> Triplets([0], [1], [2], ["red", "pink", "blue"], seconds=[1.5]).to_frame().rows()
        [('red', 'pink', 'blue', 1.5)]
        """
        from nearfar.frames import canonical_table

        return canonical_table(self)

    def replace(self, **columns: Any) -> Triplets:
        """The same answers with some columns exchanged, e.g. ``replace(participant=None)``."""
        return replace(self, **columns)

    # ---------------------------------------------------------------- ids

    @property
    def question_ids(self) -> NDArray[np.int64]:
        """(m,) id of (anchor, {one, other}); comparable between Triplets with the same objects."""
        low, high = np.minimum(self.near, self.far), np.maximum(self.near, self.far)
        return self._pack(self.anchor, low, high)

    @property
    def trio_ids(self) -> NDArray[np.int64]:
        """(m,) id of the unordered three objects; comparable between Triplets with the same objects."""
        low = np.minimum(np.minimum(self.anchor, self.near), self.far)
        high = np.maximum(np.maximum(self.anchor, self.near), self.far)
        middle = self.anchor ^ self.near ^ self.far ^ low ^ high
        return self._pack(low, middle, high)

    @property
    def triplet_ids(self) -> NDArray[np.int64]:
        """(m,) id of (anchor, near, far); comparable between Triplets with the same objects."""
        return self._pack(self.anchor, self.near, self.far)

    @property
    def statement_ids(self) -> NDArray[np.int64]:
        """(m,) statement codes; the row number where no statements are known."""
        if self.statement is None:
            return np.arange(len(self), dtype=np.int64)
        return self.statement.codes.astype(np.int64)

    def _pack(self, first: Indices, second: Indices, third: Indices) -> NDArray[np.int64]:
        n = np.int64(self.n_objects)
        if n > MAX_OBJECTS_FOR_IDS:
            raise TripletError(
                f"{n:,} objects: ids of questions and trios need at most {MAX_OBJECTS_FOR_IDS:,}; "
                "work on a part of the objects",
            )
        return (first.astype(np.int64) * n + second) * n + third

    def unique(self) -> UniqueTriplets:
        """Distinct triplets, ordered by (anchor, near, far), and how often each was answered.

        >>> Triplets.from_array([[0, 1, 2], [0, 1, 2], [0, 2, 1]]).unique().counts
        array([2, 1])
        """
        _, first, counts = np.unique(self.triplet_ids, return_index=True, return_counts=True)
        bare = Triplets(self.anchor[first], self.near[first], self.far[first], self.objects)
        return UniqueTriplets(bare, counts)


class SoundNames(tuple[str, ...]):
    """Names of objects that were looked at: distinct, and none is blank. A million are looked at only once.

    Examples
    --------
    >>> isinstance(sound_names(["fig", "plum"]), SoundNames)
    True
    """

    __slots__ = ()


def sound_names(objects: Sequence[str]) -> SoundNames:
    """The names of objects, checked; as they are where they were checked before.

    Examples
    --------
    >>> sound_names(["fig", "plum"])
    ('fig', 'plum')
    """
    if isinstance(objects, SoundNames):
        return objects
    names = SoundNames(map(str, objects))
    if len(set(names)) != len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise TripletError(
            f"objects: {twice!r} is listed twice; every object needs a name of its own",
        )
    nameless = [i for i, name in enumerate(names) if not name or name.isspace()]
    if nameless:
        raise TripletError(
            f"objects: the name of object {nameless[0]} is {names[nameless[0]]!r}; "
            "every object needs a name that is not blank",
        )
    return names


def as_triplets(answers: Triplets | ArrayLike, known: tuple[str, ...] = ()) -> Triplets:
    """The one gate: Triplets as they are, an (m, 3) array of indices by ``Triplets.from_array``, a data frame read.

    Indices of an array are those of the ``known`` objects, where a fitted model has such; past them they are new.

    >>> as_triplets([[3, 0, 1]], known=("red", "pink", "3")).objects
    ('red', 'pink', '3', '3 (new)')
    """
    if isinstance(answers, Triplets):
        return answers
    if hasattr(answers, "columns"):
        from nearfar import read_triplets  # by the public door: reading lies below this module

        frame: Triplets = read_triplets(answers)
        return frame
    found = Triplets.from_array(answers)
    if found.objects[: len(known)] == known[: found.n_objects]:
        return found
    taken = set(known)
    fresh = [f"{name} (new)" if name in taken else name for name in found.objects[len(known) :]]
    return found.replace(objects=(*known[: found.n_objects], *fresh))


def _three_columns(values: ArrayLike) -> NDArray[Any]:
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise TripletError(f"triplets: expected an (m, 3) array of indices ({error})") from error
    if array.size == 0 and array.ndim <= 2:
        array = np.zeros((0, 3), dtype=np.int32)
    if array.ndim != 2 or array.shape[1] != 3:
        raise TripletError(
            f"triplets: expected an (m, 3) array of indices, got shape {array.shape}",
        )
    return array


def _largest_index(array: NDArray[Any]) -> int:
    """The largest index of an array, where it names a plausible number of objects."""
    if array.dtype.kind not in "iuf":
        return -1  # the columns say what is wrong
    known = array if array.dtype.kind in "iu" else array[np.isfinite(array)]
    largest = int(known.max()) if known.size else -1  # an initial -1 would not fit unsigned integers
    wrong = check_largest_index(largest, len(array))
    if wrong is not None:
        raise TripletError(f"triplets: {wrong}, or n_objects")
    return largest


def _indices(values: ArrayLike, role: str, n_objects: int) -> Indices:
    array = np.asarray(values)
    if array.size == 0:
        array = np.zeros(0, np.int32)
    if array.ndim != 1:
        raise TripletError(
            f"{role}: expected one index per answer, got an array of shape {array.shape}",
        )
    if array.dtype.kind not in "iu":
        bad = array.dtype.kind != "f" or not np.isfinite(array).all() or not (array == np.floor(array)).all()
        if bad:
            row, found = _first_odd(array)
            last = f" to {n_objects - 1}" if n_objects else ""
            raise TripletError(
                f"{role}, answer {row}: {found!r} is not a valid index; expected a whole number from 0{last}"
            )
    if array.size and (array.min() < 0 or array.max() >= n_objects):
        row = int(np.argmax((array < 0) | (array >= n_objects)))
        raise TripletError(
            f"{role}, answer {row}: index {array[row]} is outside 0..{n_objects - 1} ({n_objects} objects are named)",
        )
    return read_only(array, np.int32)


def _first_odd(array: NDArray[Any]) -> tuple[int, object]:
    """Where an array of would-be indices first holds something that is not a whole number."""
    if array.dtype.kind == "f":
        odd = ~np.isfinite(array) | (array != np.floor(array))
        row = int(np.argmax(odd))
        return row, array[row].item()
    return 0, array.flat[0]


def _numbers(values: ArrayLike | None, name: str) -> NDArray[np.float64] | None:
    if values is None:
        return None
    if isinstance(values, (list, tuple)):
        values = [np.nan if v is None else v for v in values]
    array = np.asarray(values)
    try:
        return read_only(array, np.float64)
    except (TypeError, ValueError) as error:
        raise TripletError(
            f"{name}: {error}; expected one number per answer, NaN where it is not known",
        ) from error


def _sides(values: ArrayLike | None) -> NDArray[np.int8] | None:
    if values is None:
        return None
    array = np.asarray(values)
    if array.dtype.kind not in "iu":
        words = [UNKNOWN_SIDE if v != v else SIDES.get(v, v) for v in cast("Iterable[Any]", values)]
        array = np.array(words, dtype=object)
    known = np.isin(array, SHOWN_AT)
    if not known.all():
        row = int(np.argmin(known))
        raise TripletError(
            f"near_side, answer {row}: {array.tolist()[row]!r} is not a side; "
            "expected 0 (left), 1 (right) or -1 (not known)",
        )
    return read_only(array, np.int8)


def _frozen(column: Any) -> Any:
    """A column that was just selected, no longer writable."""
    if isinstance(column, np.ndarray):
        column.flags.writeable = False
    return column
