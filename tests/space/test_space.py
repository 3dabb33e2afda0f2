"""A space: everything that follows from its rows, against the definitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster
from scipy.cluster.hierarchy import linkage as scipy_linkage
from scipy.spatial.distance import pdist, squareform
from sklearn.decomposition import PCA
from space_tools import PLANE, answers_about

import nearfar as nf
from nearfar import design
from nearfar._tools.limits import LIMITS
from nearfar.errors import InputError, TooLargeError
from nearfar.features import FeatureMap
from nearfar.space import Space, fit
from nearfar.triplets import Triplets

KINDS = ["score", "k1", "k1+k2", "score-3", "soe-2", "ckl-4"]


@pytest.fixture(scope="module")
def spaces():
    answers = answers_about(PLANE, 3000, 0, flip=0.1)
    return {name: fit(answers, name) for name in KINDS}


def scaled(points):
    centred = points - points.mean(axis=0)
    return centred / np.sqrt(np.mean(np.sum(centred**2, axis=1)))


def rows_of(space):
    rows = space.rows if isinstance(space.rows, np.ndarray) else space.rows.toarray()
    return rows if space.kind == "kernel" else scaled(rows)


@pytest.mark.parametrize("name", KINDS)
def test_kernel_and_distances_are_the_definition(spaces, name):
    space = spaces[name]
    rows = rows_of(space)
    assert np.allclose(space.kernel("keep"), rows @ rows.T, atol=1e-10)
    wanted = nf.kernel.shifted_kernel(rows).matrix if space.kind == "kernel" else rows @ rows.T
    assert np.allclose(space.kernel(), wanted, atol=1e-8)
    squares = squareform(pdist(rows, "sqeuclidean")) - 2 * space.shift * (1 - np.eye(len(rows)))
    assert np.allclose(space.distances() ** 2, np.maximum(squares, 0), atol=1e-7)
    assert space.shift == 0 or space.kind == "kernel"


@pytest.mark.parametrize("name", KINDS)
def test_neighbours_are_the_nearest_by_distance(spaces, name):
    space = spaces[name]
    squares = squareform(pdist(rows_of(space), "sqeuclidean"))
    near = space.nearest(4)
    for x in range(len(space)):
        others = np.delete(np.arange(len(space)), x)
        order = others[np.argsort(squares[x, others], kind="stable")][:4]
        assert np.allclose(squares[x, near.indices[x]], squares[x, order])
        assert np.allclose(near.similarities[x], 1 - squares[x, near.indices[x]] / 2)
    one = space.neighbours(space.objects[3], 4)
    assert one.names == tuple(space.objects[y] for y in near.indices[3])
    assert np.allclose(one.similarities, near.similarities[3])
    scores = space.outliers(4).scores
    assert np.allclose(scores, 1 - near.similarities.mean(axis=1))


@pytest.mark.parametrize("name", ["score-3", "soe-2", "ckl-4"])
def test_trees_and_clusters_of_points_are_those_of_the_points(spaces, name):
    space = spaces[name]
    points = scaled(space.rows)
    wanted = scipy_linkage(points, "complete")
    tree = space.tree()
    assert np.allclose(np.asarray(tree)[:, 2], wanted[:, 2])
    ours, theirs = nf.methods.cut(tree, 4), fcluster(wanted, 4, "maxclust")
    assert np.array_equal(ours[:, None] == ours, theirs[:, None] == theirs)
    clusters = space.clusters(3, seed=0)
    inertia = sum(
        np.sum((points[clusters.labels == c] - points[clusters.labels == c].mean(axis=0)) ** 2)
        for c in range(3)
    )
    assert clusters.inertia == pytest.approx(inertia)
    for c, x in enumerate(clusters.medoids):
        members = np.flatnonzero(clusters.labels == c)
        sums = [np.sum((points[y] - points[members]) ** 2) for y in members]
        assert members[int(np.argmin(sums))] == x
    assert clusters.sizes.sum() == 25


@pytest.mark.parametrize("name", ["score", "soe-2"])
def test_each_thing_is_computed_once_and_a_changed_tree_does_no_harm(spaces, name):
    space = spaces[name]
    assert space.nearest(3) is space.nearest(3) and space.pca(3) is space.pca(3)
    first = space.tree("single")
    first[:, 2] = 0
    assert (space.tree("single")[:, 2] > 0).any() and isinstance(space.tree(), nf.methods.Tree)
    assert space.tree("single")[-1, 2] < space.tree("complete")[-1, 2]


def test_a_map_of_points_is_their_pca(spaces):
    space = spaces["ckl-4"]
    assert np.array_equal(space.map(4), space.rows)
    wanted = PCA(2).fit_transform(scaled(space.rows))
    assert np.allclose(np.abs(space.map(2)), np.abs(wanted), atol=1e-8)
    flat = spaces["score"].map(2)
    assert np.allclose(flat, nf.KernelPCA(2).fit_transform(spaces["score"].rows))


@settings(max_examples=30)
@given(st.integers(0, 10_000))
def test_scale_and_position_of_points_mean_nothing(seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(9, 3))
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    moved = 7.0 * points @ turn + rng.normal(size=3)
    one, two = Space.of_points(points), Space.of_points(moved)
    assert np.allclose(one.kernel(), two.kernel(), atol=1e-9)
    assert np.allclose(one.tree()[:, 2], two.tree()[:, 2], atol=1e-9)
    assert np.array_equal(one.nearest(3).indices, two.nearest(3).indices)
    assert np.trace(one.kernel()) == pytest.approx(9)


def test_an_informed_point_at_the_centre_is_not_mistaken_for_an_uninformed_one():
    line = Space.of_points([[-1.0], [0.0], [1.0]])
    assert len(line.uninformed) == 0
    assert line.clusters(3, seed=0).sizes.tolist() == [1, 1, 1]
    assert len(line.tree()) == 2 and line.medoids().indices.tolist() == [1]
    assert line.nearest(1).indices[1, 0] in (0, 2)


def test_uninformed_objects_stand_apart():
    answers = Triplets.from_array([[0, 1, 2], [1, 0, 2], [2, 1, 0], [3, 2, 0]], n_objects=5)
    for name in ("score", "score-1", "ste-1"):
        with pytest.warns(nf.errors.UninformedWarning, match="1 of 5 objects"):
            space = fit(answers, name)
        assert space.uninformed.tolist() == [4] and space.uninformed_objects == ("4",)
        assert not space.kernel()[4].any() and np.isnan(space.distances()[4, :4]).all()
        near = space.nearest(2)
        assert (near.indices[4] == -1).all() and 4 not in near.indices[:4]
        assert 4 not in space.clusters(2, seed=0).medoids
        assert int(space.tree()[-1, 1]) == 4  # joined last, above the root
        with pytest.raises(InputError, match="'4' is uninformed"):
            space.neighbours("4")


def test_predictions_by_name_index_and_triplets():
    line = Space.of_points([[0.0], [1.0], [3.0], [6.0]], ("a", "b", "c", "d"))
    by_name, by_index = line.predict([["a", "c", "b"], ["d", "c", "a"]]), line.predict([[0, 2, 1], [3, 2, 0]])
    other_order = Triplets([0, 2], [2, 0], [1, 1], objects=("d", "a", "c"))  # (d, c, a), (c, d, a)
    assert by_name.triplets.array.tolist() == by_index.triplets.array.tolist() == [[0, 1, 2], [3, 2, 0]]
    assert by_name.margin.tolist() == [-8.0, 27.0]
    matched = line.predict(other_order)
    assert matched.questions.array.tolist() == [[3, 2, 0], [2, 3, 0]]
    assert matched.ties.tolist() == [False, True]
    assert matched.to_frame()["nearer"].to_list() == ["c", None]
    assert len(matched.triplets) == 1
    questions = design.random_questions(["a", "b", "c", "d"], 6)
    assert line.predict(questions).questions.array.tolist() == questions.array.tolist()


def test_what_is_wrong_is_said():
    line = Space.of_points(np.zeros((3, 1)))
    with pytest.raises(InputError, match="'x' is not among the 3 objects of this space"):
        line.predict([["0", "1", "x"]])
    with pytest.raises(InputError, match="got 3 rows for 2 objects"):
        Space.of_points(np.zeros((3, 1)), ("a", "b"))
    with pytest.raises(InputError, match="index 3 is outside"):
        line.predict([[0, 1, 3]])
    with pytest.raises(InputError, match=r"expected one row per object, got shape \(3,\)"):
        Space.of_points(np.zeros(3))
    fruit = Space.of_points(np.eye(3), ("apple", "pear", "car"))
    with pytest.raises(InputError, match=r"'aple' is not among the 3 objects; did you mean 'apple'\?"):
        fruit.neighbours("aple")
    with pytest.raises(InputError, match=r"'zzz' is not among the 3 objects$"):
        fruit.neighbours("zzz")
    with pytest.raises(InputError, match="points cannot place new objects, it has no transform"):
        fruit.extend([[0, 1, 2]])


def test_a_matrix_that_does_not_fit_is_refused_before_it_is_made(monkeypatch):
    monkeypatch.setattr(LIMITS, "memory_bytes", 1 << 20)
    for space in (Space.of_points(np.eye(1000)), Space(np.eye(1000), kind="kernel")):
        with pytest.raises(TooLargeError, match="the kernel matrix of 1,000 objects needs"):
            space.kernel()


@pytest.mark.parametrize("name", ["score", "score-3", "soe-2"])
def test_new_objects_are_placed_without_fitting_again(name):
    answers = answers_about(PLANE, 6000, 0)
    new = (answers.array == 24).any(axis=1)
    names = tuple(f"o{x}" for x in range(25))
    old = Triplets.from_array(answers.array[~new], names[:24])
    space = fit(old, name)
    more = space.extend(Triplets.from_array(answers.array[new], names))
    assert more.objects == names and np.array_equal(more.informed, np.ones(25, dtype=bool))
    before = space.rows if isinstance(space.rows, np.ndarray) else space.rows.toarray()
    after = more.rows if isinstance(more.rows, np.ndarray) else more.rows.toarray()
    assert np.array_equal(before, after[:24])
    truth = np.argsort(np.linalg.norm(PLANE[:24] - PLANE[24], axis=1))[:6]
    assert set(more.neighbours("o24", 3).names) & {names[x] for x in truth}


def test_a_subset_keeps_its_rows(spaces):
    part = spaces["score"].take([3, 1, 2])
    assert part.objects == ("3", "1", "2") and len(part) == 3
    assert np.allclose(part.kernel("keep"), spaces["score"].kernel("keep")[np.ix_([3, 1, 2], [3, 1, 2])])
    assert spaces["score"].take(np.arange(25)) is spaces["score"]


def test_features_of_ones_own_make_a_space():
    answers = answers_about(PLANE, 2000, 1)
    phi = FeatureMap("k1").fit_transform(answers)
    assert np.array_equal(Space(phi, kind="kernel").nearest(3).indices, fit(answers, "k1").nearest(3).indices)


@pytest.mark.parametrize("name", ["score", "soe-2"])
def test_answers_are_judged_by_name(name):
    names = tuple(f"o{x}" for x in range(25))
    train = Triplets.from_array(answers_about(PLANE, 3000, 0).array, names)
    test = Triplets.from_array(answers_about(PLANE, 500, 1).array, names)
    space = fit(train, name)
    order = np.random.default_rng(0).permutation(25)
    index = np.argsort(order)
    other = Triplets(index[test.anchor], index[test.near], index[test.far], [names[x] for x in order])
    without = test[~(test.array == 0).any(axis=1)]
    fewer = Triplets(without.anchor - 1, without.near - 1, without.far - 1, names[1:])
    assert space.score(test) > 0.8
    assert np.array_equal(space.credits(other), space.credits(test))
    assert np.array_equal(space.credits(fewer), space.credits(without))
    assert np.isnan(space.score(test[:0]))
    with pytest.raises(InputError, match="'new' is not among"):
        space.score(Triplets([0], [1], [2], ("new", "o1", "o2")))


def test_frames_carry_names():
    line = Space.of_points([[0.0], [1.0], [8.0]], ("fig", "plum", "car"))
    frame = line.clusters(2).to_frame()
    assert frame["object"].to_list() == ["fig", "plum", "car"] and frame["cluster"].to_list() == [0, 0, 1]
    assert frame["is_medoid"].sum() == 2
    assert line.medoids([0, 0, 1]).indices.tolist() == [0, 2] and line.outliers(1).order[0] == 2
    assert line.to_frame(2).columns == ["object", "informed", "x1", "x2"]
    assert "plum" in Space.of_points([[0.0], [1.0]], ("<b>", "plum"))._repr_html_()
