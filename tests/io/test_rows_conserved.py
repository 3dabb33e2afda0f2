"""Rows read = answers + rejected + set aside, in every way of reading; and the same by Python's csv and json modules."""

import json
import time

import fuzz
import numpy as np
import polars as pl
import pytest
from io_tools import named

from nearfar.errors import FileError, NearfarWarning, RowsError
from nearfar.io import csv_table, parse_rows, read_answers, read_triplets, scan_triplets
from nearfar.triplets import Triplets

WAYS = [1, 7, 1000, 10**6]


def scanned(path, batch_rows, **options):
    batches = list(scan_triplets(path, batch_rows=batch_rows, **options))
    return [row for batch in batches for row in named(batch)]


@pytest.mark.parametrize("seed", range(60))
def test_every_way_of_reading_agrees_with_the_csv_and_json_modules(seed, tmp_path):
    fuzz.check(fuzz.case(seed), tmp_path)


def answer(i):
    return f"a{i // 300}", f"b{i % 300}", f"c{i % 7}"


@pytest.fixture(scope="module")
def distinct(tmp_path_factory):
    """100,000 distinct answers with one line in the middle that is not UTF-8."""
    lines = [",".join(answer(i)).encode() for i in range(100_000)]
    path = tmp_path_factory.mktemp("big") / "answers.csv"
    path.write_bytes(b"\n".join([b"anchor,near,far", *lines[:60_000], b"a,\xff,c", *lines[60_000:]]))
    return path


@pytest.mark.parametrize("batch_rows", [1000, 33_333, 10**6])
def test_one_bad_row_costs_one_row(distinct, batch_rows):
    expected = [answer(i) for i in range(100_000)]
    assert scanned(distinct, batch_rows, on_bad="drop") == expected
    before, batches = [], scan_triplets(distinct, batch_rows=batch_rows)
    with pytest.raises(RowsError, match=r"line 60002: undecodable bytes.*Windows-1252, save it again"):
        before.extend(row for batch in batches for row in named(batch))
    assert before == expected[: len(before)]


def test_a_bad_row_names_no_object_and_nobody(tmp_path):
    """The fast parser numbers the cells of a chunk before it finds the row that is not UTF-8."""
    sound = b"\n".join(b"a%d,b%d,c%d,p%d" % (i % 50, i % 40, i % 30, i % 20) for i in range(20_000))
    parts = [b"anchor,near,far,participant", sound, b"ghost,a1,\xff,nobody", sound, b"late,a1,b1,last", sound]
    path = tmp_path / "answers.csv"
    path.write_bytes(b"\n".join(parts))
    result = read_answers(path, on_bad="drop")
    assert (len(result.triplets), len(result.rejected)) == (60_001, 1)
    assert len(result.triplets.objects) == 121 and "ghost" not in result.triplets.objects
    assert len(result.triplets.participant.names) == 21
    batch = next(scan_triplets(path, on_bad="drop"))
    assert batch.objects == result.triplets.objects


def test_what_is_parsed_ahead_names_nothing_before_its_turn(tmp_path, monkeypatch):
    """A quoted chunk is numbered after the chunks that were parsed while somebody worked on the one before it."""
    path = tmp_path / "answers.csv"
    rows = [f'"a{i}",b{i},c{i},p{i}' for i in range(120)] + [
        f"a{i % 120},b{i % 120},c{i % 120},p{i % 120}" for i in range(400)
    ]
    rows[200] = "ghost,ghost,b0,nobody"
    path.write_text("\n".join(["anchor,near,far,participant", *rows]) + "\n")
    monkeypatch.setattr(csv_table, "CHUNK", 1000)
    slowly = []
    for batch in scan_triplets(path, on_bad="drop"):
        slowly.append(batch)
        time.sleep(0.05)  # time enough to parse what comes next
    whole = Triplets.concatenate(slowly)
    assert "ghost" not in whole.objects
    assert len(whole) == len(rows) - 1
    assert "nobody" not in whole.participant.names.tolist()


@pytest.mark.filterwarnings("ignore:.*have no participant")
def test_empty_and_missing_text_of_a_typed_table_is_blank(tmp_path):
    path = tmp_path / "answers.parquet"
    rows = [
        ("a", "b", "c", "p"),
        ("", "b", "c", "p"),
        (None, "b", "c", "p"),
        ("b", "c", "a", ""),
        ("c", "a", "b", None),
    ]
    pl.DataFrame(rows, schema=["anchor", "near", "far", "participant"], orient="row").write_parquet(path)
    result = read_answers(path, on_bad="drop")
    assert result.rejected.select("line", "reason", "content").rows() == [
        (1, "blank cell", "anchor ''"),
        (2, "blank cell", "anchor ''"),
    ]
    assert np.asarray(result.triplets.participant).tolist() == ["p", "", ""]


def test_a_quotation_mark_in_the_name_of_a_column(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text('anchor,near,far,size 5"\n' + "a,b,c,x\n" * 1000)
    result = read_answers(path)
    assert (len(result.triplets), len(result.rejected), result.sources[0].unused) == (1000, 0, ('size 5"',))


def test_a_quotation_mark_beside_a_quoted_cell(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text('anchor,near,far\na,b,c\n"a"",b,c\na,"b"x,c\nc,"b",a\n')
    for rows in (1, 100):
        assert scanned(path, rows, on_bad="drop") == [("a", "b", "c"), ("c", "b", "a")]
    rejected = read_answers(path, on_bad="drop").rejected
    assert rejected.select("line", "reason").rows() == [(3, "broken quotes"), (4, "broken quotes")]
    assert read_triplets(path, on_bad="drop").objects == ("a", "b", "c")


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize(
    ("header", "answer", "none", "kind"),
    [
        ("Center,Left,Right,Answer,Alg.Label", "a,b,c,b,t", "a,b,c,,t", "no answer"),
        ("Center,Left,Right,Answer,sampleAlg", "a,b,c,b,random", "a,b,c,NA,random", "no answer"),
        ("Center,Left,Right,Answer,sampleAlg", "a,b,c,b,random", "a,a,c,a,check", "check"),
        ("a,b,c,odd", "a,b,c,b", "a,b,c,skip", "skip"),
    ],
)
def test_several_rows_set_aside_for_one_reason(tmp_path, header, answer, none, kind, count):
    path = tmp_path / "answers.csv"
    path.write_text("\n".join([header, answer, *[none] * count, answer, ""]))
    result = read_answers(path)
    assert result.checks["kind"].to_list() == [kind] * count
    assert result.checks["line"].to_list() == list(range(3, 3 + count))
    for rows in WAYS:
        assert scanned(path, rows) == named(result.triplets)


def test_times_are_judged_cell_by_cell(tmp_path):
    path = tmp_path / "answers.csv"
    times = ["2024-05-31 13:45:00", "yesterday", "1e9", "noon", ""]
    path.write_text("anchor,near,far,answered_at\n" + "".join(f"a,b,c,{time}\n" for time in times))
    for rows in WAYS:
        with pytest.warns(NearfarWarning, match=r"times such as 'yesterday' cannot be read"):
            batches = list(scan_triplets(path, batch_rows=rows))
        known = np.isfinite(np.concatenate([batch.answered_at for batch in batches]))
        assert known.tolist() == [True, False, True, False, False]


def test_jsonl_says_what_python_says(tmp_path):
    path = tmp_path / "answers.jsonl"
    lines = [
        '{"anchor": "x", "near": "b", "far": "c", "anchor": "a"}',
        '{"anchor": 1e-7, "near": 1.50, "far": 3.0}',
    ]
    path.write_text("\n".join([*lines, '{"anchor": "\\ud800", "near": "b", "far": "c"}', ""]))
    assert json.loads(lines[0])["anchor"] == "a"
    for rows in WAYS:
        assert scanned(path, rows, on_bad="drop") == [("a", "b", "c"), ("1e-7", "1.50", "3")]
    with pytest.raises(RowsError, match=r"line 3: half a surrogate pair"):
        read_triplets(path)


def test_a_record_without_values_is_rejected_and_a_blank_line_is_nothing(tmp_path):
    lines = ['{"anchor": "a", "near": "b", "far": "c"}', '{"anchor": null, "far": ""}', ""]
    (tmp_path / "answers.jsonl").write_text("\n".join(lines))
    assert read_answers(tmp_path / "answers.jsonl", on_bad="drop").rejected["line"].to_list() == [2]
    frame = pl.DataFrame({"anchor": ["a", None], "near": ["b", None], "far": ["c", None]})
    assert read_answers(frame, on_bad="drop").rejected["line"].to_list() == [1]
    frame.write_csv(tmp_path / "answers.csv")
    assert len(read_answers(tmp_path / "answers.csv").rejected) == 0


def test_a_row_that_gets_lost_is_an_error(tmp_path, monkeypatch):
    path = tmp_path / "answers.csv"
    path.write_text("anchor,near,far\na,b,c\na,b,b\n")
    left_out = parse_rows.rows_left_out
    monkeypatch.setattr(parse_rows, "rows_left_out", lambda *given: [each[:0] for each in left_out(*given)])
    for read in (read_triplets, lambda path: list(scan_triplets(path, objects=["a", "b", "c"]))):
        with pytest.raises(FileError, match=r"2 rows from line 2 on became 1; this is an error of nearfar"):
            read(path)


def test_batches_of_typed_tables_keep_their_order(tmp_path):
    frame = pl.DataFrame(
        {"anchor": range(0, 300_000, 3), "near": range(1, 300_001, 3), "far": range(2, 300_002, 3)}
    )
    frame.write_parquet(tmp_path / "answers.parquet", row_group_size=7_000)
    for rows in (999, 50_000):
        batches = list(scan_triplets(tmp_path / "answers.parquet", objects=300_003, batch_rows=rows))
        assert np.concatenate([batch.array for batch in batches]).tolist() == [
            list(row) for row in frame.rows()
        ]


@pytest.mark.parametrize("rest", ['"x', 'a,"b', 'a,b,"c', 'a,b,"c\n', '"a,b,c\na,b,c\n'])
@pytest.mark.parametrize("before", ["", "a,b,c\n", "a,b,c\n\n"])
def test_a_quotation_that_never_ends_costs_its_line(tmp_path, rest, before):
    """Those after it are read as if it were not there."""
    path = tmp_path / "answers.csv"
    path.write_text(f"anchor,near,far\n{before}{rest}")
    with pytest.raises(RowsError, match="broken quotes: a quotation mark opens here and is never closed"):
        read_triplets(path)
    result = read_answers(path, on_bad="drop")
    assert len(result.triplets) == before.count("a") + len(rest.split("\n")[1:-1])
    assert result.rejected["line"].to_list() == [2 + before.count("\n")]


def test_a_header_of_several_lines(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text('anchor,near,far,"a remark\non two lines",participant\na,b,c,x,p\na,b,b,x,p\n')
    result = read_answers(path, on_bad="drop")
    assert (named(result.triplets), result.rejected["line"].to_list()) == ([("a", "b", "c")], [4])
