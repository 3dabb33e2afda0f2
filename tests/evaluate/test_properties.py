"""What explains a space: properties that it predicts, and correlations of its distances."""

import numpy as np
import pytest
from scipy.stats import spearmanr

import nearfar as nf
from nearfar.errors import InputError
from nearfar.evaluate import explain, rsa
from nearfar.evaluate.properties import _r2, _spearman, _votes, arrow
from nearfar.space.space import Space


@pytest.fixture(scope="module")
def points():
    return np.random.default_rng(0).normal(size=(40, 3)) * [2.0, 1.0, 0.5]


def by_name(explained):
    return {each.name: each for each in explained.properties}


def test_a_coordinate_is_predicted_and_noise_is_not(points):
    rng = np.random.default_rng(1)
    table = {
        "x": points[:, 0] + 0.3 * rng.normal(size=40),
        "noise": rng.normal(size=40),
        "side": np.where(points[:, 0] > 0, "right", "left"),
        "coin": rng.choice(["heads", "tails"], size=40),
    }
    found = by_name(explain(Space.of_points(points), table, n_permutations=199))
    assert {name: each.p <= 0.05 for name, each in found.items()} == {
        "x": True,
        "noise": False,
        "side": True,
        "coin": False,
    }
    assert found["x"].value > 0.9
    assert found["noise"].value < 0.1
    assert found["side"].value > 0.8
    assert found["side"].arrow is None
    # the map of three dimensions is a PCA of them: x increases along it, and nearly all of it is seen there
    assert np.linalg.norm(found["x"].arrow) > 0.95


def test_r2_is_that_of_scikit_learn(points):
    """Each fold's ridge, with the penalty that generalised cross-validation chooses."""
    from sklearn.linear_model import Ridge

    from nearfar.evaluate.properties import PENALTIES

    rng = np.random.default_rng(2)
    y, folds = points @ [1.0, -1.0, 2.0] + 2 * rng.normal(size=40), np.arange(40) % 10
    predicted = np.empty(40)
    for fold in range(10):
        x, train = points[folds != fold], folds != fold
        off = x - x.mean(axis=0)
        unit = np.mean(np.linalg.svd(off, compute_uv=False) ** 2)
        best = []
        for penalty in PENALTIES * unit:
            ridge = Ridge(alpha=penalty).fit(x, y[train])
            hat = off @ np.linalg.solve(off.T @ off + penalty * np.eye(3), off.T)
            error = np.sum((y[train] - ridge.predict(x)) ** 2) / (1 - (1 + np.trace(hat)) / train.sum()) ** 2
            best.append((error, penalty))
        ridge = Ridge(alpha=min(best)[1]).fit(x, y[train])
        predicted[~train] = ridge.predict(points[~train])
    expected = 1 - np.sum((y - predicted) ** 2) / np.sum((y - y.mean()) ** 2)
    np.testing.assert_allclose(_r2(points, y[:, None], folds), expected, rtol=1e-8)


def test_votes_are_those_of_the_nearest_neighbours(points):
    """A loop over objects; at a tie the category of the nearest one that has most votes."""
    labels = np.random.default_rng(3).choice(list("abc"), size=40)
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    right = 0
    for x in range(40):
        near = [y for y in np.argsort(apart[x]) if y != x][:5]
        votes = [list(labels[near]).count(labels[y]) for y in near]
        right += labels[near[int(np.argmax(votes))]] == labels[x]
    assert _votes(apart, labels[None])[0] == right / 40


def test_p_is_corrected_for_the_number_of_properties(points):
    """The same weak property beside twenty of noise is less sure than alone, and its p is never below that alone."""
    rng = np.random.default_rng(4)
    weak = 0.25 * points[:, 0] + rng.normal(size=40)
    alone = explain(Space.of_points(points), {"weak": weak}, n_permutations=499).properties[0]
    noise = {f"noise{k}": rng.normal(size=40) for k in range(20)}
    beside = by_name(explain(Space.of_points(points), {"weak": weak, **noise}, n_permutations=499))["weak"]
    assert alone.p < beside.p
    assert alone.value == beside.value


def test_false_positives_are_as_rare_as_stated(points):
    """100 tables of three random properties: at 5 %, eleven or more false alarms have a chance of about 1 in 100."""
    space, rng = Space.of_points(points), np.random.default_rng(5)
    alarms = 0
    for _ in range(100):
        table = {
            "number": rng.normal(size=40),
            "even": rng.choice(list("ab"), 40),
            "rare": rng.choice(list("ab"), 40, p=[0.9, 0.1]),
        }
        found = explain(space, table, n_permutations=99).properties
        alarms += min(each.p for each in found) <= 0.05
    assert alarms <= 11


def test_an_arrow_turns_with_the_map(points):
    flat, values = points[:, :2], points @ [1.0, 0.5, 0.2]
    turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    np.testing.assert_allclose(arrow(flat @ turn.T, values), turn @ arrow(flat, values), atol=1e-12)
    gaps = np.where(np.arange(40) < 3, np.nan, values)
    np.testing.assert_allclose(arrow(flat, gaps), arrow(flat[3:], values[3:]))
    np.testing.assert_allclose(np.linalg.norm(arrow(flat, flat @ [3.0, 4.0])), 1.0)


@pytest.mark.parametrize("kind", ["polars", "pandas", "dict"])
def test_rows_are_matched_by_name(points, kind):
    names = [f"o{x:02d}" for x in range(40)]
    space, order = Space.of_points(points, names), np.random.default_rng(6).permutation(40)
    columns = {"object": [names[x] for x in order] + ["stranger"], "x": [*points[order, 0], 99.0]}
    table = columns if kind == "dict" else pytest.importorskip(kind).DataFrame(columns)
    straight = explain(space, {"x": points[:, 0]}, n_permutations=19)
    assert explain(space, table, n_permutations=19) == straight


def test_properties_that_nothing_can_be_said_about(points):
    table = {
        "few": [1.0] * 5 + [None] * 35,
        "same": ["a"] * 40,
        "unique": [f"id{x}" for x in range(40)],
        "gaps": [None, *points[1:, 0]],
    }
    found = explain(Space.of_points(points), table, n_permutations=19)
    assert set(found.left_out) == {"few", "same", "unique"}
    assert by_name(found)["gaps"].n_objects == 39


def test_a_table_of_other_objects(points):
    space = Space.of_points(points, [f"o{x}" for x in range(40)])
    with pytest.raises(InputError, match="'object'"):
        explain(space, {"object": ["a", "b"], "x": [1.0, 2.0]})
    with pytest.raises(InputError, match="value per object"):
        explain(space, {"x": [1.0, 2.0]})
    for wrong in (None, {"x": np.zeros((40, 2))}, {"object": ["o1"] * 40, "x": np.arange(40)}):
        with pytest.raises(InputError, match="value per object"):
            explain(space, wrong)


def test_a_table_in_a_file(points, tmp_path):
    path = tmp_path / "objects.csv"
    path.write_text("object,x\n" + "".join(f"{x},{point}\n" for x, point in enumerate(points[:, 0])))
    assert by_name(explain(Space.of_points(points), path, n_permutations=19))["x"].value > 0.9


def test_kernels_and_uninformed_objects():
    answers = nf.simulate.answers(
        nf.design.random_questions(20, 1500, seed=0), points=np.arange(20.0)[:, None], seed=0
    ).triplets
    wider = nf.Triplets.from_array(answers.array, [*map(str, range(21))])
    with pytest.warns(nf.errors.UninformedWarning, match="20"):  # nobody was asked about the last one
        space = nf.fit(wider, "score")
    found = explain(space, {"x": np.arange(21.0)}, n_permutations=99).properties[0]
    assert (found.n_objects, found.value > 0.8, found.p) == (20, True, 0.01)


def test_without_a_usable_property_none_is_counted(points):
    found = explain(Space.of_points(points), {"same": [1.0] * 40}, n_permutations=19)
    assert str(found) == "same is left out: all values are the same."


# ---------------------------------------------------------------- distances


def test_the_correlation_is_scipys_with_repeated_objects(points):
    rng = np.random.default_rng(7)
    other = points + rng.normal(size=points.shape)
    one, two = (np.linalg.norm(each[:, None] - each[None], axis=2) for each in (points, other))
    upper = np.triu_indices(40, 1)
    expected = spearmanr(one[upper], two[upper]).statistic
    np.testing.assert_allclose(_spearman(one, two), expected)
    assert rsa(Space.of_points(points), two).value == pytest.approx(expected)
    assert rsa(Space.of_points(points), other, metric="euclidean").value == pytest.approx(expected)
    drawn = rng.integers(40, size=40)
    weights = np.bincount(drawn, minlength=40)[:, None]
    ranks = [np.zeros((40, 40)) for _ in range(2)]
    for rank, each in zip(ranks, (one, two), strict=True):
        rank[upper] = np.argsort(np.argsort(each[upper]))
        rank += rank.T
    pairs = [(a, b) for i, a in enumerate(drawn) for b in drawn[:i] if a != b]
    values = np.array([[rank[a, b] for a, b in pairs] for rank in ranks])
    np.testing.assert_allclose(_spearman(one, two, weights), np.corrcoef(values)[0, 1])


def test_distances_are_matched_by_name(points):
    names = [f"o{x:02d}" for x in range(40)]
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    order = np.random.default_rng(8).permutation(40)[:30]
    shuffled = rsa(
        Space.of_points(points, names), apart[np.ix_(order, order)], names=[names[x] for x in order]
    )
    assert shuffled.value == pytest.approx(1.0)
    assert np.isnan([shuffled.low, shuffled.high]).all()


def test_an_analysis_gives_an_interval():
    rng = np.random.default_rng(9)
    points = rng.normal(size=(25, 2))
    asked = nf.design.random_questions(25, 1200, seed=0)
    plain = nf.simulate.answers(asked, points=points, flip=0.1, seed=0).triplets
    answers = nf.Triplets.from_array(plain.array, participant=[f"p{k % 20}" for k in range(1200)])
    analysis = nf.analyse(answers, "soe-2", models=["soe-2"], n_resamples=6)
    same, noise = (
        rsa(analysis, each, metric="euclidean")
        for each in (points + 0.5 * rng.normal(size=(25, 2)), rng.normal(size=(25, 2)))
    )
    assert 0 < same.low < same.value < same.high < 1
    assert noise.low < 0 < noise.high
    assert rsa(analysis, points, metric="euclidean") == rsa(analysis, points, metric="euclidean")
    found = analysis.explain({"x": points[:, 0]})
    assert found.properties[0].p == 0.001
    assert "x" in str(found)
    assert found.to_dict()["properties"][0]["arrow"] == list(found.properties[0].arrow)


def test_landmarks_give_no_interval():
    asked = nf.design.landmark_questions([f"o{x}" for x in range(20)], [0, 1, 2, 3], budget=100, seed=0)
    points = np.random.default_rng(0).normal(size=(20, 2))
    answers = nf.simulate.answers(asked, points=points, seed=0).triplets
    found = rsa(nf.analyse(answers, "soe-2", models=["soe-2"]), points, metric="euclidean")
    assert np.isfinite(found.value)
    assert np.isnan([found.low, found.high]).all()


@pytest.mark.parametrize(
    ("distances", "word"),
    [
        (np.zeros((40, 3)), "metric"),
        (np.arange(1600.0).reshape(40, 40), "symmetric"),
        (np.zeros((5, 5)), "rows"),
        ("distances.csv", "distances: "),
    ],
)
def test_distances_that_are_none(points, distances, word):
    with pytest.raises(InputError, match=word):
        rsa(Space.of_points(points), distances)
    with pytest.raises(InputError, match="distances: "):
        rsa(Space.of_points(points), points, metric="none")
    with pytest.raises(InputError, match="each once"):
        rsa(Space.of_points(points), np.zeros((40, 40)), names=["0"] * 20 + [str(x) for x in range(20)])
