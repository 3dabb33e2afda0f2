"""What people and minutes buy: the counts are exact, and the interval shrinks with participants."""

import pytest

from nearfar.design import Scheme
from nearfar.errors import InputError
from nearfar.evaluate.advice import Assumptions
from nearfar.evaluate.forecast import CARELESS, _abilities, forecast


@pytest.fixture(scope="module")
def told():
    return forecast(20, 12, Scheme(), Assumptions(minutes=4, pay=15), each=3)


def test_the_counts_follow_from_minutes_and_people(told):
    assert told.per_person == 4 * 60 / 3 and told.checks == 3
    assert told.n_new + told.n_again + told.checks == told.per_person
    assert told.questions == 12 * told.n_new // 3 and told.each == pytest.approx(3)
    (yours,) = [row for row in told.rows if row.people == 12]
    assert yours.answers == 12 * told.per_person and yours.cost == pytest.approx(12 * 4 / 60 * 15)


def test_more_participants_give_a_narrower_interval_and_stay_below_the_ceiling(told):
    widths, accuracies = [row.half_width for row in told.rows], [row.accuracy for row in told.rows]
    assert widths == sorted(widths, reverse=True) and accuracies == sorted(accuracies)
    assert 0.5 < accuracies[-1] <= told.ceiling < 1


def test_a_small_pool_is_asked_more_often():
    told = forecast(5, 8, Scheme("odd"), Assumptions(minutes=0.5), checks=0, again=0)
    assert (told.n_new, told.questions, told.each) == (7, 10, 5.6)
    with pytest.raises(InputError, match="minutes"):
        forecast(5, 8, Scheme("odd"), Assumptions())
    with pytest.raises(InputError, match="at least 4"):
        forecast(3, 4, Scheme(), Assumptions())


def test_abilities_differ_and_one_in_ten_is_careless():
    import numpy as np

    noises, flips = _abilities(50, Assumptions(), np.random.default_rng(0))
    assert (flips == 0.5).sum() == CARELESS * 50 and noises.max() > 3 * noises.min()
