"""``nearfar compare --groups``: as text and as JSON, from a file; and the same in an analysis."""

import json

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from nearfar import design, simulate
from nearfar.cli.compare import compare
from nearfar.errors import FileError, InputError
from nearfar.evaluate.analysis import Analysis
from nearfar.io import write_triplets
from nearfar.triplets import Triplets

N = 12
NAMES = tuple(f"<thing> {i}" for i in range(N))


@pytest.fixture(scope="module")
def study():
    """Six people who see one map and six who see it with three objects exchanged."""
    points = np.random.default_rng(3).normal(size=(N, 2))
    other = points.copy()
    other[[0, 1, 2]] = points[[1, 2, 0]]
    lists = design.booklets(design.random_questions(NAMES, 300), 12, each=4)
    parts = [
        simulate.answers(
            lists[(lists.participant > 6) == second], points=p, noise=0.2, ties="random", seed=1
        ).triplets
        for second, p in ((False, points), (True, other))
    ]
    groups = {str(p): "novices" if p > 6 else "experts" for p in range(1, 13)}
    return Triplets.concatenate(parts), groups


@pytest.fixture
def run(study, tmp_path):
    app = typer.Typer()
    app.command()(compare)
    answers, groups = study
    write_triplets(answers, tmp_path / "answers.csv")
    listed = tmp_path / "groups.csv"
    listed.write_text("participant,group\n" + "".join(f"{p},{g}\n" for p, g in groups.items()))

    def call(*arguments):
        result = CliRunner().invoke(
            app, [str(tmp_path / "answers.csv"), "--model", "soe-2", *map(str, arguments)]
        )
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == 0, result.output
        return result

    return call


def test_the_shell_compares_groups_of_a_file(run, tmp_path):
    listed = tmp_path / "groups.csv"
    said = run("--groups", listed).stdout
    assert "experts (6 people) and novices (6 people) see the objects differently: p = 0.00" in said
    assert "lead +" in said and "agreement on the same question: within experts" in said
    found = json.loads(run("--groups", listed, "--json").stdout)
    assert found["model"] == "soe-2" and found["pairs"][0]["p"] <= 0.01


def test_the_shell_compares_groups_of_a_column(run, study, tmp_path):
    path = tmp_path / "answers.csv"
    head, *rows = path.read_text().splitlines()
    at = head.split(",").index("participant")
    groups = study[1]
    path.write_text(
        "\n".join([f"{head},cohort", *(f"{row},{groups[row.split(',')[at]]}" for row in rows)]) + "\n"
    )
    said = run("--groups", "cohort").stdout
    assert "experts (6 people) and novices (6 people) see the objects differently" in said
    with pytest.raises(FileError, match="has no column 'kohort'; its columns are 'anchor'"):
        run("--groups", "kohort")


def test_what_cannot_be_compared_is_said(run, tmp_path):
    wrong = tmp_path / "wrong.csv"
    wrong.write_text("who,group\n1,a\n")
    with pytest.raises(FileError, match=r"expected the columns participant and group, got 'who', 'group'"):
        run("--groups", wrong)
    with pytest.raises(InputError, match="--groups: is written as text, as JSON, or as a figure"):
        run("--groups", tmp_path / "groups.csv", "--csv")


def test_an_analysis_knows_its_people(study):
    answers, groups = study
    analysis = Analysis(answers, "soe-2", models=["soe-2"])
    assert analysis.groups(groups).pairs[0].test.differ
    assert len(analysis.alike.people) == 12 and analysis.tastes.count in (1, 2)
    bare = Analysis(answers.replace(participant=None), "soe-2", models=["soe-2"])
    assert bare.alike is None and bare.tastes is None
