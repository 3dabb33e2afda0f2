"""The noise ceiling, on data where the truth is known."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles_evaluate import agreement_by_question, agreement_within, majority_by_question, questions

from nearfar.datasets import make_colours
from nearfar.evaluate.agreement import ceiling_bracket
from nearfar.evaluate.ceiling import noise_ceiling
from nearfar.triplets import Triplets


def ask(rng, probabilities, repeats, people=40):
    """Triplets where question t (its own trio) gets "near" with probability probabilities[t], from different people."""
    m = len(probabilities)
    base = np.stack([3 * np.arange(m), 3 * np.arange(m) + 1, 3 * np.arange(m) + 2], axis=1)
    rows = np.repeat(base, repeats, axis=0)
    turned = rng.random(len(rows)) > np.repeat(probabilities, repeats)
    rows[turned] = rows[turned][:, [0, 2, 1]]
    who = np.concatenate([rng.permutation(people)[:repeats] for _ in range(m)])
    return Triplets.from_array(rows, n_objects=3 * m, participant=who)


@pytest.mark.parametrize("shape", [(1, 1), (8, 2), (0.3, 0.3), (30, 30)])
@pytest.mark.parametrize("repeats", [2, 5])
def test_the_truth_lies_inside_the_bracket(shape, repeats):
    rng = np.random.default_rng(0)
    q = rng.beta(*shape, size=20_000)
    ceiling = noise_ceiling(ask(rng, q, repeats))
    found = ceiling.agreement
    assert found.questions == 20_000 and found.answers == 20_000 * repeats
    assert abs(found.share - np.mean(q**2 + (1 - q) ** 2)) < 4 * found.standard_error < 0.02
    best = np.mean(np.maximum(q, 1 - q))
    low, high = ceiling.bracket
    assert low - 3 * found.standard_error <= best <= high + 3 * found.standard_error
    assert low < ceiling.majority.share + 0.01 and ceiling.majority.share < best + 0.01


def test_equal_questions_sit_at_the_upper_end_and_certain_ones_at_both():
    rng = np.random.default_rng(1)
    alike = noise_ceiling(ask(rng, np.full(30_000, 0.8), 3))
    assert abs(alike.bracket[1] - 0.8) < 0.01
    certain = noise_ceiling(ask(rng, np.ones(120), 2))
    assert certain.bracket == (1.0, 1.0) and certain.outer[0] < 0.99  # 120 questions are no proof
    low, high = noise_ceiling(ask(rng, np.full(200, 0.5), 2)).bracket
    assert 0.5 <= low <= high


@pytest.mark.parametrize(("repeats", "people"), [(2, 1000), (2, 20), (6, 20)])
def test_the_standard_error_has_the_size_of_the_spread(repeats, people):
    rng = np.random.default_rng(2)
    found = [noise_ceiling(ask(rng, rng.beta(4, 2, size=200), repeats, people)).agreement for _ in range(150)]
    spread = np.std([f.share for f in found])
    assert 0.8 < np.mean([f.standard_error for f in found]) / spread < 1.4


def test_the_standard_error_knows_that_people_differ():
    """Half of the people guess: answers of one person hang together, and more questions do not help."""
    rng = np.random.default_rng(3)
    shares, errors = [], []
    for _ in range(60):
        careful = rng.random(10) < 0.5
        who = np.stack([rng.permutation(10)[:2] for _ in range(300)])
        near = careful[who] | (rng.random(who.shape) < 0.5)
        rows = np.repeat(np.arange(900).reshape(300, 3), 2, axis=0)
        rows[~near.ravel()] = rows[~near.ravel()][:, [0, 2, 1]]
        found = noise_ceiling(Triplets.from_array(rows, participant=who.ravel())).agreement
        shares.append(found.share)
        errors.append(found.standard_error)
    assert 0.6 < np.mean(errors) / np.std(shares) < 1.5
    assert np.mean(errors) > 1.7 * np.sqrt(0.25 * 0.75 / 300)


ROWS = st.lists(
    st.tuples(st.permutations(range(4)), st.integers(0, 3), st.integers(0, 20)), min_size=1, max_size=40
)


@settings(max_examples=80)
@given(ROWS, st.booleans())
def test_equals_the_oracle(rows, known):
    triplets = [order[:3] for order, _, _ in rows]
    person = [p for _, p, _ in rows]
    statement = [100 * p + s for _, p, s in rows]  # a statement is one person's
    answers = Triplets.from_array(
        triplets, n_objects=4, statement=statement, participant=person if known else None
    )
    who = person if known else statement
    said = list(zip(questions(triplets), (t[1] for t in triplets), who, statement, strict=True))
    ceiling = noise_ceiling(answers)
    within = agreement_within(said) if known else None
    between = within if len(set(who)) == 1 else agreement_by_question(said)
    for found, wanted in (
        (ceiling.agreement, between),
        (ceiling.majority, majority_by_question(said)),
        (ceiling.within, within),
    ):
        assert (found is None) == (wanted is None)
        assert wanted is None or abs(found.share - wanted) < 1e-12


def test_a_repeated_question_counts_once_for_every_participant():
    """One person gives 21 answers and then the opposite, another gives the same answer twice: one half."""
    rows = [[0, 1, 2]] * 21 + [[0, 2, 1]] + [[0, 1, 2]] * 2
    answers = Triplets.from_array(rows, statement=[0] * 21 + [1, 2, 3], participant=["a"] * 22 + ["b"] * 2)
    within = noise_ceiling(answers).within
    assert (within.share, within.questions) == (0.5, 2)


def test_odd_one_out_and_most_central_as_same_trio_same_choice():
    rng = np.random.default_rng(4)
    p = rng.dirichlet([2, 1, 0.5], size=8000)
    choice = np.array([rng.choice(3, size=2, p=row) for row in p]).ravel()
    trio = np.repeat(np.arange(24_000).reshape(-1, 3), 2, axis=0)
    rows = np.stack([np.roll(t, 2 - c) for t, c in zip(trio, choice, strict=True)])  # the chosen one last
    people = np.arange(16_000) % 50
    odd = noise_ceiling(Triplets.from_odd_one_out(rows, participant=people))
    central = noise_ceiling(Triplets.from_most_central(rows[:, ::-1], participant=people))
    assert odd.most_central is None and central.odd_one_out is None
    for found in (odd.odd_one_out, central.most_central):
        assert found.chance == 1 / 3 and found.questions == 8000
        assert abs(found.share - np.mean(np.sum(p**2, axis=1))) < 0.02
        low, high = found.bracket
        assert low < np.mean(p.max(axis=1)) < high
    # as triplets: pairs of statements that name the same odd one agree twice, others disagree once
    best = np.mean(np.sort(p, axis=1) @ [0, 0.5, 1])
    assert odd.bracket[0] < best < odd.bracket[1]


def test_kinds_are_told_by_structure():
    pair = Triplets.from_array([[0, 1, 2], [1, 0, 3], [0, 1, 2], [1, 0, 3]], statement=[0, 0, 1, 1])
    assert noise_ceiling(pair).odd_one_out is None  # two rows, but no twins
    three = Triplets.from_array([[0, 1, 2], [1, 0, 2], [0, 1, 3]] * 2, statement=[0, 0, 0, 1, 1, 1])
    assert noise_ceiling(three).odd_one_out is None  # twins inside a larger statement
    repeat = Triplets.from_array([[0, 1, 2], [0, 1, 2]] * 2, statement=[0, 0, 1, 1])
    assert noise_ceiling(repeat).odd_one_out is None and noise_ceiling(repeat).most_central is None


def test_unknown_where_nothing_was_repeated():
    for answers in (
        Triplets.from_array([]),
        Triplets.from_array([[0, 1, 2], [1, 2, 3]]),
        Triplets.from_array([[0, 1, 2], [0, 2, 1]], statement=["s", "s"]),  # one statement is not a repeat
        Triplets.from_odd_one_out([[0, 1, 2], [0, 1, 3]]),
    ):
        ceiling = noise_ceiling(answers)
        assert ceiling.bracket is None and ceiling.majority is None and ceiling.odd_one_out is None
        assert "unknown" in str(ceiling)
        assert json.loads(json.dumps(ceiling.to_dict()))["agreement"] is None


def test_an_error_that_is_not_known_is_no_nan_in_json():
    ceiling = noise_ceiling([[0, 1, 2], [0, 1, 2]])  # one question is not a sample of questions
    assert np.isnan(ceiling.agreement.standard_error)
    plain = json.loads(json.dumps(ceiling.to_dict(), allow_nan=False))
    assert plain["agreement"]["share"] == 1.0 and plain["agreement"]["standard_error"] is None


def test_a_double_submit_is_within_a_participant_and_not_between():
    twice = Triplets.from_array([[0, 1, 2], [0, 1, 2], [3, 1, 2]], participant=["ann", "ann", "bob"])
    ceiling = noise_ceiling(twice)
    assert ceiling.agreement is None and ceiling.within.share == 1.0
    assert "no question was answered by two people" in str(ceiling)
    ann, bob = ceiling.participants
    assert (ann.with_themselves, ann.with_others, ann.repeated) == (1.0, None, 2)
    assert (bob.with_themselves, bob.answers) == (None, 1)


def test_one_participant_alone_is_judged_by_themselves():
    alone = noise_ceiling(
        Triplets.from_array([[0, 1, 2], [0, 1, 2], [0, 1, 3], [0, 3, 1]], participant=["me"] * 4)
    )
    assert alone.agreement.share == 0.5 and alone.agreement.bracket == (0.5, 0.5) and alone.bracket is None
    assert math.isnan(
        noise_ceiling(Triplets.from_array([[0, 1, 2]] * 2, participant=[1, 1])).within.standard_error
    )


def test_careless_people_show_in_the_rows_and_the_frame():
    rng = np.random.default_rng(5)
    base = np.arange(600).reshape(200, 3)
    rows = np.concatenate([base] * 4)
    guess = np.arange(len(rows)) >= 600  # the fourth person guesses
    turned = guess & (rng.random(len(rows)) < 0.5)
    rows[turned] = rows[turned][:, [0, 2, 1]]
    ceiling = noise_ceiling(Triplets.from_array(rows, participant=np.repeat(["a", "b", "c", "d"], 200)))
    by_name = {row.participant: row.with_others for row in ceiling.participants}
    assert 0.4 < by_name["d"] < 0.6 < 0.8 < by_name["a"]
    assert ceiling.to_frame()["participant"].to_list() == ["a", "b", "c", "d"]


def test_unknown_people_are_kept_apart():
    """Answers without a participant name are different people, as far as anybody knows."""
    ceiling = noise_ceiling(Triplets.from_array([[0, 1, 2]] * 3, participant=["", "", "ann"]))
    assert ceiling.agreement.share == 1.0 and ceiling.within is None
    assert [row.participant for row in ceiling.participants] == ["ann"]


def test_the_bracket_formula():
    for q in np.linspace(0.5, 1, 11):
        low, high = ceiling_bracket(q**2 + (1 - q) ** 2)
        assert low <= q + 1e-12 and abs(high - q) < 1e-9  # equal questions: the upper end is exact
    for p in ([1 / 3] * 3, [0.6, 0.2, 0.2], [1, 0, 0]):
        assert abs(ceiling_bracket(np.sum(np.square(p)), 3)[1] - max(p)) < 1e-7
    assert ceiling_bracket(0.3) == (0.5, 0.5)


def test_the_colours_know_their_ceiling():
    """Simulated people whose chance of every answer is known: blur, inattention, repeats by design."""
    colours = make_colours()
    ceiling = noise_ceiling(colours.triplets)
    low, high = ceiling.bracket
    assert low - ceiling.agreement.standard_error < colours.truth.ceiling(colours.triplets) < high
    assert ceiling.agreement.questions == 400
    worst = sorted(ceiling.participants, key=lambda row: row.with_others)[:3]
    assert {row.participant for row in worst} == set(colours.truth.careless)


def test_unknown_below_a_hundred_repeated_questions_and_says_what_to_ask():
    rng = np.random.default_rng(6)
    few = noise_ceiling(ask(rng, np.full(40, 0.8), 2))
    assert few.bracket is None and few.outer is None and few.agreement is not None
    assert "only 40 questions were answered more than once; ask about 60 more" in str(few)
    two_people = noise_ceiling(ask(rng, np.full(200, 0.8), 2, people=2))
    assert two_people.bracket is None and "answered by 2 people, too few" in two_people.unknown


@pytest.mark.parametrize(("easy", "word"), [(0.97, "easier"), (0.5, "harder")])
def test_repeats_that_are_no_fair_draw_are_named(easy, word):
    """150 questions asked of two people are easier (harder) than the 1500 asked once."""
    rng = np.random.default_rng(7)
    repeated, single = ask(rng, np.full(150, easy), 2), ask(rng, np.full(1500, 0.75), 1)
    answers = Triplets.concatenate([repeated, single.replace(objects=tuple(f"x{i}" for i in range(4500)))])
    credit = (answers.near < answers.far).astype(float)  # a model that knows the usual answer
    found = noise_ceiling(answers, credit=credit)
    assert found.bracket is None and f"are {word} than the others" in found.unknown
    fair = noise_ceiling(answers, credit=(rng.random(len(answers)) < 0.75).astype(float))
    assert fair.bracket is not None and fair.fair.fair


def test_control_questions_and_double_clicks_are_left_out():
    rng = np.random.default_rng(8)
    answers = ask(rng, np.full(150, 0.7), 2)
    control = Triplets.from_array([[0, 1, 2]] * 60, n_objects=450, participant=np.arange(60) % 40)
    both = noise_ceiling(Triplets.concatenate([answers[2:], control]))
    assert both.controls == 60 and both.agreement == noise_ceiling(answers[2:]).agreement
    assert "60 answers to control questions" in str(both)
    twice = Triplets.from_array([[0, 1, 2]] * 3, participant=["a"] * 3, answered_at=[0.0, 0.4, 60.0])
    assert noise_ceiling(twice).within.answers == 2


def test_the_majority_raises_the_lower_end():
    """With many answers to each question the majority is nearly the best possible."""
    rng = np.random.default_rng(9)
    found = noise_ceiling(ask(rng, np.full(300, 0.7), 15))
    assert found.bracket[0] == found.majority.share > found.agreement.share + 0.05
    assert found.outer[0] < 0.7 < found.outer[1]
