"""People to review: inconsistent and different are told apart, and honest people are left alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearfar.evaluate.people import judge_people, wilson
from nearfar.triplets import Triplets


def study(seed=0, people=20, each=120, again=25, guessers=(), sided=(), minority=(), n=25):
    """Everybody sees the same plane, but some guess, some press left, and some see another plane."""
    rng = np.random.default_rng(seed)
    places = rng.normal(size=(2, n, 2))
    rows, who, said_left = [], [], []
    for person in range(people):
        questions = np.array([rng.permutation(n)[:3] for _ in range(each)])
        questions = np.concatenate([questions, questions[:again]])
        x = places[int(person in minority)]
        d = np.linalg.norm(x[questions[:, :1]] - x[questions[:, 1:]], axis=2)
        second = rng.random(len(questions)) > 1 / (1 + np.exp(-4 * (d[:, 1] - d[:, 0])))
        left = rng.random(len(questions)) < 0.5  # whether the first option is on the left
        if person in guessers:
            second = rng.random(len(questions)) < 0.5
        if person in sided:
            second = ~left
        questions[second] = questions[second][:, [0, 2, 1]]
        rows.append(questions)
        who += [f"p{person}"] * len(questions)
        said_left.append(np.where(left ^ second, 0, 1))
    side = np.concatenate(said_left)
    return Triplets.from_array(np.concatenate(rows), n_objects=n, participant=who, near_side=side)


def standings(answers):
    return {row.name: row.standing for row in judge_people(answers).rows if row.standing}


def test_nobody_is_named_among_honest_people():
    assert sum(len(standings(study(seed, people=12))) for seed in range(8)) <= 1


def test_a_guesser_is_inconsistent_and_another_taste_is_different():
    for seed in range(3):
        found = standings(study(seed, again=60, guessers=(3, 7)))
        assert found == {"p3": "inconsistent", "p7": "inconsistent"}
    found = standings(study(2, again=60, minority=(1, 4, 9, 12)))
    assert found and set(found) <= {"p1", "p4", "p9", "p12"} and set(found.values()) == {"different"}


def test_without_repeats_a_guesser_is_only_unlike_the_others():
    found = standings(study(3, again=0, guessers=(5,)))
    assert found == {"p5": "unlike the others"}
    shared = standings(study(4, again=0, each=400, minority=(1, 4, 9, 12)))
    assert set(shared) <= {"p1", "p4", "p9", "p12"} and "different" in shared.values()
    assert "inconsistent" not in shared.values()


def test_pressing_one_side_is_named():
    found = judge_people(study(5, sided=(2,), again=0))
    assert (
        found.rows[0].name == "p2" and found.rows[0].standing == "one-sided" and found.rows[0].left.share == 1
    )
    assert found.to_review == found.rows[:1]


def test_a_file_whose_winner_is_always_on_the_left_names_nobody():
    answers = study(6)
    assert standings(answers.replace(near_side=np.zeros(len(answers), dtype=np.int8))) == {}


def test_statements_count_and_not_rows():
    """Ten screens of 32 rows are ten things said: the interval is that of ten."""
    rng = np.random.default_rng(0)
    rows, statement = [], []
    for screen in range(20):
        anchor, *shown = rng.permutation(20)[:13].tolist()
        rows += [[anchor, i, j] for i in shown[:4] for j in shown[4:]]
        statement += [screen] * 32
    answers = Triplets.from_array(rows, statement=statement, participant=["a"] * 320 + ["b"] * 320)
    credit = np.ones(640)
    credit[:32] = 0
    found = {row.name: row for row in judge_people(answers, credit).rows}
    assert found["a"].statements == 10 and found["a"].with_prediction.of == 10
    assert found["a"].with_prediction == wilson(9, 10)


def test_nobody_known():
    assert judge_people(Triplets.from_array([[0, 1, 2]])) is None
    assert judge_people(Triplets.from_array([[0, 1, 2]], participant=[""])) is None
    alone = judge_people(Triplets.from_array([[0, 1, 2]], participant=["a"]))
    assert alone.rows[0].standing == "" and alone.rows[0].with_others is None


@given(st.integers(1, 500), st.floats(0, 1))
def test_wilson_stays_between_0_and_1_and_solves_its_equation(count, share):
    found = wilson(share * count, count)
    assert 0 <= found.low <= found.share + 1e-12 and found.share - 1e-12 <= found.high <= 1
    for end in (found.low, found.high):
        if 1e-6 < end < 1 - 1e-6:
            assert abs(found.share - end) == pytest.approx(1.96 * np.sqrt(end * (1 - end) / count), abs=1e-9)
