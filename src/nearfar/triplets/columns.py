"""Columns of answers, as callers give them, ``Triplets`` keep them and tables hold them: indices, names, numbers, sides, ids."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nearfar._tools.arrays import Indices
from nearfar._tools.checks import check_count
from nearfar._tools.limits import check_largest_index
from nearfar._tools.memory import check_bytes
from nearfar.errors import TripletError
from nearfar.triplets.ids import Ids, read_only

if TYPE_CHECKING:
    import polars as pl

    from nearfar.triplets import Triplets

LEFT, RIGHT, UNKNOWN_SIDE = 0, 1, -1
SIDES: dict[Any, int] = {
    "left": LEFT,
    "right": RIGHT,
    "0": LEFT,
    "1": RIGHT,
    "": UNKNOWN_SIDE,
    None: UNKNOWN_SIDE,
}
RANDOM_RULES = ("random", "uniform", "test", "validation")  # or RandomSampling and so on


class SoundNames(tuple[str, ...]):
    """Names of objects that were checked: distinct, and none is blank. A million are checked only once."""

    __slots__ = ()


def sound_names(objects: Sequence[str]) -> SoundNames:
    """The names of objects, checked; as they are where they were checked before."""
    if isinstance(objects, SoundNames):
        return objects
    names = SoundNames(map(str, objects))
    if len(set(names)) != len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise TripletError(f"objects: {twice!r} is listed twice; every object needs a name of its own")
    nameless = [i for i, name in enumerate(names) if not name or name.isspace()]
    if nameless:
        raise TripletError(
            f"objects: the name of object {nameless[0]} is {names[nameless[0]]!r}; "
            "every object needs a name that is not blank"
        )
    return names


def numbered_names(n: Any, what: str) -> SoundNames:
    """The names "0", "1", ... of n objects."""
    count = check_count(n, what, least=0)
    check_bytes(64 * count, f"{what}: the names of {count:,} objects need", "give the number that there are")
    return SoundNames(map(str, range(count)))


def three_columns(values: ArrayLike) -> NDArray[Any]:
    """An (m, 3) array; one of no rows for whatever is empty."""
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise TripletError(f"triplets: expected an (m, 3) array of indices ({error})") from error
    if array.size == 0 and array.ndim <= 2:
        array = np.zeros((0, 3), dtype=np.int32)
    if array.ndim != 2 or array.shape[1] != 3:
        raise TripletError(f"triplets: expected an (m, 3) array of indices, got shape {array.shape}")
    if array.dtype.kind != "O":
        return array
    return _whole_numbers(array.ravel(), lambda at: f"triplets, answer {at // 3}").reshape(-1, 3)


def largest_index(array: NDArray[Any]) -> int:
    """The largest index of an array, where it names a plausible number of objects."""
    if array.dtype.kind not in "iuf":
        return -1  # the columns say what is wrong
    known = array if array.dtype.kind in "iu" else array[np.isfinite(array)]
    largest = int(known.max()) if known.size else -1  # an initial -1 would not fit unsigned integers
    wrong = check_largest_index(largest, len(array))
    if wrong is not None:
        raise TripletError(f"triplets: {wrong}, or n_objects")
    return largest


def as_indices(values: ArrayLike, role: str, n_objects: int) -> Indices:
    """(m,) indices from 0 to ``n_objects - 1``, read-only."""
    array = np.asarray(values)
    if array.size == 0:
        array = np.zeros(0, np.int32)
    if array.ndim != 1:
        raise TripletError(f"{role}: expected one index per answer, got an array of shape {array.shape}")
    array = _whole_numbers(array, lambda row: f"{role}, answer {row}", n_objects)
    if array.size and (array.min() < 0 or array.max() >= n_objects):
        row = int(np.argmax((array < 0) | (array >= n_objects)))
        raise TripletError(
            f"{role}, answer {row}: index {array[row]} is outside 0..{n_objects - 1} ({n_objects} objects are named)"
        )
    return read_only(array, np.int32)


def _whole_numbers(array: NDArray[Any], where: Callable[[int], str], n_objects: int = 0) -> NDArray[Any]:
    """A flat array as integers; what is not a whole number is an error that says ``where`` it is."""
    if array.dtype.kind in "iu":
        return array
    values = array.tolist()
    if array.dtype.kind == "f":
        odd = ~np.isfinite(array) | (array != np.floor(array))
    else:  # of several types, as a data frame gives them
        right = [type(v) is not bool and isinstance(v, Integral) and abs(int(v)) < 2**63 for v in values]
        odd = ~np.array(right, dtype=bool)
    if odd.any():
        row = int(np.argmax(odd))
        most = f" to {n_objects - 1}" if n_objects else ""
        names = "; for names give a data frame with columns anchor, near and far"
        raise TripletError(
            f"{where(row)}: {values[row]!r} is not a valid index; expected a whole number from 0{most}"
            + names * (array.dtype.kind in "OU")
        )
    return array.astype(np.int64)


def as_numbers(values: ArrayLike | None, name: str) -> NDArray[np.float64] | None:
    """(m,) numbers, read-only, NaN where one is not known; None for None."""
    if values is None:
        return None
    if isinstance(values, (list, tuple)):
        values = [np.nan if v is None else v for v in values]
    array = np.asarray(values)
    try:
        return read_only(array, np.float64)
    except (TypeError, ValueError) as error:
        expected = "expected one number per answer, NaN where it is not known"
        raise TripletError(f"{name}: {error}; {expected}") from error


def median_of_times(seconds: NDArray[np.float64]) -> float:
    """The median of finite times, also of such that no sum of two of them is a number.

    >>> median_of_times(np.array([1e308, 1e308, 1.0, 1e308]))
    1e+300
    """
    return float(np.median(np.minimum(seconds, 1e300)))


def as_sides(values: ArrayLike | None) -> NDArray[np.int8] | None:
    """(m,) sides as 0 (left), 1 (right) and -1 (not known), from these or from words; None for None."""
    if values is None:
        return None
    array = np.asarray(values)
    if array.dtype.kind not in "iu":
        words = [UNKNOWN_SIDE if v != v else SIDES.get(v, v) for v in cast("Iterable[Any]", values)]
        array = np.array(words, dtype=object)
    known = np.isin(array, (LEFT, RIGHT, UNKNOWN_SIDE))
    if not known.all():
        row = int(np.argmin(known))
        raise TripletError(
            f"near_side, answer {row}: {array.tolist()[row]!r} is not a side; "
            "expected 0 (left), 1 (right) or -1 (not known)"
        )
    return read_only(array, np.int8)


def named_column(triplets: Triplets, indices: NDArray[Any]) -> pl.Series:
    """The names of objects, as an enumeration that holds the whole object list."""
    import polars as pl

    listed = pl.Series(triplets.objects, dtype=pl.String)
    return listed.gather(pl.Series(indices)).cast(pl.Enum(listed))


def optional_columns(triplets: Triplets, **renamed: str) -> dict[str, pl.Series]:
    """What is known beyond the triplets, under our own names unless ``renamed``; null where not known."""
    import polars as pl

    columns: dict[str, pl.Series] = {}
    for role in ("statement", "participant"):
        if getattr(triplets, role) is not None:
            columns[role] = _named_ids(getattr(triplets, role))
    for role in ("seconds", "answered_at"):
        numbers = getattr(triplets, role)
        if numbers is not None:
            columns[role] = pl.Series(numbers, nan_to_null=True)
    if triplets.near_side is not None:
        side = pl.Series(triplets.near_side)
        columns["near_side"] = pl.Series(["left", "right"]).gather(side.set(side < 0, None))
    if triplets.rule is not None:
        rule = _named_ids(triplets.rule).cast(pl.String)
        columns["rule"] = rule.set(rule == "", None)
    return {renamed.get(role, role): column for role, column in columns.items()}


def _named_ids(ids: Ids) -> pl.Series:
    import polars as pl

    listed = pl.Series(ids.names.tolist(), dtype=pl.Int64 if ids.is_numeric else pl.String)
    return listed.gather(pl.Series(ids.codes))


def pack_ids(first: Indices, second: Indices, third: Indices, n_objects: int) -> NDArray[np.int64]:
    """(m,) one number for each row of three indices below ``n_objects``; the order of rows is theirs.

    >>> pack_ids(np.array([0, 1]), np.array([1, 2]), np.array([2, 0]), 3)
    array([ 5, 15])
    """
    n, most = np.int64(n_objects), 2_097_151  # the largest n with n^3 < 2^63
    if n > most:
        needed = f"ids of questions and trios need at most {most:,}"
        raise TripletError(f"{n:,} objects: {needed}; select some of the objects")
    return (first.astype(np.int64) * n + second) * n + third


def mentioned(answers: Triplets) -> NDArray[np.bool_]:
    """(n,) whether any answer concerns the object.

    >>> import nearfar as nf
    >>> mentioned(nf.Triplets.from_array([[0, 1, 3]], n_objects=4)).tolist()
    [True, True, False, True]
    """
    seen = np.zeros(answers.n_objects, dtype=bool)
    for role in (answers.anchor, answers.near, answers.far):
        seen[role] = True
    return seen


def random_rows(triplets: Triplets) -> NDArray[np.bool_] | None:
    """(m,) True where ``rule`` says that the question was drawn at random; None where no question is said to be of another kind.

    >>> from nearfar.triplets import Triplets
    >>> random_rows(Triplets.from_array([[0, 1, 2]] * 3, rule=["Random", "ARR", "ValidationSampling"]))
    array([ True, False,  True])
    """
    if triplets.rule is None:
        return None
    rules = [re.sub(r"[\W_]+|sampling$", "", str(name).lower()) for name in triplets.rule.names.tolist()]
    if all(rules[code] in (*RANDOM_RULES, "") for code in triplets.rule.present.tolist()):
        return None
    return np.isin(rules, RANDOM_RULES)[triplets.rule.codes]
