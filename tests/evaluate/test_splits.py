"""Splits do not leak and do not select."""

from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles_evaluate import lookup_accuracy, questions, trios_by_statement

from nearfar.errors import InputError
from nearfar.evaluate.splits import holdout, kfold, respondents, split_units
from nearfar.triplets import Triplets

DATA = Path(__file__).parents[3] / "shared" / "data"


def random_triplets(seed, m, n):
    rng = np.random.default_rng(seed)
    return np.array([rng.permutation(n)[:3] for _ in range(m)])


def grid(seed, screens=60, n=8):
    """Screens: one anchor, two picked out of six, 2 x 4 triplets each; questions recur between screens."""
    rng = np.random.default_rng(seed)
    rows, statement = [], []
    for screen in range(screens):
        anchor, *shown = rng.permutation(n)[:7].tolist()
        rows += [[anchor, near, far] for near in shown[:2] for far in shown[2:]]
        statement += [screen] * 8
    return Triplets.from_array(rows, n_objects=n, statement=statement)


def grid_by_person(seed, screens=60):
    """The same screens, numbered from 0 for each of six people."""
    whole = grid(seed, screens)
    screen = np.asarray(whole.statement)
    return whole.replace(participant=screen % 6, statement=screen // 6), screen


def mixed(seed):
    return Triplets.concatenate(
        [grid(seed, 20), Triplets.from_odd_one_out(random_triplets(seed, 40, 8), n_objects=8)]
    )


collections = st.one_of(
    st.builds(lambda s: Triplets.from_array(random_triplets(s, 120, 7), n_objects=7), st.integers(0, 99)),
    st.builds(
        lambda s: Triplets.from_odd_one_out(random_triplets(s, 60, 7), n_objects=7), st.integers(0, 99)
    ),
    st.builds(
        lambda s: Triplets.from_most_central(random_triplets(s, 60, 7), n_objects=7), st.integers(0, 99)
    ),
    st.builds(grid, st.integers(0, 99)),
    st.builds(mixed, st.integers(0, 99)),
)


@settings(max_examples=40)
@given(collections, st.integers(0, 99))
def test_a_lookup_table_of_the_training_questions_gets_one_half(answers, seed):
    for train, test in [*kfold(answers, 5, seed=seed), holdout(answers, 0.3, seed=seed)]:
        assert lookup_accuracy(answers[train].array.tolist(), answers[test].array.tolist()) == 0.5


def test_a_split_by_triplet_would_leak():
    """The check above can fail: cutting the same answers row by row lets the table look up its twins."""
    answers = grid(0)
    rows = np.random.default_rng(0).permutation(len(answers))
    assert lookup_accuracy(answers[rows[100:]].array.tolist(), answers[rows[:100]].array.tolist()) != 0.5


@settings(max_examples=40)
@given(collections, st.integers(2, 6), st.integers(0, 99))
def test_test_parts_are_a_full_partition_and_statements_stay_whole(answers, cv, seed):
    tests = []
    for train, test in kfold(answers, cv, seed=seed):
        tests.append(test)
        assert not set(train) & set(test)
        assert not set(answers.statement_ids[train]) & set(answers.statement_ids[test])
    assert np.sort(np.concatenate(tests)).tolist() == list(range(len(answers)))


@settings(max_examples=40)
@given(collections, st.integers(0, 99))
def test_training_loses_exactly_the_rows_whose_question_is_tested(answers, seed):
    asked = questions(answers.array.tolist())
    for train, test in kfold(answers, 4, seed=seed):
        tested = {asked[t] for t in test}
        left = set(range(len(answers))) - set(test)
        assert set(train) == {t for t in left if asked[t] not in tested}


def test_twins_never_part_and_repeats_of_a_trio_stay_on_one_side():
    trios = random_triplets(3, 300, 8)  # 56 trios: each recurs, with other odd ones
    for answers in (Triplets.from_odd_one_out(trios), Triplets.from_most_central(trios)):
        sides = defaultdict(set)
        for part, (_, test) in enumerate(kfold(answers, 5)):
            for row in answers[test].array.tolist():
                sides[frozenset(row)].add(part)
        assert all(len(parts) == 1 for parts in sides.values())
        train, test = holdout(answers)
        assert len(train) + len(test) == len(answers)  # by trio nothing needs to be taken out


def test_grids_are_cut_by_statement_and_lose_training_rows_only():
    answers = grid(1)
    assert (
        max(len(t) for t in trios_by_statement(answers.array.tolist(), answers.statement_ids).values()) == 8
    )
    train, test = holdout(answers, 0.25)
    assert len(set(answers.statement_ids[test])) == 15
    assert len(test) == 15 * 8
    assert len(train) + len(test) < len(answers)


def test_screens_numbered_for_each_person_are_split_as_those_numbered_for_all():
    counted, screen = grid_by_person(3)
    units = split_units(counted)
    rows = [counted.array[screen == number] for number in range(60)]
    shown = {(own[0, 0], *np.unique(own)) for own in rows}  # some screens show the same
    assert (units.kind, units.count) == ("statement", len(shown))  # not 10, each of six people
    for train, test in kfold(counted, 5, seed=1):
        assert not set(screen[train]) & set(screen[test])
    assert len(np.unique(respondents(counted.replace(participant=[""] * len(counted))))) == 60


def test_folds_are_even_and_the_share_is_kept():
    answers = Triplets.from_array(random_triplets(0, 400, 40))
    n_trios = len(np.unique(answers.trio_ids))
    sizes = [len(np.unique(answers.trio_ids[test])) for _, test in kfold(answers, 7)]
    assert max(sizes) - min(sizes) <= 1
    assert len(np.unique(answers.trio_ids[holdout(answers, 0.2).test])) == round(0.2 * n_trios)


def test_the_order_of_answers_does_not_matter_and_the_seed_does():
    answers = Triplets.from_odd_one_out(random_triplets(5, 90, 10))
    order = np.random.default_rng(0).permutation(len(answers))
    first = holdout(answers, seed=4).test
    assert np.sort(order[holdout(answers[order], seed=4).test]).tolist() == first.tolist()
    assert holdout(answers, seed=np.random.default_rng(4)).test.tolist() == first.tolist()
    assert holdout(answers, seed=5).test.tolist() != first.tolist()


def test_an_array_is_welcome():
    train, test = holdout([[0, 1, 2], [3, 1, 2], [0, 1, 3]], 0.4)
    assert sorted([*train, *test]) == [0, 1, 2]


def test_what_cannot_be_split_is_said():
    one_trio = Triplets.from_odd_one_out([[0, 1, 2], [1, 2, 0]])
    with pytest.raises(InputError, match="they hold 1 trio, too few for a training and a test set"):
        holdout(one_trio)
    with pytest.raises(InputError, match="too few for 5 folds"):
        kfold(Triplets.from_array([[0, 1, 2], [0, 1, 3]]))
    with pytest.raises(InputError, match="share: got 20, expected a number between 0 and 1"):
        holdout(one_trio, 20)
    with pytest.raises(InputError, match="cv: got 1"):
        kfold(one_trio, 1)
    with pytest.raises(InputError, match="they hold 0 different trios"):
        holdout(Triplets.from_array([]))


def test_food_splits_by_screen():
    path = DATA / "food" / "triplets.npz"
    if not path.exists():
        pytest.skip("the food data is not beside the repository")
    with np.load(path) as file:
        answers = Triplets.from_array(file["triplets"], statement=file["statement"])
    train, test = holdout(answers, 0.2, seed=0)
    # a handful of screens gave one trio only: those count as trios
    assert abs(len(np.unique(answers.statement_ids[test])) - 0.2 * 15320) < 5
    assert len(train) < len(answers) - len(test)
    assert not np.isin(answers.question_ids[train], answers.question_ids[test]).any()


def test_a_split_by_participant_does_not_go_by_their_names():
    rows = Triplets.from_array([[0, 1, 2], [0, 2, 1], [0, 1, 3], [3, 0, 2]] * 3)
    splits = []
    for names in (["ann", "bob", "cat", "dan"] * 3, ["d", "b", "a", "c"] * 3):
        named = rows.replace(participant=names, statement=np.arange(12) // 4)
        splits.append([test.tolist() for _, test in kfold(named, 2, by="participant", seed=1)])
        assert named.statement_ids.tolist() == list(range(12))
    assert splits[0] == splits[1]
