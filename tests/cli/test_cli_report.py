"""``nearfar report`` and its bundle: what is written, where, and what is said on the way."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from cli_tools import run
from report_tools import HOSTILE, answers, hostile_report, paint

from nearfar import fit, kernel_matrix, read_triplets, write_triplets
from nearfar.io import read_objects
from nearfar.report.make import make_report


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A folder as a scientist has it: answers, pictures, a list of objects, somebody to leave out."""
    folder = tmp_path_factory.mktemp("study")
    given = answers(m=600)
    write_triplets(given, folder / "answers.csv")
    paint(folder / "pictures", given.objects)
    rows = [f"{name},Thing {i}!,{name}.png,{'ab'[i // 6]}" for i, name in enumerate(given.objects)]
    (folder / "objects.csv").write_text("\n".join(["object,display_name,image,group", *rows]) + "\n")
    (folder / "out.txt").write_text("worker-5\n")
    return folder


@pytest.fixture(scope="module")
def written(study):
    """Everything the command can write, once, in a process of its own."""
    command = [sys.executable, "-m", "nearfar", "report", "answers.csv", "--images", "pictures"]
    command += ["--objects", "objects.csv", "--exclude", "out.txt", "-o", "page.html", "--title", "Things"]
    command += ["--bundle", "bundle", "--json", "facts.json"]
    done = subprocess.run(command, cwd=study, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return study, done


def test_one_command_writes_the_page_and_says_where(written):
    folder, done = written
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert "<title>Things</title>" in page
    assert done.stdout == ""
    assert done.stderr.splitlines()[:3] == ["wrote page.html", "wrote facts.json", "wrote bundle"]


def test_display_names_groups_pictures_and_exclusion_reach_the_facts(written):
    folder, _ = written
    facts = json.loads((folder / "facts.json").read_text(encoding="utf-8"))
    assert facts["objects"][0]["display_name"] == "Thing 0!"
    assert [each["group"] for each in facts["objects"]] == ["a"] * 6 + ["b"] * 6
    assert facts["pictures"]["shown"] == 12
    assert facts["collection"]["answers"] == 500
    assert facts["collection"]["left_out"] == [
        {"what": facts["collection"]["left_out"][0]["what"], "count": 100, "why": "excluded"}
    ]
    assert "worker" not in (folder / "facts.json").read_text(encoding="utf-8")


def test_the_bundle_is_complete(written):
    folder, _ = written
    bundle = folder / "bundle"
    figures = {path.name for path in (bundle / "figures").iterdir()}
    kinds = {"tree", "kernel", "models", "learning-curve", "participants", "positions"}
    for kind in kinds:
        assert {f"{kind}.svg", f"{kind}.pdf"} <= figures
    assert len([name for name in figures if name.startswith("map-") and name.endswith(".svg")]) >= 1
    for path in (bundle / "figures").glob("*.pdf"):
        assert path.read_bytes().startswith(b"%PDF")
    assert (bundle / "README.txt").read_text().startswith("What is in this folder")
    assert (bundle / "facts.json").read_text() == (folder / "facts.json").read_text()


def test_the_tables_hold_what_the_facts_say(written):
    folder, _ = written
    facts = json.loads((folder / "facts.json").read_text(encoding="utf-8"))

    def table(name):
        with (folder / "bundle" / "tables" / f"{name}.csv").open(encoding="utf-8") as file:
            return list(csv.DictReader(file))

    chosen = next(cut for cut in facts["tree"]["cuts"] if cut["n_clusters"] == facts["tree"]["n_clusters"])
    assert [int(row["cluster"]) - 1 for row in table("clusters")] == chosen["labels"]
    first = facts["maps"][0]
    assert [float(row[f"{first['name']} x"]) for row in table("map")] == pytest.approx(first["x"])
    nodes = [facts["objects"][x]["name"] for x in facts["tree"]["rows"]]
    nodes += [f"join {number + 1}" for number in range(len(facts["tree"]["merges"]))]
    read = [
        [nodes.index(row["left"]), nodes.index(row["right"]), float(row["height"]), int(row["size"])]
        for row in table("tree")
    ]
    assert read == facts["tree"]["merges"]
    assert [row["participant"] for row in table("participants")] == [
        person["name"] for person in facts["participants"]["rows"]
    ]
    assert len(table("models")) == len(facts["models"]["scores"])
    assert len(table("curve")) == len(facts["curve"]["points"])
    assert (
        table("neighbours")[0]["neighbour"]
        == facts["objects"][facts["objects"][0]["neighbours"][0]["object"]]["name"]
    )


def test_kernel_and_space_can_be_read_again(written):
    folder, _ = written
    given = read_triplets(folder / "answers.csv")
    given = given[~(given.participant == "worker-5")]
    facts = json.loads((folder / "facts.json").read_text(encoding="utf-8"))
    with np.load(folder / "bundle" / "kernel.npz") as stored:
        np.testing.assert_allclose(stored["K"], kernel_matrix(given, facts["models"]["best"]), atol=1e-9)
        assert stored["objects"].tolist() == list(given.objects)
    with np.load(folder / "bundle" / "space.npz") as stored:
        np.testing.assert_allclose(stored["rows"], fit(given, facts["models"]["best"]).rows)
        assert stored["informed"].all()


def test_the_notebook_names_nobody(written):
    """That it redoes the analysis is tested with the report."""
    book = json.loads((written[0] / "bundle" / "redo.ipynb").read_text(encoding="utf-8"))
    assert (book["nbformat"], len({cell["id"] for cell in book["cells"]})) == (4, len(book["cells"]))
    assert "worker-" not in "".join(cell["source"] for cell in book["cells"])


def test_the_bundle_carries_the_answers_without_telling_who_gave_them(tmp_path):
    given = answers(m=300, names=[*HOSTILE[:-1], "never asked about"])
    given = given[~(given.array == 11).any(axis=1)]
    given = given.replace(
        statement=[f"{who}-{at}" for at, who in enumerate(np.asarray(given.participant))],
        answered_at=1.6e9 + np.arange(len(given)),
    )
    report = make_report(given)
    report.write_bundle(tmp_path / "b")
    text = (tmp_path / "b" / "answers.csv").read_text(encoding="utf-8")
    assert "worker" not in text
    assert "2020-" not in text
    again = read_triplets(tmp_path / "b" / "answers.csv", objects=tmp_path / "b" / "objects.csv")
    assert again.objects == given.objects
    np.testing.assert_array_equal(again.array, given.array)
    np.testing.assert_array_equal(again.near_side, given.near_side)
    np.testing.assert_allclose(again.seconds, given.seconds)
    assert len(set(again.statement_ids)) == len(given)
    names = np.asarray(given.participant).tolist()
    assert [report.people[name] for name in names] == np.asarray(again.participant).tolist()


def test_hostile_names_survive_the_bundle(tmp_path):
    hostile_report().write_bundle(tmp_path / "b")
    for name in ("objects.csv", "tables/objects.csv"):
        with (tmp_path / "b" / name).open(encoding="utf-8", newline="") as file:
            written = [row["object"] for row in csv.DictReader(file)]
        assert written == ["'=1+1" if name == "=1+1" else name for name in HOSTILE]  # no spreadsheet runs it
        assert read_objects(tmp_path / "b" / name).names == tuple(HOSTILE)
    for path in (tmp_path / "b" / "figures").glob("*.svg"):
        assert "<script" not in path.read_text(encoding="utf-8")


def test_whom_to_review_is_said_by_name_at_the_terminal_only(study, monkeypatch, capsys):
    monkeypatch.chdir(study)
    code, out, err = run(monkeypatch, capsys, "report", "answers.csv", "-o", "r.html")
    assert (code, out) == (0, "")
    assert "check P" in err
    assert "(worker-5): one-sided" in err
    assert "worker-5" not in Path("r.html").read_text(encoding="utf-8")


def test_quiet_says_nothing_and_the_default_place_is_here(study, monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(monkeypatch, capsys, "report", study / "answers.csv", "--quiet")
    assert (code, out, err) == (0, "", "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.html", "report.key"]


def test_a_dash_is_standard_output(study, tmp_path):
    """The page alone is there, whole; nothing is left in the folder, neither a file named - nor a key."""
    command = [sys.executable, "-m", "nearfar", "report", str(study / "answers.csv"), "--model", "score"]
    done = subprocess.run([*command, "-o", "-"], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(b"<!doctype html>")
    assert done.stdout.rstrip().endswith(b"</html>")
    assert b"wrote" not in done.stderr
    assert list(tmp_path.iterdir()) == []
    done = subprocess.run(
        [*command, "-o", "page.html", "--json", "-"], cwd=tmp_path, capture_output=True, check=False
    )
    assert json.loads(done.stdout)["collection"]["answers"] == 600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["page.html", "page.key"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["gone.csv"], "gone.csv"),
        (["answers.csv", "-o", "no/such/place.html"], "there is no directory"),
        (["answers.csv", "-o", "pictures"], "it is a directory"),
        (["answers.csv", "-o", "-", "--json", "-"], "both are standard output; name a file for one of them"),
        (["answers.csv", "--json", "no/such/place.json"], "there is no directory"),
        (["answers.csv", "--bundle", "out.txt"], "it is a file; give the name of a folder"),
        (["answers.csv", "--images", "no-pictures"], "there is no such folder"),
    ],
)
def test_mistakes_get_one_sentence_and_code_two(study, monkeypatch, capsys, arguments, sentence):
    monkeypatch.chdir(study)
    before = sorted(path.name for path in study.iterdir())
    code, out, err = run(monkeypatch, capsys, "report", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("nearfar: ")
    assert sentence in err
    assert len(err.splitlines()) == 1
    assert sorted(path.name for path in study.iterdir()) == before


def test_bad_rows_are_named_on_the_page(study, tmp_path, monkeypatch, capsys):
    text = (study / "answers.csv").read_text().splitlines()
    anchor, near, *rest = text[1].split(",")
    (tmp_path / "bad.csv").write_text("\n".join([*text, ",".join([anchor, near, near, *rest[1:]])]) + "\n")
    monkeypatch.chdir(tmp_path)
    code, _, err = run(monkeypatch, capsys, "report", "bad.csv")
    assert code == 2
    assert "line 602" in err
    code, _, _ = run(monkeypatch, capsys, "report", "bad.csv", "--on-bad", "drop", "-q", "--json", "f.json")
    assert code == 0
    left_out = json.loads((tmp_path / "f.json").read_text())["collection"]["left_out"]
    assert [(part["what"], part["count"]) for part in left_out] == [("rows", 1)]


def test_a_missing_extra_is_one_sentence(monkeypatch):
    import importlib.util

    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *more: None if name == "jinja2" else real(name, *more)
    )
    with pytest.raises(ImportError, match=r"jinja2 is not installed: run  pip install '\.\[report\]'"):
        make_report([[0, 1, 2]])


def test_check_questions_stand_beside_every_person(study, tmp_path, monkeypatch, capsys):
    """Out of the kernel, and graded: ann is right in one of two, and nobody else was asked any."""
    head, *rows = (study / "answers.csv").read_text().splitlines()
    columns = head.split(",")
    name = rows[0].split(",")[columns.index("participant")]
    one, other = rows[0].split(",")[:2]

    def check(near, far):
        cells = {"anchor": one, "near": near, "far": far, "participant": name, "check": "1"}
        return ",".join(cells.get(column, "") for column in [*columns, "check"])

    lines = [f"{head},check", *(f"{row}," for row in rows), check(one, other), check(other, one)]
    (tmp_path / "checks.csv").write_text("\n".join(lines) + "\n")
    monkeypatch.chdir(tmp_path)
    options = ["--column", "check=check", "--model", "score", "--show-participants", "--json", "f.json", "-q"]
    code, _, err = run(monkeypatch, capsys, "report", "checks.csv", *options)
    assert code == 0, err
    facts = json.loads((tmp_path / "f.json").read_text())
    assert facts["collection"]["answers"] == len(rows)
    assert {p["name"]: (p["checks_right"], p["checks"]) for p in facts["participants"]["rows"]}[name] == (
        1,
        2,
    )
    assert sum(person["checks"] for person in facts["participants"]["rows"]) == 2
    assert "Checks right" in (tmp_path / "report.html").read_text()


def test_a_pseudonym_of_one_page_is_excluded_from_another(tmp_path, monkeypatch, capsys):
    """The key lies beside the list, not beside the new page."""
    from nearfar._tools.pseudonyms import pseudonyms

    rows = [
        f"o{i % 7},o{(i + 1) % 7},o{(i + 3) % 7},{who}" for who in ("ann", "bob", "cid") for i in range(20)
    ]
    (tmp_path / "answers.csv").write_text("\n".join(["anchor,near,far,participant", *rows]) + "\n")
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists" / "report.key").write_text("one key\n")
    (tmp_path / "lists" / "out.txt").write_text(pseudonyms(["ann", "bob", "cid"], "one key")["bob"] + "\n")
    monkeypatch.chdir(tmp_path)
    facts = tmp_path / "facts.json"
    options = ["--exclude", "lists/out.txt", "-o", "other.html", "--json", facts, "--model", "score"]
    code, _, err = run(monkeypatch, capsys, "report", "answers.csv", *options)
    assert code == 0 and "gave no answer" not in err
    assert "bob" not in (tmp_path / "other.html").read_text()
    code, out, _ = run(monkeypatch, capsys, "check", "answers.csv", "--exclude", "lists/out.txt")
    assert code == 0 and "1 participant with 20 answers" in out
    (tmp_path / "lists" / "report.key").rename(tmp_path / "lists" / "kept.txt")  # found only if it is given
    (tmp_path / "other.key").unlink()
    for command in (["check"], ["convert", "answers.csv", "some.csv"], ["map", "--model", "score", "-q"]):
        words = [*command, *([] if "convert" in command else ["answers.csv"]), "--exclude", "lists/out.txt"]
        assert "gave no answer" in run(monkeypatch, capsys, *words)[2]
        assert "gave no answer" not in run(monkeypatch, capsys, *words, "--key", "lists/kept.txt")[2]
