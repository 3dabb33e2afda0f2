"""A structure-aware fuzzer: files of answers with faults in them, and what Python's csv and json modules make of them.

``case(seed)`` gives one file and its expected outcome; ``check(case, folder)`` reads it in every way and compares.
Larger runs: ``python -m benchmarks.fuzzing``.
"""

from __future__ import annotations

import csv
import gzip
import json
import random
import warnings
from dataclasses import dataclass, field
from pathlib import Path

import naive_kinds
import numpy as np
import pytest

from nearfar.errors import RowsError
from nearfar.io import csv_table, read_answers, read_triplets, scan_triplets

NAMES = [
    "a", "b", "c", "é", "x y", "7", "007", "3.0", "1e-7", 'say "hi"', "o,o", "o;o", "m\nn", "k\r\nl",
    "t\tt", "🦆", " p ", "'q",
]  # fmt: skip
STRAY = [
    '5" disc', 'q"', '"half', '"a"b', "c\rd", "\udcff", "\x00", "", " ", "nan", '""', "=1+1", "\u2028",
    "\ufeff",
]  # fmt: skip
HEADERS = [
    "anchor,near,far", "anchor,near,far,participant", 'anchor,near,far,size 5"',
    "note,far,near,anchor,seconds",
]  # fmt: skip


@dataclass
class Case:
    """A file, the answers that it holds, and how many of its records are rejected."""

    name: str
    data: bytes
    answers: list[tuple[str, str, str]] = field(default_factory=list)
    rejected: list[int] = field(default_factory=list)


def case(seed: int) -> Case:
    """One file; the same seed gives the same file."""
    rng = random.Random(seed)
    return _jsonl(rng) if rng.random() < 0.25 else _csv(rng)


# -------------------------------------------------------------------- CSV


def _csv(rng: random.Random) -> Case:
    header = rng.choice(HEADERS)
    mark = rng.choice([",", ",", ";", "\t"])
    end = rng.choice(["\n", "\n", "\r\n"])
    harm = rng.choice([0, 0, 0.02, 0.2])
    lines = [header.replace(",", mark)]
    for _ in range(rng.choice([0, 1, 5, 40, 200])):
        lines.append(_csv_row(rng, header.count(",") + 1, mark, harm))
    text = end.join(lines) + rng.choice([end, "", end + end])
    if rng.random() < 0.1:
        text = "\ufeff" + text
    data = text.encode("utf-8", "surrogateescape")
    made = Case("answers.csv", data)
    _expect_csv(made, header.split(","), mark)
    if rng.random() < 0.15:
        made.name, made.data = "answers.csv.gz", gzip.compress(data)
    return made


def _csv_row(rng: random.Random, width: int, mark: str, harm: float) -> str:
    def cell() -> str:
        if rng.random() < harm:
            return rng.choice(STRAY)
        name = rng.choice(NAMES)
        if rng.random() < 0.2 or any(sign in name for sign in (mark, '"', "\n", "\r")):
            return '"' + name.replace('"', '""') + '"'
        return name

    kind = rng.random()
    if kind < harm / 4:
        return rng.choice(["", " ", mark * (width - 1), mark])
    cells = [cell() for _ in range(width)]
    if kind < harm / 2:
        cells = cells[: rng.randrange(width)] if rng.random() < 0.5 else [*cells, cell()]
    return mark.join(cells)


def _expect_csv(made: Case, header: list[str], mark: str) -> None:
    """By the csv module, record by record; a line whose quotes make no sense is rejected alone."""
    lines = made.data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    lines = [line + b"\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    at = 1
    while at < len(lines):
        texts = [line.decode("utf-8", "surrogateescape") for line in lines[at:]]
        reader = csv.reader(texts, delimiter=mark, strict=True)
        try:
            cells = next(reader)
        except csv.Error:
            made.rejected.append(at + 1)
            at += 1
            continue
        _judge(made, dict(zip(header, cells, strict=False)), cells, len(header), at + 1)
        at += reader.line_num


def _judge(made: Case, row: dict[str, str], cells: list[str], width: int, line: int) -> None:
    if not any(cells) or (len(cells) == 1 and not cells[0].strip()):
        return
    text = "".join(cells)
    three = tuple(row.get(role, "") for role in ("anchor", "near", "far"))
    sound = len(cells) == width and text.encode("utf-8", "replace").decode() == text and len(set(three)) == 3
    sound = sound and all(name.strip() and name not in ("nan", "NaN") for name in three)
    seconds = row.get("seconds", "")
    if seconds and seconds not in ("NA", "nan", "NaN", "null", "None"):
        sound = sound and _is_number(seconds)
    if sound:
        made.answers.append(three)
    else:
        made.rejected.append(line)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text == text.strip() and "_" not in text


# -------------------------------------------------------------------- JSONL


def _jsonl(rng: random.Random) -> Case:
    harm = rng.choice([0, 0.05, 0.3])
    lines, made = [], Case("answers.jsonl", b"")
    for _ in range(rng.choice([1, 5, 60])):
        lines.append(_json_line(rng, harm))
    lines.insert(0, '{"anchor": "a", "near": "b", "far": "c"}')
    made.data = "\n".join(lines).encode("utf-8", "surrogateescape") + rng.choice([b"\n", b""])
    for number, line in enumerate(made.data.split(b"\n"), start=1):
        if line.strip():
            _expect_json(made, line, number)
    return made


def _json_line(rng: random.Random, harm: float) -> str:
    def value() -> str:
        if rng.random() < harm:
            return rng.choice(
                [
                    "1",
                    "1e-7",
                    "1.50",
                    "3.0",
                    "null",
                    "true",
                    "[1, 2]",
                    "NaN",
                    '"\\ud800"',
                    '""',
                    "-0",
                    str(10**30),
                ]
            )
        return json.dumps(rng.choice(NAMES), ensure_ascii=rng.random() < 0.5)

    pairs = [f'"{key}": {value()}' for key in ("anchor", "near", "far")]
    if rng.random() < harm:
        pairs.append(f'"near": {value()}')
    if rng.random() < harm:
        pairs.pop(rng.randrange(len(pairs)))
    line = "{" + ", ".join(pairs) + "}"
    if rng.random() < harm / 2:
        line = rng.choice(
            [line[:-1], "[1]", "", " ", '"x"', "{" * 2000, line + ",", '{"anchor": "\udcff"}', "nul"]
        )
    return line


def _expect_json(made: Case, line: bytes, number: int) -> None:
    try:
        record = json.loads(
            line.decode(), parse_float=_Number, parse_int=_Number, parse_constant=lambda c: None
        )
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict):
        made.rejected.append(number)
        return
    three = tuple(_json_cell(record.get(role)) for role in ("anchor", "near", "far"))
    text = "".join(three)
    sound = len(set(three)) == 3 and text.encode("utf-8", "replace").decode() == text
    if sound and all(name.strip() and name not in ("nan", "NaN") for name in three):
        made.answers.append(three)
    else:
        made.rejected.append(number)


class _Number(str):
    pass


def _json_cell(value: object) -> str:
    if isinstance(value, _Number):
        return value[: value.index(".")] if "." in value and not value.split(".")[1].strip("0") else value
    return value if isinstance(value, str) else "" if value is None else json.dumps(value)


# -------------------------------------------------------------------- reading


def check(made: Case, folder: Path) -> dict[str, int]:
    """Read the file whole, in batches and with the slow parser alone: always the same answers and rejected rows.

    Returns how many there are.
    """
    path = folder / made.name
    path.write_bytes(made.data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = read_answers(path, on_bad="drop")
        assert _named([whole.triplets]) == made.answers
        assert whole.rejected["line"].to_list() == made.rejected
        for chunk, batch_rows in ((1 << 22, 3), (256, 1000)):
            assert _scanned(path, chunk, batch_rows, fast=True) == made.answers
        assert _scanned(path, 1 << 22, 7, fast=False) == made.answers
        if made.rejected:
            with pytest.raises(RowsError, match=path.name) as caught:
                read_triplets(path)
            assert caught.value.rejected["line"].to_list() == made.rejected
    return {"answers": len(made.answers), "rejected": len(made.rejected)}


def _named(batches: list) -> list[tuple[str, ...]]:
    return [tuple(each.objects[i] for i in row) for each in batches for row in each.array.tolist()]


def _scanned(path: Path, chunk: int, batch_rows: int, *, fast: bool) -> list[tuple[str, ...]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_table, "CHUNK", chunk)
        patch.setattr(csv_table, "SLOW", min(chunk, csv_table.SLOW))
        if not fast:
            patch.setattr(csv_table, "plain_shape", lambda *_, **__: None)
        return _named(list(scan_triplets(path, on_bad="drop", batch_rows=batch_rows)))


# -------------------------------------------------------------------- rankings, sorts, ratings

FRUIT = ["fig", "plum", "lime", "kiwi", "pear", "nut", "é", "7"]
FAULTS = ["", "NA", "x", "fig", "1,5", " "]


def options_of(words: list[str]) -> dict:
    """Options of the command line as those of ``read_answers``."""
    options: dict = {}
    for name, value in zip(words[::2], words[1::2], strict=True):
        if name == "--column":
            role, _, column = value.partition("=")
            before = options.setdefault("columns", {}).get(role)
            several = before if isinstance(before, list) else [before]
            options["columns"][role] = column if before is None else [*several, column]
        else:
            options[name[2:]] = value
    return options


def check_kind(seed: int, folder: Path) -> None:
    """A file of one kind with faults in some cells: answers and rejected lines are those that loops find."""
    rng = random.Random(seed)
    kind, harm = rng.choice(list(KINDS)), rng.choice([0, 0.03, 0.2])
    header, rows = KINDS[kind](rng)
    rows = [
        [rng.choice(FAULTS) if at and rng.random() < harm else cell for at, cell in enumerate(row)]
        for row in rows
    ]
    if kind == "piles":
        rows = list({(row[0], row[1]): row for row in rows}.values())  # twice the same object is refused
    path = folder / "answers.csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    expected, rejected = getattr(naive_kinds, kind)(path, **NAIVE.get(kind, {}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = read_answers(path, on_bad="drop")
    answers = result.triplets
    people = [] if answers.participant is None else [str(name) for name in np.asarray(answers.participant)]
    found = [(who, *three) for who, three in zip(people, _named([answers]), strict=True)]
    assert sorted(found) == sorted(expected), kind
    assert result.rejected["line"].to_list() == rejected, kind
    assert result.sources[0].rows == len(rows)


def _rows_of_rankings(rng: random.Random) -> tuple[list[str], list[list[str]]]:
    header = ["participant", "anchor", "rank_1", "rank_2", "rank_3", "rank_4"]
    return header, [[f"p{rng.randrange(4)}", *rng.sample(FRUIT, 5)] for _ in range(rng.choice([1, 8, 40]))]


def _rows_of_choices(rng: random.Random) -> tuple[list[str], list[list[str]]]:
    header = ["participant", "anchor", *(f"option_{i}" for i in range(1, 5)), "best", "worst"]
    shown = [rng.sample(FRUIT, 5) for _ in range(rng.choice([1, 8, 40]))]
    return header, [[f"p{rng.randrange(4)}", *five, *rng.sample(five[1:], 2)] for five in shown]


def _rows_of_piles(rng: random.Random) -> tuple[list[str], list[list[str]]]:
    rows = [[f"p{p}", item, f"pile {rng.randrange(3)}"] for p in range(rng.randrange(1, 5)) for item in FRUIT]
    return ["participant", "object", "pile"], rows


def _rows_of_ratings(rng: random.Random) -> tuple[list[str], list[list[str]]]:
    some = [
        [f"p{rng.randrange(3)}", *rng.sample(FRUIT, 2), rng.choice(["1", "2.5", "3", "-4", "5."])]
        for _ in range(60)
    ]
    return ["participant", "object_1", "object_2", "distance"], some


KINDS = {
    "ranking": _rows_of_rankings,
    "best_worst": _rows_of_choices,
    "piles": _rows_of_piles,
    "ratings": _rows_of_ratings,
}
NAIVE = {"ratings": {"names": ("participant", "object_1", "object_2", "distance"), "sign": 1}}
