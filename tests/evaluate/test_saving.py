"""What adaptive questions save, and intervals that hold at any time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nearfar import design, words
from nearfar.design import Scheme
from nearfar.errors import InputError
from nearfar.evaluate.bootstrap import Estimate
from nearfar.evaluate.planned_saving import expected_saving
from nearfar.evaluate.saving import Saving, at_any_time, saving
from nearfar.evaluate.simulated import Assumptions
from nearfar.triplets import Triplets

N, PER_PERSON = 24, 60


def study(people: int = 40, *, same_anchor: bool = False, seed: int = 0) -> tuple[Triplets, set[str]]:
    """Every fourth participant is of the control arm; the others get adaptive questions, or bad ones about one anchor."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(N, 2))
    rows, who, rules = [], [], []
    used: Any = []
    for person in range(people):
        asked = np.argsort(rng.random((PER_PERSON, N)), axis=1)[:, :3]
        drawn = rng.random(PER_PERSON) < (1.0 if person % 4 == 0 else 0.2)
        if not drawn.all():
            if same_anchor:
                chosen = np.insert(
                    1 + np.argsort(rng.random((PER_PERSON, N - 1)), axis=1)[:, :2], 0, 0, axis=1
                )
            else:
                chosen = design.next_questions(used, N, PER_PERSON, seed=rng).questions.array
            asked = np.where(drawn[:, None], asked, chosen)
        one, other = (np.linalg.norm(points[asked[:, 0]] - points[asked[:, k]], axis=1) for k in (1, 2))
        first = rng.random(PER_PERSON) < 1 / (1 + np.exp(-6 * (other - one)))
        said = np.where(first[:, None], asked, asked[:, [0, 2, 1]])
        rows.append(said)
        used = [*used, *said[~drawn].tolist()]
        who += [f"p{person}"] * PER_PERSON
        rules += np.where(drawn, "random", "adaptive").tolist()
    answers = Triplets.from_array(np.concatenate(rows), n_objects=N, participant=who, rule=rules)
    return answers, {f"p{person}" for person in range(0, people, 4)}


@pytest.fixture(scope="module")
def helped() -> tuple[Triplets, set[str]]:
    return study()


def test_the_saving_has_an_interval_around_it_and_counts_both_arms(helped: tuple[Triplets, set[str]]) -> None:
    found = saving(*helped)
    assert found is not None and found.times is not None
    assert found.times.low < found.times.value < found.times.high
    assert found.difference.low < found.difference.value < found.difference.high
    assert (found.n_control, found.n_adaptive) == (10, 30)
    assert 500 < found.n_answers < 1000
    assert not found.harms
    assert found.to_dict()["times"]["value"] == found.times.value


def test_questions_about_one_anchor_harm() -> None:
    found = saving(*study(same_anchor=True))
    assert found is not None and found.harms and found.difference.value < -0.05
    assert "switched off" in words.saving(found)


def test_the_order_of_the_rows_does_not_matter_where_times_are_known(
    helped: tuple[Triplets, set[str]],
) -> None:
    answers, control = helped
    rows = np.random.default_rng(1).permutation(len(answers))
    columns = {"participant": np.asarray(answers.participant), "rule": np.asarray(answers.rule)}
    shuffled = Triplets.from_array(
        answers.array[rows],
        n_objects=N,
        answered_at=rows.astype(float),
        **{name: values[rows] for name, values in columns.items()},
    )
    one, other = saving(answers, control), saving(shuffled, control)
    assert one is not None and other is not None
    assert other.difference.value == pytest.approx(one.difference.value, abs=0.02)


def test_models_are_fitted_to_others_and_to_two_halves_of_them(
    helped: tuple[Triplets, set[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without this the spread between halves, and with it the interval, would be too small."""
    answers, control = helped
    assert answers.participant is not None
    who, fits = answers.participant.codes, []

    def credits(_: Triplets, rows: Any, test: Any) -> Any:
        fits.append(rows)
        assert not set(who[rows]) & set(who[test])
        assert not set(answers.trio_ids[rows]) & set(answers.trio_ids[test])
        return np.random.default_rng(len(fits)).random(len(test))

    monkeypatch.setattr("nearfar.evaluate.saving._credits", credits)
    saving(answers, control)
    for start in range(0, len(fits), 6):
        for whole, *halves in ((0, 2, 3), (1, 4, 5)):
            first, second = (fits[start + half] for half in halves)
            assert not set(who[first]) & set(who[second])
            assert sorted([*first, *second]) == sorted(fits[start + whole])
        assert len(fits[start]) == len(fits[start + 1])


def test_too_few_participants_or_answers_tell_nothing(helped: tuple[Triplets, set[str]]) -> None:
    answers, control = helped
    assert saving(answers, sorted(control)[:3]) is None
    assert saving(answers[:PER_PERSON], control) is None
    assert saving(Triplets.from_array(answers.array), control) is None
    assert "Not enough data" in words.saving(None)


def test_the_sentence_has_the_interval() -> None:
    told = words.saving(Saving(Estimate(1.4, 1.1, 1.8), Estimate(0.01, -0.01, 0.03), 500, 30, 10))
    assert "1.4" in told and "1.1 to 1.8" in told


def test_an_interval_of_any_time_is_wider_and_narrowest_at_its_aim() -> None:
    estimate = Estimate(0.8, 0.78, 0.81)
    widths = [at_any_time(estimate, n, 50).high - at_any_time(estimate, n, 50).low for n in (10, 50, 400)]
    assert min(widths) == widths[1] > 0.03
    wide = at_any_time(estimate, 50, 50)
    assert (0.8 - wide.low) / (wide.high - 0.8) == pytest.approx(2)


@pytest.mark.parametrize(("level", "errors"), [(0.95, 1.96), (0.9, 1.645)])
def test_an_interval_of_any_time_holds_at_all_looks(level: float, errors: float) -> None:
    """A running mean of 10 to 400 participants: the usual interval misses at some look far more often."""
    rng = np.random.default_rng(0)
    missed = np.zeros((300, 2), dtype=bool)
    for study_number in range(300):
        values = rng.normal(size=400)
        for n in range(10, 401, 10):
            mean, half = values[:n].mean(), errors * values[:n].std(ddof=1) / np.sqrt(n)
            fixed = Estimate(mean, mean - half, mean + half)
            wide = at_any_time(fixed, n, 100, level=level)
            missed[study_number] |= [not each.low <= 0 <= each.high for each in (fixed, wide)]
    assert missed[:, 0].mean() > 0.15
    assert missed[:, 1].mean() <= 1 - level


def test_adaptive_questions_are_switched_off_by_the_level_of_their_interval() -> None:
    """A 90 % interval takes more to hold at every look than one of 95 % does, in its own widths."""
    for value, harms in ((-0.016, False), (-0.018, True)):
        found = Saving(None, Estimate(value, value - 0.01, value + 0.01), 500, 30, 10)
        assert found.harms is harms


def test_a_planned_study_is_simulated_with_both_kinds_of_questions() -> None:
    told = expected_saving(10, 6, Scheme(), Assumptions(agreement=0.85), per_person=20)
    assert told.n_answers == 120 and told.times.low <= told.times.value <= told.times.high
    assert 0.5 < told.random < 1 and 0.5 < told.adaptive < 1
    assert told == expected_saving(10, 6, Scheme(), Assumptions(agreement=0.85), per_person=20)
    with pytest.raises(InputError, match="landmarks"):
        expected_saving(10, 6, Scheme("near", "k1", 4), Assumptions())
    with pytest.raises(InputError, match="per_person"):
        expected_saving(10, 6, Scheme(), Assumptions(), per_person=0)
    told = expected_saving(10, 2, Scheme(), Assumptions(agreement=0.501), per_person=4)
    assert told.times is None and "differ too much" in str(told)
    # more than four times in one of the four, which was printed as "up to 4.0"
    assert expected_saving(6, 6, Scheme(), Assumptions(2, 0.75), per_person=8, seed=1).times is None
