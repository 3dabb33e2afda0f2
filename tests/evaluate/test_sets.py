"""Questions asked within sets of objects, such as booklets, are recognised: nothing is known across the sets."""

import numpy as np
import pytest
from benchmarks.honesty.worlds import asked, make_world
from benchmarks.honesty.worlds_third import asked_third, make_third

from nearfar.evaluate.curve import learning_curve
from nearfar.evaluate.screens import recognise_screens
from nearfar.evaluate.sets import asked_in_sets, share_of_objects, share_of_pairs
from nearfar.evaluate.splits import split_units
from nearfar.triplets import Triplets


def naive_share(rows, n):
    """By loops, for single questions: a trio counts once for every anchor that it was asked with."""
    slots = {(tuple(sorted(row)), row[0], option) for row in rows.tolist() for option in row[1:]}
    asked_of = [sum(anchor == x for _, anchor, _ in slots) for x in range(n)]
    share = [sum(option == x for *_, option in slots) / len(slots) for x in range(n)]
    expected = sum(1 - np.exp(-asked_of[a] * share[o]) for a in range(n) for o in range(n) if a != o)
    return len({(a, o) for _, a, o in slots}) / expected


@pytest.mark.parametrize("seed", range(3))
def test_the_share_of_pairs_is_that_of_loops(seed):
    rng = np.random.default_rng(seed)
    rows = np.argsort(rng.random((200, 12)), axis=1)[:, :3]
    rows = np.concatenate(
        [rows, rows[:40], rows[40:60][:, [1, 0, 2]]]
    )  # repeats, and trios with another anchor
    assert share_of_pairs(Triplets.from_array(rows, n_objects=12)) == pytest.approx(naive_share(rows, 12))


@pytest.mark.parametrize("seed", range(3))
def test_the_share_of_objects_is_that_of_loops(seed):
    rng = np.random.default_rng(seed)
    rows = np.argsort(rng.random((120, 9)), axis=1)[:, :3]
    rows = np.concatenate([rows, rows[:30]])
    who = rng.integers(6, size=150)
    trios = {(p, tuple(sorted(row))) for p, row in zip(who.tolist(), rows.tolist(), strict=True)}
    shown = [(p, o) for p, trio in trios for o in trio]
    share = [sum(o == x for _, o in shown) / len(shown) for x in range(9)]
    slots = [sum(p == x for p, _ in shown) for x in range(6)]
    expected = sum(1 - (1 - f) ** c for c in slots for f in share)
    found = share_of_objects(Triplets.from_array(rows, participant=who))
    assert found == pytest.approx(len(set(shown)) / expected)
    assert np.isnan(share_of_objects(Triplets.from_array(rows)))


def test_overlapping_booklets_are_recognised_by_the_objects_of_each_person():
    """Ten of twelve objects: all pairs are compared, but by no person."""
    rng = np.random.default_rng(0)
    world = make_third(rng, n=12, geometry="traits", noise="own eyes")
    booklets = asked_third(world, rng, design="booklets", m=900, people=12)
    assert share_of_pairs(booklets) > 0.99 and asked_in_sets(booklets)
    assert not asked_in_sets(asked_third(world, rng, design="random", m=900, people=12))


@pytest.mark.parametrize("noise", ["jnd", "heavy"])
@pytest.mark.parametrize(("n", "m", "people"), [(30, 1500, 20), (50, 3000, 25), (100, 3000, 60)])
def test_booklets_are_sets_and_not_screens(n, m, people, noise):
    rng = np.random.default_rng(n)
    answers = asked_third(
        make_third(rng, n=n, geometry="tree", noise=noise), rng, design="booklets", m=m, people=people
    )
    assert asked_in_sets(answers) and not recognise_screens(answers).found


@pytest.mark.parametrize("design", ["random", "fixed", "landmarks", "odd", "grid", "list"])
@pytest.mark.parametrize(("n", "m"), [(20, 600), (60, 6000)])
def test_other_designs_are_not_sets(design, n, m):
    rng = np.random.default_rng(n)
    answers = asked(make_world(rng, n=n), rng, design=design, m=m)
    assert not asked_in_sets(answers)
    bare = Triplets.from_array(answers.array, n_objects=n)
    assert not asked_in_sets(bare) and (split_units(bare).kind == "pair") == (design in ("grid", "list"))


def test_a_forecast_says_that_it_is_within_the_sets():
    rng = np.random.default_rng(0)
    world = make_third(rng, n=40, geometry="circle", noise="jnd")
    booklets, random = (asked_third(world, rng, design=design, m=4000) for design in ("booklets", "random"))
    within, anywhere = (learning_curve(answers, "score", cv=3) for answers in (booklets, random))
    assert within.in_sets and "for the same sets and people" in str(within)
    assert not anywhere.in_sets and "sets" not in str(anywhere)
