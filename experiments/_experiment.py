"""The nouns: cells, experiments, and what an experiment says on the page."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from experiments._data import Data

__all__ = [
    "Absent",
    "Cell",
    "Claim",
    "Experiment",
    "Figure",
    "Row",
    "Section",
    "Verdict",
    "folded",
    "key_of",
    "number",
    "seed_of",
    "table",
    "tidy",
    "turned",
    "unjudged",
]

Settings = Mapping[str, Any]
Row = dict[str, Any]  # settings and results of one cell
Verdict = Literal["holds", "holds in part", "does not hold", "no data", "not judged"]
DIGITS = 4


class Absent(Exception):
    """The data of a cell is not there; the cell is tried again in the next run."""


@dataclass(frozen=True)
class Cell:
    """Settings of one row, and a guess of its seconds, for the time left."""

    settings: Settings
    cost: float = 1.0

    @property
    def key(self) -> str:
        """The settings as one string, the same for the same settings."""
        return key_of(self.settings)


def key_of(settings: Settings) -> str:
    """
    >>> key_of({"n": 10, "flip": 0.3}) == key_of({"flip": 0.3, "n": 10})
    True
    """
    return json.dumps(dict(settings), sort_keys=True)


def seed_of(*words: object) -> int:
    """A whole number that depends on the words alone, on every machine.

    >>> seed_of("usps", 0)
    565294708
    """
    return zlib.crc32(json.dumps(words).encode())


def tidy(value: Any) -> Any:
    """Numbers as they are stored: four decimals, four digits for small ones; no NaN.

    >>> tidy({"purity": 0.123456, "seconds": 0.000123456, "none": float("nan")})
    {'purity': 0.1235, 'seconds': 0.0001235, 'none': None}
    """
    if isinstance(value, Mapping):
        return {str(name): tidy(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [tidy(part) for part in value]
    if hasattr(value, "tolist"):
        return tidy(value.tolist())
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        return float(f"{value:.{DIGITS}g}") if abs(value) < 1 else round(value, DIGITS)
    return value


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, what we measured, whether it holds, by which rule, and a few words that name it."""

    paper: str
    ours: str
    verdict: Verdict
    why: str = ""
    short: str = ""


def unjudged(claims: Mapping[str, str]) -> list[Claim]:
    """Claims, by their short names, that the rows at hand do not suffice to judge."""
    return [
        Claim(paper, "Its rows are not computed yet.", "not judged", short=short)
        for short, paper in claims.items()
    ]


@dataclass(frozen=True)
class Figure:
    """A picture, drawn when it is wanted, and what stands below it."""

    draw: Callable[[], Any]
    caption: str


@dataclass(frozen=True)
class Section:
    """What an experiment says: prose and tables in Markdown, claims, figures by the name of their file."""

    text: str
    claims: Sequence[Claim] = ()
    figures: Mapping[str, Figure] = field(default_factory=dict)


@dataclass(frozen=True)
class Experiment:
    """One figure or table of the paper, or a question that it leaves open.

    Parameters
    ----------
    name : short name on the command line; also the file of its rows.
    title : heading on the page.
    cells : quick -> the cells, in the order they are run.
    compute : settings, data -> results; seconds end in "seconds". Raises Absent where data is missing.
    section : rows, data -> what it says about the paper; a figure that needs absent data raises Absent when drawn.
    ours : rows, data -> what it says on the second page: our own methods on the same axes, open questions, the peer.
    needs_peers : run only with ``--peers``.
    absent : what the page says where there are no rows because the data is missing; raises nothing.
    """

    name: str
    title: str
    cells: Callable[[bool], list[Cell]]
    compute: Callable[[Settings, Data], Mapping[str, Any]]
    section: Callable[[list[Row], Data], Section] | None = None
    ours: Callable[[list[Row], Data], Section] | None = None
    needs_peers: bool = False
    absent: Callable[[Data], str] | None = None


def number(value: float, digits: int) -> str:
    """A number of a table, a dash where there is none.

    >>> number(0.5, 2), number(float("nan"), 2)
    ('0.50', '-')
    """
    return "-" if math.isnan(value) else f"{value:.{digits}f}"


def folded(title: str, text: str) -> str:
    """Text that opens on a click, where the host of the page can do that."""
    return f"<details><summary>{title}</summary>\n\n{text}\n\n</details>"


def turned(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """The same table with rows and columns exchanged: for few results of many methods.

    >>> print(turned(["method", "purity"], [["k1", 0.9], ["k2", 0.8]]))
    | method | k1 | k2 |
    |---|---:|---:|
    | purity | 0.9 | 0.8 |
    """
    first, *others = ([name, *column] for name, column in zip(head, zip(*rows, strict=True), strict=True))
    return table([str(cell) for cell in first], others)


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table; all columns but the first are aligned right.

    >>> print(table(["method", "purity"], [["k1", 0.9]]))
    | method | purity |
    |---|---:|
    | k1 | 0.9 |
    """
    lines = [
        list(map(str, head)),
        ["---", *["---:"] * (len(head) - 1)],
        *[list(map(str, row)) for row in rows],
    ]
    return "\n".join(
        ("|" + "|".join(line) + "|") if number == 1 else "| " + " | ".join(line) + " |"
        for number, line in enumerate(lines)
    )
