"""The colours and the toy sets are what their descriptions say, and the truth they carry is the truth."""

import struct
import zlib
from collections import Counter

import numpy as np
import pytest

from nearfar import design, io, simulate
from nearfar.datasets import TOYS, make_colours, make_toy
from nearfar.datasets.colours import CSS, _swatch, hue_group, lab_from_hex
from nearfar.errors import FileError, InputError


@pytest.fixture(scope="module")
def colours():
    return make_colours()


def test_lab_has_the_textbook_values():
    """White, black and the primaries under D65, as published in tables of sRGB."""
    lab = lab_from_hex(["#ffffff", "#000000", "#ff0000", "#00ff00", "#0000ff"])
    known = [[100, 0, 0], [0, 0, 0], [53.24, 80.09, 67.20], [87.73, -86.18, 83.18], [32.30, 79.19, -107.86]]
    np.testing.assert_allclose(lab, known, atol=0.02)


def test_a_hundred_different_colours_of_all_hues(colours):
    assert len(CSS) == len(set(CSS.values())) == len(colours.triplets.objects) == 100
    sizes = Counter(colours.groups)
    assert set(sizes) == {"grey", "red", "orange", "yellow", "green", "cyan", "blue", "purple", "pink"}
    assert min(sizes.values()) >= 5
    assert hue_group(lab_from_hex(["#ffff00"])[0]) == "yellow"


def test_every_column_is_there(colours):
    answers, m = colours.triplets, len(colours.triplets)
    assert 9_000 <= m <= 12_000
    assert len(answers.participant.present) == 20
    assert len(set(answers.statement_ids.tolist())) == m
    assert (answers.seconds > 0).all()
    assert set(answers.near_side.tolist()) == {0, 1}
    for person in answers.participant.present:
        assert (np.diff(answers.answered_at[answers.participant.codes == person]) > 0).all()


def test_questions_repeat_within_and_between_people(colours):
    answers = colours.triplets
    asked = Counter(zip(answers.question_ids.tolist(), answers.participant.codes.tolist(), strict=True))
    people = Counter(question for question, _ in asked)
    assert sum(times == 2 for times in asked.values()) == 20 * 25
    assert sum(times == 3 for times in people.values()) == 400
    assert len(people) == 8_700


def test_the_same_seed_gives_the_same_answers(colours):
    again, other = make_colours(), make_colours(seed=1)
    np.testing.assert_array_equal(colours.triplets.array, again.triplets.array)
    np.testing.assert_array_equal(colours.triplets.seconds, again.triplets.seconds)
    assert (colours.triplets.array[:100] != other.triplets.array[:100]).any()


def test_careless_people_are_fast_biased_and_near_chance(colours):
    answers, truth = colours.triplets, colours.truth
    apart = np.linalg.norm(truth.points[:, None] - truth.points[None], axis=2)
    right = apart[answers.anchor, answers.near] < apart[answers.anchor, answers.far]
    for person in truth.participants:
        own = answers.participant == person
        careless = person in truth.careless
        assert (right[own].mean() < 0.65) == careless
        assert (np.median(answers.seconds[own]) < 0.8) == careless
        assert ((answers.near_side[own] == 0).mean() > 0.65) == careless


def test_the_probability_of_an_answer_is_calibrated(colours):
    """Among answers that the truth gives probability q, the other answer came up (1 - q) / q times as often."""
    answers, truth = colours.triplets, colours.truth
    ordered = answers.replace(
        near=np.minimum(answers.near, answers.far), far=np.maximum(answers.near, answers.far)
    )
    q = truth.probability(ordered)
    chosen = answers.near < answers.far
    for low in np.arange(0.1, 0.9, 0.1):
        inside = (q >= low) & (q < low + 0.1)
        error = chosen[inside].mean() - q[inside].mean()
        assert abs(error) < 4 * np.sqrt(0.25 / inside.sum())
    np.testing.assert_allclose(
        truth.probability(answers.replace(near=answers.far, far=answers.near)), 1 - truth.probability(answers)
    )


def test_the_ceiling_is_what_the_best_model_gets(colours):
    """The best model says what most people would; on fresh answers it gets E max(q, 1 - q)."""
    fresh = make_colours(seed=5)
    q = fresh.truth.probability(fresh.triplets)
    reached = np.where(q == 0.5, 0.5, q > 0.5).mean()
    ceiling = fresh.truth.ceiling(fresh.triplets)
    assert 0.8 < ceiling < 0.92
    assert abs(reached - ceiling) < 4 * np.sqrt(ceiling * (1 - ceiling) / len(q))


def score_map(answers):
    n = answers.n_objects
    s = np.zeros((n, n))
    for one, two, sign in ((answers.near, answers.anchor, 1), (answers.far, answers.anchor, -1)):
        np.add.at(s, (two, one), sign)
        np.add.at(s, (one, two), sign)
    phi = s / np.linalg.norm(s, axis=1, keepdims=True)
    left, values, _ = np.linalg.svd(phi - phi.mean(axis=0))
    return left[:, :2] * values[:2]


def test_a_map_shows_the_colour_circle(colours):
    """Angle in the map and hue go round together: mean resultant length of their difference."""
    lab = colours.truth.points
    vivid = np.hypot(lab[:, 1], lab[:, 2]) > 30
    hue = np.arctan2(lab[vivid, 2], lab[vivid, 1])
    angle = np.arctan2(*score_map(colours.triplets)[vivid].T)
    together = max(abs(np.exp(1j * (way * angle - hue)).mean()) for way in (1, -1))
    assert together > 0.85


def test_a_swatch_is_a_png_of_its_colour():
    data = _swatch("#ff8000", side=3)
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height, depth, kind = struct.unpack(">IIBB", data[16:26])
    assert (width, height, depth, kind) == (3, 3, 8, 2)
    length = struct.unpack(">I", data[33:37])[0]
    rows = zlib.decompress(data[41 : 41 + length])
    assert rows == (b"\0" + b"\xff\x80\x00" * 3) * 3


def test_written_colours_read_back_the_same(colours, tmp_path):
    folder = colours.write(tmp_path / "demo")
    listed = io.read_objects(folder / "objects.csv")
    assert listed.names == colours.triplets.objects and listed.groups == colours.groups
    assert all(image.read_bytes()[:4] == b"\x89PNG" for image in listed.images)
    back, answers = io.read_triplets(folder / "answers.csv", objects=listed), colours.triplets
    np.testing.assert_array_equal(back.array, answers.array)
    for column in ("seconds", "near_side", "answered_at"):
        np.testing.assert_allclose(getattr(back, column), getattr(answers, column), rtol=0, atol=1e-3)
    for column in ("participant", "statement"):
        read, given = (
            np.asarray(getattr(back, column)).tolist(),
            np.asarray(getattr(answers, column)).tolist(),
        )
        assert list(map(str, read)) == list(map(str, given))


def test_colours_cannot_be_written_into_a_file(colours, tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(FileError, match="cannot be made"):
        colours.write(tmp_path / "taken")


@pytest.mark.parametrize("name", TOYS)
def test_toys_have_distances_labels_and_points(name):
    toy = make_toy(name)
    assert toy.distances.shape == (400, 400) and toy.labels.shape == (400,)
    assert (toy.distances == toy.distances.T).all() and (toy.distances.diagonal() == 0).all()
    assert (np.diff(toy.labels) >= 0).all()
    if name == "blocks":
        assert toy.points is None
    else:
        np.testing.assert_allclose(toy.distances[3, 7], np.hypot(*(toy.points[3] - toy.points[7])))
    again = make_toy(name)
    np.testing.assert_array_equal(toy.distances, again.distances)
    assert (make_toy(name, seed=1).distances != toy.distances).any()


def test_the_graph_is_full_of_ties_and_keeps_its_blocks():
    toy = make_toy("blocks")
    assert np.isfinite(toy.distances).all()
    assert set(np.unique(toy.distances)) <= {0, 1, 2, 3, 4, 5}
    own = toy.labels[:, None] == toy.labels[None]
    assert toy.distances[own].mean() < toy.distances[~own].mean()
    result = simulate.answers(design.random_questions(400, 20_000), distances=toy.distances)
    assert result.ties > 6_000


@pytest.mark.parametrize("name", ["gaussians", "moons", "rings"])
def test_neighbours_in_a_toy_share_a_label(name):
    toy = make_toy(name)
    apart = toy.distances + np.diag(np.full(400, np.inf))
    assert (toy.labels[apart.argmin(axis=1)] == toy.labels).mean() > 0.95


@pytest.mark.parametrize("n", [4, 5, 9, 50])
@pytest.mark.parametrize("name", TOYS)
def test_toys_of_any_size(name, n):
    assert make_toy(name, n=n).distances.shape == (n, n)


def test_toy_errors():
    with pytest.raises(InputError, match="'spiral' is not a toy set; expected one of gaussians"):
        make_toy("spiral")
    with pytest.raises(InputError, match="at least 4 objects, got 3"):
        make_toy("moons", n=3)
