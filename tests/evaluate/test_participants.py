"""Participants to check: every cause is told apart, and honest people are left alone."""

from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearfar import design, simulate, words
from nearfar.evaluate.participants import judge_people, wilson
from nearfar.triplets import Triplets

N = 25


def study(seed=0, people=20, each=120, again=25, **kinds):
    """Everybody sees the same plane, but some guess, some press left, some answer the wrong way round, some see another plane.

    ``kinds`` : guessers, sided, opposite, minority; who they are.
    """
    rng = np.random.default_rng(seed)
    places = rng.normal(size=(2, N, 2))
    rows, who, side, seconds = [], [], [], []
    for person in range(people):
        questions = np.array([rng.permutation(N)[:3] for _ in range(each)])
        questions = np.concatenate([questions, questions[:again]])
        x = places[int(person in kinds.get("minority", ()))]
        d = np.linalg.norm(x[questions[:, :1]] - x[questions[:, 1:]], axis=2)
        second = rng.random(len(questions)) > 1 / (1 + np.exp(-4 * (d[:, 1] - d[:, 0])))
        left = rng.random(len(questions)) < 0.5  # whether the first option is on the left
        if person in kinds.get("guessers", ()):
            second = rng.random(len(questions)) < 0.5
        if person in kinds.get("sided", ()):
            second = ~left
        if person in kinds.get("opposite", ()):
            second = ~second
        questions[second] = questions[second][:, [0, 2, 1]]
        rows.append(questions)
        who += [f"p{person}"] * len(questions)
        side.append(np.where(left ^ second, 0, 1))
        quick = 0.2 if person in kinds.get("hasty", ()) else 1.0
        seconds.append(quick * np.exp(rng.normal(0, 0.3, size=len(questions))))
    return Triplets.from_array(
        np.concatenate(rows),
        n_objects=N,
        participant=who,
        near_side=np.concatenate(side),
        seconds=np.concatenate(seconds),
    )


def reasons(answers):
    return {row.name: row.reasons for row in judge_people(answers).rows if row.reasons}


def test_nobody_is_named_among_honest_people():
    assert sum(len(reasons(study(seed, people=12))) for seed in range(8)) <= 1


def test_a_guesser_is_inconsistent_and_a_minority_has_a_different_strategy():
    found = [reasons(study(seed, again=60, guessers=(3, 7))) for seed in range(3)]
    assert sum(map(len, found)) >= 5 and set().union(*found) == {"p3", "p7"}
    assert {each for named in found for each in named.values()} == {("not above chance", "inconsistent")}
    found = reasons(study(2, again=60, minority=(1, 4, 9, 12)))
    assert found and set(found) <= {"p1", "p4", "p9", "p12"}
    assert set(found.values()) == {("not above chance", "different strategy")}


def test_without_repeats_careless_and_different_are_told_apart_only_by_others():
    assert reasons(study(3, again=0, guessers=(5,))) == {"p5": ("not above chance",)}
    shared = reasons(study(4, again=0, each=400, minority=(1, 4, 9, 12)))
    assert shared and set(shared) <= {"p1", "p4", "p9", "p12"}
    assert all("different strategy" in found and "inconsistent" not in found for found in shared.values())


def test_answers_the_wrong_way_round_are_opposite():
    found = judge_people(study(5, opposite=(2, 6)))
    assert {row.name: row.reasons for row in found.to_check} == {"p2": ("opposite",), "p6": ("opposite",)}
    assert found.rows[0].with_prediction.high < 0.5
    assert "check the coding" in words.reason(found.rows[0], found)
    assert "p2 (opposite)" in words.participants(found).text


def test_always_left_is_one_sided_first_although_repeats_swap_sides():
    found = judge_people(study(5, sided=(2,), again=60))
    (person,) = found.to_check
    assert person.name == "p2" and person.left.value == 1
    assert person.reasons == ("one-sided", "not above chance", "inconsistent")
    told = words.reason(person, found)
    assert told.index("one-sided") < told.index("not clearly more than chance") < told.index("inconsistent")
    assert "p2 (one-sided)" in words.participants(found).text  # the verdict box says what the table says


def test_too_fast_is_a_reason_of_somebody_who_guesses_only():
    assert reasons(study(6, again=0, guessers=(4,), hasty=(4, 9))) == {"p4": ("too fast", "not above chance")}


def test_a_file_whose_winner_is_always_on_the_left_names_nobody():
    answers = study(6)
    assert reasons(answers.replace(near_side=np.zeros(len(answers), dtype=np.int8))) == {}


def screens(seed, people, each, guessers):
    """Four picked of twelve, by people who see distances with noise or pick at random."""
    rng = np.random.default_rng(seed)
    places = rng.normal(size=(N, 2))
    rows, who, statement = [], [], []
    for person in range(people):
        for _ in range(each):
            anchor, *shown = rng.permutation(N)[:13]
            seen = np.linalg.norm(places[shown] - places[anchor], axis=1) + rng.gumbel(size=12) / 4
            order = rng.permutation(12) if person in guessers else np.argsort(seen)
            shown = np.array(shown)[order]
            rows += [[anchor, i, j] for i in shown[:4] for j in shown[4:]]
            statement += [len(statement) // 32] * 32
            who += [person] * 32
    return Triplets.from_array(rows, n_objects=N, participant=who, statement=statement)


def test_guessers_are_found_on_screens_and_in_odd_one_out():
    found = judge_people(screens(1, 12, 60, (3, 8)))
    assert {row.name for row in found.to_check} == {"3", "8"} and found.detectable == 12
    rng = np.random.default_rng(2)
    parts = []
    for person in range(15):
        asked = design.trio_questions(N, 60, "odd", seed=[2, person])
        noise = 50.0 if person == 4 else 0.3
        said = simulate.answers(asked, points=rng.normal(size=(N, 2)) if person == 4 else PLACES, noise=noise)
        parts.append(said.triplets.replace(participant=[f"p{person}"] * len(said.triplets)))
    assert {row.name for row in judge_people(Triplets.concatenate(parts)).to_check} == {"p4"}


PLACES = np.random.default_rng(9).normal(size=(N, 2))


def test_too_few_statements_to_find_anybody_are_counted():
    few = judge_people(study(7, each=12, again=0, guessers=(1,)))
    assert few.detectable == 0 and few.to_check == ()
    assert judge_people(study(7, guessers=(1,))).detectable == 20


def test_statements_count_and_their_spread_is_the_error():
    """Ten screens of 32 rows: one value each."""
    rows, statement = [], []
    rng = np.random.default_rng(0)
    for screen in range(20):
        anchor, *shown = rng.permutation(20)[:13].tolist()
        rows += [[anchor, i, j] for i in shown[:4] for j in shown[4:]]
        statement += [screen] * 32
    answers = Triplets.from_array(rows, statement=statement, participant=["a"] * 320 + ["b"] * 320)
    credit = np.ones(640)
    credit[:32] = 0
    credit[320:] = np.tile(np.repeat([0.7, 0.8], 32), 5)
    found = {row.name: row for row in judge_people(answers, credit).rows}
    assert found["a"].statements == 10
    assert astuple(found["a"].with_prediction) == pytest.approx((0.9, *wilson(0.9, 9), 10))
    assert found["b"].with_prediction.high - found["b"].with_prediction.low < 0.08


def test_nobody_known():
    assert judge_people(Triplets.from_array([[0, 1, 2]])) is None
    assert judge_people(Triplets.from_array([[0, 1, 2]], participant=[""])) is None
    alone = judge_people(Triplets.from_array([[0, 1, 2]], participant=["a"]))
    assert alone.rows[0].reasons == () and alone.rows[0].with_others is None and alone.detectable == 0
    assert alone.to_dict()["rows"][0]["name"] == "a"


@given(st.integers(1, 500), st.floats(0, 1))
def test_wilson_stays_between_0_and_1_and_solves_its_equation(count, share):
    low, high = wilson(share, count)
    assert 0 <= low <= share + 1e-12 and share - 1e-12 <= high <= 1
    for end in (low, high):
        if 1e-6 < end < 1 - 1e-6:
            assert abs(share - end) == pytest.approx(1.96 * np.sqrt(end * (1 - end) / count), abs=1e-9)
