"""Many machines and one give the same: every verb of nearfar.scale on a real cluster of two processes."""

import gzip
import pickle
import re
import time
import warnings
from contextlib import ExitStack

import numpy as np
import polars as pl
import pytest
from scale_tools import dense, made_answers

import nearfar as nf
from nearfar import scale
from nearfar.errors import (
    CoverageWarning,
    FileError,
    InputError,
    MissingExtra,
    NotConverged,
    RowsError,
    TooLargeError,
    UninformedWarning,
)
from nearfar.methods import _lloyd, _path, _rows, medoid, neighbours
from nearfar.scale import _answers, _connect, feature_map, reading
from nearfar.scale._engine import current_engine
from nearfar.scale._pieces import open_file

pytest.importorskip("distributed")
fsspec = pytest.importorskip("fsspec")
pytestmark = [
    pytest.mark.filterwarnings("ignore::nearfar.errors.UninformedWarning"),
    pytest.mark.filterwarnings("ignore::nearfar.errors.CoverageWarning"),
]

LANDMARKS = [3, 1, 4, 15, 9, 26, 5]


@pytest.fixture(scope="module", autouse=True)
def cluster():
    """Two worker processes of one thread each."""
    with scale.connect("local:2") as client:
        yield client


@pytest.fixture
def small_pieces(monkeypatch):
    """Many pieces of few answers."""
    monkeypatch.setattr(_answers, "PIECE_ANSWERS", 170)
    monkeypatch.setattr(reading, "PIECE_ROWS", 400)


# -------------------------------------------------------------------- features


@pytest.mark.parametrize("landmarks", [None, LANDMARKS])
@pytest.mark.parametrize("kernel", ["k1", "k2", "score", "k1+k2+score"])
def test_features_are_those_of_one_machine_to_the_last_bit(kernel, landmarks, small_pieces):
    answers = made_answers(landmarks=None if kernel == "k2" else landmarks)
    one = nf.FeatureMap(kernel, landmarks=landmarks).fit(answers)
    many = scale.FeatureMap(kernel, landmarks=landmarks).fit(answers)
    assert np.array_equal(dense(many.features_.compute()), dense(one.features_))
    assert len(many.features_.chunks[0]) > 2
    assert np.array_equal(many.informed_.compute(), one.informed_)
    assert many.n_informed_ == one.informed_.sum()
    assert many.coverage_ == one.coverage_
    assert many.columns_.describe() == one.columns_.describe()
    assert many.objects_ == one.objects_ and many.n_answers_ == len(answers)


@pytest.mark.parametrize(("kernel", "landmarks"), [("k1", LANDMARKS), ("k1+score", None)])
def test_sums_of_groups_of_pieces_are_added_up_in_turn(kernel, landmarks, small_pieces, monkeypatch):
    monkeypatch.setattr(feature_map, "FAN_IN", 2)
    answers = made_answers()
    expected = nf.FeatureMap(kernel, landmarks=landmarks).fit_transform(answers)
    found = scale.FeatureMap(kernel, landmarks=landmarks).fit_transform(answers).compute()
    np.testing.assert_array_equal(dense(found), dense(expected))


@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_features_have_the_layout_and_dtype_asked_for(layout):
    answers = made_answers()
    one = nf.FeatureMap("k1+score", layout=layout, dtype=np.float32).fit_transform(answers)
    many = scale.FeatureMap("k1+score", layout=layout, dtype=np.float32).fit_transform(answers).compute()
    assert type(many) is type(one) and many.dtype == np.float32
    assert np.array_equal(dense(many), dense(one))


def test_features_of_no_answers_are_zero():
    with pytest.warns(UninformedWarning, match="4 of 4 objects have no usable answer for k1"):
        fitted = scale.FeatureMap("k1").fit(nf.Triplets.from_array(np.empty((0, 3), int), n_objects=4))
    assert fitted.features_.shape == (4, 0) and fitted.n_informed_ == 0


def test_features_of_no_objects_are_empty():
    nobody = nf.Triplets.from_array(np.empty((0, 3), int), n_objects=0)
    for kernel in ("k1", "score"):
        fitted = scale.FeatureMap(kernel).fit(nobody)
        assert fitted.features_.compute().shape == (0, 0) and len(fitted.columns_) == 0
    with pytest.raises(InputError, match="none of its 0 rows is informed"):
        scale.KernelPCA().fit(fitted.features_)


def test_warnings_are_those_of_one_machine():
    answers = nf.Triplets.from_array([[0, 1, 2], [3, 4, 5]], n_objects=7)
    heard = []
    for kind in (nf.FeatureMap, scale.FeatureMap):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            kind("k1").fit(answers)
        heard.append([(w.category, str(w.message)) for w in caught])
    assert heard[0] == heard[1]
    assert [category for category, _ in heard[0]] == [UninformedWarning, CoverageWarning]


def test_wrong_parameters_are_refused_as_on_one_machine():
    with pytest.raises(InputError, match="kernel: 'k3' is not known"):
        scale.FeatureMap("k3").fit([[0, 1, 2]])
    with pytest.raises(InputError, match="layout: 'thin' is not known"):
        scale.FeatureMap("k1", layout="thin").fit([[0, 1, 2]])
    with pytest.raises(InputError, match="landmarks: 'x' is not among the 3 objects"):
        scale.FeatureMap("k1", landmarks=["x"]).fit([[0, 1, 2]])


def test_errors_survive_the_way_from_a_worker():
    there = MissingExtra("pyarrow", "dask")
    back = pickle.loads(pickle.dumps(there))
    assert str(back) == str(there) and (back.package, back.extra) == ("pyarrow", "dask")


@pytest.mark.parametrize("verb", ["FeatureMap", "KernelPCA", "KernelKMeans"])
def test_the_same_words_have_the_same_defaults(verb):
    assert getattr(scale, verb)().get_params() == getattr(nf, verb)().get_params()


# -------------------------------------------------------------------- files


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
def test_files_are_read_as_on_one_machine(files, pattern, objects, small_pieces):
    one = nf.read_triplets(sorted(files.glob(pattern)), objects=objects)
    many = scale.read_triplets(files / pattern, objects=objects)
    assert tuple(many.objects) == one.objects
    assert len(many.pieces) > 3 or pattern in ("names.csv.gz", "listed.parquet")
    fitted = scale.FeatureMap("score").fit(many)
    assert fitted.n_answers_ == len(one)
    assert np.array_equal(fitted.features_.compute(), nf.FeatureMap("score").fit_transform(one))


def test_names_do_not_depend_on_the_order_of_files(files, small_pieces):
    paths = sorted(map(str, files.glob("names-*.parquet")))
    forth, back = scale.read_triplets(paths), scale.read_triplets(paths[::-1])
    assert forth.objects == back.objects
    phi = [scale.FeatureMap("k1").fit_transform(each).compute() for each in (forth, back)]
    assert np.array_equal(dense(phi[0]), dense(phi[1]))


def test_files_inside_an_archive_are_a_place_too(files, tmp_path):
    import zipfile

    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.write(files / "indices.parquet", "in/indices.parquet")
    many = scale.read_triplets(f"zip://in/*.parquet::file://{tmp_path}/all.zip", objects=60)
    assert scale.FeatureMap("k1").fit(many).n_answers_ == len(nf.read_triplets(files / "indices.parquet"))


def test_bad_rows_are_named_or_dropped(files, tmp_path, small_pieces):
    table = pl.read_parquet(files / "indices.parquet")
    broken = table.with_columns(far=pl.when(pl.int_range(pl.len()) == 1000).then("near").otherwise("far"))
    broken.write_parquet(tmp_path / "bad.parquet", row_group_size=300)
    answers = scale.read_triplets(tmp_path / "bad.parquet", objects=60)
    with pytest.raises(RowsError, match=r"bad\.parquet \(rows from 900 on\), row 100: two equal objects"):
        scale.FeatureMap("k1").fit(answers)
    dropped = scale.read_triplets(tmp_path / "bad.parquet", objects=60, on_bad="drop")
    assert scale.FeatureMap("k1").fit(dropped).n_answers_ == len(table) - 1


def test_a_short_text_file_is_read_as_a_whole(tmp_path):
    """Then a mark inside a cell is no riddle, and lines are those of the file."""
    path = tmp_path / "answers [1].csv"
    path.write_text('anchor,near,far\na,5" disc,c\nb,a,c\n')
    one, many = nf.read_triplets(path), scale.read_triplets(path)
    assert many.objects == one.objects == ('5" disc', "a", "b", "c")
    assert scale.FeatureMap("score").fit(many).n_answers_ == 2
    path.write_text("anchor,near,far\na,b,c\na,b,b\n")
    with pytest.raises(RowsError, match=r"answers \[1\]\.csv, line 3: two equal objects"):
        scale.read_triplets(path)
    path.write_text("anchor,near,far\n")
    assert scale.FeatureMap("k1").fit(scale.read_triplets(path)).features_.shape == (0, 0)


@pytest.mark.parametrize(
    ("name", "harm", "sentence"),
    [
        ("names-2.parquet", "page", "(is damaged|rows are no answers)"),  # whichever piece comes first
        ("names-2.parquet", "cut", "is damaged"),
        ("names.csv", "bytes", "undecodable bytes"),
        ("names.csv", "cut", "ragged row"),
        ("names.csv.gz", "page", "is damaged"),
        ("names.csv.gz", "cut", "is damaged"),
    ],
)
def test_a_corrupt_file_in_the_middle_is_named(files, tmp_path, name, harm, sentence, small_pieces):
    data = bytearray((files / name).read_bytes())
    middle = data.index(b",", len(data) // 2) if name == "names.csv" else len(data) // 2
    if harm == "cut":
        del data[middle:]
    else:
        data[middle : middle + 1500] = (b"\0" if harm == "page" else b"\xff") * 1500
    (tmp_path / name).write_bytes(data)
    paths = [files / "names-1.parquet", tmp_path / name, files / "odd.csv"]
    with pytest.raises(InputError, match=rf"{re.escape(str(tmp_path / name))}.*{sentence}"):
        scale.FeatureMap("k1").fit(scale.read_triplets(paths, objects=[f"o{i}" for i in range(60)]))
    with pytest.raises(InputError, match=rf"{re.escape(str(tmp_path / name))}.*{sentence}"):
        scale.read_triplets(paths)


def test_threads_do_not_close_each_others_files(files):
    (file,) = reading._find(files / "names.csv", {})
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
    sentence = r"folder\.csv: a worker cannot open it \(.*; check the address, and that workers may read it"
    with pytest.raises(FileError, match=sentence), open_file(folder):
        pass
    (tmp_path / "cut.parquet").write_bytes((files / "indices.parquet").read_bytes()[:500])
    (tmp_path / "line.csv").write_text('anchor,near,far\na,"b\nb",c\nd,e,f\n')
    with pytest.raises(FileError, match=r"cut\.parquet: is damaged"):
        scale.read_triplets(tmp_path / "cut.parquet", objects=60)
    with pytest.raises(FileError, match=r"no\.csv: there is no such file for a worker"):
        scale.read_triplets(tmp_path / "no.csv")
    with pytest.raises(FileError, match=r"no\*\.csv: no file matches"):
        scale.read_triplets(tmp_path / "no*.csv")
    with pytest.raises(FileError, match=r"nowhere://x\.csv: fsspec cannot reach it"):
        scale.read_triplets("nowhere://x.csv")
    with pytest.raises(FileError, match=r"a\.jsonl: cannot be read in pieces"):
        scale.read_triplets(tmp_path / "a.jsonl")
    with pytest.raises(InputError, match="on_bad: 'keep' is not known"):
        scale.read_triplets(tmp_path / "line.csv", on_bad="keep")


def test_a_line_break_in_a_cell_cannot_be_cut(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "PIECE_ROWS", 1)
    (tmp_path / "line.csv").write_text('anchor,near,far\na,"banana split\nor not",c\nd,e,f\n')
    with pytest.raises(FileError, match=r"line\.csv.*: a quoted cell holds a line break"):
        scale.read_triplets(tmp_path / "line.csv")


# -------------------------------------------------------------------- methods

CASES = {
    "landmarks": ("k1", LANDMARKS, "auto"),
    "landmarks, sparse": ("k1", LANDMARKS, "sparse"),
    "pairs": ("k1", None, "sparse"),
    "score": ("score", None, "auto"),
    "score, landmarks": ("score", LANDMARKS, "auto"),
    "k2": ("k2", None, "sparse"),
    "k2, landmarks": ("k2", LANDMARKS, "auto"),
    "sum": ("k1+k2+score", None, "auto"),
}


@pytest.fixture(scope="module", params=CASES)
def features(request, cluster):
    """(Phi here, Phi on the cluster) of the same answers; one object is uninformed."""
    kernel, landmarks, layout = CASES[request.param]
    answers = made_answers(landmarks=landmarks)
    if kernel == "k2" and landmarks:  # which asks landmarks about all objects
        answers = made_answers(m=60_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UninformedWarning)
        here = nf.FeatureMap(kernel, landmarks=landmarks, layout=layout).fit_transform(answers)
        there = scale.FeatureMap(kernel, landmarks=landmarks, layout=layout).fit_transform(answers)
    return here, there


@pytest.mark.parametrize("diagonal", ["shift", "keep"])
def test_maps_are_those_of_one_machine(features, diagonal):
    here, there = features
    one = nf.KernelPCA(3, diagonal=diagonal).fit(here)
    many = scale.KernelPCA(3, diagonal=diagonal).fit(there)
    assert np.abs(many.embedding_.compute() - one.embedding_).max() < 1e-10
    assert np.abs(many.transform(there).compute() - one.transform(here)).max() < 1e-10
    assert np.abs(many.eigenvalues_ - one.eigenvalues_).max() < 1e-10
    assert np.abs(many.explained_variance_ratio_ - one.explained_variance_ratio_).max() < 1e-10
    assert abs(many.shift_ - one.shift_) < 1e-10
    assert many.uninformed_.tolist() == one.uninformed_.tolist() == [59]


@pytest.mark.parametrize("diagonal", ["shift", "keep"])
def test_clusters_are_those_of_one_machine(features, diagonal):
    here, there = features
    settings = {"n_clusters": 4, "n_init": 2, "diagonal": diagonal, "random_state": 3}
    one = nf.KernelKMeans(**settings).fit(here)
    many = scale.KernelKMeans(**settings).fit(there)
    assert many.labels_.compute().tolist() == one.labels_.tolist()
    assert many.predict(there).compute().tolist() == one.predict(here).tolist()
    assert abs(many.inertia_ - one.inertia_) < 1e-10
    assert many.n_iter_ == one.n_iter_ and many.sizes_.tolist() == one.sizes_.tolist()
    assert np.abs(dense(many.centres_) - dense(one.centres_)).max() < 1e-10
    assert many.uninformed_.tolist() == [59]


def test_medoids_are_those_of_one_machine(features):
    here, there = features
    many = scale.KernelKMeans(4, n_init=1, random_state=1).fit(there)
    one, found = medoid(here, many.labels_.compute()), scale.medoid(there, many.labels_)
    assert found.indices.tolist() == one.indices.tolist() and found.clusters.tolist() == [0, 1, 2, 3]
    assert np.abs(found.similarities - one.similarities).max() < 1e-10
    assert found.uninformed.tolist() == [59]
    with pytest.raises(InputError, match="labels: expected a dask array of 60 whole numbers"):
        scale.medoid(there, one.indices)


def test_neighbours_are_those_of_one_machine(features):
    here, there = features
    one, many = neighbours(here, 5), scale.neighbours(there, 5)
    assert many.indices.compute().tolist() == one.indices.tolist()
    assert np.nanmax(np.abs(many.similarities.compute() - one.similarities)) < 1e-10
    assert many.uninformed.tolist() == [59]


def test_held_out_accuracy_is_that_of_one_machine(features, monkeypatch, small_pieces):
    monkeypatch.setattr(scale.accuracy, "ROWS_BYTES", 20_000)
    here, there = features
    held_out = made_answers(m=700, seed=5, silent=0)
    K = nf.kernel.gram(here)
    assert scale.triplet_accuracy(held_out, phi=there) == nf.metrics.triplet_accuracy(held_out, kernel=K)
    points = scale.KernelPCA(2).fit_transform(there)
    one = nf.metrics.triplet_accuracy(held_out, points=points.compute())
    assert scale.triplet_accuracy(held_out, points=points) == one


@pytest.mark.parametrize("diagonal", ["shift", "keep"])
def test_the_whole_kernel_goes_to_disk(diagonal, tmp_path):
    answers, to = made_answers(), tmp_path / "K.zarr"
    written = scale.kernel_matrix(answers, "k1", to=to, diagonal=diagonal)
    assert np.abs(written.compute() - nf.kernel_matrix(answers, "k1", diagonal=diagonal)).max() < 1e-10
    assert [path.name for path in tmp_path.iterdir()] == ["K.zarr"]
    with pytest.raises(FileError, match=r"K\.zarr: exists already"):
        scale.kernel_matrix(answers, "k1", to=to)


def test_a_kernel_that_is_given_up_leaves_nothing_behind(tmp_path):
    """Not even what workers were about to write."""
    import dask.array as da

    class Stop:
        def start(self, name, total):
            if name == "kernel matrix":
                while not any(tmp_path.rglob("c/*/*")):  # the first chunk
                    time.sleep(0.01)
                raise KeyboardInterrupt

        def stop(self, handle):
            pass

        def advance(self, handle, amount):
            pass

    phi = da.from_array(np.random.default_rng(0).normal(size=(5000, 3)), chunks=(2048, 3))
    with nf.progress.listen(Stop()), pytest.raises(KeyboardInterrupt):
        scale.gram(phi, to=tmp_path / "K.zarr")
    time.sleep(1)
    assert list(tmp_path.iterdir()) == []


def test_blocks_of_any_height_can_be_written(tmp_path, monkeypatch):
    import dask.array as da

    monkeypatch.setattr(scale.kernel, "CHUNK_ROWS", 8)
    phi = np.random.default_rng(0).normal(size=(50, 6))
    K = scale.gram(da.from_array(phi, chunks=((20, 13, 17), (2, 4))), to=tmp_path / "K.zarr")
    assert np.abs(K.compute() - phi @ phi.T).max() < 1e-12 and K.chunksize == (8, 8)


def test_starts_from_a_sample_are_those_of_one_machine(monkeypatch):
    monkeypatch.setattr(_rows, "SAMPLE", 40)
    answers = made_answers(n=120, m=8000, landmarks=LANDMARKS)
    here = nf.FeatureMap("k1", landmarks=LANDMARKS).fit_transform(answers)
    there = scale.FeatureMap("k1", landmarks=LANDMARKS).fit_transform(answers)
    one = nf.KernelKMeans(3, n_init=2, random_state=0).fit(here)
    many = scale.KernelKMeans(3, n_init=2, random_state=0).fit(there)
    assert many.labels_.compute().tolist() == one.labels_.tolist() and many.n_iter_ == one.n_iter_


def test_starts_from_a_sample_of_sparse_rows_are_those_of_one_machine(monkeypatch):
    monkeypatch.setattr(_lloyd, "SAMPLE", 40)
    monkeypatch.setattr(_lloyd, "ENOUGH", 1)
    monkeypatch.setattr(_path, "SMALL", 0)  # no n x n matrix
    answers = made_answers(n=120, m=900)
    here = nf.FeatureMap("score", layout="sparse").fit_transform(answers)
    there = scale.FeatureMap("score", layout="sparse").fit_transform(answers)
    one = nf.KernelKMeans(3, n_init=2, random_state=0).fit(here)
    many = scale.KernelKMeans(3, n_init=2, random_state=0).fit(there)
    assert one.shift_ > 0 or here.shape[0] <= here.shape[1]
    assert many.labels_.compute().tolist() == one.labels_.tolist() and many.n_iter_ == one.n_iter_


@pytest.mark.parametrize("width", [5, 60])
def test_given_starts_and_empty_clusters_are_treated_as_on_one_machine(width):
    """More rows than columns, and more columns than rows: two ways to iterate."""
    import dask.array as da

    rng = np.random.default_rng(0)
    here = rng.normal(size=(40, width))
    here[::7] = 0  # uninformed
    there = da.from_array(here, chunks=(9, width))
    start = rng.integers(0, 3, 40)  # clusters 3 and 4 start empty
    one = nf.KernelKMeans(5, init=start).fit(here)
    many = scale.KernelKMeans(5, init=start).fit(there)
    assert many.labels_.compute().tolist() == one.labels_.tolist() and many.n_iter_ == one.n_iter_
    assert (many.sizes_ > 0).all()
    with pytest.raises(InputError, match="init: expected 'k-means"):
        scale.KernelKMeans(5, init=start[:-1]).fit(there)


@pytest.mark.parametrize(("kernel", "landmarks"), [("k1", None), ("k1", LANDMARKS), ("score", LANDMARKS)])
def test_a_block_may_have_no_informed_row(kernel, landmarks):
    """Most of a long list of objects was never asked about; some columns are those of a single object."""
    answers = made_answers(m=200, landmarks=landmarks, silent=25)
    layout = "sparse" if landmarks is None else "auto"
    here = nf.FeatureMap(kernel, landmarks=landmarks, layout=layout).fit_transform(answers)
    there = scale.FeatureMap(kernel, landmarks=landmarks, layout=layout).fit_transform(answers)
    assert there.blocks[-1].compute().sum() == 0
    one, many = nf.KernelPCA(2).fit(here), scale.KernelPCA(2).fit(there)
    assert np.abs(many.embedding_.compute() - one.embedding_).max() < 1e-10
    for diagonal in ("shift", "keep"):
        settings = {"n_clusters": 3, "n_init": 2, "random_state": 0, "diagonal": diagonal}
        found = scale.KernelKMeans(**settings).fit_predict(there)
        assert found.compute().tolist() == nf.KernelKMeans(**settings).fit_predict(here).tolist()
    assert scale.neighbours(there, 2).indices.compute().tolist() == neighbours(here, 2).indices.tolist()


def test_methods_say_what_they_cannot_do():
    import dask.array as da

    zeros = da.zeros((4, 3), chunks=(2, 3))
    with pytest.raises(InputError, match="none of its 4 rows is informed"):
        scale.KernelPCA().fit(zeros)
    with pytest.raises(InputError, match="n_clusters=8 is more than the 0 informed rows"):
        scale.KernelKMeans().fit(zeros)
    with pytest.raises(InputError, match="expected a dask array in blocks of rows, got ndarray"):
        scale.KernelPCA().fit(np.ones((4, 3)))
    with pytest.raises(InputError, match="k=10 neighbours are more than"):
        scale.neighbours(zeros)
    with pytest.raises(InputError, match=r"expected points=\.\.\. or phi=\.\.\., got none"):
        scale.triplet_accuracy([[0, 1, 2]])
    with pytest.raises(InputError, match="speaks about 3 objects, but there are 4 rows"):
        scale.triplet_accuracy([[0, 1, 2]], points=zeros)
    with pytest.raises(InputError, match="diagonal='drop' is not known"):
        scale.KernelKMeans(diagonal="drop").fit(zeros)
    for method in (scale.KernelPCA(1).fit, scale.KernelKMeans(2).fit, scale.neighbours):
        with pytest.raises(InputError, match="X: holds NaN or infinity"):
            method(da.from_array(np.diag([1.0, np.nan, 1.0, 1.0]), chunks=(2, 4)))
    rows = da.from_array(np.eye(4), chunks=(2, 4))
    fitted = scale.KernelPCA(1).fit(rows)
    with pytest.raises(InputError, match="X: 3 columns, but the map was fitted on 4"):
        fitted.transform(zeros)


def test_a_search_that_stops_early_warns():
    import dask.array as da

    rows = da.from_array(np.random.default_rng(0).normal(size=(60, 4)), chunks=(20, 4))
    with pytest.warns(NotConverged, match="still changing after max_iter=1"):
        scale.KernelKMeans(5, max_iter=1, n_init=1, random_state=0).fit(rows)


# -------------------------------------------------------------------- clusters


def test_a_worker_without_memory_is_one_sentence():
    engine = current_engine()
    with pytest.raises(TooLargeError, match=r"rows of Phi: there is too little memory \(Unable to allocate"):
        engine.result("rows of Phi", engine.submit("rows", np.empty, 1 << 50))


def test_an_address_that_is_none_is_refused():
    with pytest.raises(InputError, match="'lokal' is no cluster; expected local"), scale.connect("lokal"):
        pass


def test_workers_like_this_process_pass(cluster):
    _connect.check_workers(cluster, "here")


def test_progress_is_announced():
    class Listener:
        def __init__(self):
            self.steps, self.done = {}, 0

        def start(self, name, total):
            self.steps[name] = total
            return name

        def advance(self, handle, amount):
            self.done += amount

        def stop(self, handle):
            pass

    listener = Listener()
    with nf.progress.listen(listener):
        scale.FeatureMap("k1").fit(made_answers())
    assert {"counting answers", "rows of Phi"} <= set(listener.steps) and listener.done > 2
