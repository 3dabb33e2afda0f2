"""The remembered choice of a model: the same answers, options and program choose once; anything else chooses again."""

import json
import threading
from pathlib import Path

import numpy as np
import pytest
from cli_tools import run
from docs_tools import answers_file

import nearfar as nf
from nearfar.cli import _choices
from nearfar.cli._options import Given
from nearfar.evaluate import Analysis, judging

NAMES = [f"object {x:02d}" for x in range(14)]
BEFORE = "chosen before"


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("study") / "answers.csv"
    answers_file(path, NAMES)
    return path


@pytest.fixture
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("NEARFAR_CACHE", str(folder))
    return folder


@pytest.fixture
def chosen(monkeypatch):
    """How often models were judged."""
    calls = []
    judge = judging.cross_validate
    monkeypatch.setattr(judging, "cross_validate", lambda *given: calls.append(1) or judge(*given))
    return calls


@pytest.mark.parametrize("first", ["compare", "report", "map"])
def test_nobody_chooses_twice(first, file, cache, chosen, tmp_path, monkeypatch, capsys):
    target = tmp_path / ("r.html" if first == "report" else "first.txt" if first == "compare" else "m.csv")
    assert run(monkeypatch, capsys, first, file, "-o", target)[0] == 0
    assert chosen and len(list(cache.iterdir())) == 1
    chosen[:] = [1]  # a report judges more than the choice
    for command in (["map"], ["tree"], ["cluster", "-k", "2"], ["kernel"], ["map", "-n", "1"]):
        code, out, told = run(monkeypatch, capsys, *command, file)
        assert code == 0 and BEFORE in told and len(chosen) == 1
        if first == "compare":
            again = run(monkeypatch, capsys, *command, file, "--no-cache")[1]
            assert again == out and len(chosen) == 2  # the same, to the last digit
            chosen.pop()


@pytest.mark.parametrize(
    "change", ["answer", "order", "participant", "seed", "object", "version", "numpy", "code"]
)
def test_whatever_may_change_the_choice_chooses_again(change, file, cache, monkeypatch):
    answers = nf.read_triplets(file)
    before = _choices._file(Analysis(answers))
    seed = 0
    if change == "answer":
        answers = nf.Triplets.concatenate([answers[:-1], answers[:1]])
    elif change == "order":
        answers = answers[np.r_[1, 0, 2 : len(answers)]]
    elif change == "participant":
        who = np.asarray(answers.participant)
        answers = answers.replace(participant=np.where(who == "p1", "p2", who))
    elif change == "object":
        answers = nf.Triplets(
            answers.anchor,
            answers.near,
            answers.far,
            ["renamed", *answers.objects[1:]],
            participant=answers.participant,
        )
    elif change == "seed":
        seed = 1
    elif change == "version":
        monkeypatch.setattr(_choices, "__version__", "9")
    elif change == "numpy":
        monkeypatch.setattr(np, "__version__", "9")
    else:
        monkeypatch.setattr(Path, "read_bytes", lambda path: b"other code")
    assert _choices._file(Analysis(answers, seed=seed)) != before
    monkeypatch.undo()
    monkeypatch.setenv("NEARFAR_CACHE", str(cache))
    assert _choices._file(Analysis(nf.read_triplets(file))) == before


@pytest.mark.parametrize(
    "spoil",
    [
        lambda kept: "",
        lambda kept: "{",
        lambda kept: "[" * 100_000,
        lambda kept: "null",
        lambda kept: json.dumps(kept | {"model": "no-such-model"}),
        lambda kept: json.dumps(kept | {"key": "another"}),
        lambda kept: json.dumps(kept | {"flat": {"2": "ckl-2"}}),
        lambda kept: json.dumps({name: value for name, value in kept.items() if name != "headline"}),
        lambda kept: json.dumps(kept | {"accuracy": ["ckl-2"]}),
    ],
)
def test_a_file_that_is_not_a_choice_is_ignored_and_replaced(spoil, file, cache, monkeypatch, capsys):
    _, out, _ = run(monkeypatch, capsys, "map", file)
    kept = next(cache.iterdir())
    whole = kept.read_text()
    kept.write_text(spoil(json.loads(whole)))
    code, again, told = run(monkeypatch, capsys, "map", file)
    assert code == 0 and again == out and BEFORE not in told and kept.read_text() == whole


def test_bytes_that_are_no_text_and_a_folder_in_its_place(file, cache, monkeypatch, capsys):
    _, out, _ = run(monkeypatch, capsys, "map", file)
    kept = next(cache.iterdir())
    kept.write_bytes(b"\xff\xfe\x00")
    assert run(monkeypatch, capsys, "map", file)[:2] == (0, out)
    kept.unlink()
    kept.mkdir()
    assert run(monkeypatch, capsys, "map", file)[:2] == (0, out)


def test_no_cache_neither_reads_nor_writes(file, cache, chosen, monkeypatch, capsys):
    for _ in range(2):
        code, _, told = run(monkeypatch, capsys, "map", file, "--no-cache")
        assert code == 0 and BEFORE not in told
    assert len(chosen) == 2 and not cache.exists()


def test_a_cache_that_cannot_be_written_stops_nothing(file, tmp_path, monkeypatch, capsys):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NEARFAR_CACHE", str(tmp_path / "file" / "cache"))
    assert run(monkeypatch, capsys, "map", file)[0] == 0


def test_a_named_model_or_another_list_is_no_choice_of_auto(file, cache, monkeypatch, capsys):
    run(monkeypatch, capsys, "report", file, "-m", "score", "-o", cache.parent / "r.html")
    assert not cache.exists()
    run(monkeypatch, capsys, "compare", file, "-m", "k1,score")
    assert BEFORE not in run(monkeypatch, capsys, "tree", file)[2]


def test_many_who_write_at_once_leave_one_whole_file(file, cache):
    analysis = Analysis(nf.read_triplets(file))
    expected = _choices.remember(Given(answers=[]), analysis)
    found = []

    def work():
        for _ in range(5):
            _choices.remember(Given(answers=[]), analysis)
            found.append(_choices._read(_choices._file(analysis), analysis))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 20 and len(list(cache.iterdir())) == 1


def test_vectors_are_part_of_what_is_remembered(file, cache, chosen, tmp_path, monkeypatch, capsys):
    lines = ["object,size", *(f"{name},{x}" for x, name in enumerate(NAMES))]
    vectors = tmp_path / "size.csv"
    vectors.write_text("\n".join(lines))
    words = ("map", file, "--features", vectors)
    first = run(monkeypatch, capsys, *words)[1]
    code, again, told = run(monkeypatch, capsys, *words)
    assert code == 0 and BEFORE in told and again == first and len(chosen) == 1
    vectors.write_text("\n".join([*lines[:-1], f"{NAMES[-1]},99"]))
    assert BEFORE not in run(monkeypatch, capsys, *words)[2] and len(chosen) == 2
