"""The reference lists every public name, and each has an example; its words are those of the code."""

import doctest
import inspect
import re
from types import ModuleType, UnionType

import pytest
from docs_tools import ROOT, fences

import nearfar as nf

REFERENCE = ROOT / "docs" / "reference"
MODULES = [name for name in dir(nf) if isinstance(getattr(nf, name), ModuleType)]
EVERYDAY = {name: getattr(nf, name) for name in dir(nf) if name not in MODULES}


def public():
    """Every public name with what it is, once: those of ``nearfar`` first, then those of its modules."""
    names = dict(EVERYDAY)
    for module in MODULES:
        for name in getattr(nf, module).__all__:
            value = getattr(getattr(nf, module), name)
            if isinstance(value, ModuleType) or (
                not isinstance(value, (tuple, dict)) and value in names.values()
            ):
                continue
            names[f"{module}.{name}"] = value
    return names


PUBLIC = public()
CALLABLE = {n: v for n, v in PUBLIC.items() if callable(v) and not isinstance(v, UnionType)}


def test_the_reference_lists_every_public_name():
    text = (REFERENCE / "python.rst").read_text()
    listed = set(re.findall(r"^   ([\w.]+)$", text, flags=re.MULTILINE))
    short = {name.removeprefix("evaluate.") for name in listed}
    missing = [name for name in CALLABLE if name.removeprefix("evaluate.") not in short]
    assert missing == [], "docs/reference/python.rst does not list them"
    for name in set(PUBLIC) - set(CALLABLE):
        assert f"nf.{name}" in text, name
    for name in listed:
        value = nf
        for part in name.split("."):
            value = getattr(value, part)
        assert inspect.getdoc(value), name


@pytest.mark.parametrize("name", [name for name in CALLABLE if not name.startswith("errors.")])
def test_a_public_name_has_an_example(name):
    doc = inspect.getdoc(CALLABLE[name]) or ""
    examples = doctest.DocTestParser().get_examples(doc)
    assert examples, f"{name} has no example in its docstring"
    skipped = all(doctest.SKIP in example.options for example in examples)
    assert not skipped or "fetch_" in doc, f"{name}: its example is never run"


def test_the_constants_in_the_reference_are_so():
    text = (REFERENCE / "python.rst").read_text().partition("Constants")[2]
    test = doctest.DocTestParser().get_doctest(text, {}, "python.rst", None, None)
    assert len(test.examples) > 3
    assert doctest.DocTestRunner().run(test).failed == 0


def test_the_words_of_the_glossary_are_those_of_the_code():
    page = (ROOT / "docs" / "glossary.md").read_text()
    block = page.partition("```{glossary}\n")[2].partition("```")[0]
    terms = [line for line in block.splitlines() if line and not line.startswith(" ")]
    assert len(terms) > 35 and len(terms) == len(set(terms))
    code = "\n".join(path.read_text() for path in (ROOT / "src").rglob("*.py")).lower()
    for term in terms:
        assert re.search(rf"\b{re.escape(term.lower())}s?\b", code), term


def test_pictures_are_given_to_sphinx():
    """A bare ``<img>`` is shown on the usual hosts, but its file is not copied into the site."""
    for page in (ROOT / "docs").rglob("*.md"):
        assert not re.search(r"<img|<a href", page.read_text()), page.name


def test_the_samples_of_the_formats_are_read(tmp_path):
    page = ROOT / "docs" / "files.md"
    part = page.read_text().partition("<!-- samples -->")[2].partition("<!-- end of samples -->")[0]
    samples = re.findall(r"^\*\*.*?\*\*(.*?)^```text\n(.*?)^```$", part, flags=re.MULTILINE | re.DOTALL)
    assert len(samples) == 9
    for words, body in samples:
        dialect = "things" if "--dialect things" in words else None
        kind = ".jsonl" if body.startswith("{") else ".txt" if dialect else ".csv"
        path = tmp_path / f"sample{kind}"
        path.write_text(body)
        answers = nf.read_triplets(path, dialect=dialect)
        first = [answers.objects[row[0]] for row in (answers.anchor, answers.near, answers.far)]
        expected = ["0", "1", "2"] if dialect else ["fig", "plum", "lime"]
        assert [name.removesuffix(".png") for name in first] == expected, body
    assert fences(page, "text")
