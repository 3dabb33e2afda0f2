"""The noise ceiling, on data where the truth is known."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles_evaluate import agreement_by_question, agreement_within, questions

from nearfar.datasets import make_colours
from nearfar.evaluate.bootstrap import Estimate
from nearfar.evaluate.ceiling import best_accuracy, noise_ceiling
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
def test_the_truth_lies_inside_the_interval(shape, repeats):
    rng = np.random.default_rng(0)
    q = rng.beta(*shape, size=5_000)
    ceiling = noise_ceiling(ask(rng, q, repeats))
    agreement = ceiling.agreement
    assert agreement.questions == 5_000 and agreement.answers == 5_000 * repeats
    assert agreement.low < np.mean(q**2 + (1 - q) ** 2) < agreement.high
    best = ceiling.best_possible
    assert best.low < np.mean(np.maximum(q, 1 - q)) < best.high


def test_questions_that_are_equally_hard_sit_at_the_upper_end():
    rng = np.random.default_rng(1)
    alike = noise_ceiling(ask(rng, np.full(20_000, 0.8), 3)).best_possible
    assert alike.low < 0.8 < alike.high < 0.83
    certain = noise_ceiling(ask(rng, np.ones(120), 2)).best_possible
    assert certain.value == certain.high == 1 and certain.low < 0.99  # 120 questions are no proof


def test_the_ceiling_of_a_beta_distribution():
    rng = np.random.default_rng(2)
    for a in (0.3, 1, 4):
        q = rng.beta(a, a, size=400_000)
        assert best_accuracy(np.mean(q**2 + (1 - q) ** 2)) == pytest.approx(
            np.mean(np.maximum(q, 1 - q)), abs=2e-3
        )
    assert best_accuracy(0.3) == 0.5 and best_accuracy(1.0) == 1


def test_the_ceiling_is_never_below_what_a_model_reaches():
    rng = np.random.default_rng(3)
    answers = ask(rng, np.full(200, 0.6), 2)
    alone = noise_ceiling(answers).best_possible
    beside = noise_ceiling(answers, accuracy=Estimate(0.85, 0.8, 0.9)).best_possible
    assert alone.high < 0.85 and (beside.low, beside.value, beside.high) == (0.8, 0.85, 0.85)


@pytest.mark.parametrize(("repeats", "people"), [(2, 1000), (2, 20), (6, 20)])
def test_the_interval_of_the_agreement_has_the_size_of_the_spread(repeats, people):
    rng = np.random.default_rng(2)
    agreements = [
        noise_ceiling(ask(rng, rng.beta(4, 2, size=200), repeats, people)).agreement for _ in range(100)
    ]
    spread = np.std([f.value for f in agreements])
    assert 0.8 < np.mean([(f.high - f.low) / 4 for f in agreements]) / spread < 2


def test_the_interval_knows_that_people_differ():
    """Half of the people guess: answers of one person are correlated, and more questions do not help."""
    rng = np.random.default_rng(3)
    shares, widths = [], []
    for _ in range(60):
        careful = rng.random(16) < 0.5
        who = np.stack([rng.permutation(16)[:2] for _ in range(300)])
        near = careful[who] | (rng.random(who.shape) < 0.5)
        rows = np.repeat(np.arange(900).reshape(300, 3), 2, axis=0)
        rows[~near.ravel()] = rows[~near.ravel()][:, [0, 2, 1]]
        known = Triplets.from_array(rows, participant=[f"p{i}" for i in who.ravel()])
        agreement = noise_ceiling(known).agreement
        shares.append(agreement.value)
        widths.append(agreement.high - agreement.low)
    assert 0.6 < np.mean(widths) / 4 / np.std(shares) < 2
    assert np.mean(widths) > 4 * 1.7 * np.sqrt(0.25 * 0.75 / 300)


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
    for agreement, wanted in (
        (ceiling.agreement, between),
        (ceiling.within, within),
    ):
        assert (agreement is None) == (wanted is None)
        assert wanted is None or abs(agreement.value - wanted) < 1e-12


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
    for agreement in (odd.odd_one_out, central.most_central):
        assert agreement.options == 3 and agreement.questions == 8000
        assert abs(agreement.value - np.mean(np.sum(p**2, axis=1))) < 0.02
    # as triplets: pairs of statements that name the same odd one agree twice, others disagree once
    best = np.mean(np.sort(p, axis=1) @ [0, 0.5, 1])
    assert odd.best_possible.low < best < odd.best_possible.high


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
        assert ceiling.best_possible is None and ceiling.odd_one_out is None
        assert "unknown" in str(ceiling)
        assert json.loads(json.dumps(ceiling.to_dict()))["agreement"] is None


def test_a_double_submit_is_within_a_participant_and_not_between():
    twice = Triplets.from_array([[0, 1, 2], [0, 1, 2], [3, 1, 2]], participant=["ann", "ann", "bob"])
    ceiling = noise_ceiling(twice)
    assert ceiling.agreement is None and ceiling.within.value == 1.0
    assert ceiling.unknown == "nobody else" and "two participants" in str(ceiling)


def test_one_participant_alone_is_judged_by_themselves():
    alone = noise_ceiling(
        Triplets.from_array([[0, 1, 2], [0, 1, 2], [0, 1, 3], [0, 3, 1]], participant=["me"] * 4)
    )
    assert alone.agreement.value == 0.5 and alone.best_possible is not None
    assert np.isnan(noise_ceiling(Triplets.from_array([[0, 1, 2]] * 2, participant=[1, 1])).within.low)


def test_copies_are_not_repeats():
    """The same answer in the same second, or after the same time to the millisecond, was given once."""
    rows = np.repeat(np.arange(90).reshape(30, 3), 2, axis=0)
    for column in ("answered_at", "seconds"):
        times = np.repeat(np.arange(30) + 0.1234, 2)
        copied = noise_ceiling(Triplets.from_array(rows, **{column: times}))
        assert copied.copies == 30 and copied.unknown == "nothing repeated"
        again = noise_ceiling(Triplets.from_array(rows, **{column: times + np.tile([0, 5.0], 30)}))
        assert again.copies == 0 and again.agreement.questions == 30
    whole = noise_ceiling(Triplets.from_array(rows, seconds=np.repeat(np.arange(30) % 4, 2)))
    assert whole.copies == 0 and whole.agreement.questions == 30  # rounded times agree by chance


def test_unknown_people_are_kept_apart():
    """Answers without a participant name are different people, as far as anybody knows."""
    ceiling = noise_ceiling(Triplets.from_array([[0, 1, 2]] * 3, participant=["", "", "ann"]))
    assert ceiling.agreement.value == 1.0 and ceiling.within is None


def test_the_colours_know_their_ceiling():
    """Simulated people whose chance of every answer is known: blur, inattention, repeats by design."""
    colours = make_colours()
    ceiling = noise_ceiling(colours.triplets)
    truth = colours.truth.ceiling(colours.triplets)
    assert ceiling.best_possible.low < truth < ceiling.best_possible.high
    assert ceiling.agreement.questions == 400


def test_few_repeats_and_few_people_are_enough_to_say_something():
    rng = np.random.default_rng(6)
    few, many = (noise_ceiling(ask(rng, np.full(k, 0.8), 2)).best_possible for k in (20, 500))
    assert few.low < 0.8 < few.high and few.high - few.low > 1.5 * (many.high - many.low)
    assert noise_ceiling(ask(rng, np.full(200, 0.8), 2, people=2)).best_possible is not None


@pytest.mark.parametrize(("easy", "word"), [(0.97, "easier"), (0.5, "harder")])
def test_repeats_that_are_no_fair_draw_are_named(easy, word):
    """150 questions asked of two people are easier (harder) than the 1500 asked once."""
    rng = np.random.default_rng(7)
    repeated, single = ask(rng, np.full(150, easy), 2), ask(rng, np.full(1500, 0.75), 1)
    answers = Triplets.concatenate([repeated, single.replace(objects=tuple(f"x{i}" for i in range(4500)))])
    credit = (answers.near < answers.far).astype(float)  # a model that knows the usual answer
    ceiling = noise_ceiling(answers, credit=credit)
    assert ceiling.best_possible is None and ceiling.unknown == "unlike" and word in str(ceiling)
    fair = noise_ceiling(answers, credit=(rng.random(len(answers)) < 0.75).astype(float))
    assert fair.best_possible is not None and fair.lead.low < 0 < fair.lead.high


def test_control_questions_and_double_clicks_are_left_out():
    rng = np.random.default_rng(8)
    answers = ask(rng, np.full(150, 0.7), 2)
    control = Triplets.from_array([[0, 1, 2]] * 60, n_objects=450, participant=np.arange(60) % 40)
    both = noise_ceiling(Triplets.concatenate([answers[2:], control]))
    assert both.controls == 60 and both.agreement == noise_ceiling(answers[2:]).agreement
    assert "60 answers to questions asked far more often" in str(both)
    twice = Triplets.from_array([[0, 1, 2]] * 3, participant=["a"] * 3, answered_at=[0.0, 0.4, 60.0])
    assert noise_ceiling(twice).within.answers == 2
