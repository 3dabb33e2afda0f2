"""Source -> table, by format."""

from __future__ import annotations

from nearfar.io.csv_table import CsvTable
from nearfar.io.excel_table import excel_table
from nearfar.io.json_table import JsonTable
from nearfar.io.sources import Source
from nearfar.io.table import Table
from nearfar.io.typed_tables import array_table, frame_table, npz_table, parquet_table

OPENERS = {
    "csv": CsvTable,
    "tsv": CsvTable,
    "txt": CsvTable,
    "jsonl": JsonTable,
    "json": JsonTable,
    "parquet": parquet_table,
    "xlsx": excel_table,
    "npz": npz_table,
    "npy": array_table,
    "array": array_table,
    "frame": frame_table,
}


def open_table(source: Source) -> Table:
    """Look at the start of a source: its columns, and what it says about itself."""
    return OPENERS[source.format](source)
