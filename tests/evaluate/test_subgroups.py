"""How alike people see things: agreement by a naive loop; groups where there are some, and one where there is one."""

import numpy as np
import pytest
from groups_tools import study
from scipy.sparse import csr_array

from nearfar import design
from nearfar.errors import InputError
from nearfar.evaluate.ceiling import person_agreement
from nearfar.evaluate.subgroups import cluster_people, find_subgroups
from nearfar.triplets import Triplets


@pytest.fixture(scope="module")
def places():
    rng = np.random.default_rng(2)
    points = rng.normal(size=(14, 2))
    return points, rng.permutation(points), rng.permutation(points)


def test_two_views_are_found_and_people_sorted(places):
    found = find_subgroups(study([places[0]] * 8 + [places[1]] * 8, 120))
    assert found.count == 2 and found.gains[0].low > 0
    assert len(set(found.group[:8])) == len(set(found.group[8:])) == 1 and found.group[0] != found.group[8]
    assert str(found).startswith("2 subgroups of 8 and 8 participants")


def test_three_views(places):
    found = find_subgroups(study([p for p in places for _ in range(7)], 150))
    assert found.count == 3
    assert [len(set(found.group[i : i + 7])) for i in (0, 7, 14)] == [1, 1, 1]


def test_of_very_many_answers_some_are_drawn_and_everybody_is_sorted(places):
    answers = study([places[0]] * 15 + [places[1]] * 15, 240)
    found = find_subgroups(answers, most=2, max_answers=3000)
    assert (found.answers_used, found.answers_given, found.people_used) == (3000, 7200, 15)
    assert found.count == 2 and np.bincount(found.group).tolist() == [15, 15]
    assert len(set(found.group[:15])) == 1
    assert "3,000 of 7,200 answers" in str(found) and "15 of 30 participants" in str(found)


def test_nobody_in_particular_is_not_a_person(places):
    known = study([places[0]] * 12, 40)
    unknown = study([places[0]] * 3, 40, seed=5).replace(participant=[""] * 120)
    assert len(find_subgroups(Triplets.concatenate([known, unknown]), most=2).people) == 12


@pytest.mark.parametrize("max_answers", [20_000, 1_500])
def test_other_names_of_the_same_people_change_nothing(places, max_answers):
    answers = study([places[0]] * 8 + [places[1]] * 8, 120)
    person, first = np.unique(np.asarray(answers.participant), return_inverse=True)
    counted = np.arange(len(answers)) % 120  # every participant counts statements from 1
    one = answers.replace(participant=person[first], statement=counted)
    other = one.replace(
        participant=np.array([f"p{7 * i % 16:02d}" for i in range(16)])[first], statement=counted
    )
    found, again = (
        find_subgroups(one, max_answers=max_answers),
        find_subgroups(other, max_answers=max_answers),
    )
    assert found.gains == again.gains and found.accuracy == again.accuracy
    of_name = dict(zip(again.people, again.group.tolist(), strict=True))
    assert [of_name[f"p{7 * i % 16:02d}"] for i in range(16)] == found.group.tolist()


@pytest.mark.parametrize("noise", [0.25, 50.0])
def test_one_view_or_noise_is_one(places, noise):
    found = find_subgroups(study([places[0]] * 14, 100, noise=noise))
    assert found.count == 1 and set(found.group.tolist()) == {0}
    assert str(found).startswith("No subgroups")


@pytest.mark.filterwarnings("ignore::nearfar.errors.UninformedWarning")
def test_too_few_people_say_nothing(places):
    assert find_subgroups(study([places[0]] * 9, 100)) is None
    assert find_subgroups(study([places[0]] * 12, 9)) is None


def test_groups_of_people_do_not_depend_on_how_much_they_said():
    rng = np.random.default_rng(0)
    centre = np.repeat([[3.0, 0.0], [-3.0, 0.0]], 6, axis=0) + rng.normal(size=(12, 2))
    counts = np.array([1, 100] * 6)
    group = cluster_people(csr_array(centre * np.sqrt(counts)[:, None]), counts, 2)
    assert len(set(group[:6])) == len(set(group[6:])) == 1 and group[0] != group[6]


def test_person_agreement_is_that_of_a_loop():
    rng = np.random.default_rng(1)
    pool = design.random_questions(8, 40).array
    rows, who = [], []
    for p in range(5):
        for q in rng.permutation(40)[: rng.integers(8, 30)]:
            a, i, j = pool[q].tolist()
            rows.append([a, i, j] if rng.random() < 0.7 else [a, j, i])
            who.append(p)
    answers = Triplets.from_array(rows, n_objects=8, participant=who)
    found = person_agreement(answers)
    said = [
        {(a, *sorted((i, j))): i for (a, i, j), w in zip(rows, who, strict=True) if w == p} for p in range(5)
    ]
    for p in range(5):
        for q in range(5):
            both = said[p].keys() & said[q].keys() if p != q else set()
            assert found.shared[p, q] == len(both)
            if len(both) < 10:
                assert np.isnan(found.share[p, q])
            else:
                wanted = np.mean([said[p][x] == said[q][x] for x in both])
                assert found.share[p, q] == pytest.approx(wanted)
    assert found.known == np.isfinite(found.share).sum() / 20


def test_of_very_many_people_some_are_drawn():
    rows = [[0, i, i + 1] for i in range(1, 13)]
    answers = Triplets.from_array(rows * 500, participant=np.repeat(np.arange(500), 12))
    found = person_agreement(answers, max_people=40)
    assert found.share.shape == (40, 40) and len(set(found.people)) == 40 and found.n_participants == 500
    assert found.known == 1 and np.nanmin(found.share) == 1


def test_what_is_missing_is_said():
    bare = Triplets.from_array([[0, 1, 2]])
    for call in (find_subgroups, person_agreement):
        with pytest.raises(InputError, match="do not say who gave them; add a column participant"):
            call(bare)
    with pytest.raises(InputError, match="most must be 2 or 3, got 4"):
        find_subgroups(Triplets.from_array([[0, 1, 2]], participant=["a"]), most=4)


def test_people_who_all_saw_one_screen_say_nothing_of_subgroups():
    """They asked the same questions, so that nothing can be held out."""
    screen = [(0, near, far) for near in range(1, 5) for far in range(5, 9)]
    who = np.repeat(np.arange(20), len(screen))
    same = Triplets.from_array(screen * 20, statement=who, participant=who)
    assert find_subgroups(same) is None
