"""Tables whose cells have types: Parquet files, data frames of any library, NPZ archives, arrays."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from nearfar._tools.memory import check_bytes
from nearfar.errors import FileError, TooLargeError, TripletError
from nearfar.io.naming import EMPTY
from nearfar.io.parquet_size import unpacked_size
from nearfar.io.sources import Source, check_unpacked, decode, open_binary
from nearfar.io.table import Cells, Coded, Header, Table, cell_names, check_width

CUT_SHORT = "cannot be read to its end, it is damaged; fetch or write it again"
ROLES = ("anchor", "near", "far")
MISSING = ("NAType", "NaTType")  # of pandas, whose own library need not be there
TEXT = (pl.String, pl.Categorical, pl.Enum, pl.Binary, pl.Time)
READABLE = (TypeError, OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException)


class TypedTable(Table):
    """A polars table of ``n_rows`` rows, counted from ``first_row``; text is null where it is empty.

    Where anchor, near and far are one enumeration, it is the object list.
    """

    first_row: int = 0

    def __init__(self, source: Source, table: pl.LazyFrame, n_rows: int) -> None:
        try:
            given = table.collect_schema()
            pl.DataFrame(schema=given)  # a type may be known and yet not be there
        except READABLE as error:
            raise FileError(f"{source.name}: a column cannot be read ({first_line(error)})") from error
        super().__init__(source, Header(source.name, list(given)))
        check_width(source.name, len(given))
        self._n_rows, self._table = n_rows, table
        cells = zip(cell_names(len(given)), given.items(), strict=True)
        self._cells = {name: _cell(key, dtype) for name, (key, dtype) in cells}
        keys = zip(self._cells, given, strict=True)
        self._text = {name: key for name, key in keys if given[key] == pl.String}
        self.schema = dict(table.select(**self._cells).collect_schema())
        kinds = {given.get(role) for role in ROLES}
        if len(kinds) == 1 and isinstance(kind := kinds.pop(), pl.Enum):
            self.objects = tuple(kind.categories.to_list())

    def cells(self, has_header: bool, rows: int, coded: Coded | None = None) -> Iterator[Cells]:
        """The table in batches."""
        start = 0
        words = {name: dtype for name, dtype in (coded or {}).items() if name in self._text}
        codes = {name: pl.col(self._text[name]).cast(dtype) for name, dtype in words.items()}
        table = self._table.select(**self._cells | codes)
        # of text fewer at a time, so that some are worked on while the next are made
        size = min(rows, 1 << 20) if pl.String in self.schema.values() else rows
        try:
            for frame in table.collect_batches(chunk_size=size, maintain_order=True):
                # null where coded text is empty, which its code tells faster than the text
                empty = [name for name in words if frame[name].to_physical().min() == EMPTY]
                filled = (pl.when(pl.col(x).to_physical() != EMPTY).then(x).alias(x) for x in empty)
                yield Cells(frame.with_columns(filled), len(frame), start + self.first_row)
                start += len(frame)
        except READABLE as error:
            raise FileError(f"{self.name}: {CUT_SHORT}") from error
        if start != self._n_rows:  # polars ends at data that it cannot decode as if that were the end
            raise FileError(f"{self.name}: {CUT_SHORT}")


def _cell(key: str, dtype: Any) -> pl.Expr:
    """Bytes that are not text are a blank cell, a length of time is a number of seconds."""
    if isinstance(dtype, pl.Duration):
        return pl.col(key).dt.total_microseconds() / 1e6
    if not isinstance(dtype, TEXT):
        return pl.col(key)
    text = pl.col(key).cast(pl.String)
    if isinstance(dtype, pl.Binary):
        text = pl.col(key).map_batches(_decoded, return_dtype=pl.String)
    return pl.when(text != "").then(text)


def _decoded(values: pl.Series) -> pl.Series:
    """Bytes as text; null where they are not UTF-8, for which polars raises an error even where told not to."""
    try:
        return values.cast(pl.String)
    except pl.exceptions.PolarsError:
        return pl.Series([value and decode(value) for value in values.to_list()], dtype=pl.String)


def parquet_table(source: Source) -> TypedTable:
    """A Parquet file."""
    data = io.BytesIO(source.data) if isinstance(source.data, bytes) else source.data
    try:
        table = pl.scan_parquet(data, glob=False)
        n_rows: int = table.select(pl.len()).collect().item()
    except READABLE as error:
        raise FileError(f"{source.name}: is not a readable Parquet file ({first_line(error)})") from error
    with source.open() as stream:
        size = stream.seek(0, io.SEEK_END)
        try:
            unpacked = unpacked_size(stream)
        except ValueError as error:
            raise FileError(f"{source.name}: is not a readable Parquet file ({error})") from error
    check_unpacked(source.name, size, max(unpacked, 12 * n_rows))  # at least three indices a row
    return TypedTable(source, table, n_rows)


def frame_table(source: Source) -> TypedTable:
    """A data frame of any library that narwhals knows."""
    import narwhals as nw

    frame = source.data
    try:
        if isinstance(frame, pl.LazyFrame):
            frame = frame.collect()
        table = nw.from_native(frame, eager_only=True)
    except TypeError as error:
        expected = "expected a path, '-', a list of paths, a data frame or an (m, 3) array"
        raise TripletError(f"answers: cannot be read from {type(frame).__name__}; {expected}") from error
    except ValueError as error:  # the only one that narwhals raises here
        said = " ".join(str(error).split())
        raise FileError(f"{source.name}: a column is there twice ({said}); rename one of them") from error
    native = table.to_native()
    if not isinstance(native, pl.DataFrame):
        native = pl.DataFrame({str(x): _series(table.get_column(x).to_list()) for x in table.columns})
    return TypedTable(source, native.lazy(), len(native))


def _series(values: list[Any]) -> pl.Series:
    """A column of a data frame; of mixed types, or with the missing values of pandas, as text."""
    known = [None if type(value).__name__ in MISSING else value for value in values]
    try:
        return pl.Series(known, nan_to_null=False)
    except (TypeError, pl.exceptions.PolarsError):
        return pl.Series([None if v is None or v != v else str(v) for v in known], dtype=pl.String)


def npz_table(source: Source) -> TypedTable:
    """Arrays of an NPZ archive (never unpickled): named columns, or rows of three under ``triplets``."""
    arrays = load_arrays(source)
    names = arrays.get("objects", arrays.get("names"))
    rows = next((key for key in ("triplets", "odd_one_out") if key in arrays), None)
    columns = {key: value for key, value in arrays.items() if value.ndim == 1}
    if all(role in columns for role in ROLES):
        made = _table(source, columns, len(columns["anchor"]))
        cells = [arrays[role] for role in ROLES]
    elif rows is not None:
        made = _rows_table(source, arrays[rows], columns)
        made.dialect = "list-order" if rows == "triplets" else "odd-one-out"
        cells = [arrays[rows]]
    else:
        squares = [value for value in arrays.values() if _is_square(value)]
        if len(squares) == 1:
            return matrix_table(source, squares[0], names)
        expected = "expected arrays anchor, near and far, or triplets or odd_one_out (m, 3), or (n, n) values"
        raise FileError(f"{source.name}: holds {', '.join(arrays) or 'nothing'}; {expected}")
    if all(cell.dtype.kind in "biuf" for cell in cells):
        made.first_index = 0
        if names is not None:
            made.objects = tuple(map(str, names.tolist()))
    return made


def array_table(source: Source) -> TypedTable:
    """An (m, 3) array of indices, or a pair of such an array and one response per row."""
    array, *response = [load_arrays(source)[""]] if source.format == "npy" else source.data
    if _is_square(array) and not response:
        return matrix_table(source, array)
    made = _rows_table(source, array, {"response": response[0]} if response else {})
    made.dialect = "list-order"
    made.first_index = 0
    return made


def _is_square(array: NDArray[Any]) -> bool:
    """Whether an array can be a similarity or distance matrix; of three rows, it is triplets."""
    return array.ndim == 2 and array.shape[0] == array.shape[1] > 3 and array.dtype.kind in "iuf"


def matrix_table(source: Source, matrix: NDArray[Any], names: NDArray[Any] | None = None) -> TypedTable:
    """A row and a column per object, which ``names`` has, else its number; first the name of the row."""
    called = list(map(str, range(len(matrix)) if names is None else names.tolist()))
    if len(called) != len(matrix):
        raise FileError(f"{source.name}: holds {len(called)} names for {len(matrix)} rows; expected one each")
    if len({"object", *called}) <= len(called):
        raise FileError(f"{source.name}: a name of an object is there twice; expected distinct ones")
    rows = {"object": np.array(called), **dict(zip(called, matrix.T, strict=True))}
    return _table(source, rows, len(matrix))


def _rows_table(source: Source, rows: NDArray[Any], columns: Mapping[str, NDArray[Any]]) -> TypedTable:
    if rows.ndim != 2 or rows.shape[1] != 3:
        four = ", or (m, 4) with  nearfar map --dialect quadruplets --model soe-2" * (rows.shape[1:] == (4,))
        raise FileError(f"{source.name}: the rows have shape {rows.shape}; expected (m, 3){four}")
    shape = np.shape(columns.get("response", rows[:, 0]))
    if shape != (len(rows),):
        raise FileError(f"{source.name}: response has shape {shape}; expected ({len(rows)},)")
    three = {str(i): rows[:, i] for i in range(3)}
    return _table(source, three | dict(columns), len(rows))


def _table(source: Source, columns: Mapping[str, NDArray[Any]], m: int) -> TypedTable:
    """One value per answer; arrays of other lengths are about something else."""
    try:
        made = {name: _column(array) for name, array in columns.items() if len(array) == m}
    except (ValueError, OverflowError, SystemError, *READABLE) as error:
        wrong = f"an array cannot be read as a column ({first_line(error)})"
        raise FileError(f"{source.name}: {wrong}; expected numbers or text") from error
    return TypedTable(source, pl.LazyFrame(made), m)


def _column(array: NDArray[Any]) -> pl.Series:
    if array.dtype.kind not in "biufMmOUS":
        raise TypeError(f"{array.dtype} is no type of cells")
    if array.dtype.kind == "S":
        array = np.char.decode(array, "utf-8")  # polars would leave out what is not text
    if array.dtype.kind in "OU":
        return _series(array.tolist())
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        array = array.astype(np.float64)  # polars has no longer ones
    return pl.Series(np.ascontiguousarray(array))


def load_arrays(source: Source) -> dict[str, NDArray[Any]]:
    """All arrays of an NPZ archive by name; the one of an NPY file under ''."""
    try:
        with open_binary(source) as stream:
            unpacked = size = stream.seek(0, io.SEEK_END)
            if source.format == "npz":
                unpacked = sum(m.file_size for m in zipfile.ZipFile(stream).infolist())
                check_unpacked(source.name, size, unpacked)
            check_bytes(unpacked, f"{source.name}: its arrays need", "save fewer or smaller ones")
            stream.seek(0)
            loaded = np.load(stream, allow_pickle=False)
            if isinstance(loaded, np.ndarray):
                return {"": _checked(source, loaded)}
            with loaded:
                arrays = {key: loaded[key] for key in loaded.files}
            return {key: _checked(source, x) for key, x in arrays.items() if isinstance(x, np.ndarray)}
    except (FileError, TooLargeError):
        raise
    except Exception as error:  # numpy and zipfile raise nearly anything on damaged archives
        wrong = f"is not a readable {source.format} archive ({first_line(error)})"
        if "allow_pickle" in str(error):
            wrong = "holds Python objects (a pickle), which nearfar never loads; save plain arrays"
        raise FileError(f"{source.name}: {wrong}") from error


def _checked(source: Source, array: NDArray[Any]) -> NDArray[Any]:
    """The array; numpy loads any numbers as text, but strings hold characters only, and billions of nothing are refused."""
    if array.size and not array.dtype.itemsize:
        raise FileError(f"{source.name}: holds text of no characters; expected numbers or names")
    if array.dtype.kind == "U" and array.dtype.itemsize:
        points = np.ascontiguousarray(array).view(np.dtype(np.uint32).newbyteorder(array.dtype.byteorder))
        half_pair = (points >= 0xD800) & (points <= 0xDFFF)
        if np.any((points > 0x10FFFF) | half_pair):
            raise FileError(f"{source.name}: holds text that is not Unicode; it is damaged, write it again")
    return array


def first_line(error: BaseException) -> str:
    """What an error of another library says, in one line."""
    return str(error).splitlines()[0] if str(error).strip() else type(error).__name__
