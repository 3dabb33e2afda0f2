"""JSON lines: what the fast parser takes at all is what Python's json module says, whatever is done to the bytes."""

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nearfar.io import json_table, read_answers

VALUES = [
    "a", "", "é", "o,o", "{x}", "a: b", "3.0", " p ", 3, 3.0, -0.0, 1e-7, 1.50, 12345678901234567890, None, True,
]  # fmt: skip
ODD = [
    b'"', b"\\", b",", b":", b"{", b"}", b" ", b"\n", b"\r", b"0", b".0", b"1e", b"\xff", b"\x00", b"[1]",
    b"\xef\xbb\xbf", b'"a":"b",',
]  # fmt: skip


class Number(str):
    """As it is written."""

    __slots__ = ()


def cell(value):
    if isinstance(value, Number):
        whole, point, rest = value.partition(".")
        return whole if point and set(rest) <= {"0"} else str(value)
    if value is None or value == "":
        return None
    return value if isinstance(value, str) else json.dumps(value)


def read_by_python(data):
    """The keys and cells of every line; None where a line is no object, has a key twice, or another set of keys."""
    rows, keys = [], None
    for line in data.replace(b"\r\n", b"\n").removesuffix(b"\n").split(b"\n"):
        pairs = json.loads(line.decode(), parse_int=Number, parse_float=Number, object_pairs_hook=list)
        names = [name for name, _ in pairs]
        assert len(set(names)) == len(names) and names == (keys or names)
        keys = names
        rows.append(tuple(cell(value) for _, value in pairs))
    return keys, rows


def plain(value):
    """Numbers by their value: 1.50 is 1.5."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return value


@settings(max_examples=300)
@given(seed=st.integers(0, 10**9), faults=st.integers(0, 3))
def test_what_is_taken_is_what_python_reads(seed, faults):
    rng = random.Random(seed)
    keys = rng.sample(["anchor", "near", "far", "who é", "n"], rng.randint(1, 4))
    kinds = [rng.choice([str, object]) for _ in keys]
    choices = {
        str: [v for v in VALUES if isinstance(v, str)],
        object: [v for v in VALUES if not isinstance(v, str)],
    }
    style = rng.choice([(", ", ": "), (",", ":")])
    end = rng.choice([b"\n", b"\n", b"\r\n"])
    lines = [
        json.dumps(
            {key: rng.choice(choices[kind]) for key, kind in zip(keys, kinds, strict=True)},
            separators=style,
            ensure_ascii=False,
        ).encode()
        for _ in range(rng.randint(1, 5))
    ]
    data = end.join(lines) + rng.choice([b"", end])
    for _ in range(faults):
        at = rng.randrange(len(data) + 1)
        data = data[:at] + rng.choice([b"", *ODD]) + data[at + rng.choice([0, 0, 1, 4]) :]
    parsed = json_table._plain_lines(data, 1) if data else None
    if parsed is not None:
        cells, names = parsed
        expected, rows = read_by_python(data)
        assert names == expected and [tuple(map(plain, row)) for row in cells.frame.rows()] == [
            tuple(map(plain, row)) for row in rows
        ]
        assert cells.records == len(rows)


@pytest.mark.parametrize("blank", ["", "\n"])
def test_simple_and_other_lines_of_one_file_are_read_in_order(tmp_path, blank):
    """The careful parser takes over where a line is not simple, and gives back to the fast one."""
    names = [f"o{i % 9}" for i in range(150_000)]
    lines = [f'{{"anchor": "{n}", "near": "near", "far": "far"}}\n' for n in names]
    lines[70_000] = '{"near": "near", "far": "\\u0066ar", "anchor": "odd"}\n' + blank
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(lines))
    answers = read_answers(path).triplets
    names[70_000] = "odd"
    assert [answers.objects[x] for x in answers.anchor] == names
