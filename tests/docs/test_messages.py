"""The page of messages has every sentence that the code can print, and what to do about it."""

import ast
import importlib.util
import re

import pytest
from docs_tools import ROOT

import nearfar as nf

EXTENSION = ROOT / "docs" / "_ext" / "messages.py"


@pytest.fixture(scope="module")
def messages():
    spec = importlib.util.spec_from_file_location("messages", EXTENSION)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_sentence_has_a_cause_and_every_cause_a_sentence(messages):
    found = messages.sentences()
    assert len(found) > 400
    _, wrong = messages.arranged(found, messages.causes())
    assert wrong == []


def test_the_page_has_every_sentence_and_every_warning(messages):
    page = "\n".join(messages.markdown())
    for sentence in messages.sentences():
        pattern = re.escape(re.sub(r"…+", "…", re.sub(r"\s+", " ", sentence.text).strip())).replace("…", ".+")
        assert re.search(pattern, page), sentence
    for name in nf.errors.__all__:
        if name.endswith("Warning") or name == "NotConverged":
            assert f"`{name}`" in page, name
    assert "``` " not in page and "- ``\n" not in page


def test_every_cause_says_what_to_do(messages):
    for area in messages.causes():
        assert len(area["about"]) > 20
        for cause in area["cause"]:
            assert len(cause["do"]) > 20 and cause["do"].strip()[-1] in ".)", cause["name"]
            assert cause.get("match") or cause.get("also"), cause["name"]


def test_sentences_that_are_put_together_are_in_the_code(messages):
    """Every two words in a row, since the code has them in pieces."""
    code = "\n".join(
        re.sub(r"\s+", " ", node.value)
        for path in (ROOT / "src").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    also = [text for area in messages.causes() for cause in area["cause"] for text in cause.get("also", ())]
    assert len(also) > 15
    for text in also:
        for part in re.split("…|; ", text):
            words = part.strip(" ;,:()").split(" ")
            for pair in zip(words, words[1:] or [""], strict=False):
                assert " ".join(pair).strip() in code, text


def test_sentences_without_a_word_of_their_own_are_known(messages):
    """They are put together elsewhere; a new one needs its sentences under ``also``."""
    bare = [(s.room, s.kind, s.text) for s in messages.sentences() if not messages.WORD.search(s.text)]
    assert bare == [
        ("ask", "FileError", "…: …: …"),  # Toml.error: its callers are found
        ("ask", "InputError", "…: …"),  # what PostgreSQL says
        ("io", "FileError", "…: …"),  # limits.check_largest_index
        ("io", "row", "…"),  # reasons of naming.py, classify_rows.py and csv_table.py
        ("io", "RowsError", "…, … (…)"),
        ("io", "RowsError", "…"),
    ]


def test_a_sentence_that_nobody_explained_is_found(messages, tmp_path):
    (tmp_path / "io").mkdir()
    (tmp_path / "io" / "new.py").write_text('raise FileError(f"{name}: smells of {odour}; air it")\n')
    found = messages.sentences(tmp_path)
    assert [s.text for s in found] == ["…: smells of …; air it"]
    _, wrong = messages.arranged(found, messages.causes())
    assert "no cause for FileError of io: …: smells of …; air it" in wrong
