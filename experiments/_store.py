"""Rows on disk: one JSON line per finished cell, never computed twice."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments._experiment import Cell, Row, key_of, tidy
from nearfar._tools.atomic import atomic_path

__all__ = ["Store"]


class Store:
    """The rows of one experiment, in ``folder/NAME.jsonl``.

    A finished cell is appended at once and reaches the disk before the next one starts, so a killed run loses
    the cell it was at and nothing else. A line torn by the kill is dropped when the file is read again.
    Beside its settings and results a line says what the whole cell took, and on which of the machines in
    ``machines.json`` it was computed, the first one unless said. ``arrange`` brings lines into the order of the cells; it writes the file whole or not at all.

    >>> import tempfile
    >>> store = Store(Path(tempfile.mkdtemp()), "demo")
    >>> store.add(Cell({"n": 3}), {"purity": 0.5})
    >>> Store(store.path.parent, "demo").rows()
    [{'n': 3, 'purity': 0.5}]
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.path = folder / f"{name}.jsonl"
        self._lines: dict[str, dict[str, Any]] = {}
        if self.path.exists():
            self._read()

    def _read(self) -> None:
        text = self.path.read_text(encoding="utf-8")
        lines = text.split("\n")
        whole, torn = lines[:-1], lines[-1]
        for line in whole:
            entry = json.loads(line)
            self._lines[key_of(entry["cell"])] = entry
        if torn:
            self._write([json.dumps(entry) for entry in self._lines.values()])

    def __contains__(self, cell: Cell) -> bool:
        return cell.key in self._lines

    def __len__(self) -> int:
        return len(self._lines)

    def add(
        self, cell: Cell, result: Mapping[str, Any], *, cpu_seconds: float | None = None, machine: int = 0
    ) -> None:
        """Keep a finished cell."""
        entry: dict[str, Any] = {"cell": dict(cell.settings), "result": tidy(result)}
        if cpu_seconds is not None:
            entry["cpu_seconds"] = tidy(cpu_seconds)
        if machine:
            entry["machine"] = machine
        self._lines[cell.key] = entry
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def rows(self) -> list[Row]:
        """Settings and results of every stored cell, and its machine unless that is the first one."""
        return [
            {**entry["cell"], **entry["result"]}
            | ({"machine": entry["machine"]} if "machine" in entry else {})
            for entry in self._lines.values()
        ]

    def cpu_seconds(self) -> tuple[float, int]:
        """What all cells took together, and for how many of them that is an estimate.

        A row of an earlier run has only the parts that it timed itself. The rest of such a cell (drawing questions,
        scoring) is taken to be what it was, on average, in the cells that have both.
        """
        parts, wholes = [], []
        for entry in self._lines.values():
            timed = sum(v for name, v in entry["result"].items() if name.endswith("seconds") and v)
            if "cpu_seconds" in entry:
                wholes.append((entry["cpu_seconds"], timed))
            else:
                parts.append(timed)
        rest = sum(whole - timed for whole, timed in wholes) / max(len(wholes), 1)
        return sum(whole for whole, _ in wholes) + sum(parts) + rest * len(parts), len(parts)

    def forget(self) -> None:
        """Drop all rows."""
        self._lines = {}
        self.path.unlink(missing_ok=True)

    def arrange(self, cells: Sequence[Cell]) -> None:
        """Put the rows into the order of the cells and drop those that are no cells any more."""
        kept = {cell.key: self._lines[cell.key] for cell in cells if cell in self}
        self._lines = kept
        lines = [json.dumps(entry) for entry in kept.values()]
        if lines and self.path.read_text(encoding="utf-8").split("\n")[:-1] != lines:
            self._write(lines)

    def _write(self, lines: Sequence[str]) -> None:
        with atomic_path(self.path) as path:
            path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
