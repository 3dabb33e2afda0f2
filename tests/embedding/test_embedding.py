"""The five embeddings: what they find, what they say, how they keep scikit-learn's manners."""

import pickle
import tracemalloc

import numpy as np
import oracles_embedding as oracle
import pytest
from embedding_tools import answers_about, every
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils.estimator_checks import check_estimator

from nearfar import simulate
from nearfar._tools.progress import listen
from nearfar.design import landmark_questions
from nearfar.embedding import CKL, GNMDS, SOE, STE, TSTE
from nearfar.errors import InputError, NotConverged, UninformedWarning
from nearfar.evaluate.splits import kfold
from nearfar.triplets import Triplets


def distances(points):
    return np.linalg.norm(points[:, None] - points[None], axis=2)


# -------------------------------------------------------------------- what they find


@every
def test_recovers_points_from_clean_answers(method, truth, answers):
    points = method(2).fit_transform(answers)
    assert oracle.accuracy(points, answers_about(truth, 500, seed=1).array) > 0.93
    upper = np.triu_indices(25, 1)
    assert np.corrcoef(distances(points)[upper], distances(truth)[upper])[0, 1] > 0.96


@every
def test_loss_is_the_mean_over_answers(method, answers):
    model = method(3).fit(answers)
    total = oracle.total_loss(
        method.__name__.lower(), model._parameter(), model.embedding_, answers.array.tolist()
    )
    assert model.loss_ == pytest.approx(total / len(answers), rel=1e-9)


@every
def test_ends_where_no_small_step_improves(method, answers):
    model = method(2, tol=1e-10, max_iter=5000).fit(answers)
    rng = np.random.default_rng(0)
    nearby = [model.embedding_ * scale for scale in (0.98, 1.02)]
    nearby += [model.embedding_ + 0.02 * model.embedding_.std() * rng.normal(size=(25, 2)) for _ in range(5)]
    name, rows = method.__name__.lower(), answers.array.tolist()

    def objective(points):
        length, loss = model._scale()
        spread = model.regularization * 25 * np.sqrt(3 * len(answers) / 25) * loss
        spread *= np.log(1 + np.mean(np.sum(points**2, axis=1)) / length**2)
        return oracle.total_loss(name, model._parameter(), points, rows) + spread

    at = objective(model.embedding_)
    assert all(objective(points) > at for points in nearby)


@every
def test_order_of_answers_and_repeats_as_rows_do_not_matter(method, answers):
    shuffled = answers[np.random.default_rng(1).permutation(len(answers))]
    np.testing.assert_array_equal(method(2).fit_transform(answers), method(2).fit_transform(shuffled))


@every
def test_relabelling_objects_permutes_the_points(method, answers):
    order = np.random.default_rng(2).permutation(25)
    moved = Triplets(order[answers.anchor], order[answers.near], order[answers.far], answers.objects)
    settings = {"tol": 1e-12, "max_iter": 5000}
    one, other = method(2, **settings).fit_transform(answers), method(2, **settings).fit_transform(moved)
    np.testing.assert_allclose(distances(other[order]), distances(one), rtol=0.03, atol=0.03 * one.std())


@every
def test_position_is_canonical(method, answers):
    points = method(3).fit_transform(answers)
    np.testing.assert_allclose(points.mean(axis=0), 0.0, atol=1e-12)
    spread = points.T @ points
    np.testing.assert_allclose(spread, np.diag(np.diag(spread)), atol=1e-9 * spread.max())
    assert (np.diff(np.diag(spread)) <= 0).all()
    assert (points[np.abs(points).argmax(axis=0), range(3)] > 0).all()


@every
def test_regularization_pulls_points_together(method, truth):
    noisy = answers_about(truth, 400, flip=0.25)
    weak = method(2, regularization=0.01, max_iter=5000).fit_transform(noisy)
    strong = method(2, regularization=0.5, max_iter=5000).fit_transform(noisy)
    assert (strong**2).sum() < 0.8 * (weak**2).sum()


@every
def test_landmarks_are_not_placed_far_out(method):
    """Thirty objects that all others are asked about lie as wide apart as the others do; so they do in truth."""
    n, n_landmarks = 1000, 30
    points = np.random.default_rng(7).normal(size=(n, 2))
    questions = landmark_questions(n, range(n_landmarks), "k1", budget=60 * n, seed=7)
    placed = method(2).fit_transform(simulate.answers(questions, points=points, flip=0.1, seed=7).triplets)
    placed = placed - placed[n_landmarks:].mean(axis=0)
    squares = (placed**2).sum(axis=1)
    assert squares[:n_landmarks].mean() < 2 * squares[n_landmarks:].mean()


def test_regularization_helps_where_answers_are_few(shared_data):
    table = np.load(shared_data / "musicians" / "triplets.npz")
    rows = table["triplets"].astype(np.int32)
    rows = rows[(rows[:, 0] != rows[:, 1]) & (rows[:, 0] != rows[:, 2]) & (rows[:, 1] != rows[:, 2])]
    statement = rows[:, 0] * 1000 + rows[:, 1]
    held = np.isin(statement, np.random.default_rng(0).permutation(np.unique(statement))[:450])
    train, test = Triplets.from_array(rows[~held], n_objects=len(table["names"])), rows[held]

    def accuracy(**settings):
        with pytest.warns(UninformedWarning, match="have no answer"):
            return oracle.accuracy(STE(5, max_iter=3000, **settings).fit_transform(train), test)

    assert accuracy() > accuracy(regularization=0) + 0.02


def test_no_square_matrix_of_objects():
    rng = np.random.default_rng(0)
    n = 20_000  # n x n numbers would be 3.2 GB
    rows = np.stack([np.arange(n), (np.arange(n) + 1) % n, rng.integers(2, n - 2, n) + np.arange(n)], axis=1)
    answers = Triplets.from_array(rows % n, n_objects=n)
    tracemalloc.start()
    TSTE(2, max_iter=3, tol=1.0).fit(answers)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100e6


# -------------------------------------------------------------------- starts


def test_kernel_start_is_deterministic_and_takes_tens_of_iterations(answers):
    one, other = TSTE(2).fit(answers), TSTE(2).fit(answers)
    np.testing.assert_array_equal(one.embedding_, other.embedding_)
    assert one.n_iter_ < 60


def test_random_starts_follow_the_seed(answers):
    def fit(seed):
        return TSTE(2, init="random", random_state=seed).fit_transform(answers)

    np.testing.assert_array_equal(fit(3), fit(3))
    np.testing.assert_array_equal(fit(np.random.default_rng(3)), fit(3))
    assert np.abs(fit(3) - fit(4)).max() > 0


def test_the_best_random_start_wins(answers):
    rng = np.random.default_rng(0)
    settings = {"n_components": 1, "regularization": 0, "max_iter": 5000}  # on a line, most starts get stuck
    starts = [0.1 * SOE()._radius() * rng.normal(size=(25, 1)) for _ in range(4)]
    losses = [SOE(init=start, **settings).fit(answers).loss_ for start in starts]
    assert max(losses) > 1.05 * min(losses)
    best = SOE(init="random", n_init=4, random_state=0, **settings).fit(answers)
    assert best.loss_ == pytest.approx(min(losses))


def test_given_start_is_used(truth, answers):
    with pytest.warns(NotConverged, match=r"stopped after max_iter=1 iterations"):
        near = STE(2, init=truth, max_iter=1, tol=1e-12).fit(answers)
    upper = np.triu_indices(25, 1)
    assert np.corrcoef(distances(near.embedding_)[upper], distances(truth)[upper])[0, 1] > 0.97


# -------------------------------------------------------------------- words


def test_not_converged_names_figure_and_remedy(answers):
    with pytest.warns(NotConverged, match=r"last improvement of the loss was \d.*raise max_iter or tol"):
        model = GNMDS(2, max_iter=2, tol=1e-9).fit(answers)
    assert not model.converged_ and model.n_iter_ == 2


def test_uninformed_objects_lie_at_the_centre(truth):
    partly = answers_about(truth, 800, drawn=range(20))
    with pytest.warns(UninformedWarning, match=r"5 of 25 objects have no answer \(20, 21, 22 and 2 others\)"):
        model = STE(2).fit(partly)
    np.testing.assert_array_equal(model.uninformed_, [20, 21, 22, 23, 24])
    assert model.uninformed_objects_ == ["20", "21", "22", "23", "24"]
    np.testing.assert_array_equal(model.embedding_[20:], 0.0)
    np.testing.assert_allclose(model.embedding_[:20].mean(axis=0), 0.0, atol=1e-12)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (STE(0), r"n_components must be an integer >= 1, got 0"),
        (STE(2.5), r"n_components must be an integer >= 1, got 2.5"),
        (STE(tol=0), r"tol must be a finite number > 0, got 0"),
        (STE(regularization=-1), r"regularization must be a finite number >= 0, got -1"),
        (STE(init="pca"), r"init must be 'kernel', 'random' or points, got 'pca'"),
        (STE(init=np.zeros((3, 2))), r"init: got an array of shape \(3, 2\), expected .*\(25, 2\)"),
        (STE(n_init=0), r"n_init must be an integer >= 1, got 0"),
        (STE(max_iter=0), r"max_iter must be an integer >= 1, got 0"),
        (CKL(mu=-1), r"mu must be a finite number >= 0, got -1"),
        (CKL(mu=0), r"mu: with 0 the loss knows no scale.*set regularization=0 or mu=1"),
        (SOE(margin=0), r"margin must be a finite number > 0, got 0"),
        (TSTE(alpha=0), r"alpha must be a finite number > 0, got 0"),
    ],
)
def test_wrong_parameters_say_what_was_expected(model, message, answers):
    with pytest.raises(InputError, match=message):
        model.fit(answers)


def test_placing_needs_a_fit_first(answers):
    with pytest.raises(NotFittedError, match="STE instance is not fitted yet"):
        STE().transform(answers)


def test_no_answers_no_embedding():
    with pytest.raises(InputError, match="answers: got none"):
        STE().fit(Triplets.from_array([], n_objects=4))


def test_ckl_without_scale(answers, truth):
    points = CKL(2, mu=0, regularization=0).fit_transform(answers)
    assert oracle.accuracy(points, answers.array) > 0.9


def test_tste_degrees_of_freedom():
    assert [TSTE(d)._parameter() for d in (1, 2, 5)] == [1.0, 1.0, 4.0]
    assert TSTE(5, alpha=2.5)._parameter() == 2.5


# -------------------------------------------------------------------- judging


@every
def test_score_is_the_share_of_answers_predicted(method, truth, answers):
    model = method(2).fit(answers)
    new = answers_about(truth, 500, seed=1)
    assert model.score(new) == pytest.approx(oracle.accuracy(model.embedding_, new.array))
    assert model.score(new.array) == model.score(new)
    flipped = Triplets(new.anchor, new.far, new.near, new.objects)
    assert model.score(flipped) == pytest.approx(1 - model.score(new))


def test_score_counts_half_where_it_knows_nothing(truth):
    with pytest.warns(UninformedWarning, match="have no answer"):
        model = STE(2).fit(answers_about(truth, 800, drawn=range(24)))
    uninformed, unknown = [[24, 0, 1], [0, 24, 1], [0, 1, 24]], [[0, 1, 25]]
    assert model.score(uninformed) == 0.5
    assert model.score(unknown) == 0.5
    assert np.isnan(model.score(np.empty((0, 3), dtype=int)))


def test_score_matches_objects_by_name(truth):
    names = [f"o{i}" for i in range(25)]
    given = answers_about(truth, 1500, objects=names)
    model = STE(2).fit(given)
    other_order = Triplets(24 - given.anchor, 24 - given.near, 24 - given.far, names[::-1])
    assert model.score(other_order) == model.score(given) > 0.9


def test_scikit_learn_chooses_the_dimension_over_answers(truth, answers):
    folds = list(kfold(answers, 3))
    search = GridSearchCV(STE(), {"n_components": [1, 2]}, cv=folds).fit(answers)
    assert search.best_params_ == {"n_components": 2}
    by_hand = [STE(2).fit(answers[train]).score(answers[test]) for train, test in folds]
    np.testing.assert_allclose(cross_val_score(STE(2), answers, cv=folds), by_hand)


# -------------------------------------------------------------------- manners


@every
def test_parameters_clone_and_pickle(method, answers):
    model = method(3, regularization=0.3, random_state=1)
    again = clone(model)
    assert again.get_params() == model.get_params()
    assert again.set_params(n_components=1).n_components == 1
    model.fit(answers)
    thawed = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(thawed.embedding_, model.embedding_)
    np.testing.assert_array_equal(thawed.transform(answers), model.embedding_)


def test_progress_is_announced(answers):
    steps = []

    with listen(steps.append):
        model = SOE(2, max_iter=77).fit(answers)
    (step,) = set(steps)
    assert (step.name, step.total, step.done, step.over) == ("fitting SOE", 77, model.n_iter_, True)


# -------------------------------------------------------------------- scikit-learn's manners


def test_weights_count_as_repeats(answers):
    part = answers[:300]
    weights = np.arange(300) % 3
    again = Triplets.from_array(np.repeat(part.array, weights, axis=0), n_objects=part.n_objects)
    one, other = STE(2).fit(part, sample_weight=weights), STE(2).fit(again)
    np.testing.assert_allclose(one.embedding_, other.embedding_)
    assert one.loss_ == pytest.approx(other.loss_)
    for wrong in (np.ones(299), -np.ones(300), np.zeros(300), np.full(300, np.nan)):
        with pytest.raises(InputError, match="sample_weight"):
            STE(2).fit(part, sample_weight=wrong)


def test_further_starts_are_random_and_the_lowest_objective_wins(answers):
    settings = {"n_components": 1, "regularization": 0, "max_iter": 5000, "random_state": 0}
    one, many = SOE(**settings).fit(answers), SOE(n_init=5, **settings).fit(answers)
    drawn = SOE(init="random", n_init=4, **settings).fit(answers)
    assert many.loss_ == pytest.approx(min(one.loss_, drawn.loss_))


def test_predictions_and_names_of_columns(answers):
    model = STE(2).set_output(transform="pandas")
    assert list(model.fit_transform(answers).columns) == ["ste0", "ste1"]
    signs = model.predict(answers)
    assert set(signs.tolist()) <= {-1, 0, 1} and model.score(answers) == pytest.approx((1 + signs).mean() / 2)
    assert list(model.transform(answers).columns) == ["ste0", "ste1"]


@pytest.mark.filterwarnings("ignore:Can't test estimator")  # that is the exemption: X is answers, no matrix
def test_scikit_learn_finds_nothing_wrong_with_what_it_can_check():
    done = check_estimator(SOE(), on_fail=None)
    assert done and all(each["status"] == "passed" for each in done)


def test_answers_on_a_cluster_are_refused_in_one_sentence(answers):
    from nearfar.scale._answers import as_answers

    with pytest.raises(InputError, match="one machine"):
        SOE().fit(as_answers(answers))


@every
def test_every_parameter_is_described_in_the_class_itself(method):
    assert all(f"\n    {name} : " in method.__doc__ for name in method().get_params())
    with pytest.raises(TypeError, match="positional"):
        method(2, 1.0)
