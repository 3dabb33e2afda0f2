"""Files that would take all memory, or that make libraries fail: one sentence, from every way of reading."""

import gzip
import io
import sys
import zipfile
from decimal import Decimal

import mutations
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nearfar._tools.limits import LIMITS
from nearfar.cli import main
from nearfar.errors import InputError, NearfarError
from nearfar.io import read_answers, read_triplets, scan_triplets, write_triplets
from nearfar.io.parquet_size import unpacked_size

HEAD = b"anchor,near,far\n"


def npz(**arrays):
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    return stream.getvalue()


def damaged_npz():
    """The header of an array says that it has a billion rows."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        header = b"{'descr': '<i8', 'fortran_order': False, 'shape': (1000000000000, 3), }"
        header += b" " * (117 - len(header)) + b"\n"
        archive.writestr("triplets.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    return stream.getvalue()


def damaged_npy():
    """128 bytes that say that a billion rows of text have no characters."""
    header = b"{'descr': '<U0', 'fortran_order': False, 'shape': (1000000000, 3), }".ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header


def npy(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def zipped(members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()


def parquet(**columns):
    stream = io.BytesIO()
    pl.DataFrame(columns).write_parquet(stream)
    return stream.getvalue()


def claims_less(text):
    """A Parquet file whose footer claims that a long text takes one byte; the page still says what it takes."""
    data = parquet(anchor=["a"], near=["b"], far=["c"], note=[text])
    totals = pq.ParquetFile(io.BytesIO(data)).metadata.row_group(0).column(3)
    rest, written = 2 * totals.total_uncompressed_size, b""
    while rest > 127:
        rest, written = rest >> 7, written + bytes([128 | rest & 127])
    written += bytes([rest])
    less = data.replace(written, b"\x82" + b"\x80" * (len(written) - 2) + b"\x00")
    claimed = pq.ParquetFile(io.BytesIO(less)).metadata.row_group(0).column(3).total_uncompressed_size
    assert claimed == 1 < len(text) < totals.total_uncompressed_size
    return less


def fewer_than_none():
    """A Parquet file with a page of -4 values."""
    data = bytearray(parquet(anchor=["a"] * 4, near=["b"] * 4, far=["c"] * 4))
    meta = pq.ParquetFile(io.BytesIO(data)).metadata.row_group(0).column(2)
    at = data.index(b"\x15\x08", meta.data_page_offset)
    data[at + 1] = 7  # zigzag for -4
    return bytes(data)


def arrow(column):
    """A Parquet file with a column of participants that polars has no type for."""
    stream = io.BytesIO()
    pq.write_table(pa.table({"anchor": ["a"], "near": ["b"], "far": ["c"], "participant": column}), stream)
    return stream.getvalue()


def workbook(cell, text="x", **more):
    """An Excel workbook with one cell in some place; ``more`` is what else its archive holds."""
    kind, related = "application/vnd.openxmlformats-", "http://schemas.openxmlformats.org/"
    main, links = related + "spreadsheetml/2006/main", related + "officeDocument/2006/relationships"
    packed = related + "package/2006/relationships"
    row = cell.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    stream = io.BytesIO(
        zipped(
            {
                "[Content_Types].xml": f'<Types xmlns="{related}package/2006/content-types"><Default Extension="rels" '
                f'ContentType="{kind}package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>'
                f'<Override PartName="/xl/workbook.xml" ContentType="{kind}officedocument.spreadsheetml.sheet.main+xml"/>'
                "</Types>",
                "_rels/.rels": f'<Relationships xmlns="{packed}"><Relationship Id="r1" Type="{links}/officeDocument" '
                'Target="xl/workbook.xml"/></Relationships>',
                "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{packed}"><Relationship Id="r1" '
                f'Type="{links}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
                "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{links}"><sheets><sheet name="S" sheetId="1" '
                'r:id="r1"/></sheets></workbook>',
                "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData><row r="1"><c r="A1" t="inlineStr">'
                f'<is><t>anchor</t></is></c></row><row r="{row}"><c r="{cell}" t="inlineStr"><is><t>{text}</t></is></c>'
                "</row></sheetData></worksheet>",
            }
        )
    )
    with zipfile.ZipFile(stream, "a", zipfile.ZIP_DEFLATED) as archive:
        for name, data in more.items():
            archive.writestr(name, data)
    return stream.getvalue()


def text_of(number):
    """Names, one of which is no character."""
    return np.array([97, 98, number], "<u4").view("<U1").reshape(1, 3)


HOSTILE = {
    "deep.jsonl": (b'{"anchor": ' + b"[" * 100_000 + b"\n", "line 1: not JSON"),
    "deep.json": (b"[" * 100_000, "is not JSON .it is nested too deeply"),
    "pair.jsonl": (b'{"anchor": "\\ud800", "near": "b", "far": "c"}\n', "line 1: half a surrogate pair"),
    "pair.json": (b'[{"anchor": "\\ud800", "near": "b", "far": "c"}]', "record 1: half a surrogate pair"),
    "wide.csv": (b",".join([b"x"] * 20_000) + b"\n", "more than 16,384 columns"),
    "wide.jsonl": (
        b"{" + b",".join(b'"k%d": 1' % i for i in range(20_000)) + b"}\n",
        "more than 16,384 columns",
    ),
    "bomb.csv.gz": (gzip.compress(HEAD + b"\n" * 1_200_000, 1), "more than 100 times as many"),
    "bomb.json.gz": (gzip.compress(b"[" + b" " * 1_200_000, 1), "more than 100 times as many"),
    "line.csv.gz": (
        gzip.compress(HEAD + bytes(np.random.default_rng(0).integers(97, 122, 2_000_000, np.uint8)), 1),
        "a line is longer than 1,048,576 bytes",
    ),
    "bomb.npz": (npz(triplets=np.zeros((130_000, 3), np.int64)), "more than 100 times as many"),
    "days.npz": (npz(triplets=np.zeros((2, 3), "M8[D]")), "rows are not answers"),
    "damaged.npz": (damaged_npz(), "is not a readable npz archive"),
    "void.npz": (npz(triplets=np.zeros((2, 3), "V4")), "not an index|cannot be read as a column"),
    "complex.npz": (npz(triplets=np.ones((2, 3), complex)), "not an index|cannot be read as a column"),
    "bytes.npz": (
        npz(triplets=[[0, 1, 2], [1, 2, 0], [2, 0, 1]], participant=np.array([b"ann", b"bob", b"\xff"])),
        "cannot be read as a column",
    ),
    "beyond.npz": (npz(triplets=text_of(0x110000)), "holds text that is not Unicode"),
    "beyond.npy": (npy(text_of(0x7FFFFFFF)), "holds text that is not Unicode"),
    "half.npz": (
        npz(triplets=np.eye(3, dtype=int), objects=text_of(0xD800)[0]),
        "holds text that is not Unicode",
    ),
    "other.npz": (zipped({"triplets": b"0,1,2"}), "holds nothing"),
    "text.parquet": (b"PAR1" + bytes(100) + b"PAR1", "is not a readable Parquet file"),
    "bomb.parquet": (
        parquet(**dict.fromkeys(("anchor", "near", "far"), pl.zeros(500_000, eager=True))),
        "as many",
    ),
    "wide.parquet": (
        parquet(
            anchor=["a"] * 9_000,
            near=["b"] * 9_000,
            far=["c"] * 9_000,
            **{f"x{i}": pl.zeros(9_000, dtype=pl.Int64, eager=True) for i in range(99)},
        ),
        "more than 100 times as many",
    ),
    "long.parquet": (
        parquet(anchor=["a"], near=["b"], far=["c"], note=["z" * 3_000_000]),
        "more than 100 times as many",
    ),
    "claims.parquet": (claims_less("z" * 3_000_000), "more than 100 times as many"),
    "list.parquet": (parquet(anchor=[["a"]], near=["b"], far=["c"]), r"anchor holds List\(String\)"),
    "struct.parquet": (parquet(anchor=["a"], near=[{"b": 1}], far=["c"]), "near holds Struct"),
    "bytes.parquet": (parquet(anchor=["a"], near=["b"], far=[b"\xff"]), "row 0: blank cell"),
    "nothing.npy": (damaged_npy(), "text of no characters"),
    "pages.parquet": (fewer_than_none(), "of less than nothing"),
    "decimal.parquet": (arrow(pa.array([Decimal(1)], pa.decimal256(60, 2))), "a column cannot be read"),
    "json.parquet": (arrow(pa.array(["1"], pa.json_())), "participant holds"),
    "large.npz": (npz(triplets=np.array([[0, 1, 2**64 - 1]], np.uint64)), "index too large"),
    "corner.xlsx": (workbook("XFD1048576"), "would take more than .* bytes of memory"),
    "beyond.xlsx": (workbook("ZZZZZZ4294967295"), "is not a readable Excel workbook"),
    "bomb.xlsx": (workbook("B1", strings=bytes(2_000_000)), "more than 100 times as many"),
    "book.xlsx": (b"PK\x03\x04" + bytes(50), "is not a readable Excel workbook"),
    "header.csv": (b'anchor,near,"far\n', "the header cannot be read"),
}


@pytest.fixture
def low_limits(monkeypatch):
    """Limits that small files reach."""
    monkeypatch.setattr(LIMITS, "unpacked_bytes", 1 << 20)
    monkeypatch.setattr(LIMITS, "line_bytes", 1 << 20)


@pytest.mark.usefixtures("low_limits")
@pytest.mark.parametrize("name", HOSTILE)
def test_one_sentence_in_every_way_of_reading(tmp_path, name, monkeypatch, capsys):
    data, sentence = HOSTILE[name]
    path = tmp_path / name
    path.write_bytes(data)
    for read in (read_triplets, lambda path: list(scan_triplets(path))):
        with pytest.raises(NearfarError, match=sentence) as caught:
            read(path)
        assert str(path) in str(caught.value)
    monkeypatch.setattr(sys, "argv", ["nearfar", "check", str(path)])
    with pytest.raises(SystemExit, match="2"):
        main()
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("dictionary", [True, False])
def test_pages_of_parquet_add_up_to_what_an_honest_footer_says(version, dictionary):
    """Its totals count the headers of the pages too."""
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "anchor": [f"object {x}" for x in rng.integers(0, 50, 5_000)],
            "seconds": rng.random(5_000),
            "index": rng.integers(0, 9, 5_000).astype(np.int32),
            "seen": rng.random(5_000) < 0.5,
            "bits": [bytes(16)] * 5_000,
        },
        schema_overrides={"bits": pl.Binary},
    ).to_arrow()
    frame = frame.set_column(4, "bits", frame["bits"].cast("binary").cast(pa.binary(16)))
    stream = io.BytesIO()
    pq.write_table(
        frame, stream, row_group_size=2_000, data_page_size=1_000, write_batch_size=100, compression="zstd",
        use_dictionary=dictionary, data_page_version=version,
    )  # fmt: skip
    metadata = pq.ParquetFile(stream).metadata
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    claimed = sum(group.column(i).total_uncompressed_size for group in groups for i in range(5))
    pages = unpacked_size(stream) - 5_000 * (16 + 8 + 4 + 1 + 16)
    assert len(groups) == 3
    assert 0.5 * claimed < pages < claimed


@pytest.mark.parametrize("digits", [19, 5000])
def test_an_index_of_many_digits_is_a_rejected_row(tmp_path, digits):
    path = tmp_path / "rows.csv"
    path.write_text(f"0,1,{'9' * digits}\n0,1,2\n")
    result = read_answers(path, dialect="things", on_bad="drop")
    assert result.rejected["reason"].to_list() == ["index too large"]
    assert result.triplets.n_objects == 3


def test_names_of_many_digits_are_names(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(f"anchor,near,far\n0,{'9' * 5000},{'8' * 5000}\n")
    assert read_triplets(path).objects == ("0", "8" * 5000, "9" * 5000)


def test_names_and_indices_are_joined(tmp_path):
    """Indices of a file are no names of the file before it."""
    (tmp_path / "a.csv").write_text("anchor,near,far\nfig,plum,lime\n")
    np.save(tmp_path / "b.npy", np.array([[2, 0, 1]]))
    both = [tmp_path / "a.csv", tmp_path / "b.npy"]
    named = [("fig", "plum", "lime"), ("2", "0", "1")]
    for joined in (read_triplets(both), *scan_triplets(both, batch_rows=10)):
        rows = [tuple(joined.objects[i] for i in row) for row in joined.array.tolist()]
        assert rows == (named if len(joined) == 2 else [named[0]] if "fig" in rows[0] else [named[1]])
        assert set(joined.objects) == {"0", "1", "2", "fig", "plum", "lime"}


@pytest.mark.filterwarnings("ignore:.*have no participant")
@pytest.mark.parametrize(
    ("role", "values", "expected"),
    [
        ("seconds", pl.Series([1500, None], dtype=pl.Duration("ms")), [1.5, np.nan]),
        ("answered_at", pl.Series([True, None]), [np.nan, np.nan]),
        ("answered_at", pl.Series([3600, None]).cast(pl.Time), [np.nan, np.nan]),
        ("participant", pl.Series([b"ann", b"\xff"]), ["ann", ""]),
        ("statement", pl.Series([2**64 - 1, 0], dtype=pl.UInt64), ["18446744073709551615", "0"]),
    ],
    ids=lambda value: str(value.dtype) if isinstance(value, pl.Series) else None,
)
@pytest.mark.filterwarnings("ignore:.*times such as .* cannot be read")
def test_types_of_parquet_that_are_not_text_or_numbers(tmp_path, role, values, expected):
    path = tmp_path / "a.parquet"
    frame = pl.DataFrame({"anchor": ["a", "b"], "near": ["b", "a"], "far": ["c", "c"], role: values})
    frame.with_columns(extra=pl.lit([1, 2]), picture=pl.lit(b"\xff")).write_parquet(path)
    for answers in (read_triplets(path), *scan_triplets(path)):
        np.testing.assert_array_equal(np.asarray(getattr(answers, role)), np.array(expected))


def test_long_floats_are_indices():
    assert read_triplets(np.array([[0, 1, 2]], np.longdouble)).array.tolist() == [[0, 1, 2]]


def test_an_index_far_beyond_the_answers_is_refused_before_memory_is_taken(tmp_path):
    with pytest.raises(InputError, match=r"largest index is 2,147,483,647, but there is only 1 answer"):
        read_triplets(np.array([[0, 1, 2**31 - 1]]))
    assert read_triplets(np.array([[0, 1, 999_999]])).n_objects == 1_000_000
    assert len(read_triplets(np.array([[0, 1, 1_000_000]]), objects=1_000_001)) == 1


def test_limits_can_be_raised(tmp_path, monkeypatch):
    path = tmp_path / "wide.csv"
    path.write_text("anchor,near,far," + ",".join(f"x{i}" for i in range(17_000)) + "\n")
    with pytest.raises(InputError, match="raise NEARFAR_MAX_COLUMNS"):
        read_triplets(path)
    monkeypatch.setattr(LIMITS, "columns", 20_000)
    assert len(read_triplets(path)) == 0


def test_nested_values_in_other_columns_do_no_harm(tmp_path):
    path = tmp_path / "answers.jsonl"
    path.write_text('{"anchor": "a", "near": "b", "far": "c", "note": ' + "[" * 400 + "]" * 400 + "}\n")
    assert len(read_triplets(path)) == 1


def test_a_python_without_zstd_says_so(tmp_path, monkeypatch):
    path = tmp_path / "answers.csv.zst"
    write_triplets(read_triplets(np.array([[0, 1, 2]])), path)
    assert len(read_triplets(path)) == 1
    monkeypatch.setitem(
        sys.modules, "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd", None
    )
    monkeypatch.delattr(
        "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd", raising=False
    )
    with pytest.raises(InputError, match=r"zst: cannot be unpacked, this Python was built without zstd"):
        read_triplets(path)


@pytest.mark.parametrize("seed", range(40))
def test_commands_end_with_a_result_or_a_sentence_on_broken_files(seed, tmp_path):
    """Thousands more by ``python -m benchmarks.fuzzing``."""
    mutations.check(mutations.mutated(seed), tmp_path)
