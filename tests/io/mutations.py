"""Files of answers in every format, broken at random, and what the commands make of them: results or one sentence.

``mutated(seed)`` gives one file; ``check(made, folder)`` runs commands on it. Larger runs: ``python -m benchmarks.fuzzing``.
"""

from __future__ import annotations

import contextlib
import functools
import io
import random
import sys
import tempfile
import warnings
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import numpy as np

import nearfar as nf
from nearfar._tools.limits import LIMITS
from nearfar.cli import main

FORMATS = (
    "csv", "tsv", "jsonl", "parquet", "npz", "npy", "xlsx", "csv.gz", "jsonl.zst",
)  # fmt: skip
PIECES = (
    b"\x00", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b'"', b"'", b",", b";", b"\t", b"\r", b"\n", b"[", b"{", b"}", b"\\ud800",
    b"nan", b"-1", b"1e400", b"9" * 40, b"\x7f\xff\xff\xff", b"\x80\x80\x80\x80\x01", b"null", b"PAR1", b"PK\x03\x04",
)  # fmt: skip
MEMORY_BYTES = 1 << 26  # a broken index may name very many objects, whose matrix is then refused
COMMANDS = (("check",), ("convert",), ("kernel", "--model", "score"))


class Mutated(NamedTuple):
    """A file that was broken."""

    name: str
    data: bytes


@functools.cache
def sound_files() -> tuple[Mutated, ...]:
    """What is broken: the same answers in every format, and the files of other programs."""
    rng = np.random.default_rng(0)
    rows = np.array([rng.permutation(9)[:3] for _ in range(60)])
    answers = nf.Triplets(
        *rows.T,
        [f"öbject {x}" for x in range(9)],
        participant=[f"p{x % 4}" for x in range(60)],
        seconds=rng.random(60).round(3),
    )
    files = []
    with tempfile.TemporaryDirectory() as folder:
        for ending in FORMATS:
            path = Path(folder) / f"answers.{ending}"
            kept = (
                nf.Triplets.from_array(rows) if ending == "npy" else answers
            )  # an array has room for indices alone
            nf.write_triplets(kept, path, **({"dialect": "list-order"} if ending == "npy" else {}))
            files.append(Mutated(path.name, path.read_bytes()))
    foreign = sorted((Path(__file__).parent / "files").iterdir())
    return (*files, *(Mutated(path.name, path.read_bytes()) for path in foreign))


def mutated(seed: int) -> Mutated:
    """One file with one to eight faults; the same seed gives the same file."""
    return broken(*random.Random(seed).choice(sound_files()), seed)


def broken(name: str, data: bytes, seed: int) -> Mutated:
    """A file with one to eight faults."""
    rng = random.Random(-seed)
    for _ in range(rng.choice((1, 1, 2, 4, 8))):
        data = _break(rng, data)
    return Mutated(name, data)


def _break(rng: random.Random, data: bytes) -> bytes:
    start = rng.randrange(len(data) + 1)
    if rng.random() < 0.3:  # where headers and footers are
        start = rng.choice((min(start, 64), max(0, len(data) - 64)))
    end = min(len(data), start + rng.choice((1, 1, 2, 8, 100)))
    match rng.randrange(6):
        case 0:
            middle = bytes(rng.randrange(256) for _ in range(end - start))
        case 1:
            middle = bytes(byte ^ 1 << rng.randrange(8) for byte in data[start:end])
        case 2:
            middle = b""
        case 3:
            middle = data[start:end] * rng.choice((2, 3, 50))
        case 4:
            middle = rng.choice(PIECES)
        case _:
            middle, end = b"", len(data) if rng.random() < 0.3 else end
    return data[:start] + middle + data[end:]


def check(made: Mutated, folder: Path, given: tuple[str, ...] = ()) -> dict[str, int]:
    """Run the commands; every one ends with a result or with one sentence. Returns how many ended in which way."""
    path = folder / made.name
    path.write_bytes(made.data)
    codes = []
    for command, *options in COMMANDS:
        output = {"convert": ["out.jsonl"], "kernel": ["-o", "out.npz"]}.get(command, [])
        words = [
            "nearfar",
            command,
            str(path),
            *(word.replace("out", str(folder / "out")) for word in output),
        ]
        code, said = _run([*words, *options, *_options(command, given)])
        assert code in (0, 2), f"{made.name}, {command}: exit code {code}"
        assert "Traceback" not in said, said
        assert code == 0 or "nearfar: " in said, f"{made.name}, {command}: refused without a sentence"
        codes.append(code)
    return {"results": codes.count(0), "sentences": codes.count(2)}


def _options(command: str, given: tuple[str, ...]) -> list[str]:
    """How the file is to be read; convert calls the dialect by another name."""
    return ["--from" if word == "--dialect" and command == "convert" else word for word in given]


def _run(words: list[str]) -> tuple[object, str]:
    said = io.StringIO()
    with (
        mock.patch.object(sys, "argv", words),
        mock.patch.object(LIMITS, "memory_bytes", MEMORY_BYTES),
        contextlib.redirect_stderr(said),
        contextlib.redirect_stdout(io.StringIO()),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        try:
            main()
        except SystemExit as end:
            return end.code or 0, said.getvalue()
    return 0, said.getvalue()
