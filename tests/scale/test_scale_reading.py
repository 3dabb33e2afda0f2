"""Files are read alike by many machines and by one, and refused alike."""

import gzip
import re
from contextlib import ExitStack, nullcontext

import numpy as np
import polars as pl
import pytest
from scale_tools import ON_A_CLUSTER, dense, made_answers

import nearfar as nf
from nearfar import scale
from nearfar.errors import FileError, InputError, RowsError, TooLargeError
from nearfar.scale._engine import current_backend
from nearfar.scale.file_chunks import open_file
from nearfar.scale.reading import _find

pytest.importorskip("distributed")
fsspec = pytest.importorskip("fsspec")
pytestmark = ON_A_CLUSTER


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """One collection in many forms."""
    folder, answers = tmp_path_factory.mktemp("answers"), made_answers(m=2000)
    names = np.array([f"o{i}" for i in np.random.default_rng(1).permutation(answers.n_objects)])
    named = pl.DataFrame({role: names[getattr(answers, role)] for role in ("anchor", "near", "far")})
    named[:700].write_parquet(folder / "names-1.parquet", row_group_size=150)
    named[700:].write_parquet(folder / "names-2.parquet", row_group_size=400)
    named.write_csv(folder / "names.csv")
    with gzip.open(folder / "names.csv.gz", "wb") as stream:
        stream.write((folder / "names.csv").read_bytes())
    indices = pl.DataFrame({role: getattr(answers, role) for role in ("anchor", "near", "far")})
    indices.with_columns(participant=1).write_parquet(folder / "indices.parquet", row_group_size=300)
    indices.write_csv(folder / "indices.csv")
    odd = named.select(a="anchor", b="near", c="far", odd="far")
    odd.write_csv(folder / "odd.csv", separator=";")
    nf.write_triplets(
        nf.Triplets(answers.anchor, answers.near, answers.far, names), folder / "listed.parquet"
    )
    return folder


@pytest.mark.parametrize(
    ("pattern", "objects"),
    [
        ("names-*.parquet", None),
        ("names.csv", None),
        ("names.csv.gz", None),
        ("odd.csv", None),
        ("listed.parquet", None),
        ("indices.parquet", None),
        ("indices.parquet", 65),
        ("indices.csv", 60),
        ("names.csv", [f"o{i}" for i in range(70)]),
    ],
)
def test_files_are_read_as_on_one_machine(files, pattern, objects):
    one = nf.read_triplets(sorted(files.glob(pattern)), objects=objects)
    many = scale.read_triplets(files / pattern, objects=objects, piece_rows=400)
    assert tuple(many.objects) == one.objects
    assert len(many.pieces) > 3 or pattern in ("names.csv.gz", "listed.parquet")
    fitted = scale.FeatureMap("score").fit(many)
    assert fitted.n_answers_ == len(one)
    assert np.array_equal(fitted.features_.to_array(), nf.FeatureMap("score").fit_transform(one))


def test_names_do_not_depend_on_the_order_of_files(files):
    paths = sorted(map(str, files.glob("names-*.parquet")))
    forth, back = (scale.read_triplets(order, piece_rows=400) for order in (paths, paths[::-1]))
    assert forth.objects == back.objects
    phi = [scale.FeatureMap("k1").fit_transform(each).to_array() for each in (forth, back)]
    assert np.array_equal(dense(phi[0]), dense(phi[1]))


def test_files_inside_an_archive_are_a_place_too(files, tmp_path):
    import zipfile

    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.write(files / "indices.parquet", "in/indices.parquet")
    many = scale.read_triplets(f"zip://in/*.parquet::file://{tmp_path}/all.zip", objects=60)
    assert scale.FeatureMap("k1").fit(many).n_answers_ == len(nf.read_triplets(files / "indices.parquet"))


@pytest.mark.parametrize("where", ["cluster", "scratch"])
def test_a_dask_frame_of_answers_is_read_by_its_partitions(where, tmp_path):
    dd = pytest.importorskip("dask.dataframe")
    table = made_answers().to_frame().to_pandas()[["anchor", "near", "far"]]
    frame, one = dd.from_pandas(table, npartitions=4), nf.FeatureMap("k1+score").fit(nf.read_triplets(table))
    with nullcontext() if where == "cluster" else scale.scratch(tmp_path):
        many = scale.FeatureMap("k1+score").fit(frame)
        assert many.n_answers_ == len(table) and many.objects_ == one.objects_
        assert np.array_equal(dense(many.features_.to_array()), dense(one.features_))
        listed = scale.read_triplets(frame, objects=list(one.objects_[::-1]))
        assert (
            float(scale.triplet_accuracy(listed, phi=scale.FeatureMap("score").fit_transform(listed))) > 0.7
        )
        with pytest.raises(InputError, match="dask DataFrame"):
            scale.read_triplets(frame.to_dask_array())
        with pytest.raises(InputError, match="one machine"):
            nf.embedding.SOE().fit(frame)
        with pytest.raises(InputError, match="distributed"):
            nf.fit(listed, "score")


def test_bad_rows_are_named_or_dropped(files, tmp_path):
    table = pl.read_parquet(files / "indices.parquet")
    broken = table.with_columns(far=pl.when(pl.int_range(pl.len()) == 1000).then("near").otherwise("far"))
    broken.write_parquet(tmp_path / "bad.parquet", row_group_size=300)
    answers = scale.read_triplets(tmp_path / "bad.parquet", objects=60, piece_rows=400)
    with pytest.raises(RowsError, match=r"bad\.parquet \(rows from 900 on\), row 100: the same object twice"):
        scale.FeatureMap("k1").fit(answers)
    dropped = scale.read_triplets(tmp_path / "bad.parquet", objects=60, on_bad="drop", piece_rows=400)
    assert scale.FeatureMap("k1").fit(dropped).n_answers_ == len(table) - 1


def test_a_short_text_file_is_read_as_a_whole(tmp_path):
    """Then a mark inside a cell is no riddle, and lines are those of the file."""
    path = tmp_path / "answers [1].csv"
    path.write_text('anchor,near,far\na,5" disc,c\nb,a,c\n')
    one, many = nf.read_triplets(path), scale.read_triplets(path)
    assert many.objects == one.objects == ('5" disc', "a", "b", "c")
    assert scale.FeatureMap("score").fit(many).n_answers_ == 2
    path.write_text("anchor,near,far\na,b,c\na,b,b\n")
    with pytest.raises(RowsError, match=r"answers \[1\]\.csv, line 3: the same object twice"):
        scale.read_triplets(path)
    path.write_text("anchor,near,far\n")
    assert scale.FeatureMap("k1").fit(scale.read_triplets(path)).features_.shape == (0, 0)


@pytest.mark.parametrize(
    ("name", "harm", "sentence"),
    [
        ("names-2.parquet", "page", "(damaged|rows are not answers)"),  # whichever piece comes first
        ("names-2.parquet", "cut", "damaged"),
        ("names.csv", "bytes", "undecodable bytes"),
        ("names.csv", "cut", "wrong number of cells"),
        ("names.csv.gz", "page", "damaged"),
        ("names.csv.gz", "cut", "damaged"),
    ],
)
def test_a_corrupt_file_in_the_middle_is_named(files, tmp_path, name, harm, sentence):
    data = bytearray((files / name).read_bytes())
    middle = data.index(b",", len(data) // 2) if name == "names.csv" else len(data) // 2
    if harm == "cut":
        del data[middle:]
    else:
        data[middle : middle + 1500] = (b"\0" if harm == "page" else b"\xff") * 1500
    (tmp_path / name).write_bytes(data)
    paths = [files / "names-1.parquet", tmp_path / name, files / "odd.csv"]
    listed = [f"o{i}" for i in range(60)]
    with pytest.raises(InputError, match=rf"{re.escape(str(tmp_path / name))}.*{sentence}"):
        scale.FeatureMap("k1").fit(scale.read_triplets(paths, objects=listed, piece_rows=400))
    with pytest.raises(InputError, match=rf"{re.escape(str(tmp_path / name))}.*{sentence}"):
        scale.read_triplets(paths, piece_rows=400)


def test_threads_do_not_close_each_others_files(files):
    (file,) = _find(files / "names.csv", {})
    with ExitStack() as stays:
        with open_file(file) as first:
            second = stays.enter_context(open_file(file))
            assert first.read(6) == b"anchor"
        assert second.read(6) == b"anchor"


def test_what_cannot_be_read_is_one_sentence(files, tmp_path):
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(FileError, match=r"folder\.csv: is a directory; give the files in it"):
        scale.read_triplets(tmp_path / "folder.csv")
    (folder,) = fsspec.open_files(str(tmp_path / "folder.csv"))
    sentence = r"folder\.csv: a worker cannot read it \(.*; check the address, that workers may read it"
    with pytest.raises(FileError, match=sentence), open_file(folder):
        pass
    (tmp_path / "cut.parquet").write_bytes((files / "indices.parquet").read_bytes()[:500])
    (tmp_path / "line.csv").write_text('anchor,near,far\na,"b\nb",c\nd,e,f\n')
    with pytest.raises(FileError, match=r"cut\.parquet: .*damaged"):
        scale.read_triplets(tmp_path / "cut.parquet", objects=60)
    with pytest.raises(FileError, match=r"no\.csv: there is no such file for a worker"):
        scale.read_triplets(tmp_path / "no.csv")
    with pytest.raises(FileError, match=r"no\*\.csv: no file matches"):
        scale.read_triplets(tmp_path / "no*.csv")
    with pytest.raises(FileError, match=r"nowhere://x\.csv: fsspec cannot reach it"):
        scale.read_triplets("nowhere://x.csv")
    with pytest.raises(FileError, match=r"a\.jsonl: cannot be read in pieces"):
        scale.read_triplets(tmp_path / "a.jsonl")
    with pytest.raises(InputError, match="on_bad must be"):
        scale.read_triplets(tmp_path / "line.csv", on_bad="keep")


def test_a_line_break_in_a_cell_cannot_be_cut(tmp_path):
    (tmp_path / "line.csv").write_text('anchor,near,far\na,"banana split\nor not",c\nd,e,f\n')
    with pytest.raises(FileError, match=r"line\.csv.*: a quoted cell holds a line break"):
        scale.read_triplets(tmp_path / "line.csv", piece_rows=1)


# -------------------------------------------------------------------- workers


def test_a_worker_without_memory_is_one_sentence():
    engine = current_backend()
    with pytest.raises(TooLargeError, match=r"rows of Phi: there is too little memory \(Unable to allocate"):
        engine.gather("rows of Phi", [engine.submit("rows", np.empty, 1 << 50)])


def test_progress_is_announced():
    steps = []
    with nf.progress.listen(steps.append):
        scale.FeatureMap("k1").fit(made_answers())
    assert {"counting answers", "rows of Phi"} <= {step.name for step in steps if step.over}
    assert sum(step.done for step in set(steps)) > 2
