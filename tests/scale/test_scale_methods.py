"""Many machines, rows on disk, and one machine give the same maps, clusters, neighbours and kernel matrix."""

import time
import warnings

import numpy as np
import pytest
from scale_tools import LANDMARKS, ON_A_CLUSTER, dense, made_answers

import nearfar as nf
from nearfar import scale
from nearfar.errors import FileError, InputError, UninformedWarning
from nearfar.kernel.shift import shift_and_matrix
from nearfar.methods import medoid, neighbours, outliers
from nearfar.scale._answers import as_answers

pytest.importorskip("distributed")
pytestmark = ON_A_CLUSTER
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
def features(request, elsewhere):
    """(Phi here, Phi elsewhere) of the same answers; one object is uninformed."""
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
    assert np.abs(many.embedding_.to_array() - one.embedding_).max() < 1e-10
    assert np.abs(many.transform(there).to_array() - one.transform(here)).max() < 1e-10
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
    assert many.labels_.to_array().tolist() == one.labels_.tolist()
    assert many.predict(there).to_array().tolist() == one.predict(here).tolist()
    assert abs(many.inertia_ - one.inertia_) < 1e-10
    assert many.n_iter_ == one.n_iter_ and many.sizes_.tolist() == one.sizes_.tolist()
    assert np.abs(dense(many.centres_) - dense(one.centres_)).max() < 1e-10
    assert many.uninformed_.tolist() == [59]


def test_medoids_are_those_of_one_machine(features):
    here, there = features
    many = scale.KernelKMeans(4, n_init=1, random_state=1).fit(there)
    one, typical = medoid(here, many.labels_.to_array()), scale.medoid(there, many.labels_)
    assert typical.indices.tolist() == one.indices.tolist() and typical.clusters.tolist() == [0, 1, 2, 3]
    assert np.abs(typical.similarities - one.similarities).max() < 1e-10
    assert typical.uninformed.tolist() == [59]
    with pytest.raises(InputError, match="labels: expected 60 integers, one per row of phi, got shape"):
        scale.medoid(there, one.indices)
    with pytest.raises(InputError, match="labels: expected 60 integers"):
        scale.medoid(there, there)


def test_neighbours_are_those_of_one_machine(features):
    here, there = features
    one, many = neighbours(here, 5), scale.neighbours(there, 5)
    assert many.indices.to_array().tolist() == one.indices.tolist()
    assert np.nanmax(np.abs(many.similarities.to_array() - one.similarities)) < 1e-10
    assert many.uninformed.tolist() == [59]


def test_outliers_are_those_of_one_machine(features):
    here, there = features
    one, many = outliers(here, 5), scale.outliers(there, 5)
    assert many.order.tolist() == one.order.tolist() and many.flagged.tolist() == one.flagged.tolist()
    assert np.nanmax(np.abs(many.scores - one.scores)) < 1e-10
    assert many.columns.tolist() == one.columns.tolist() and many.uninformed.tolist() == [59]


def test_held_out_accuracy_is_that_of_one_machine(features):
    here, there = features
    held_out = made_answers(m=700, seed=5, silent=0)
    K = nf.kernel.gram(here)
    pieces = as_answers(held_out, piece_rows=350)
    accuracy = scale.triplet_accuracy(pieces, phi=there, rows_bytes=60_000)
    assert accuracy == nf.metrics.triplet_accuracy(held_out, K=K)
    points = scale.KernelPCA(2).fit_transform(there)
    one = nf.metrics.triplet_accuracy(held_out, points=points.to_array())
    assert scale.triplet_accuracy(pieces, points=points) == one


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize("diagonal", ["shift", "keep"])
def test_the_whole_kernel_goes_to_disk(diagonal, tmp_path):
    answers, to = made_answers(), tmp_path / "K.zarr"
    written = scale.kernel_matrix(answers, "k1", to=to, diagonal=diagonal)
    assert np.abs(np.asarray(written) - nf.kernel_matrix(answers, "k1", diagonal=diagonal)).max() < 1e-10
    assert [path.name for path in tmp_path.iterdir()] == ["K.zarr"]
    with pytest.raises(FileError, match=r"K\.zarr: exists already"):
        scale.kernel_matrix(answers, "k1", to=to)


def test_a_kernel_that_is_given_up_leaves_nothing_behind(tmp_path):
    """Not even what workers were about to write."""

    def stop(step):
        if step.name == "kernel matrix":
            while not any(tmp_path.rglob("c/*/*")):  # the first chunk
                time.sleep(0.01)
            raise KeyboardInterrupt

    phi = in_blocks(np.random.default_rng(0).normal(size=(5000, 3)), chunks=(2048, 3))
    with nf.progress.listen(stop), pytest.raises(KeyboardInterrupt):
        scale.gram(phi, to=tmp_path / "K.zarr")
    time.sleep(1)
    assert list(tmp_path.iterdir()) == []


def test_blocks_of_any_height_can_be_written(tmp_path):
    phi = np.random.default_rng(0).normal(size=(50, 6))
    blocks = in_blocks(phi, chunks=((20, 13, 17), (2, 4)))
    K = scale.gram(blocks, to=tmp_path / "K.zarr", chunk_rows=8)
    assert np.abs(K.compute() - phi @ phi.T).max() < 1e-12 and K.chunksize == (8, 8)


def without_matrix(monkeypatch):
    """Kernel k-means as if there were too many objects for the kernel matrix."""
    monkeypatch.setattr(
        "nearfar.methods.kernel_kmeans.shift_and_matrix",
        lambda factored: (shift_and_matrix(factored)[0], None),
    )


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize(
    ("kernel", "landmarks", "layout"), [("k1", LANDMARKS, "auto"), ("score", None, "sparse")]
)
def test_starts_from_a_sample_are_those_of_one_machine(kernel, landmarks, layout, monkeypatch):
    without_matrix(monkeypatch)
    monkeypatch.setattr("nearfar.methods.kernel_kmeans.SAMPLE", 40)
    answers = made_answers(n=120, m=8000, landmarks=landmarks)
    here, there = (
        made(kernel, landmarks=landmarks, layout=layout).fit_transform(answers)
        for made in (nf.FeatureMap, scale.FeatureMap)
    )
    settings = {"n_clusters": 3, "n_init": 2, "random_state": 0}
    one, many = nf.KernelKMeans(**settings).fit(here), scale.KernelKMeans(**settings).fit(there)
    assert many.labels_.to_array().tolist() == one.labels_.tolist() and many.n_iter_ == one.n_iter_


@pytest.mark.parametrize("strategy", ["matrix", "products"])
def test_every_strategy_is_possible_elsewhere(features, strategy, monkeypatch):
    here, there = features
    monkeypatch.setattr("nearfar.methods.principal_axes.choose_strategy", lambda factored: strategy)
    one, many = (nf.KernelPCA(2).fit(phi) for phi in (here, there))
    assert np.abs(many.embedding_.to_array() - one.embedding_).max() < 1e-9
    if strategy == "products":
        without_matrix(monkeypatch)
    one, many = (nf.KernelKMeans(3, n_init=1, random_state=0).fit(phi) for phi in (here, there))
    assert many.labels_.to_array().tolist() == one.labels_.tolist()


@pytest.mark.parametrize("width", [5, 60])
def test_given_starts_and_empty_clusters_are_treated_as_on_one_machine(width):
    """More rows than columns, and more columns than rows: two ways to iterate."""
    rng = np.random.default_rng(0)
    here = rng.normal(size=(40, width))
    here[::7] = 0  # uninformed
    there = in_blocks(here, chunks=(9, width))
    start = rng.integers(0, 3, 40)  # clusters 3 and 4 start empty
    one = nf.KernelKMeans(5, init=start).fit(here)
    many = scale.KernelKMeans(5, init=start).fit(there)
    assert many.labels_.to_array().tolist() == one.labels_.tolist() and many.n_iter_ == one.n_iter_
    assert (many.sizes_ > 0).all()
    with pytest.raises(InputError, match="init: expected 'k-means"):
        scale.KernelKMeans(5, init=start[:-1]).fit(there)


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize(("kernel", "landmarks"), [("k1", None), ("k1", LANDMARKS), ("score", LANDMARKS)])
def test_a_block_may_have_no_informed_row(kernel, landmarks):
    """Most of a long list of objects was never asked about; some columns are those of a single object."""
    answers = made_answers(m=200, landmarks=landmarks, silent=35)  # the last of two blocks, too
    layout = "sparse" if landmarks is None else "auto"
    here = nf.FeatureMap(kernel, landmarks=landmarks, layout=layout).fit_transform(answers)
    there = scale.FeatureMap(kernel, landmarks=landmarks, layout=layout).fit_transform(answers)
    assert there.backend.gather("rows", there.blocks[-1:])[0].sum() == 0
    one, many = nf.KernelPCA(2).fit(here), scale.KernelPCA(2).fit(there)
    assert np.abs(many.embedding_.to_array() - one.embedding_).max() < 1e-10
    for diagonal in ("shift", "keep"):
        settings = {"n_clusters": 3, "n_init": 2, "random_state": 0, "diagonal": diagonal}
        labels = scale.KernelKMeans(**settings).fit_predict(there)
        assert labels.to_array().tolist() == nf.KernelKMeans(**settings).fit_predict(here).tolist()
    assert scale.neighbours(there, 2).indices.to_array().tolist() == neighbours(here, 2).indices.tolist()


def in_blocks(rows, chunks):
    import dask.array as da

    return scale.from_dask(da.from_array(rows, chunks=chunks))


def test_dask_arrays_become_blocks_and_blocks_dask_arrays():
    import dask.array as da

    phi = np.random.default_rng(0).normal(size=(50, 6))
    lazy = da.from_array(phi, chunks=((20, 13, 17), (2, 4)))
    rows = scale.from_dask(lazy + 1)
    assert rows.shape == (50, 6) and rows.sizes == (20, 13, 17) and np.array_equal(rows.to_array(), phi + 1)
    assert np.array_equal(scale.to_dask(rows).compute(), phi + 1)
    labels = scale.to_dask(scale.KernelKMeans(2, random_state=0).fit_predict(rows))
    assert labels.shape == (50,) and set(labels.compute()) == {0, 1}
    assert scale.from_dask(da.ones((4, 2), chunks=2, dtype=int)).dtype == np.float64
    with pytest.raises(InputError, match=r"X: this is a dask array; give nearfar\.scale\.from_dask\(X\)"):
        scale.KernelPCA(2).fit(lazy)
    with pytest.raises(InputError, match=r"expected a two-dimensional dask array .* got ndarray"):
        scale.from_dask(phi)
    with pytest.raises(InputError, match="expected rows held by workers of Dask"):
        scale.to_dask(nf.blocks.RowBlocks.of(phi))


def test_methods_say_what_they_cannot_do():
    zeros = in_blocks(np.zeros((4, 3)), chunks=(2, 3))
    with pytest.raises(InputError, match="none of its 4 rows is informed"):
        scale.KernelPCA().fit(zeros)
    with pytest.raises(InputError, match=r"places none of the 4 objects"):
        scale.KernelKMeans().fit(zeros)
    with pytest.raises(InputError, match="k=10 neighbours are more than"):
        scale.neighbours(zeros)
    with pytest.raises(InputError, match=r"expected points=\.\.\. or phi=\.\.\., got none"):
        scale.triplet_accuracy([[0, 1, 2]])
    with pytest.raises(InputError, match="is about 3 objects, but there are 4 rows"):
        scale.triplet_accuracy([[0, 1, 2]], points=zeros)
    with pytest.raises(InputError, match="expected rows in blocks, got ndarray; for a matrix in memory use"):
        scale.triplet_accuracy([[0, 1, 2]], points=np.zeros((3, 2)))
    with pytest.raises(InputError, match="expected rows in blocks, got ndarray; for a matrix in memory use"):
        scale.gram(np.zeros((3, 2)), to="K.zarr")
    with pytest.raises(InputError, match="diagonal='drop' is not known"):
        scale.KernelKMeans(diagonal="drop").fit(zeros)
    for method in (scale.KernelPCA(1).fit, scale.KernelKMeans(2).fit, scale.neighbours):
        with pytest.raises(InputError, match="X: holds NaN or infinity"):
            method(in_blocks(np.diag([1.0, np.nan, 1.0, 1.0]), chunks=(2, 4)))
    fitted = scale.KernelPCA(1).fit(in_blocks(np.eye(4), chunks=(2, 4)))
    with pytest.raises(InputError, match="X has 3 features, but KernelPCA is expecting 4 features"):
        fitted.transform(zeros)
