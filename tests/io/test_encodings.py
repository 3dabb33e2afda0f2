"""Text that is not UTF-8: one sentence that says how to save it again."""

import json
import os
import re
import subprocess

import pytest
from cli_tools import run

from nearfar.errors import FileError, RowsError
from nearfar.io import read_answers, read_objects, read_triplets


def put(path, data):
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


@pytest.mark.parametrize("name", ["latin.csv", "latin.tsv", "latin.jsonl", "with blank.csv"])
def test_a_latin_1_file_is_one_sentence(tmp_path, name, monkeypatch, capsys):
    drinks = ["café", "thé", "lait", "eau", "jus"]
    rows = [[drinks[i % 5], drinks[(i + 1) % 5], drinks[(i + 2) % 5]] for i in range(12)]
    if name.endswith("jsonl"):
        keys = ("anchor", "near", "far")
        text = "".join(
            json.dumps(dict(zip(keys, row, strict=True)), ensure_ascii=False) + "\n" for row in rows
        )
    else:
        mark = "\t" if name.endswith("tsv") else ","
        text = "".join(mark.join(row) + "\n" for row in [["anchor", "near", "far"], *rows])
    path = put(tmp_path / name, text.encode("latin-1"))
    first = 1 if name.endswith("jsonl") else 2
    with pytest.raises(
        RowsError, match=rf"line {first}: undecodable bytes: .*caf\\xe9.* \(and 9 more such lines\)"
    ) as caught:
        read_triplets(path)
    sentence = str(caught.value)
    assert "\n" not in sentence and "on_bad='drop'" in sentence
    command = re.search(r"iconv .* > (\S+|'.*')(?=\))", sentence).group()
    subprocess.run(command, shell=True, check=True, cwd=tmp_path)
    assert len(read_triplets(tmp_path / f"utf8-{name}")) == 12
    code, out, err = run(monkeypatch, capsys, "check", path, "--rejected", tmp_path / "rejected.csv")
    assert code == 2
    assert out == "" and err.count("\n") == 1 and "save it again as UTF-8" in err
    assert len((tmp_path / "rejected.csv").read_text().splitlines()) == 11


def test_one_bad_byte_in_a_utf_8_file_is_one_rejected_row(tmp_path, monkeypatch, capsys):
    path = put(tmp_path / "answers.csv", "anchor,near,far\ncafé,thé,eau\n".encode() + b"a,b,\xe9\n")
    code, out, _ = run(monkeypatch, capsys, "check", path)
    assert code == 0 and "rejected        1 row" in out


def test_a_latin_1_object_list_and_json_array(tmp_path):
    objects = put(tmp_path / "objects.csv", "object\ncafé\nthé\n".encode("latin-1"))
    with pytest.raises(
        RowsError, match=r"objects\.csv, line 2: undecodable bytes: .* \(and 1 more such line\)"
    ) as caught:
        read_objects(objects)
    assert "drop" not in str(caught.value)
    ragged = put(tmp_path / "ragged.csv", "object,group\na\nb\n")
    with pytest.raises(RowsError, match=r"2 of 2 rows cannot be read; correct the file\n"):
        read_objects(ragged)
    array = put(
        tmp_path / "answers.json", '[{"anchor": "café", "near": "thé", "far": "eau"}]'.encode("latin-1")
    )
    with pytest.raises(FileError, match=r"answers\.json: bytes that are not UTF-8"):
        read_triplets(array)


def test_a_file_name_that_is_not_utf8_is_shown_escaped(tmp_path):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.csv")
    with open(path, "w") as file:
        file.write("anchor,near,far\na,b,c\n")
    assert read_answers(path).sources[0].name.endswith("caf\\xe9.csv")
