"""Every collection that ``check`` passes gets through every command: tiny, thin or contradictory ones, too."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import nearfar as nf
from nearfar.cli._app import app
from nearfar.errors import NearfarError

RUN = CliRunner()
trios = st.integers(3, 8).flatmap(
    lambda n: st.lists(st.permutations(range(n)).map(lambda order: tuple(order[:3])), min_size=1, max_size=12)
)


def invoke(*words):
    """Run a command; it may refuse in one sentence, and never ends in a traceback."""
    result = RUN.invoke(app, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, (NearfarError, SystemExit)):
        raise result.exception
    return result


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tiny")


@settings(max_examples=16)
@given(trios, st.booleans(), st.sampled_from(["auto", "score", "k1", "soe-2"]))
def test_tiny_collections_get_a_page_and_everything_else(folder, rows, people, model):
    path = folder / "answers.csv"
    lines = ["anchor,near,far" + (",participant" if people else "")]
    lines += [f"o{a},o{b},o{c}" + (f",p{t % 3}" if people else "") for t, (a, b, c) in enumerate(rows)]
    path.write_text("\n".join(lines) + "\n")
    assert invoke("check", path).exit_code == 0
    page = folder / "report.html"
    page.unlink(missing_ok=True)
    assert invoke("report", path, "-o", page).exit_code == 0
    assert "</html>" in page.read_text()
    for words in (
        ["map", path],
        ["map", path, "--model", "soe", "-n", 3],
        ["map", path, "--model", "k1"],
        ["tree", path, "--model", model],
        ["kernel", path, "--model", model],
        ["compare", path],
        ["cluster", path, "-k", 2, "--model", model],
    ):
        invoke(*words)


@pytest.mark.parametrize(
    ("people", "questions"), [(1, ["a,b,c", "a,c,d"]), (5, ["a,b,c", "a,c,d"]), (6, ["a,b,c"])]
)
def test_groups_that_cannot_be_compared_still_make_a_page(folder, people, questions):
    """One group, groups of two, or people enough and one question: the page says so."""
    path, page = folder / "groups.csv", folder / "groups.html"
    rows = [f"{question},p{p},g{p % 2}" for p in range(people) for question in questions]
    path.write_text("anchor,near,far,participant,cohort\n" + "\n".join(rows) + "\n")
    for words in (["--groups", "cohort"], ["--column", "group=cohort", "--bundle", folder / "bundle"]):
        page.unlink(missing_ok=True)
        result = invoke("report", path, "-o", page, *words)
        assert result.exit_code == 0 and "not compared" in result.stderr
        assert "Groups are not compared" in page.read_text() and ">p0<" not in page.read_text()
    listed = folder / "strangers.csv"
    listed.write_text("participant,group\nx,1\ny,2\n")
    assert invoke("report", path, "-o", page, "--groups", listed).exit_code == 1


@pytest.mark.parametrize("seed", range(3))
def test_contradictions_alone_still_make_a_page(folder, seed):
    """Every answer has its opposite: kernels know nothing, embeddings have nowhere to go."""
    rng = np.random.default_rng(seed)
    rows = [rng.permutation(5)[:3] for _ in range(6)]
    path = folder / "both.csv"
    both = [f"o{a},o{b},o{c}\no{a},o{c},o{b}" for a, b, c in rows]
    path.write_text("anchor,near,far\n" + "\n".join(both) + "\n")
    assert invoke("report", path, "-o", folder / "both.html").exit_code == 0
    assert invoke("report", path, "-o", folder / "both.html", "--model", "k1").exit_code == 0


def test_statements_that_share_their_questions_still_make_a_page(folder):
    """Two questions stand in every statement: a fold that holds the one with both out leaves nothing to train on."""
    path = folder / "shared.csv"
    lines = [
        f"a,b,{far},{statement}" for far, statement in zip("cdccccdddd", [1, 1, *range(2, 10)], strict=True)
    ]
    path.write_text("anchor,near,far,statement\n" + "\n".join(lines) + "\n")
    assert invoke("report", path, "-o", folder / "shared.html").exit_code == 0
    with pytest.raises(NearfarError, match="a fold leaves none for training, because its questions stand in"):
        nf.learning_curve(nf.read_triplets(path), "score", cv=3)
