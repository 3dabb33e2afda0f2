"""``nearfar compare --groups``: as text, as JSON and as a figure, from a file."""

import json

import polars as pl
import pytest
import typer
from groups_tools import two_groups
from typer.testing import CliRunner

from nearfar.cli.compare import compare
from nearfar.cli.report import report
from nearfar.errors import FileError, InputError
from nearfar.io import write_triplets


@pytest.fixture(scope="module")
def study():
    return two_groups()


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
    assert "groups differ" in said and "p = 0.00" in said
    assert "lead 1" in said and "within experts" in said
    facts = json.loads(run("--groups", listed, "--json").stdout)
    assert facts["model"] == "soe-2" and facts["pairs"][0]["p"] <= 0.01


def with_cohorts(path, groups):
    """Add a column ``cohort`` to a file of answers."""
    table = pl.read_csv(path, infer_schema=False)
    cohort = table["participant"].replace_strict(groups).alias("cohort")
    table.with_columns(cohort).write_csv(path)


def test_the_shell_compares_groups_of_a_column(run, study, tmp_path):
    with_cohorts(tmp_path / "answers.csv", study[1])
    said = run("--groups", "cohort").stdout
    assert "groups differ" in said
    with pytest.raises(FileError, match="has no column 'kohort'; its columns are 'anchor'"):
        run("--groups", "kohort")
    with pytest.raises(
        FileError, match=r"cohorts\.csv: cannot be read, there is no such file; expected a table with"
    ):
        run("--groups", "cohorts.csv")


def test_the_shell_draws_two_groups(run, tmp_path):
    assert run("--groups", tmp_path / "groups.csv", "-o", tmp_path / "two.svg").stdout == ""
    assert (tmp_path / "two.svg").stat().st_size > 2000


def test_what_cannot_be_compared_is_said(run, tmp_path):
    wrong = tmp_path / "wrong.csv"
    wrong.write_text("who,group\n1,a\n")
    with pytest.raises(FileError, match="columns named 'participant' and 'group'"):
        run("--groups", wrong)
    wrong.write_text("participant,group\n1,\n2, \n")
    with pytest.raises(FileError, match="blank"):
        run("--groups", wrong)
    for name, data in {"wrong.xlsx": b"PK\x03\x04" + bytes(50), "wrong.parquet": b"PAR1" + bytes(60)}.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(FileError, match=f"{name}: is not a readable"):
            run("--groups", tmp_path / name)
    with pytest.raises(InputError, match="--groups: is written as text, as JSON, or as a figure"):
        run("--groups", tmp_path / "groups.csv", "--csv")


@pytest.mark.filterwarnings("ignore::nearfar.errors.NearfarWarning")
def test_the_report_compares_groups_of_a_column(study, tmp_path):
    """Named alone, or as the role ``group`` too; what is not a column is said with the columns there are."""
    path = tmp_path / "answers.csv"
    write_triplets(study[0], path)
    with_cohorts(path, study[1])
    app = typer.Typer()
    app.command()(report)
    given = f"{path} --model soe-2 -o {tmp_path / 'page.html'} --json {tmp_path / 'f.json'}".split()
    result = CliRunner().invoke(app, [*given, "--column", "group=cohort"])
    assert result.exit_code == 0, result.output
    (pair,) = json.loads((tmp_path / "f.json").read_text())["groups"]["pairs"]
    assert pair["names"] == ["experts", "novices"]
    wrong = CliRunner().invoke(app, [*given, "--groups", "kohort"]).exception
    assert isinstance(wrong, FileError) and "has no column 'kohort'; its columns are" in str(wrong)
