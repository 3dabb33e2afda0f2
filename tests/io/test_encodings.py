"""Text that is not UTF-8: read as UTF-16 or Latin-1 with a warning, or rejected."""

import gzip
import json
import os

import pytest
from cli_tools import run
from io_tools import named

from nearfar.errors import NearfarWarning, RowsError
from nearfar.io import read_answers, read_objects, read_triplets


def put(path, data):
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


DRINKS = ["café", "thé", "lait", "eau", "jus"]
ROWS = [[DRINKS[i % 5], DRINKS[(i + 1) % 5], DRINKS[(i + 2) % 5]] for i in range(12)]


@pytest.mark.parametrize(
    ("code", "called"), [("latin-1", "Latin-1"), ("utf-16", "UTF-16"), ("utf-16-be", "UTF-16")]
)
@pytest.mark.parametrize("name", ["latin.csv", "latin.tsv", "latin.jsonl", "latin.json", "latin.csv.gz"])
def test_a_file_in_another_code_is_read_with_a_warning(tmp_path, name, code, called, monkeypatch, capsys):
    keys = ("anchor", "near", "far")
    records = [json.dumps(dict(zip(keys, row, strict=True)), ensure_ascii=False) for row in ROWS]
    mark = "\t" if name.endswith("tsv") else ","
    text = "".join(mark.join(row) + "\n" for row in [keys, *ROWS])
    if "json" in name:
        text = "\n".join(records) if name.endswith("l") else "[" + ",".join(records) + "]"
    data = ("\ufeff" * (code == "utf-16-be") + text).encode(code)
    path = put(tmp_path / name, gzip.compress(data) if name.endswith("gz") else data)
    for on_bad in ("error", "drop"):
        with pytest.warns(NearfarWarning, match=called):
            result = read_answers(path, on_bad=on_bad)
        assert named(result.triplets) == [tuple(row) for row in ROWS] and not len(result.rejected)
    code, out, err = run(monkeypatch, capsys, "check", path)
    assert code == 0 and "answers         12" in out and called in err


def test_what_is_neither_utf_8_nor_latin_1_is_rejected(tmp_path):
    path = put(tmp_path / "answers.csv", b"anchor,near,far\na,b,c\na,b,\xff\n")
    with pytest.raises(RowsError, match=r"line 3: undecodable bytes"):
        read_triplets(path)


def test_one_bad_byte_in_a_utf_8_file_is_one_rejected_row(tmp_path, monkeypatch, capsys):
    path = put(tmp_path / "answers.csv", "anchor,near,far\ncafé,thé,eau\n".encode() + b"a,b,\xe9\n")
    code, out, _ = run(monkeypatch, capsys, "check", path)
    assert code == 0 and "rejected        1 row" in out


def test_a_latin_1_object_list(tmp_path):
    objects = put(tmp_path / "objects.csv", "object\ncafé\nthé\n".encode("latin-1"))
    assert read_objects(objects).names == ("café", "thé")
    ragged = put(tmp_path / "ragged.csv", "object,group\na\nb\n")
    with pytest.raises(RowsError, match=r"2 of 2 rows cannot be read; correct the file\n"):
        read_objects(ragged)


def test_a_file_name_that_is_not_utf8_is_shown_escaped(tmp_path):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.csv")
    with open(path, "w") as file:
        file.write("anchor,near,far\na,b,c\n")
    assert read_answers(path).sources[0].name.endswith("caf\\xe9.csv")
