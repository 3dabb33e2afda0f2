"""How sure locations and clusters are."""

import numpy as np
import pytest
from scipy.spatial import procrustes
from space_tools import answers_about

import nearfar as nf
from nearfar.embedding.choices import choices
from nearfar.errors import InputError
from nearfar.evaluate.map_stability import align, bootstrap_sample, circles, kept_labels
from nearfar.triplets import Triplets


def stability(answers, model="auto", n_clusters=5, n_resamples=50):
    models = None if model == "auto" else [model]
    return nf.analyse(answers, model, models=models, n_resamples=n_resamples).stability(n_clusters)


GROUPS = np.random.default_rng(0).normal(size=(24, 2)) * 0.3 + np.repeat([[0, 0], [4, 0], [0, 6]], 8, axis=0)


def test_alignment_equals_scipy():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(2, 10, 3))
    _, second, _ = procrustes(x, y)  # both centred, the first scaled to unit length
    size = np.linalg.norm(x - x.mean(axis=0))
    assert np.allclose((align(y, x) - x.mean(axis=0)) / size, second)


def test_alignment_leaves_out_who_is_unknown():
    points = np.random.default_rng(3).normal(size=(6, 2))
    part = points.copy()
    part[5] = np.nan
    aligned = align(part, points)
    assert np.allclose(aligned[:5], points[:5]) and np.isnan(aligned[5]).all()
    assert np.isnan(align(np.full((6, 2), np.nan), points)).all()


def test_clusters_are_matched_one_to_one():
    whole = np.array([0, 0, 0, 1, 1, 2])
    renamed, moved = np.array([2, 2, 2, 0, 0, 1]), np.array([1, 1, 0, 0, 0, 2])
    unknown = np.array([0, 0, 0, 1, 1, -1])
    assert kept_labels([renamed], whole).tolist() == [1] * 6
    assert kept_labels([renamed, moved], whole).tolist() == [1, 1, 0.5, 1, 1, 1]
    assert kept_labels([unknown, moved], whole).tolist() == [1, 1, 0.5, 1, 1, 1]
    assert np.isnan(kept_labels([unknown], whole)[5])


@pytest.mark.parametrize("model", ["score", "ste-2", "score-3"])
def test_clear_groups_are_kept_and_places_sure(model):
    sure = stability(answers_about(GROUPS, 6000, 0), model, n_clusters=3, n_resamples=8)
    assert (sure.kept == 1).all()
    assert len({tuple(sure.labels[k : k + 8]) for k in (0, 8, 16)}) == 3
    assert np.median(sure.spread) < 0.3
    assert sure.points.shape == (24, 3 if model.endswith("3") else 2)
    assert sure.positions.shape == (8, *sure.points.shape)


def test_noise_and_few_answers_make_unsure():
    whole = answers_about(GROUPS, 6000, 1)
    about = (whole.array == 0).any(axis=1)
    answers = whole[~about | (np.cumsum(about) <= 8)]
    sure = stability(answers, "score-2", n_clusters=None, n_resamples=20)
    assert sure.few.tolist() == [True] + [False] * 23 and np.isnan(
        sure.spread[0]
    )  # eight answers are too few
    assert "Too few answers to say where they are: 0" in str(sure)
    assert sure.labels is None and sure.kept is None
    assert "Least certain positions: " in str(sure) and "positions: 0 (" not in str(sure)
    guesses = stability(answers_about(GROUPS, 6000, 1, flip=0.5), "score-2", n_clusters=3, n_resamples=20)
    assert np.median(guesses.spread) > 0.6 and np.median(guesses.kept) < 0.9


def test_circles_grow_where_little_is_known():
    """Pulled to the middle, an object with few answers hardly moves from resample to resample: that is not certainty."""
    spread = np.full(6, 0.1)
    statements = np.array([300, 300, 300, 300, 60, 25])
    radii = circles(spread, statements, 1e6)
    assert radii[0] == pytest.approx(0.16, rel=1e-4) and radii[4] > 3 * radii[0] and radii[5] > 6 * radii[0]
    assert circles(spread, statements, 8.0)[0] > 1.15 * radii[0]  # eight people
    assert np.isnan(circles(spread, np.full(6, 19), 50.0)).all()
    assert circles(np.full(6, 3.0), statements, 50.0).max() == 2.0  # no more than the whole map


def test_circles_hold_the_places_that_many_more_answers_would_give():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(20, 2))
    inside = []
    for seed in range(4):
        answers = answers_about(points, 600, seed, flip=0.15)
        sure = stability(answers, "soe-2", n_clusters=None, n_resamples=15)
        more = answers_about(points, 20_000, 100 + seed, flip=0.15)
        truth = align(nf.fit(more, "soe-2").rows, sure.points)
        size = np.sqrt(np.mean(np.sum((sure.points - sure.points.mean(axis=0)) ** 2, axis=1)))
        inside.append(np.linalg.norm(truth - sure.points, axis=1) / size <= sure.circle)
    assert np.mean(inside) >= 0.85


def test_participants_are_drawn_where_known():
    answers = answers_about(GROUPS, 4000, 2, flip=0.2, people=10)
    by_person = stability(answers, n_clusters=3, n_resamples=5)
    assert by_person.resampled == "participant" and "5 bootstrap resamples of participants" in str(by_person)
    assert stability(answers.replace(participant=None), n_resamples=2).resampled == "statement"
    # the same people in every resample: one person stands for all
    alone = stability(answers.replace(participant=["me"] * 4000), n_resamples=2)
    assert alone.resampled == "statement"


def test_spread_is_the_definition():
    answers = answers_about(GROUPS, 1500, 4, flip=0.2)
    sure = stability(answers, "score", n_resamples=4)
    size = np.sqrt(np.mean(np.sum((sure.points - sure.points.mean(axis=0)) ** 2, axis=1)))
    gaps = [[np.sum((sure.positions[r, i] - sure.points[i]) ** 2) for r in range(4)] for i in range(24)]
    assert np.allclose(sure.spread, np.sqrt(np.mean(gaps, axis=1)) / size)


@pytest.mark.filterwarnings("ignore:1 of 25 objects have no")
def test_an_object_without_answers_has_no_place():
    answers = Triplets.from_array(answers_about(GROUPS, 2000, 5).array, n_objects=25)
    sure = stability(answers, n_clusters=3, n_resamples=3)
    assert np.isnan(sure.spread[24]) and np.isnan(sure.kept[24])
    assert sure.labels[24] == -1
    frame = sure.to_frame()
    assert (
        frame.columns == ["object", "x1", "x2", "spread", "circle", "few", "cluster", "kept"]
        and len(frame) == 25
    )
    assert sure.few.tolist() == [False] * 24 + [True] and 0 < sure.kept_by_chance < np.nanmedian(sure.kept)


def test_what_cannot_be_resampled_is_said():
    with pytest.raises(InputError, match="there are none, so there is nothing to resample"):
        stability(Triplets.from_array([], n_objects=3))
    with pytest.raises(InputError, match="n_clusters must be an integer >= 1, got 0"):
        stability([[0, 1, 2]], n_clusters=0)
    with pytest.raises(InputError, match="n_resamples must be an integer >= 1, got 0"):
        stability([[0, 1, 2]], n_resamples=0)


def test_who_is_drawn_twice_chose_among_three_twice():
    trios = [np.random.default_rng(k).permutation(9)[:3] for k in range(12)]
    answers = Triplets.from_odd_one_out(trios, n_objects=9, participant=np.arange(12) // 2)
    people = np.asarray(answers.participant.codes, dtype=np.int64)
    sample = bootstrap_sample(answers, people, np.random.default_rng(0))
    assert (
        len(set(np.bincount(sample.participant.codes).tolist())) > 2
    )  # somebody is drawn twice, somebody never
    assert np.diff(choices(sample).start).tolist() == [3] * 12
