"""Tables whose cells have types: Parquet files, data frames of any library, NPZ archives, arrays."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from nearfar.errors import FileError, TripletError
from nearfar.io._header import Header
from nearfar.io._sheet import Sheet, cell_names
from nearfar.io._source import Source, open_binary

__all__ = ["TableSheet", "array_sheet", "enumerated", "frame_sheet", "npz_sheet", "parquet_sheet"]

OBJECT_LISTS = ("objects", "names")
ROLES = ("anchor", "near", "far")


class TableSheet(Sheet):
    """A polars table; text is null where it is empty."""

    def __init__(self, source: Source, table: pl.LazyFrame) -> None:
        schema = table.collect_schema()
        super().__init__(source, Header(source.name, list(schema)))
        text = (pl.String, pl.Categorical, pl.Enum)
        self._table = table.select(
            pl.when(_text(key) != "").then(_text(key)).alias(name)
            if isinstance(dtype, text)
            else pl.col(key).alias(name)
            for (key, dtype), name in zip(schema.items(), cell_names(list(schema)), strict=True)
        )

    def scan(self, has_header: bool) -> pl.LazyFrame:
        """The table."""
        return self._table


def _text(key: str) -> pl.Expr:
    return pl.col(key).cast(pl.String)


def parquet_sheet(source: Source) -> TableSheet:
    """A Parquet file; where anchor, near and far are one enumeration, it is the object list."""
    data = io.BytesIO(source.data) if isinstance(source.data, bytes) else source.data
    try:
        table = pl.scan_parquet(data, glob=False)
        schema = table.collect_schema()
        n_rows: int = table.select(pl.len()).collect().item()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise FileError(
            f"{source.name}: is no readable Parquet file ({error})",
        ) from error
    sheet = TableSheet(source, table)
    sheet.objects = enumerated(schema)
    sheet.n_rows = n_rows
    return sheet


def enumerated(schema: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The object list that the types of a table hold: anchor, near and far are one enumeration."""
    kinds = {schema.get(role) for role in ROLES}
    if len(kinds) == 1 and isinstance(kind := kinds.pop(), pl.Enum):
        return tuple(kind.categories.to_list())
    return None


def frame_sheet(source: Source) -> TableSheet:
    """A data frame of any library that narwhals knows."""
    import narwhals as nw

    frame = source.data
    if isinstance(frame, pl.LazyFrame):
        return TableSheet(source, frame)
    try:
        table = nw.from_native(frame, eager_only=True)
    except TypeError as error:
        raise TripletError(
            f"answers: cannot be read from {type(frame).__name__}; "
            "expected a path, '-', a list of paths, a data frame or an (m, 3) array",
        ) from error
    native = table.to_native()
    if isinstance(native, pl.DataFrame):
        return TableSheet(source, native.lazy())
    columns = {str(name): _series(table[name].to_list()) for name in table.columns}
    return TableSheet(source, pl.DataFrame(columns).lazy())


def _series(values: list[Any]) -> pl.Series:
    try:
        return pl.Series(values, nan_to_null=False)
    except (TypeError, pl.exceptions.PolarsError):  # a column of mixed types
        blank = [value is None or value != value for value in values]
        return pl.Series([None if b else str(v) for b, v in zip(blank, values, strict=True)], dtype=pl.String)


def npz_sheet(source: Source) -> TableSheet:
    """Arrays of an NPZ archive (never unpickled): named columns, or rows of three under ``triplets``."""
    arrays = _load(source)
    names = next((arrays[key] for key in OBJECT_LISTS if key in arrays), None)
    rows = next((key for key in ("triplets", "odd_one_out") if key in arrays), None)
    if all(role in arrays for role in ROLES):
        columns = {key: value for key, value in arrays.items() if value.ndim == 1}
        sheet = TableSheet(source, _table(columns, len(arrays["anchor"])))
        cells = [arrays[role] for role in ROLES]
    elif rows is not None:
        columns = {key: value for key, value in arrays.items() if value.ndim == 1}
        sheet = _rows_sheet(source, arrays[rows], columns)
        sheet.dialect = "list-order" if rows == "triplets" else "odd-one-out"
        cells = [arrays[rows]]
    else:
        raise FileError(
            f"{source.name}: holds {', '.join(arrays) or 'nothing'}; "
            "expected arrays anchor, near and far, or triplets (m, 3), or odd_one_out (m, 3)",
        )
    if all(cell.dtype.kind in "biuf" for cell in cells):
        sheet.first_index = 0
        if names is not None:
            sheet.objects = tuple(map(str, names.tolist()))
    return sheet


def array_sheet(source: Source) -> TableSheet:
    """An (m, 3) array of indices, or a pair of such an array and one response per row."""
    array, *response = [_load(source)[""]] if source.format == "npy" else source.data
    sheet = _rows_sheet(source, array, {"response": response[0]} if response else {})
    sheet.dialect = "list-order"
    sheet.first_index = 0
    return sheet


def _rows_sheet(source: Source, rows: NDArray[Any], columns: Mapping[str, NDArray[Any]]) -> TableSheet:
    if rows.ndim != 2 or rows.shape[1] != 3:
        raise FileError(
            f"{source.name}: the rows have shape {rows.shape}; expected (m, 3)",
        )
    three = {str(i): rows[:, i] for i in range(3)}
    return TableSheet(source, _table(three | dict(columns), len(rows)))


def _table(columns: Mapping[str, NDArray[Any]], m: int) -> pl.LazyFrame:
    """One value per answer; arrays of other lengths are about something else."""
    return pl.LazyFrame({name: _column(array) for name, array in columns.items() if len(array) == m})


def _column(array: NDArray[Any]) -> pl.Series:
    if array.dtype.kind in "US":
        return pl.Series(array.astype(np.str_).tolist(), dtype=pl.String)
    return pl.Series(np.ascontiguousarray(array))


def _load(source: Source) -> dict[str, NDArray[Any]]:
    """All arrays of an NPZ archive by name; the one of an NPY file under ''."""
    try:
        with open_binary(source) as stream:
            loaded = np.load(stream, allow_pickle=False)
            if isinstance(loaded, np.ndarray):
                return {"": loaded}
            with loaded:
                return {key: loaded[key] for key in loaded.files}
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        pickled = "allow_pickle" in str(error)
        raise FileError(
            f"{source.name}: holds Python objects (a pickle), which nearfar never loads; save plain arrays"
            if pickled
            else f"{source.name}: is no readable {source.format} archive ({error})",
        ) from error
