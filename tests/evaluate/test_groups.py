"""Groups of people: agreement by a naive loop, an exact test, and differences that are found where there are some."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from groups_tools import study
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import root
from scipy.sparse import csr_array

import nearfar as nf
from nearfar import design, simulate, words
from nearfar.errors import InputError
from nearfar.evaluate import groups
from nearfar.evaluate.bootstrap import Estimate
from nearfar.evaluate.ceiling import group_agreement
from nearfar.evaluate.groups import compare_groups, inner_products, permutation_test
from nearfar.evaluate.subgroups import residual_vectors, slopes
from nearfar.io.reading import groups_of
from nearfar.space.space import Space
from nearfar.triplets import Triplets

N = 14
NOT_EXCHANGEABLE = 5 / 3  # the factor of p for groups that differ in noise alone


@pytest.fixture(scope="module")
def two_views():
    """Twelve people who see one map, twelve who see it with four objects exchanged."""
    points = np.random.default_rng(3).normal(size=(N, 2))
    other = points.copy()
    other[[0, 1, 2, 3]] = points[[1, 2, 3, 0]]
    answers = Triplets.concatenate([study([points] * 12, 120, seed=1), study([other] * 12, 120, seed=2)])
    groups = {f"{s}-{p:02d}": {1: "novices", 2: "experts"}[s] for s in (1, 2) for p in range(12)}
    return answers, groups


def test_groups_that_see_differently_are_told_apart(two_views):
    found = compare_groups(*two_views, model="soe-2", n_permutations=199, n_resamples=25)
    (pair,) = found.pairs
    assert pair.names == ("experts", "novices") and pair.people == (12, 12) and pair.answers == (1440, 1440)
    assert pair.test.p == pytest.approx(NOT_EXCHANGEABLE / 200) and pair.test.differ
    for j in (0, 1):
        assert pair.accuracy[j][j].value > pair.accuracy[1 - j][j].value + 0.05
        assert pair.lead[j].low > 0
        assert pair.lead[j].value == pytest.approx(pair.accuracy[j][j].value - pair.accuracy[1 - j][j].value)
    assert len({move.name for move in pair.moves[:4]} & {"0", "1", "2", "3"}) >= 3
    sure = {move.name for move in pair.moves if move.sure}
    assert sure and sure <= {"0", "1", "2", "3"}
    assert all(move.distance >= 0 for move in pair.moves)
    assert pair.maps.shape == (2, N, 2)
    assert "groups differ" in str(found) and "p = 0.008" in str(found)
    assert pair.differ
    assert "noise only" not in str(pair)


def test_no_object_is_said_to_move_where_it_may_be_noise(two_views, monkeypatch):
    """The test says that the groups differ, but the map of one predicts both better: nothing is claimed, of one pair or of many."""
    unsure = (Estimate(0.7), Estimate(0.7))
    monkeypatch.setattr(
        groups, "_each_others", lambda *_: ((unsure, unsure), (Estimate(0.02), Estimate(-0.01)))
    )
    compared = compare_groups(*two_views, model="soe-2", n_permutations=199, n_resamples=25)
    (pair,) = compared.pairs
    assert pair.test.differ and not pair.differ
    assert "noise only" in str(pair) and "They differ" not in str(pair)
    many = words.group_comparison(replace(compared, pairs=(pair, pair)))
    assert many.short == "0 of 2 pairs differ"
    assert pair.moves and not any(move.sure for move in pair.moves)


def test_of_very_many_people_some_are_tested(two_views, monkeypatch):
    """Memory of the test grows with the square of the people that it deals, so these are bounded and named."""
    monkeypatch.setattr(groups, "MAX_TESTED", 10)
    (pair,) = compare_groups(*two_views, model="soe-2", n_permutations=99, n_resamples=2).pairs
    assert pair.test.people == 10 and pair.people == (12, 12)
    assert "of 10 participants drawn at random" in str(pair)


def test_one_view_dealt_into_two_groups_does_not_differ():
    points = np.random.default_rng(4).normal(size=(N, 2))
    answers = study([points] * 24, 40, seed=5)
    groups = {f"5-{p:02d}": "odd" if p % 2 else "even" for p in range(24)}
    (pair,) = compare_groups(answers, groups, model="soe-2", n_permutations=99, n_resamples=19).pairs
    assert not pair.test.differ and not pair.test.questions_differ
    assert all(lead.low < 0 < lead.high for lead in pair.lead)
    assert not any(move.sure for move in pair.moves)
    assert "do not differ" in str(pair)


def test_p_is_corrected_for_the_number_of_pairs():
    answers = study([np.random.default_rng(4).normal(size=(N, 2))] * 18, 40, seed=5)
    names = [str(name) for name in answers.participant.names.tolist()]
    groups = {name: "abc"[i % 3] for i, name in enumerate(names)}
    settings = {"model": "soe-2", "n_permutations": 49, "n_resamples": 2}
    three = {pair.names: pair.test for pair in compare_groups(answers, groups, **settings).pairs}
    assert len(three) == 3
    for pair, test in three.items():
        (two,) = compare_groups(answers, {k: g for k, g in groups.items() if g in pair}, **settings).pairs
        assert test.p == min(1.0, 3 * two.test.p) and (test.pairs, two.test.pairs) == (3, 1)


def test_some_p_is_below_the_level_however_many_groups_there_are():
    answers = study([np.random.default_rng(4).normal(size=(5, 2))] * 27, 6, seed=5)
    names = [str(name) for name in answers.participant.names.tolist()]
    groups = {name: "abcdefghi"[i % 9] for i, name in enumerate(names)}
    found = compare_groups(answers, groups, model="score", n_resamples=2).pairs
    assert len(found) == 36
    for pair in found:
        assert pair.test.pairs * NOT_EXCHANGEABLE / (1 + pair.test.permutations) < 0.05


def test_care_is_not_another_view():
    """One group answers with much noise; what they see is the same."""
    points = np.random.default_rng(4).normal(size=(N, 2))
    ps = []
    for seed in range(10):
        careful, careless = (
            study([points] * 8, 60, seed=10 * seed + k, noise=noise) for k, noise in ((1, 0.1), (2, 0.9))
        )
        both = Triplets.concatenate([careful, careless])
        people, _, left = residual_vectors(both, Space.of_points(points, both.objects))
        member = (np.arange(16) >= 8).astype(int)
        names = [str(both.participant.names[c]) for c in people]
        assert [name.split("-")[0] == str(10 * seed + 2) for name in names] == member.astype(bool).tolist()
        ps.append(permutation_test(inner_products(left), member, 199, seed).p)
    assert np.mean(np.array(ps) <= 0.05) <= 0.2 and np.mean(ps) > 0.3


def test_groups_with_questions_of_their_own_get_no_verdict():
    points = np.random.default_rng(4).normal(size=(N, 2))
    parts = []
    for group in (0, 1):
        pool = design.random_questions(N, 60, seed=group)
        for p in range(8):
            said = simulate.answers(pool, points=points, noise=0.3, seed=[group, p]).triplets
            parts.append(said.replace(participant=[f"{group}-{p}"] * len(said)))
    groups = {f"{g}-{p}": f"list {g}" for g in (0, 1) for p in range(8)}
    (pair,) = compare_groups(
        Triplets.concatenate(parts), groups, model="soe-2", n_permutations=99, n_resamples=3
    ).pairs
    assert pair.test.questions_differ and not pair.test.differ and pair.moves == ()
    assert "different questions" in str(pair)


# ---------------------------------------------------------------- agreement


@st.composite
def small_studies(draw):
    rows = st.tuples(st.integers(0, 4), st.booleans(), st.integers(0, 5))
    given_rows = draw(st.lists(rows, min_size=1, max_size=25))
    questions = [(0, 1, 2), (0, 1, 3), (1, 2, 3), (4, 0, 1), (2, 3, 4)]
    array = [[a, *((i, j) if first else (j, i))] for q, first, _ in given_rows for a, i, j in [questions[q]]]
    people = [p for _, _, p in given_rows]
    return Triplets.from_array(array, n_objects=5, participant=people), np.array([p % 2 for p in people])


@given(small_studies())
def test_agreement_is_that_of_a_loop_over_pairs(case):
    answers, group = case
    firsts = {}
    for (a, i, j), p, g in zip(
        answers.array.tolist(), np.asarray(answers.participant).tolist(), group, strict=True
    ):
        firsts.setdefault(((a, *sorted((i, j))), p), (i, g))
    by_question = {}
    for (question, _), said in firsts.items():
        by_question.setdefault(question, []).append(said)
    shares = [[], [], []]
    for said in by_question.values():
        pairs = [[], [], []]
        for (i, g), (j, h) in combinations(said, 2):
            pairs[2 if g != h else g].append(i == j)
        for kind in range(3):
            if pairs[kind]:
                shares[kind].append(np.mean(pairs[kind]))
    found = group_agreement(answers, group)
    if any(not values for values in shares):
        assert found is None
        return
    assert found == pytest.approx([np.mean(values) for values in shares])


def test_odd_one_out_agrees_on_the_odd_one():
    """Two people agree on 1 of 3 trios; by rows of triplets they would agree on 2 of 4 shared questions."""
    trios = [[0, 1, 2], [0, 1, 2], [3, 4, 5], [3, 5, 4], [1, 3, 5], [3, 5, 1]]
    answers = Triplets.from_odd_one_out(trios, participant=[0, 1] * 3)
    found = group_agreement(answers, np.repeat([0, 1] * 3, 2))
    assert found is None  # nobody to agree with within a group
    more = Triplets.from_odd_one_out(trios * 2, participant=[0, 1] * 3 + [2, 3] * 3)
    found = group_agreement(more, np.repeat([0, 1] * 6, 2))
    assert found == pytest.approx([1, 1, 1 / 3])


# ---------------------------------------------------------------- pieces


def test_the_test_is_exact_under_exchangeability():
    rng = np.random.default_rng(0)
    ps = []
    for seed in range(300):
        vectors = rng.normal(size=(9, 5)) + rng.normal(size=5)
        ps.append(
            permutation_test(inner_products(csr_array(vectors)), np.repeat([0, 1], [4, 5]), 39, seed).p
            / NOT_EXCHANGEABLE
        )
    assert abs(np.mean(np.array(ps) <= 0.05) - 0.05) < 0.035
    assert abs(np.mean(np.array(ps) <= 0.5) - 0.5) < 0.1


def test_a_small_careless_group_is_not_called_different():
    """Not exchangeable, but of the same mean; without the standard error 0.29 of these are called different."""
    rng = np.random.default_rng(0)
    ps = []
    for seed in range(300):
        vectors = rng.normal(size=(36, 40)) * np.repeat([1.0, 3.0], [30, 6])[:, None]
        ps.append(
            permutation_test(inner_products(csr_array(vectors)), np.repeat([0, 1], [30, 6]), 99, seed).p
        )
    assert np.mean(np.array(ps) <= 0.05) < 0.05


def test_the_statistic_is_the_distance_between_group_means():
    """Compared with every deal of six people into three and three, by the definition, without what all have in common."""
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(6, 4)) + np.array([9.0, 0, 0, 0])
    vectors[3:] += 0.8
    gram = inner_products(csr_array(vectors))
    far = root(lambda a: a * (a.sum() - a) - gram.sum(axis=1), np.full(6, 9.0)).x
    left = gram - np.outer(far, far)

    def apart(second):
        first = [p for p in range(6) if p not in second]
        within = [np.mean([left[p, q] for p in own for q in own if p != q]) for own in (first, second)]
        variance = sum(  # Chen and Qin (2010), section 3
            2 / (len(own) * (len(own) - 1)) * np.mean([left[p, q] ** 2 for p in own for q in own if p != q])
            for own in (first, second)
        ) + 4 / 9 * np.mean([left[p, q] ** 2 for p in first for q in second])
        return (sum(within) - 2 * np.mean([left[p, q] for p in first for q in second])) / np.sqrt(variance)

    deals = [apart(second) for second in combinations(range(6), 3)]
    exact = np.mean(np.array(deals) >= apart((3, 4, 5)) - 1e-9)
    found = permutation_test(gram, np.array([0, 0, 0, 1, 1, 1]), 4999, 0).p
    assert found == pytest.approx(NOT_EXCHANGEABLE * exact, abs=0.03)


def test_slopes_maximise_the_likelihood():
    rng = np.random.default_rng(0)
    margin = rng.normal(size=4000)
    person = rng.integers(2, size=4000)
    true = np.array([0.5, 3.0])
    margin *= np.where(rng.random(4000) < 1 / (1 + np.exp(-true[person] * margin)), 1, -1)
    assert slopes(margin, person) == pytest.approx(true, rel=0.15)


# ---------------------------------------------------------------- what is wrong


def test_groups_of_two_columns():
    assert groups_of([(1, "a"), (2, None), (1, "a ")]) == {"1": "a"}
    with pytest.raises(InputError, match="groups: '1' is in two groups, 'a' and 'b'"):
        groups_of([(1, "a"), (1, "b")])


def test_what_cannot_be_compared_is_said(two_views):
    answers, who = two_views
    with pytest.raises(InputError, match="do not say who gave them; add a column participant"):
        compare_groups(answers.replace(participant=None), who)
    with pytest.raises(InputError, match="got none; participants are called"):
        compare_groups(answers, {"ann": "x"})
    with pytest.raises(InputError, match="among the 24 people who answered, got experts;"):
        compare_groups(answers, {p: g for p, g in who.items() if g == "experts"})
    with pytest.raises(InputError, match="'alone' has 1 person; expected at least 3 in each group"):
        compare_groups(answers, who | {"1-00": "alone"})
    some = {p: g for p, g in who.items() if p not in ("1-00", "2-00")}
    assert compare_groups(answers, some, model="soe-2", n_permutations=9, n_resamples=2).left_out == 2


def test_the_default_is_the_model_that_the_analysis_chooses(two_views):
    found = compare_groups(*two_views, n_permutations=9, n_resamples=2)
    assert found.model == nf.analyse(two_views[0]).best.name


@pytest.mark.parametrize(("apart", "differ"), [(0.0, False), (1.0, True)])
def test_a_group_that_only_goes_less_far_where_all_go_is_not_different(apart, differ):
    """All miss the same on the map; the second group is less sharp, and in the second case sees something else, too."""
    rng = np.random.default_rng(3)
    common, other = np.eye(40)[:2]
    sharp = np.repeat([6.0, 2.0], 12)
    vectors = sharp[:, None] * common + 0.5 * rng.standard_normal((24, 40))
    vectors[12:] += apart * other
    found = permutation_test(inner_products(csr_array(vectors)), np.repeat([0, 1], 12), 199, 0)
    assert found.differ is differ
