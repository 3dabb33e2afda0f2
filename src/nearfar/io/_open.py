"""Source -> sheet, by format."""

from __future__ import annotations

from nearfar.io._csv import CsvSheet
from nearfar.io._json import JsonLinesSheet, json_sheet
from nearfar.io._sheet import Sheet
from nearfar.io._source import Source
from nearfar.io._tables import array_sheet, frame_sheet, npz_sheet, parquet_sheet

__all__ = ["open_sheet"]

OPENERS = {
    "csv": CsvSheet,
    "tsv": CsvSheet,
    "txt": CsvSheet,
    "jsonl": JsonLinesSheet,
    "json": json_sheet,
    "parquet": parquet_sheet,
    "npz": npz_sheet,
    "npy": array_sheet,
    "array": array_sheet,
    "frame": frame_sheet,
}


def open_sheet(source: Source) -> Sheet:
    """Look at the start of a source: its columns, and what it says about itself."""
    return OPENERS[source.format](source)
