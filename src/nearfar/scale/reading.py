"""Answers from files anywhere: cut into pieces, names turned into indices the same way on every run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

from nearfar._tools.checks import check_count
from nearfar.blocks import Backend
from nearfar.errors import FileError, InputError
from nearfar.io import ObjectList
from nearfar.io.naming import Numbers
from nearfar.io.objects import as_names
from nearfar.io.sources import format_of, refuse_directory
from nearfar.scale._answers import Answers, Piece
from nearfar.scale._engine import Engine, current_backend, same
from nearfar.scale.file_chunks import (
    FileChunk,
    FrameChunk,
    Options,
    open_file,
    open_parquet,
    shown,
    text_header,
)
from nearfar.triplets.columns import SoundNames, sound_names
from nearfar.triplets.ids import order_names

PIECE_ROWS = 4_000_000
ROW_BYTES = 100  # of memory for an answer on its way from file to cells
LINE_BYTES = 12  # of a short line of text, to guess how many there are


def read_triplets(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    dialect: str | None = None,
    columns: dict[str, Any] | None = None,
    objects: ObjectList | Sequence[str] | str | os.PathLike[str] | int | None = None,
    on_bad: Literal["error", "drop"] = "error",
    storage_options: dict[str, Any] | None = None,
    piece_rows: int = PIECE_ROWS,
) -> Answers:
    """Find answers for the active Dask client or scratch folder to read in pieces; nothing is read yet.

    Parameters
    ----------
    paths : Parquet or CSV files (.parquet .csv .tsv, text also .gz): a path, an address that fsspec knows such as
        ``s3://bucket/answers-*.parquet``, a pattern, or a list of these. Workers must see them too. Or a dask DataFrame.
    dialect, columns, on_bad : as for ``nearfar.read_triplets``.
    objects : object list, as for ``nearfar.read_triplets``; or n, for objects that are called 0 to n - 1. Without it
        the files are read twice, the first time for the names: all that occur, in their natural order.
    storage_options : what fsspec needs to reach the files, such as keys.
    piece_rows : answers that a worker reads at a time, at most; fewer where its memory asks for it.

    Returns
    -------
    Answers : give it to the verbs of ``nearfar.scale``.

    Examples
    --------
    >>> import tempfile
    >>> import nearfar as nf
    >>> folder = tempfile.mkdtemp()
    >>> nf.write_triplets(nf.Triplets([0], [1], [2], ["fig", "plum", "lime"]), f"{folder}/answers.csv")
    >>> with nf.scale.scratch(folder):
    ...     read_triplets(f"{folder}/*.csv").objects
    ('fig', 'lime', 'plum')
    """
    if on_bad not in ("error", "drop"):
        raise InputError(f"on_bad must be 'error' or 'drop', got {on_bad!r}")
    check_count(piece_rows, "piece_rows")
    engine = current_backend()
    names = as_names(objects)
    options: Options = {"dialect": dialect, "columns": columns, "on_bad": on_bad}
    if isinstance(names, Numbers):
        options = {**options, "objects": len(names)}
    if hasattr(paths, "__dask_graph__"):
        pieces, approximate = _partitions(engine, paths, options)
    else:
        files = _find(paths, storage_options or {})
        # answers that a task can hold
        room = max(1, min(piece_rows, engine.memory_per_task() // (4 * ROW_BYTES)))
        looked = engine.map("files", _chunks, files, options=options, room=room)
        cuts = engine.gather("looking at files", looked)
        pieces = tuple(piece for pieces, _ in cuts for piece in pieces)
        approximate = sum(answers for _, answers in cuts)
    if isinstance(names, Numbers):
        return Answers(pieces, names, None, approximate)
    if names is not None:
        return Answers(pieces, names, engine.submit("names", same, names), approximate)
    joined = engine.reduce("names", _join, engine.map("names", _names, pieces) or [((), True)])
    future = engine.submit("names", _order, joined)
    return Answers(pieces, engine.gather("names of objects", [future])[0], future, approximate)


def _partitions(engine: Backend, frame: Any, options: Options) -> tuple[tuple[Any, ...], int]:
    """A piece for every partition of a dask DataFrame, held by the workers where there are some, and about how many rows."""
    if not hasattr(frame, "columns"):
        raise InputError(
            f"answers: expected files or a dask DataFrame, got {type(frame).__name__}; a dask array becomes a frame by "
            "dask.dataframe.from_dask_array(array, columns=['anchor', 'near', 'far'])"
        )
    parts = frame.to_delayed()
    if not isinstance(engine, Engine):
        return tuple(FrameChunk(options, part) for part in parts), PIECE_ROWS * len(parts)
    with engine.faults("computing the answers"):
        held = engine.client.compute(parts)
    pieces = engine.map("answers", FrameChunk, [options] * len(held), held)
    return tuple(pieces), sum(engine.gather("answers", engine.map("answers", len, pieces)))


def _find(paths: Any, storage: dict[str, Any]) -> list[Any]:
    """All files, in order."""
    import fsspec

    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    files: list[Any] = []
    for path in (os.fspath(each) for each in given):
        refuse_directory(path)
        try:
            pattern = not os.path.exists(path)  # a file may be called answers[1].csv
            matching = fsspec.open_files(path, "rb", compression="infer", expand=pattern, **storage)
        except Exception as error:  # of whatever keeps it: an unknown protocol, no network, no key
            raise FileError(f"{path}: fsspec cannot reach it ({error})") from error
        if not matching:
            raise FileError(f"{path}: no file matches this pattern")
        files += matching
    if not files:
        raise InputError("answers: the list of files is empty; expected at least one")
    for file in files:
        kind, packed = format_of(file.path)
        if kind not in ("parquet", "csv", "tsv") or packed not in (None, "gzip"):
            raise FileError(
                f"{shown(file)}: cannot be read in pieces; expected .parquet .csv .tsv .csv.gz .tsv.gz, convert it "
                "with  nearfar convert"
            )
    return files


# -------------------------------------------------------------------- tasks


Cuts = tuple[list[Piece], int]  # pieces of a file, and about how many answers they have
Names = tuple[tuple[str, ...], bool]  # names that occur, and whether they are a list that every piece shares


def _chunks(file: Any, options: Options, room: int) -> Cuts:
    """The chunks of a file, about ``room`` answers each."""
    kind, packed = format_of(file.path)
    if kind == "parquet":
        return _parquet_chunks(file, options, room)
    with open_file(file) as stream:
        header = text_header(stream, kind, shown(file), options)
        size = int(file.fs.size(file.path))
    step = min(1 << 26, max(1, room * ROW_BYTES // 8))
    if packed or size <= len(header) + step:  # packed: cannot be entered in the middle
        return ([FileChunk(options, file, kind)], (4 if packed else 1) * size // LINE_BYTES)
    starts = range(len(header), max(size, len(header) + 1), step)
    part = partial(FileChunk, options, file, kind, header=header)
    return ([part(start=a, stop=min(a + step, size)) for a in starts], size // LINE_BYTES)


def _parquet_chunks(file: Any, options: Options, room: int) -> Cuts:
    with open_file(file) as stream:
        metadata = open_parquet(stream).metadata
    sizes = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
    chunks: list[Piece] = []
    groups: list[int] = []
    first = rows = 0
    for number, size in [*enumerate(sizes), (len(sizes), room)]:
        if groups and rows + size > room:
            chunks.append(FileChunk(options, file, "parquet", groups=tuple(groups), first=first))
            first, groups, rows = first + rows, [], 0
        groups.append(number)
        rows += size
    return (chunks, int(sum(sizes)))


def _names(chunk: Any) -> Names:
    """The objects of the answers of a chunk."""
    return _join([(names, True) for names in chunk.objects()] or [((), False)])


def _join(several: list[Names]) -> Names:
    lists = {names for names, _ in several if names}
    if len(lists) <= 1 and all(shared for _, shared in several):
        return next(iter(lists), ()), True
    return tuple({name: None for names in lists for name in names}), False


def _order(joined: Names) -> SoundNames:
    """The list that all pieces share, else all names in their natural order."""
    names, shared = joined
    return sound_names(names if shared else order_names(list(names)))
