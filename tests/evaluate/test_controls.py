"""Control questions, asked far more often than the others: models use them, and what shows the answers says so."""

import re

import numpy as np
import pytest
from cli_tools import run

import nearfar as nf
from nearfar.evaluate.collection import control_rows, controls_text
from nearfar.io import write_triplets
from nearfar.triplets import Triplets

POINTS = np.random.default_rng(0).normal(size=(30, 2))


def collection(times=146, m=900):
    """Single questions about points of a plane, and one control question that everybody got."""
    rng = np.random.default_rng(1)
    rows = np.concatenate([np.argsort(rng.random((m, 30)), axis=1)[:, :3], np.tile([[0, 1, 2]], (times, 1))])
    d = np.linalg.norm(POINTS[rows[:, :1]] - POINTS[rows[:, 1:]], axis=2)
    turned = d[:, 0] > d[:, 1]
    rows[turned] = rows[turned][:, [0, 2, 1]]
    return Triplets.from_array(rows, n_objects=30)


@pytest.mark.parametrize("m", [0, 1, 8, 9, 10, 11])
def test_few_answers_hold_no_control_question(m):
    assert not control_rows(Triplets.from_array([[0, 1, 2]] * m, n_objects=3)).any()


def test_the_sentence_counts_questions_and_answers():
    asked = int(control_rows(collection()).sum())
    assert re.match(rf"1 question was .* \({asked} answers\)", controls_text(collection()))
    assert controls_text(collection(times=0)) == ""


def test_adaptive_questions_that_come_often_are_no_controls() -> None:
    answers = collection()
    chosen = np.where(control_rows(answers), "adaptive", "random")
    assert controls_text(Triplets.from_array(answers.array, answers.objects, rule=chosen)) == ""


def test_every_answer_counts_in_a_model_that_is_named_or_chosen():
    answers = collection()
    chosen = nf.fit(answers)
    assert np.array_equal(chosen.rows, nf.fit(answers, chosen.model).rows)
    exact = nf.kernel_matrix(answers, "score", diagonal="keep")
    np.testing.assert_allclose(nf.fit(answers, "score").kernel("keep"), exact, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    ("command", "options"), [("check", []), ("compare", ["-m", "score"]), ("report", ["-m", "score"])]
)
def test_commands_say_it(command, options, tmp_path, monkeypatch, capsys):
    answers, page = tmp_path / "answers.csv", tmp_path / "page.html"
    write_triplets(collection(m=300), answers)
    options = [*options, "-o", page] if command == "report" else options
    code, out, err = run(monkeypatch, capsys, command, answers, *options)
    told = page.read_text() if command == "report" else out + err
    assert code == 0 and "1 question was asked far more often" in " ".join(told.split())
