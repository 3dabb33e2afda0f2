"""The fast reader and the careful one must agree with Python's own csv module, row by row and line by line."""

import csv
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from nearfar.errors import RowsError
from nearfar.io import read_answers

HEADER = "anchor,near,far,participant"
CELLS = ["a", "b", "c", "dé", "", " ", "x y", '"q"', '"x,y"', '"m\nn"', '"say ""hi"""', '""']
cell = st.sampled_from(CELLS)
full_row = st.lists(cell, min_size=4, max_size=4)
any_row = full_row | full_row | full_row | st.lists(cell, max_size=6)


@st.composite
def files(draw):
    end = draw(st.sampled_from(["\n", "\r\n"]))
    rows = draw(st.lists(any_row.map(",".join), max_size=8))
    text = end.join([HEADER, *rows])
    return text + draw(st.sampled_from([end, "", end + end]))


def naive(text):
    """([anchor, near, far, participant] of the answers, lines of the rejected rows) by the csv module."""
    lines = [f"{line}\n" for line in text.split("\n")]
    reader = csv.reader([*lines[:-1], *([lines[-1][:-1]] if lines[-1] != "\n" else [])], strict=True)
    next(reader)
    answers, rejected = [], []
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return answers, rejected
        if not any(cells) or (len(cells) == 1 and not cells[0].strip()):
            continue
        three = cells[:3]
        if len(cells) != 4 or not all(name.strip() for name in three) or len(set(three)) < 3:
            rejected.append(line)
        else:
            answers.append(cells)


def ours(text, on_bad="drop"):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "answers.csv"
        path.write_bytes(text.encode())
        result = read_answers(path, on_bad=on_bad)
    answers = result.triplets
    named = [[answers.objects[i] for i in row] for row in answers.array.tolist()]
    people = map(str, np.asarray(answers.participant).tolist())
    return [[*row, who] for row, who in zip(named, people, strict=True)], result.rejected["line"].to_list()


@given(files())
@example(f"{HEADER}\na,b,c,")
@example(f"{HEADER}\n \na,b,c,d\n,\n,,,\n")
@example(f'{HEADER}\n"m\nn",b,c,\na,b\n')
@settings(max_examples=200)
def test_rows_and_lines_are_those_of_the_csv_module(text):
    assert ours(text) == naive(text)


@pytest.mark.parametrize("rest", ['"x', 'a,"b', 'a,b,c,"', 'a,b,c,"d\n', '"a,b,c,d\na,b,c,d\n'])
@pytest.mark.parametrize("before", ["", "a,b,c,d\n", "a,b,c,\n\n"])
def test_a_quotation_that_never_ends_is_found(rest, before):
    """Its line is rejected, and those after it are read as if it were not there."""
    line = 2 + before.count("\n")
    with pytest.raises(
        RowsError, match=rf"line {line}: broken quotes: a quotation mark opens here and is never closed"
    ):
        ours(f"{HEADER}\n{before}{rest}", on_bad="error")
    answers, rejected = ours(f"{HEADER}\n{before}{rest}")
    after = rest.split("\n")[1:-1]
    assert len(answers) == before.count("a") + len(after)
    assert rejected == [line]


def test_a_header_of_several_lines():
    text = 'anchor,near,far,"a remark\non two lines",participant\na,b,c,x,p\na,b,b,x,p\n'
    assert ours(text) == ([["a", "b", "c", "p"]], [4])
