"""``nearfar compare`` on files of answers."""

import csv
import io
import json

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from nearfar.cli.compare import compare
from nearfar.errors import FileError, InputError
from nearfar.evaluate import compare as library_compare
from nearfar.io import read_triplets


@pytest.fixture
def run():
    app = typer.Typer()
    app.command()(compare)

    def call(*arguments, **options):
        result = CliRunner().invoke(app, [str(a) for a in arguments], **options)
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return call


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """300 answers by three people about twelve points on a line; one of the three guesses."""
    rng = np.random.default_rng(0)
    lines = ["anchor,near,far,participant"]
    for t in range(300):
        a, b, c = rng.permutation(12)[:3]
        near, far = (b, c) if abs(a - b) < abs(a - c) else (c, b)
        if t % 3 == 2 and rng.random() < 0.5:
            near, far = far, near
        lines.append(f"o{a},o{near},o{far},p{t % 3}")
    path = tmp_path_factory.mktemp("compare") / "answers.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_the_table(run, answers):
    result = run(answers, "--model", "k1, score, score-2,ste-2", "--cv", 3)
    assert result.exit_code == 0
    wanted = library_compare(read_triplets(answers), ["k1", "score", "score-2", "ste-2"], cv=3)
    head = result.stdout.splitlines()
    assert head[0].startswith("300 answers about 12 objects, held out in 3 folds by trio")
    shown = {line.split("  ")[0]: line for line in head[4:8]}
    for score in wanted:
        assert f"{score.accuracy:.3f}" in shown[score.name]
    assert result.stdout.splitlines()[4].startswith(wanted.best.name)


def test_json_and_csv(run, answers, tmp_path):
    plain = json.loads(run(answers, "-m", "score,k1,score", "--json").stdout)
    assert len(plain["scores"]) == 2
    assert plain["cv"] == 5 and plain["scope"]["participants"] == "same"
    assert {row["name"] for row in plain["scores"]} == {"k1", "score"}
    table = list(csv.DictReader(io.StringIO(run(answers, "-m", "score,k1", "--csv").stdout)))
    assert [row["name"] for row in table] == [row["name"] for row in plain["scores"]]
    assert float(table[0]["accuracy"]) == pytest.approx(plain["scores"][0]["accuracy"])
    out = tmp_path / "scores.csv"
    written = run(answers, "-m", "score,k1", "--csv", "-o", out)
    assert written.stdout == "" and f"chosen: {plain['auto']['name']} (kernel) predicts" in written.stderr
    assert [row["name"] for row in csv.DictReader(io.StringIO(out.read_text()))] == [
        row["name"] for row in table
    ]
    assert run(answers, "-m", "score,k1", "--csv", "-o", out, "--quiet").stderr == ""


def test_seed_and_exclusion(run, answers, tmp_path):
    one, again, other = (run(answers, "-m", "score", "--json", "--seed", s).stdout for s in (1, 1, 2))
    accuracies = [json.loads(text)["scores"][0]["accuracy"] for text in (one, again, other)]
    assert accuracies[0] == accuracies[1] != accuracies[2]
    guessing = tmp_path / "guessing.txt"
    guessing.write_text("p2\n")
    without = json.loads(run(answers, "-m", "score", "--json", "--exclude", guessing).stdout)
    assert without["n_answers"] == 200 and without["scores"][0]["accuracy"] > max(accuracies)


def test_the_default_looks_at_everything(run, answers):
    result = json.loads(run(answers, "--json", "--cv", 2).stdout)
    names = {row["name"] for row in result["scores"]}
    assert {"k1", "score", "ckl-2", "soe-5"} <= names


def test_output_is_checked_before_the_work(run, answers, tmp_path):
    """An analysis of an unknown model fails at once, so what is said about the output was said before."""
    with pytest.raises(FileError, match="there is no directory"):
        run(answers, "-m", "k9", "-o", tmp_path / "nowhere" / "scores.csv")
    with pytest.raises(InputError, match="'k9' is not known"):
        run(answers, "-m", "k9", "-o", tmp_path / "scores.csv")
    assert not list(tmp_path.iterdir())


def test_what_is_wrong_is_said(run, answers, tmp_path):
    with pytest.raises(InputError, match="model: 'k9' is not known"):
        run(answers, "--model", "k1,k9")
    with pytest.raises(InputError, match="--json and --csv: got both"):
        run(answers, "--json", "--csv")
    with pytest.raises(FileError, match=r"nothing\.csv"):
        run(tmp_path / "nothing.csv")
    assert run(answers, "--cv", 1).exit_code == 2
    few = tmp_path / "few.csv"
    few.write_text("anchor,near,far\na,b,c\n")
    with pytest.raises(InputError, match="too few different questions to hold any of them out"):
        run(few)
