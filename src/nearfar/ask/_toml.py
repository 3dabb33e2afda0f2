"""TOML with line numbers: Python's own parser does not say on which line a key stands."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nearfar.errors import FileError

HEADER = re.compile(r"^\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(#.*)?$")
KEY = re.compile(r"""^\s*("[^"]*"|'[^']*'|[A-Za-z0-9_-]+)\s*=""")


@dataclass(frozen=True)
class Toml:
    """A parsed file: its text and its values; a key at the top has the table ``""``, the second [[form]] is "form 2".

    used : the files that were asked for.
    """

    path: Path
    text: str
    values: dict[str, Any]
    used: set[Path] = field(default_factory=set, compare=False)

    def error(self, table: str, key: str, what: str) -> FileError:
        """One sentence that says where and what; ``key`` may be empty to mean the table itself."""
        lines = self.lines()
        line = lines.get((table, key)) or lines.get((table, ""))
        name = f"{table}.{key}" if table and key else key or f"[{table}]"
        where = f"{self.path}, line {line}" if line else f"{self.path}"
        return FileError(f"{where}: {name}: {what}")

    def file(self, table: str, key: str, name: str | Path) -> Path:
        """The file that a key names, in the folder of the study file; a study never reaches outside of it."""
        folder, name = self.path.resolve().parent, str(name)
        try:
            path = (folder / name).resolve()
            exists = path.exists()
        except (OSError, ValueError, RuntimeError) as error:  # a NUL, a loop of links, a name too long
            raise self.error(table, key, f"{name!r} is not the name of a file") from error
        if not path.is_relative_to(folder):
            raise self.error(table, key, f"{name!r} lies outside the folder of the study file; copy it there")
        if not exists:
            raise self.error(table, key, f"{name!r} does not exist")
        self.used.add(path)
        return path

    def lines(self) -> dict[tuple[str, str], int]:
        """(table, key) -> line. What looks like a key stands inside a text or a list if what is before it is no TOML."""
        lines: dict[tuple[str, str], int] = {}
        text, table, entries = self.text.splitlines(), "", Counter[str]()
        for number, line in enumerate(text, start=1):
            header, key = HEADER.match(line), KEY.match(line)
            if (header or key) and _is_toml("\n".join(text[: number - 1])):
                table = header[2].strip("\"' ") if header else table
                if header and header[1] == "[[":
                    entries[table] += 1
                    table = f"{table} {entries[table]}"
                lines.setdefault((table, key[1].strip("\"'") if key and not header else ""), number)
        return lines


def _is_toml(text: str) -> bool:
    try:
        tomllib.loads(text)
    except ValueError:
        return False
    return True


def shown(value: Any) -> str:
    """A value in the words of an error."""
    try:
        text = repr(value)
    except ValueError:  # Python does not print such numbers
        return "a number of thousands of digits"
    return text[:77] + "..." if len(text) > 80 else text


def read_toml(path: Path) -> Toml:
    """Read a file of keys and tables one level deep; an error is one sentence with the line."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        is_lost = isinstance(error, FileNotFoundError)
        reason = "there is no such file" if is_lost else str(error.strerror).lower()
        raise FileError(f"{path}: cannot be read, {reason}") from error
    except UnicodeDecodeError as error:
        raise FileError(f"{path}: is not UTF-8 text") from error
    try:
        values = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a TOMLDecodeError, or a number of thousands of digits
        at = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
        reason = re.sub(r"\s*\(at .*\)$", "", str(error)) or "it is nested too deeply"
        where = f", line {at[1]}, column {at[2]}" if at else ""
        raise FileError(f"{path}{where}: is not valid TOML: {reason}") from error
    return Toml(path, text, values)
