"""Bare triplets that came from screens are recognised, named, and split so that they do not leak."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from benchmarks.honesty.worlds import asked, make_world

from nearfar.errors import InputError, ScreenWarning
from nearfar.evaluate.analysis import Analysis
from nearfar.evaluate.collection import are_screens, screen_runs
from nearfar.evaluate.crossval import pair_memory_credits
from nearfar.evaluate.splits import holdout, kfold, split_units
from nearfar.triplets import Triplets

DATA = Path(__file__).parents[3] / "shared" / "data"
SIZES = [(30, 1000), (100, 4000)]


def world(n, noise, seed=0):
    rng = np.random.default_rng([seed, n])
    return make_world(rng, n=n, noise=noise), rng


@pytest.mark.parametrize("noise", ["none", "flips", "logistic", "tastes", "guessing"])
@pytest.mark.parametrize(("n", "m"), SIZES)
@pytest.mark.parametrize("design", ["random", "fixed", "landmarks", "odd"])
def test_independent_questions_are_not_screens(design, n, m, noise):
    people, rng = world(n, noise)
    answers = asked(people, rng, design=design, m=m, columns=False).replace(statement=None)
    assert not are_screens(answers)
    assert split_units(answers).kind == "trio"


@pytest.mark.parametrize("noise", ["none", "logistic", "tastes", "guessing"])
@pytest.mark.parametrize(("n", "m"), [*SIZES, (100, 20_000)])
@pytest.mark.parametrize("design", ["grid", "list"])
def test_screens_are_recognised_without_their_statements(design, n, m, noise):
    people, rng = world(n, noise)
    answers = asked(people, rng, design=design, m=m, columns=False)
    shuffled = answers[rng.permutation(len(answers))]
    for given in (answers, shuffled):
        assert are_screens(given)
        with pytest.warns(ScreenWarning, match="lost their statement ids"):
            parts = list(kfold(given, 5))
        runs = screen_runs(given)
        assert (runs is None) == (given is shuffled)
        pairs = given.anchor.astype(np.int64) * n + given.near
        whole = pairs if runs is None else runs
        for train, test in parts:
            assert not np.isin(whole[train], whole[test]).any()
            assert not np.isin(given.question_ids[train], given.question_ids[test]).any()
        assert np.sort(np.concatenate([test for _, test in parts])).tolist() == list(range(len(given)))


@pytest.mark.parametrize("design", ["grid", "list"])
@pytest.mark.parametrize("noise", ["flips", "abilities"])
def test_many_noisy_screens_are_recognised(design, noise):
    people, rng = world(22, noise)
    answers = asked(people, rng, design=design, m=9000, columns=False)
    assert are_screens(answers)


def test_a_sorted_file_of_single_questions_is_not_taken_for_screens():
    people, rng = world(20, "logistic")
    answers = asked(people, rng, m=6000, columns=False)
    order = np.lexsort((answers.far, answers.near, answers.anchor))
    assert not are_screens(answers[order])


def test_rankings_are_recognised():
    people, rng = world(60, "logistic")
    rows = []
    for _ in range(200):
        anchor, *options = rng.permutation(60)[:7].tolist()
        far = np.linalg.norm(people.points[0][options] - people.points[0][anchor], axis=1)
        order = np.array(options)[np.argsort(far + rng.gumbel(size=6) / people.slope)]
        rows += [[anchor, order[i], order[j]] for i, j in combinations(range(6), 2)]
    assert are_screens(Triplets.from_array(rows, n_objects=60))
    assert are_screens(Triplets.from_array(rng.permutation(rows), n_objects=60))


def test_statements_that_are_known_are_used_and_few_answers_say_nothing():
    people, rng = world(30, "logistic")
    answers = asked(people, rng, design="grid", m=1000)
    assert split_units(answers).kind == "statement"
    assert not are_screens(Triplets.from_array([[0, 1, 2], [0, 1, 3], [0, 1, 4]]))
    assert not are_screens(Triplets.from_array([]))


@pytest.mark.parametrize(("by", "ids"), [("anchor", "anchor"), ("participant", "participant")])
def test_splits_by_anchor_and_by_participant(by, ids):
    people, rng = world(30, "logistic")
    answers = asked(people, rng, m=600, people=12)
    own = answers.anchor if ids == "anchor" else answers.participant.codes
    for train, test in [*kfold(answers, 3, by=by), holdout(answers, 0.3, by=by)]:
        assert not np.isin(own[train], own[test]).any()
        assert len(train) + len(test) == len(answers)


def test_what_cannot_be_split_by_is_said():
    answers = Triplets.from_array([[0, 1, 2], [1, 2, 0]])
    with pytest.raises(InputError, match="by participant needs answers with participants"):
        split_units(answers, "participant")
    with pytest.raises(InputError, match="'colour' is not a way to split; expected one of trio"):
        split_units(answers, "colour")
    with pytest.raises(InputError, match="1 anchor, too few for 2 folds"):
        kfold(Triplets.from_array([[0, 1, 2], [0, 1, 3]]), 2, by="anchor")


def naive_rate(rows, anchor, option):
    won = sum(a == anchor and i == option for a, i, _ in rows)
    lost = sum(a == anchor and j == option for a, _, j in rows)
    return (won + 1) / (won + lost + 2)


def test_pair_memory_equals_the_oracle_and_exposes_a_leak():
    people, rng = world(30, "logistic")
    answers = asked(people, rng, design="list", m=700, columns=False)
    train, test = split = holdout(answers, 0.1, by="trio")
    rows = answers[train].array.tolist()
    lead = [naive_rate(rows, a, i) - naive_rate(rows, a, j) for a, i, j in answers[test].array.tolist()]
    assert pair_memory_credits(answers, [split])[test].tolist() == ((1 + np.sign(lead)) / 2).tolist()
    leaking = pair_memory_credits(answers, kfold(answers, 5, by="trio")).mean()
    honest = pair_memory_credits(answers, kfold(answers, 5, by="pair")).mean()
    assert leaking > 0.9 and honest < 0.65


def test_what_is_declared_is_not_guessed():
    rng = np.random.default_rng(0)
    lists = np.array([[a, b, x] for a, b, *rest in np.argsort(rng.random((90, 30)))[:, :9] for x in rest])
    answers = Triplets.from_array(rng.permutation(lists), n_objects=30)
    with pytest.warns(ScreenWarning):
        assert Analysis(answers, models=["score"]).units.kind == "pair"
    assert Analysis(answers, models=["score"], design="random").units.kind == "trio"  # and no warning
    for design in ("blocked", "adaptive"):  # which may have screens, too
        with pytest.warns(ScreenWarning):
            assert Analysis(answers, models=["score"], design=design).units.kind == "pair"
    single = np.argsort(rng.random((400, 30)))[:, :3]
    with pytest.warns(ScreenWarning):
        screens = Analysis(single, models=["score"], design="screens").units
    assert screens.kind == "pair" and screens.screens


def test_rows_of_one_screen_that_follow_each_other_are_one_statement():
    """As good as the lost ids; not in a sorted file, and not where single questions happen to share an anchor."""
    people, rng = world(30, "logistic")
    answers = asked(people, rng, design="grid", m=2000)
    bare = answers.replace(statement=None, participant=None)
    units = split_units(bare)
    assert units.kind == "statement" and units.screens
    assert (
        abs(units.count - len(np.unique(answers.statement_ids))) <= 0.06 * units.count
    )  # neighbours with one anchor are joined
    single = asked(people, rng, m=2000, columns=False)
    for order in (np.lexsort((single.far, single.near, single.anchor)), np.arange(len(single))):
        assert screen_runs(single[order]) is None


@pytest.mark.skipif(not DATA.exists(), reason="needs the shared data")
def test_real_sets():
    for name, key, n, screens in (
        ("musicians", "triplets", 412, True),
        ("food", "triplets", 100, True),
        ("car", "triplets", 60, False),
    ):
        rows = np.load(DATA / name / "triplets.npz")[key].astype(int)
        rows = rows[(rows[:, 0] != rows[:, 1]) & (rows[:, 0] != rows[:, 2]) & (rows[:, 1] != rows[:, 2])]
        assert are_screens(Triplets.from_array(rows, n_objects=n)) == screens
    odd = np.load(DATA / "things" / "things_test10.npz")["odd_one_out"]
    assert not are_screens(Triplets.from_odd_one_out(odd).replace(statement=None))


@pytest.mark.parametrize("guess", [0.3, 1.0])
def test_shuffled_rows_of_very_many_noisy_screens_are_recognised_by_their_counts(guess):
    rng = np.random.default_rng(0)
    place, rows = rng.normal(size=(20, 2)), []
    for _ in range(1000):
        anchor, *options = rng.permutation(20)[:7].tolist()
        far = np.linalg.norm(place[options] - place[anchor], axis=1)
        order = rng.permutation(6) if rng.random() < guess else np.argsort(far)
        options = np.array(options)[order].tolist()
        rows += [[anchor, i, j] for i in options[:2] for j in options[2:]]
    shuffled = Triplets.from_array(rng.permutation(rows), n_objects=20)
    assert are_screens(shuffled)


def test_single_questions_that_come_twice_are_not_screens():
    """A few pairs are asked about again and again, as adaptive questions are, and the file is joined with itself."""
    rng = np.random.default_rng(1)
    anchor = rng.integers(20, size=4000)
    near, far = ((anchor + 1 + rng.geometric(0.25, size=4000)) % 20 for _ in range(2))
    kept = (near != far) & (near != anchor) & (far != anchor)
    rows = np.stack([anchor, near, far], axis=1)[kept]
    assert not are_screens(Triplets.from_array(np.concatenate([rows, rows]), n_objects=20))
    trios = np.argsort(rng.random((900, 40)))[:, :3]
    again = np.where(
        rng.random((900, 1)) < 0.96, trios, trios[:, [0, 2, 1]]
    )  # planned repeats, nearly all alike
    assert not are_screens(Triplets.from_array(np.concatenate([trios, again]), n_objects=40))


@pytest.mark.parametrize(("n", "size", "people", "m"), [(24, 6, 30, 900), (40, 10, 25, 1500)])
def test_everybodys_own_few_objects_are_not_screens(n, size, people, m):
    """People who are sure are transitive, and where sets are well filled nearly every pair comes up, whatever the design."""
    flags = []
    for seed in range(20):
        rng = np.random.default_rng([seed, n])
        place, sets = rng.normal(size=(n, 2)), np.argsort(rng.random((people, n)), axis=1)[:, :size]
        active = rng.pareto(1.3, size=people) + 1
        who = rng.choice(people, size=m, p=active / active.sum())
        rows = np.take_along_axis(sets[who], np.argsort(rng.random((m, size)), axis=1)[:, :3], axis=1)
        near, far = (np.linalg.norm(place[rows[:, 0]] - place[rows[:, c]], axis=1) for c in (1, 2))
        rows = np.where((rng.logistic(size=m) / 4 > far - near)[:, None], rows[:, [0, 2, 1]], rows)
        flags.append(are_screens(Triplets.from_array(rows, n_objects=n)))
    assert sum(flags) == 0
