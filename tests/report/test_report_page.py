"""The page: one file that asks for nothing, in which a name is always text."""

import base64
import hashlib
import html
import json
import re
from html.parser import HTMLParser
from importlib import resources

import numpy as np
import pytest
from markupsafe import escape
from report_tools import HOSTILE, answers, hostile_report, small_report

from nearfar.datasets.colours import lab_from_hex
from nearfar.report.make import make_report
from nearfar.report.paragraph import citations
from nearfar.report.web import script_json


class Elements(HTMLParser):
    """Every element with its attributes, the text outside scripts, and the contents of scripts."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.text, self.scripts, self._open = [], [], [], None
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag in ("script", "style"):
            self._open = (tag, dict(attributes))

    def handle_endtag(self, tag):
        if tag in ("script", "style"):
            self._open = None

    def handle_data(self, data):
        if self._open is None:
            self.text.append(data)
        elif self._open[0] == "script":
            self.scripts.append((self._open[1], data))


def test_the_file_holds_everything():
    page = Elements(small_report().html())
    addresses = [
        value
        for _, attributes in page.elements
        for name, value in attributes.items()
        if name in ("src", "href", "action", "data", "poster", "srcset", "xlink:href")
    ]
    assert all(value.startswith(("#", "data:")) for value in addresses)
    assert {tag for tag, _ in page.elements}.isdisjoint(
        {"iframe", "object", "embed", "base", "form", "audio", "video"}
    )
    assert "@import" not in small_report().html()


def test_the_policy_allows_exactly_the_scripts_of_the_page():
    page = Elements(small_report().html())
    policy = next(
        attributes["content"]
        for tag, attributes in page.elements
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    )
    run = [text for attributes, text in page.scripts if attributes.get("type") != "application/json"]
    hashes = {base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in run}
    assert set(re.findall(r"'sha256-([^']+)'", policy)) == hashes
    assert "default-src 'none'" in policy
    assert "unsafe-eval" not in policy
    assert not re.search(r"script-src[^;]*unsafe-inline", policy)


def test_hostile_names_are_text():
    report = hostile_report()
    text = report.html()
    page = Elements(text)
    known = Elements(small_report().html())
    assert len(page.scripts) == len(known.scripts)
    handlers = [name for _, attributes in page.elements for name in attributes if name.startswith("on")]
    assert handlers == []
    assert {tag for tag, _ in page.elements} <= {tag for tag, _ in known.elements}
    data = next(text for attributes, text in page.scripts if attributes.get("id") == "nf-data")
    assert [row["name"] for row in json.loads(data)["objects"]] == HOSTILE
    assert str(escape(HOSTILE[0])) in text  # the title
    assert "window.hacked" not in "".join(
        script for attributes, script in page.scripts if attributes.get("type") != "application/json"
    )


@pytest.mark.parametrize("text", ["</script>", "<!--", "]]>", "\u2028\u2029", "&lt;", "a\"b'c\\d"])
def test_json_in_a_script_is_the_same_json(text):
    written = str(script_json({"name": text}))
    assert json.loads(written) == {"name": text}
    assert not re.search(r"[<>&\u2028\u2029]", written)


def test_a_template_in_a_name_is_not_rendered():
    assert "{{ 7 * 7 }}" in hostile_report().html()


def test_every_section_is_there_and_linked():
    page = Elements(small_report().html())
    ids = {attributes.get("id") for _, attributes in page.elements}
    links = [
        attributes["href"][1:]
        for tag, attributes in page.elements
        if tag == "a" and attributes["href"] != "#"
    ]
    assert len(links) >= 9
    assert set(links) <= ids
    words = " ".join(page.text)
    for part in (
        "Map",
        "Tree",
        "Clusters",
        "Uncertainty of positions",
        "Similarity and outliers",
        "Data quality",
        "Learning curve",
        "Methods, ready to paste",
        "Results, ready to paste",
    ):
        assert part in words


def test_the_methods_paragraph_says_what_a_reader_needs():
    data = small_report().data
    for needed in (
        "1,500 trials",
        "6 participants",
        "12 objects",
        f"nearfar {data['versions']['nearfar']}",
        f"numpy {data['versions']['numpy']}",
        "seed 0",
    ):
        assert needed in data["methods"]
    page = html.unescape(small_report().html())
    assert data["methods"] in page and data["results"] in page and data["collection"]["sha256"] in page


@pytest.mark.parametrize(
    ("plane", "best", "cited"),
    [
        ("score-2", "k1", ["Kleindessner", "Perrot"]),
        ("ste-2", "score-5", ["Kleindessner", "Perrot", "Maaten"]),
        ("tste-2", "soe-5", ["Terada", "Maaten"]),
    ],
)
def test_only_what_was_used_is_cited(plane, best, cited):
    papers = " ".join(
        citations({"models": {"map": plane, "best": best, "scores": [best], "is_named": False}})
    )
    everybody = ["Kleindessner", "Perrot", "Maaten", "Terada", "Tamuz", "Agarwal", "Tsamardinos", "Owen"]
    expected = sorted([*cited, "Tsamardinos", "Owen"], key=everybody.index)
    assert [name for name in everybody if name in papers] == expected


def test_the_methods_paragraph_names_the_model_and_whether_it_was_chosen():
    chosen, named = (make_report(answers(m=300), model=model).data["methods"] for model in ("auto", "k1"))
    assert "This model was chosen" in chosen and "was chosen" not in named
    assert "k1 (Kendall's tau" in named and "Kleindessner and von Luxburg, 2017" in named
    labelled = answers(m=300).replace(rule=["random", "ARR", "ARR"] * 100)
    assert "the 100 answers to random questions" in make_report(labelled, model="k1").data["methods"]


def test_the_hash_is_that_of_the_file(tmp_path):
    file = tmp_path / "answers.csv"
    file.write_bytes(b"whatever the answers came from")
    collection = make_report(answers(m=300), files=[file]).data["collection"]
    assert collection["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert collection["files"] == ["answers.csv"]


def test_the_date_can_be_fixed(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert make_report([[0, 1, 2]]).data["date"] == "1970-01-02"


# how colours look without one kind of cone (Machado, Oliveira and Fernandes 2009), in linear RGB
VISIONS = {
    "usual": "1 0 0 0 1 0 0 0 1",
    "protan": "0.152286 1.052583 -0.204868 0.114503 0.786281 0.099216 -0.003882 -0.048116 1.051998",
    "deutan": "0.367322 0.860646 -0.227968 0.280085 0.672501 0.047413 -0.011820 0.042940 0.968881",
    "tritan": "1.255528 -0.076749 -0.178779 -0.078411 0.930809 0.147602 0.004733 0.691367 0.303900",
}


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_clusters_are_told_apart_by_any_colour_vision(theme, vision):
    style = (resources.files("nearfar.report") / "page" / "page.css").read_text().split('data-theme="dark"')
    codes = dict(re.findall(r"--c(\d+): (#[0-9a-f]{6})", style[theme == "dark"]))
    rgb = np.array([[int(codes[str(i)][k : k + 2], 16) for k in (1, 3, 5)] for i in range(12)]) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(linear @ np.array(VISIONS[vision].split(), float).reshape(3, 3).T, 0, 1)
    seen = np.where(seen <= 0.0031308, 12.92 * seen, 1.055 * seen ** (1 / 2.4) - 0.055)
    lab = lab_from_hex(["#" + "".join(f"{round(255 * v):02x}" for v in colour) for colour in seen])
    apart = np.linalg.norm(lab[:, None] - lab[None], axis=2)[np.triu_indices(12, 1)]
    assert apart.min() > 14  # two is just noticeable


def test_the_page_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    target = tmp_path / "report.html"
    target.write_text("the old one")

    def interrupted(self, text, **more):
        self.write_bytes(text[: len(text) // 2].encode())
        raise KeyboardInterrupt("half way")

    monkeypatch.setattr("pathlib.Path.write_text", interrupted)
    with pytest.raises(KeyboardInterrupt, match="half way"):
        small_report().write(target)
    monkeypatch.undo()
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("report.html", "the old one")]
