"""The words of the page, over twenty collections: short, plain, and no two that contradict each other."""

import html
import re

import numpy as np
import pytest
from groups_tools import two_groups
from report_tools import HOSTILE, answers

from nearfar import Triplets, analyse, design, simulate
from nearfar.report.make import make_report

MOST_WORDS = 25


HIDDEN = "script style details table nav button svg title noscript label datalist footer ol"


def visible_sentences(page):
    """The sentences a reader sees before opening anything: no details, tables, buttons, or paragraphs to paste."""
    page = re.sub(rf"<({HIDDEN.replace(' ', '|')})\b.*?</\1>", " ", page, flags=re.S)
    page = re.sub(r'<div class="card paste".*?</div>', " ", page, flags=re.S)
    blocks = re.split(r"</?(?:p|li|h1|h2|h3|div|section)\b[^>]*>|</span>", page)
    texts = [" ".join(html.unescape(re.sub(r"<[^>]*>", "", block)).split()) for block in blocks]
    return [part for text in texts for part in re.split(r"(?<=[.?!:;]) (?=[A-Z])", text) if part]


def line(n=10, m=400, people=12, noise=0.1, seed=0, at=None, **more):
    """Objects on a line, answered with some noise; people may be None."""
    rng = np.random.default_rng(seed)
    at = np.arange(n) if at is None else at
    rows = np.array([rng.permutation(len(at))[:3] for _ in range(m)])
    far = np.abs(at[rows[:, 0]] - at[rows[:, 1]]) > np.abs(at[rows[:, 0]] - at[rows[:, 2]])
    far ^= rng.random(m) < noise
    rows[far] = rows[far][:, [0, 2, 1]]
    who = None if people is None else [f"p{i % people}" for i in range(m)]
    return Triplets.from_array(rows, participant=who, **more)


def odd_ones(m=300):
    """Statements of two triplets each: odd one out."""
    rows = line(m=m, people=None).array
    pairs = np.stack([rows, rows[:, [1, 0, 2]]], axis=1).reshape(-1, 3)
    return Triplets.from_array(
        pairs, statement=np.repeat(np.arange(m), 2), participant=[f"p{i // 2 % 14}" for i in range(2 * m)]
    )


def repeated(times, **more):
    given = line(m=200, **more)
    return Triplets.concatenate([given] * times)


COLLECTIONS = {
    "one answer": lambda: Triplets.from_array([[0, 1, 2]]),
    "one trio": lambda: Triplets.from_array([[0, 1, 2], [1, 2, 0], [2, 0, 1]]),
    "two trios": lambda: Triplets.from_array([[0, 1, 2]] * 40 + [[3, 0, 1]] * 5),
    "nobody known": lambda: line(people=None),
    "one person": lambda: line(people=1),
    "three people": lambda: line(people=3),
    "twelve people": line,
    "forty people": lambda: line(m=600, people=40),
    "guessing": lambda: line(noise=0.5),
    "no noise": lambda: line(noise=0.0),
    "few answers": lambda: line(n=20, m=60),
    "every question twice": lambda: repeated(2),
    "every question six times": lambda: repeated(6, people=None),
    "objects without answers": lambda: line(n_objects=13),
    "clusters": lambda: line(
        m=1500, people=15, noise=0, at=np.repeat([0.0, 30.0, 90.0], 5) + np.arange(15) % 5
    ),
    "odd one out": odd_ones,
    "careless": lambda: answers(people=14, careless=2),
    "two kinds of people": lambda: two_groups()[0][:1500],
    "hostile names": lambda: answers(m=300, names=HOSTILE),
    "three objects": lambda: line(n=3, m=60),
}


def test_every_model_has_its_share_of_odd_ones_of_three():
    odd, near = (
        make_report(analyse(given(), models=["score", "soe-2"], n_resamples=3)) for given in (odd_ones, line)
    )
    shares = [f"; odd {100 * score['odd_one_out']:.0f}" for score in odd.data["models"]["scores"]]
    assert len(shares) == 2 and all(share in odd.html() for share in shares)
    assert "; odd" not in near.html()


@pytest.mark.parametrize("name", COLLECTIONS)
def test_the_words_of_a_page(name):
    given = COLLECTIONS[name]()
    groups = two_groups()[1] if name == "two kinds of people" else None
    report = make_report(analyse(given, models=["score", "soe-2"], n_resamples=3, cv=None), groups=groups)
    data, page = report.data, report.html()
    findings = data["findings"]
    sentences = visible_sentences(page)
    text = " ".join(sentences)
    long = [part for part in sentences if len(part.split()) > MOST_WORDS and "a" * 50 not in part]
    assert long == []
    pasted = re.sub(r"\([^()]*\)", "", f"{data['methods']} {data['results']}")
    parts = re.split(r"(?<=[.;:]) (?=[A-Z0-9a-z])", pasted)
    assert [part for part in parts if len(part.split()) > MOST_WORDS and "a" * 50 not in part] == []
    whole = [part for part in sentences if len(part.split()) > 5]
    assert len(whole) == len(set(whole))  # nothing is said twice
    assert not re.search(r"\b(nan|inf|None(?! found| of)|null)\b|±", text)
    boxes = re.findall(r'<li class="card verdict">(.*?)</li>', page, flags=re.S)
    assert 5 <= len(boxes) <= 6
    for box in boxes:
        words = re.sub(
            r"<svg.*?</svg>|<span class=\"topic\">.*?</span>\s*(?=<span class=\"short)|<[^>]+>",
            " ",
            box,
            flags=re.S,
        )
        assert len(words.replace("\xa0", " ").split()) <= MOST_WORDS, words
    # of two statements about one thing, both hold
    judged = data["models"]
    assert text.count("unknown") <= 2 or not judged["scores"]
    if judged["scores"]:
        shown = f"{100 * judged['accuracy']:.1f} %"
        assert shown in text and shown in data["results"].replace("\xa0", " ")
        assert ("not clearly better than guessing" in text) == (findings["accuracy"]["level"] == "poor")
    assert judged["dimensions"] in data["results"]
    assert ("Subgroups" in data["methods"]) == bool(findings["subgroups"]) and not (
        groups and findings["subgroups"]
    )
    if data["tree"] and not data["tree"]["found"]:
        assert f"{data['tree']['n_clusters']} clusters" not in data["methods"] + data["results"]
    size = data["collection"]
    assert size["repeated"] <= size["questions"] <= size["answers"]
    assert f"{size['answers']:,} answer" in text
    people = data["participants"]["rows"] if data["participants"] else []
    named = sum(bool(person["reason"]) for person in people)
    assert (f"{named} participant" in findings["participants"]["short"]) == (named > 0)
    assert text.count("more than once") == 1 and ("by several participants)" in text) <= (
        size["participants"] != 1
    )
    assert not data["tree"] or "guessing" not in findings["clusters"]["text"]
    assert "do not generalise" not in text or size["participants"] < 10
    assert not judged["scores"] or judged["unit"] == "trio"
    assert bool(people) == (given.participant is not None)
    assert name != "guessing" or findings["accuracy"]["level"] == "poor"
    for pair in data["groups"]["pairs"] if data["groups"] else ():
        assert f"p = {pair['p']:.3f}" in boxes[-1] and f"p = {pair['p']:.3f}" in data["results"]


def test_a_long_scale_is_folded():
    at = np.arange(70.0)
    report = make_report(analyse(line(m=6000, at=at, noise=0.02), "soe-1", models=["soe-1"], n_resamples=2))
    page = report.html()
    assert len(report.data["scale"]) == 70 and "30 objects between these and the lowest" in page
    assert page.count('role="rowheader"><bdi>') == 70


def test_results_do_not_say_that_nobody_answered_unusually_where_nobody_could_be_found():
    data = make_report(analyse(line(m=60, people=12), "score", models=["score"], n_resamples=2)).data
    assert data["findings"]["participants"]["short"] == "Not enough data"
    assert "0 of 12" not in data["results"] and "too few answers" in data["results"]


def test_the_methods_say_by_what_rule_one_dimension_was_chosen_or_left_out():
    """Of a scale they said that it was as accurate as the best, and of a plane that it was the most accurate, where a line was."""
    plane = np.random.default_rng(0).normal(size=(12, 2))
    asked = design.random_questions(12, 200, seed=0)
    few = analyse(simulate.answers(asked, points=plane * [1, 0], flip=0.1, seed=0).triplets, n_resamples=2)
    many = analyse(line(m=3000), n_resamples=2)
    told = {each.best.name: make_report(each).data["methods"] for each in (few, many)}
    assert many.best.name == "ckl-1" and few.best.name != "ckl-1"
    limit = f"{100 * max(0.0, many.one_dimension.loss):.1f} points"
    assert limit in told["ckl-1"] and "much simpler" not in told["ckl-1"]
    assert "one dimension were left out" in told[few.best.name]
    assert ("at most two" in told[few.best.name]) == (few.scores.best.name == "ckl-1")
    only = make_report(analyse(line(), models=["score"], n_resamples=2)).data
    assert (
        "chosen from" not in only["methods"] and "this choice" not in only["models"]["why"] + only["methods"]
    )
    kernels = analyse(line(), models=["score", "k1"], n_resamples=2)
    assert "one dimension" not in make_report(kernels).data["methods"]
