"""TOML with line numbers: Python's own parser does not say on which line a key stands."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nearfar.errors import FileError

__all__ = ["Toml", "read_toml"]

HEADER = re.compile(r"^\s*\[\s*([^\[\]]+?)\s*\]\s*(#.*)?$")
KEY = re.compile(r"""^\s*("[^"]*"|'[^']*'|[A-Za-z0-9_-]+)\s*=""")


@dataclass(frozen=True)
class Toml:
    """A parsed file: its text, its values, and the line of every key; a key at the top has the table ``""``."""

    path: Path
    text: str
    values: dict[str, Any]
    lines: dict[tuple[str, str], int]

    def error(self, table: str, key: str, what: str) -> FileError:
        """One sentence that says where and what; ``key`` may be empty to mean the table itself."""
        line = self.lines.get((table, key)) or self.lines.get((table, ""))
        name = f"{table}.{key}" if table and key else key or f"[{table}]"
        where = f"{self.path}, line {line}" if line else f"{self.path}"
        return FileError(f"{where}: {name}: {what}")


def read_toml(path: Path) -> Toml:
    """Read a file of keys and tables one level deep; an error is one sentence with the line."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        reason = (
            "there is no such file" if isinstance(error, FileNotFoundError) else str(error.strerror).lower()
        )
        raise FileError(f"{path}: cannot be read, {reason}") from error
    except UnicodeDecodeError as error:
        raise FileError(f"{path}: is not UTF-8 text") from error
    try:
        values = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        found = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
        reason = re.sub(r"\s*\(at .*\)$", "", str(error)) or "it is nested too deeply"
        where = f", line {found[1]}, column {found[2]}" if found else ""
        raise FileError(f"{path}{where}: is not valid TOML: {reason}") from error
    return Toml(path, text, values, _lines(text))


def _lines(text: str) -> dict[tuple[str, str], int]:
    """(table, key) -> line. Inside multi-line text and arrays nothing is taken for a key."""
    lines: dict[tuple[str, str], int] = {}
    table, inside, depth = "", "", 0
    for number, line in enumerate(text.splitlines(), start=1):
        if not inside and depth == 0:
            if header := HEADER.match(line):
                table = header[1].strip("\"' ")
                lines.setdefault((table, ""), number)
                continue
            if key := KEY.match(line):
                lines.setdefault((table, key[1].strip("\"'")), number)
        inside, depth = _after(line, inside, depth)
    return lines


def _after(line: str, inside: str, depth: int) -> tuple[str, int]:
    """Whether a line ends inside multi-line text (by which quotes) and how many brackets are open."""
    at = 0
    while at < len(line):
        if inside:
            end = line.find(inside, at)
            if end < 0:
                return inside, depth
            at, inside = end + 3, ""
            continue
        character = line[at]
        if line.startswith(('"""', "'''"), at):
            inside, at = line[at : at + 3], at + 3
            continue
        if character in "\"'":
            at += 1
            while at < len(line) and line[at] != character:
                at += 2 if line[at] == "\\" and character == '"' else 1
        elif character == "#":
            break
        elif character in "[{":
            depth += 1
        elif character in "]}":
            depth -= 1
        at += 1
    return inside, depth
