"""Row blocks: in memory, in files, cut anywhere; nothing is copied, lost or left behind."""

import gc
import os
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles_methods import dense, informed, make_phi, shifted_kernel
from scipy import sparse

import nearfar as nf
from nearfar import scale
from nearfar.blocks import LOCAL, RowBlocks, Scratch, add_all, join
from nearfar.errors import FileError, UninformedWarning
from nearfar.kernel.factored import factor
from nearfar.methods import medoid, neighbours, outliers
from nearfar.methods._lloyd import Gram


def cut(phi, heights, backend=LOCAL):
    """The rows of a matrix in blocks of these heights."""
    edges = np.cumsum([0, *heights])
    blocks = [phi[a:b] for a, b in pairwise(edges)]
    return RowBlocks(
        backend, backend.store("rows", lambda block: block, blocks), heights, phi.shape[1], phi.dtype
    )


@st.composite
def cuts(draw, n):
    """Heights of blocks that add up to n; some may be 0."""
    places = sorted(draw(st.lists(st.integers(0, n), max_size=4)))
    return np.diff([0, *places, n]).tolist()


def test_a_matrix_in_memory_is_one_block_and_no_copy():
    phi = make_phi(20, 6)
    rows = RowBlocks.of(phi)
    assert rows.blocks[0] is phi and rows.to_array() is phi and rows.shape == (20, 6)
    assert factor(phi).shared.blocks[0] is phi


@settings(max_examples=40)
@given(
    data=st.data(),
    layout=st.sampled_from(["dense", "sparse"]),
    in_files=st.booleans(),
    seed=st.integers(0, 9),
)
def test_however_rows_are_cut_the_kernel_is_the_same(data, layout, in_files, seed, tmp_path_factory):
    phi = make_phi(14, 25, density=0.3, zeros=[0, 5], seed=seed, layout=layout)
    backend = Scratch(tmp_path_factory.mktemp("scratch")) if in_files else LOCAL
    rows = cut(phi, data.draw(cuts(14)), backend)
    factored, K = factor(rows), dense(phi)[informed(phi)] @ dense(phi)[informed(phi)].T
    assert (
        factored.rows.tolist() == informed(phi)
        and factored.uninformed.tolist() == factor(phi).uninformed.tolist()
    )
    assert factored.columns.tolist() == factor(phi).columns.tolist()
    vectors = np.random.default_rng(0).normal(size=(len(K), 2))
    np.testing.assert_allclose(factored.matrix(), K, atol=1e-12)
    np.testing.assert_allclose(factored.diagonal, K.diagonal(), atol=1e-12)
    np.testing.assert_allclose(factored.product(vectors), K @ vectors, atol=1e-12)
    np.testing.assert_allclose(factored.product(vectors[:, 0]), K @ vectors[:, 0], atol=1e-12)
    wanted = np.array([3, 0, 7])
    np.testing.assert_allclose(dense(factored.shared.take(wanted)), dense(factor(phi).shared.take(wanted)))
    assert nf.kernel.smallest_eigenvalue(factored) == pytest.approx(shifted_kernel(phi)[1], abs=1e-10)


@settings(max_examples=25)
@given(
    data=st.data(), layout=st.sampled_from(["dense", "sparse"]), shape=st.sampled_from([(30, 6), (16, 40)])
)
def test_however_rows_are_cut_the_methods_find_the_same(data, layout, shape):
    phi = make_phi(*shape, density=0.7, zeros=[1], seed=3, layout=layout)
    rows = cut(phi, data.draw(cuts(shape[0])))
    one, other = nf.KernelPCA(3).fit(phi), nf.KernelPCA(3).fit(rows)
    np.testing.assert_allclose(other.embedding_.to_array(), one.embedding_, atol=1e-9)
    np.testing.assert_allclose(other.transform(rows).to_array(), one.transform(phi), atol=1e-9)
    np.testing.assert_allclose(other.explained_variance_ratio_, one.explained_variance_ratio_, atol=1e-9)
    one, other = (nf.KernelKMeans(3, n_init=2, random_state=0).fit(given) for given in (phi, rows))
    assert other.labels_.to_array().tolist() == one.labels_.tolist() and other.n_iter_ == one.n_iter_
    assert other.inertia_ == pytest.approx(one.inertia_, abs=1e-10)
    assert other.predict(rows).to_array().tolist() == one.predict(phi).tolist()
    assert medoid(rows, other.labels_).indices.tolist() == medoid(phi, one.labels_).indices.tolist()
    assert neighbours(rows, 3).indices.to_array().tolist() == neighbours(phi, 3).indices.tolist()
    assert outliers(rows, 3).order.tolist() == outliers(phi, 3).order.tolist()
    assert np.array_equal(nf.linkage(rows), nf.linkage(phi))


# -------------------------------------------------------------------- files


def stored(backend, value):
    return backend.store("value", lambda given: given, [value])[0]


@pytest.mark.parametrize(
    "value",
    [
        np.arange(12.0).reshape(3, 4),
        np.asfortranarray(np.arange(12, dtype=np.float32).reshape(3, 4)),
        np.zeros((0, 5)),
        sparse.csr_array([[0, 1.5, 0], [2.5, 0, 0]]),
        sparse.csr_array((2, 3)),
    ],
)
def test_what_goes_into_a_file_comes_out_again(value, tmp_path):
    again = stored(Scratch(tmp_path), value).open()
    assert type(again) is type(value)
    assert again.dtype == value.dtype and again.shape == value.shape
    np.testing.assert_array_equal(dense(again), dense(value))


def test_rows_of_a_file_are_mapped_and_cannot_be_changed(tmp_path):
    handle = stored(Scratch(tmp_path), np.ones((100, 10)))
    rows = handle.open()
    assert not rows.flags.owndata and not rows.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        rows[0] = 0


def test_a_file_goes_when_nobody_needs_it_and_all_go_at_the_end(tmp_path):
    with scale.scratch(tmp_path) as backend:
        one, other = stored(backend, np.ones(9)), stored(backend, np.ones(9))
        assert len(os.listdir(backend.folder)) == 2
        del one
        gc.collect()
        assert os.listdir(backend.folder) == [os.path.basename(other.path)]
    assert os.listdir(tmp_path) == []
    with pytest.raises(
        FileError, match=r"the block is no longer there .*; use what is computed inside the with"
    ):
        other.open()


def test_a_scratch_folder_that_cannot_be_used_is_one_sentence(tmp_path):
    with pytest.raises(FileError, match=r"nowhere: cannot be used as a scratch folder \(No such file"):
        Scratch(tmp_path / "nowhere")
    backend = Scratch(tmp_path)
    os.rmdir(backend.folder)
    with pytest.raises(FileError, match=r"cannot write to the scratch folder \(No such file"):
        stored(backend, np.ones(3))


def test_scratch_folders_may_lie_inside_each_other(tmp_path):
    from nearfar.scale._engine import current_backend

    with scale.scratch(tmp_path) as outer:
        with scale.scratch(tmp_path) as inner:
            assert current_backend() is inner
        assert current_backend() is outer


# -------------------------------------------------------------------- sums


def test_sums_of_numbers_arrays_and_tuples():
    number, array = add_all([(1, np.array([1, 2])), (2, np.array([3, 4]))])
    assert number == 3 and array.tolist() == [4, 6] and add_all([1.5, 2]) == 3.5


def test_rows_are_taken_from_any_block_in_any_order():
    rows = cut(np.arange(20.0).reshape(10, 2), [3, 0, 4, 3])
    wanted = np.array([9, 0, 3, 3, 2])
    assert rows.take(wanted)[:, 0].tolist() == [18, 0, 6, 6, 4]
    assert rows.take(np.zeros(0, int)).shape == (0, 2)
    assert [len(piece) for piece in rows.cut(np.arange(10))] == [3, 0, 4, 3] and rows.starts == [0, 3, 3, 7]
    assert join([np.ones((1, 2)), np.ones((2, 2))]).shape == (3, 2)


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize(
    "rows", [slice(2, 9, 3), slice(None, None, -1), [9, 0, 0], -1, np.arange(10) % 4 == 1]
)
def test_rows_are_sliced_as_those_of_a_matrix(layout, rows, tmp_path):
    phi = make_phi(10, 6, density=0.5, layout=layout)
    blocks = cut(phi, [3, 0, 4, 3], Scratch(tmp_path))
    assert np.array_equal(dense(blocks[rows]), dense(phi[rows]))
    assert np.array_equal(dense(blocks.compute()), dense(phi))
    with pytest.raises(IndexError):
        blocks[10]


def test_functions_run_in_the_order_of_blocks_whatever_the_threads(monkeypatch):
    for threads in ("1", "3"):
        monkeypatch.setenv("NEARFAR_NUM_THREADS", threads)
        rows = cut(np.arange(10.0)[:, None], [2, 3, 1, 4])
        assert [block[0, 0] for block in rows.gather("rows", np.asarray)] == [0, 2, 5, 6]
        assert rows.sum("sum", np.sum) == 45


def test_clusters_of_float32_rows_are_the_same_however_they_are_cut(tmp_path):
    phi = np.random.default_rng(0).normal(size=(3000, 45)).astype(np.float32)
    rows = cut(phi, [700, 1, 1299, 1000], Scratch(tmp_path))
    one, other = (nf.KernelKMeans(7, random_state=0).fit(each) for each in (phi, rows))
    assert other.labels_.to_array().tolist() == one.labels_.tolist()
    assert other.inertia_ == pytest.approx(one.inertia_, rel=1e-12)
    wanted = np.array(
        [3, 500, 2999]
    )  # products that starts are drawn by: in float32 they would depend on the cut
    exact = phi.astype(np.float64) @ phi[wanted].astype(np.float64).T
    np.testing.assert_allclose(Gram(rows).columns(wanted), exact, rtol=1e-12, atol=1e-12)


def test_dense_rows_of_features_lie_row_by_row(tmp_path):
    """Column by column, k-means on disk took four times as long."""
    rng = np.random.default_rng(0)
    rows = np.array([[x, *rng.permutation(6)[:2]] for x in rng.integers(6, 400, 4000)])
    answers = nf.Triplets.from_array(rows, n_objects=400)
    features = scale.FeatureMap("k1", landmarks=range(6), layout="dense", dtype=np.float32)
    with scale.scratch(tmp_path):
        with pytest.warns(UninformedWarning, match="6 of 400 objects"):
            features.fit(answers)
        blocks = features.features_.gather("rows", lambda block: block.flags.c_contiguous)
    assert len(blocks) > 1 and all(blocks)
