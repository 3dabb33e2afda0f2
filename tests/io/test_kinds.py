"""Rankings, sorts, ratings, matrices and surveys, in the layouts of their tools: the same as by the csv module and loops."""

import re
import shlex
from collections import Counter
from pathlib import Path

import fuzz
import mutations
import naive_kinds as naive
import numpy as np
import polars as pl
import pytest
from cli_tools import run
from io_tools import named, read

import nearfar as nf
from nearfar.errors import ColumnsError, FileError, InputError, NearfarWarning
from nearfar.evaluate.bootstrap import make_draws
from nearfar.evaluate.splits import split_units
from nearfar.io.dialects import orders

FILES = Path(__file__).parent / "kinds"
DOCS = Path(__file__).parents[2] / "docs" / "files.md"
COMMANDS = {
    words[2]: words[3:]
    for line in DOCS.read_text().split("<!-- kinds -->")[1].split("<!-- end")[0].splitlines()
    if (words := shlex.split(line) if line.strip().startswith("nearfar check ") else [])
}
ASKED = {"Q1": ("fig", "plum", "lime"), "Q2": ("plum", "kiwi", "lime"), "Q3": ("lime", "fig", "kiwi")}
FORMS = {
    "Which is more like a fig: plum or lime?": ASKED["Q1"],
    "Which is more like a plum: kiwi or lime?": ASKED["Q2"],
    "Which is more like a lime: fig or passion fruit?": ("lime", "fig", "passion fruit"),
}
NEXT_SAID = [("ann", "fig.png", "plum.png", "lime.png"), ("ann", "lime.png", "fig.png", "plum.png")]
BY_HAND = {
    "ranking.csv": naive.ranking,
    "ranking_cells.csv": naive.ranking_cells,
    "best_worst.csv": naive.best_worst,
    "card_sort.csv": lambda path: naive.piles(path, "Participant", "Card label", "Category label"),
    "card_sort_wide.csv": lambda path: naive.piles_wide(path, "Subject"),
    "pair_ratings.csv": lambda path: naive.ratings(path, ("Person", "First", "Second", "Similarity"), -1, ";"),
    "r_dist.csv": lambda path: naive.matrix(path, 1),
    "matrices.csv": lambda path: naive.matrix(path, -1, "participant"),
    "google_forms.csv": lambda path: naive.survey(path, "Email Address", FORMS),
    "qualtrics_wide.csv": lambda path: naive.survey(
        path, "ResponseId", {name: ASKED[name] for name in ("Q1", "Q2")}, skip=2
    ),
    "numbered_questions.csv": lambda path: naive.survey(path, "id", ASKED),
    **dict.fromkeys(("next.json", "next_targets.json", "next_targets.csv"), lambda path: (NEXT_SAID, [])),
}  # fmt: skip
pytestmark = pytest.mark.filterwarnings("ignore:.*(equal values|without any comparison)")


def said(answers):
    """(participant, anchor, near, far) of every triplet."""
    people = [""] * len(answers) if answers.participant is None else np.asarray(answers.participant).tolist()
    return [(str(who), *three) for who, three in zip(people, named(answers), strict=True)]


@pytest.mark.parametrize("name", BY_HAND)
def test_a_documented_command_reads_its_file(name, monkeypatch):
    monkeypatch.chdir(FILES)
    result = nf.read_answers(name, on_bad="drop", **fuzz.options_of(COMMANDS[name]))
    expected, rejected = BY_HAND[name](name)
    assert Counter(said(result.triplets)) == Counter(expected)
    assert result.rejected["line"].to_list() == rejected
    kept = result.sources[0].rows - len(result.rejected) - len(result.checks)
    assert kept > 0


def test_every_kind_is_documented():
    assert COMMANDS.keys() == BY_HAND.keys()
    assert {path.name for path in FILES.iterdir()} == {*BY_HAND, "numbered_questions_key.csv"}


@pytest.mark.parametrize("name", ["next.json", "next_targets.json", "next_targets.csv"])
def test_the_labels_and_times_of_next_are_kept(name):
    answers = nf.read_triplets(FILES / name)
    assert np.asarray(answers.rule).tolist() == ["Test", "CrowdKernel"]
    assert answers.seconds.tolist() == [2.1, 1.4]
    assert nf.triplets.random_rows(answers).tolist() == [True, False]


@pytest.mark.parametrize("seed", range(300))
def test_files_with_faults_are_read_as_by_hand(seed, tmp_path):
    fuzz.check_kind(seed, tmp_path)


@pytest.mark.parametrize("seed", range(60))
def test_rankings_in_cells_with_faults_are_read_as_by_hand(seed, tmp_path):
    rng = np.random.default_rng(seed)
    path, lines = tmp_path / "ranks.csv", []
    for _ in range(30):
        names = list(rng.permutation(fuzz.FRUIT)[: rng.integers(1, 6)])
        if rng.random() < 0.2:
            names.insert(int(rng.integers(len(names) + 1)), rng.choice(["", " ", "fig", names[0]]))
        cell = (
            rng.choice([" > ", ">", "; ", "|", ", "]).join(names)
            if rng.random() < 0.9
            else rng.choice(["", "NA", " "])
        )
        lines.append(f'p{rng.integers(3)},{rng.choice([*fuzz.FRUIT, ""])},"{cell}"')
    path.write_text("\n".join(["Subject,Target,Order", *lines, ""]), encoding="utf-8")
    columns = {"anchor": "Target", "rank": "Order", "participant": "Subject"}
    result = nf.read_answers(path, columns=columns, on_bad="drop")
    expected, rejected = naive.ranking_cells(path)
    assert Counter(said(result.triplets)) == Counter(expected)
    assert result.rejected["line"].to_list() == rejected


@pytest.mark.parametrize("seed", range(40))
def test_broken_files_end_with_a_result_or_a_sentence(seed, tmp_path, monkeypatch):
    monkeypatch.chdir(FILES)  # where the key is
    names = sorted(BY_HAND)
    name = names[seed % len(names)]
    made = mutations.broken(name, (FILES / name).read_bytes(), seed)
    mutations.check(made, tmp_path, tuple(COMMANDS[name]))


def test_ratings_with_an_anchor_hold_in_one_direction(tmp_path):
    text = (
        "participant,anchor,object,rank\n"
        + "".join(f"ann,fig,o{i},{i}\n" for i in range(4))
        + "ann,o0,fig,1\nann,o0,o1,2\n"
    )
    answers = read(tmp_path, text).triplets
    assert Counter(named(answers)) == Counter(
        [("fig", f"o{i}", f"o{j}") for i in range(4) for j in range(i + 1, 4)] + [("o0", "fig", "o1")]
    )
    assert len(set(np.asarray(answers.statement).tolist())) == 2


@pytest.mark.parametrize("names", [None, ["fig", "plum", "lime", "kiwi", "date"]])
def test_a_matrix_in_an_array_is_that_of_a_table(names, tmp_path):
    points = np.random.default_rng(0).normal(size=(5, 2))
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    given = {"distance": apart} | ({} if names is None else {"names": np.array(names)})
    np.savez(tmp_path / "apart.npz", **given)
    np.save(tmp_path / "apart.npy", np.exp(-apart))
    answers = nf.read_triplets(tmp_path / "apart.npz", dialect="distance-matrix")
    order = range(5) if names is None else [names.index(name) for name in answers.objects]
    assert len(answers) == 30 and nf.metrics.triplet_accuracy(answers, points=points[order]).accuracy == 1
    alike = nf.read_triplets(tmp_path / "apart.npy", dialect="similarity-matrix")
    assert nf.metrics.triplet_accuracy(alike, points=points).accuracy == 1 and len(alike) == 30
    with pytest.raises(ColumnsError, match="--dialect distance-matrix"):
        nf.read_triplets(tmp_path / "apart.npz")


def test_very_many_comparisons_are_drawn_the_same_every_time(tmp_path, monkeypatch):
    monkeypatch.setattr(orders, "MOST_COMPARISONS", 500)
    rng = np.random.default_rng(0)
    points = rng.normal(size=(30, 2))
    text = "object_1,object_2,distance\n" + "".join(
        f"o{i},o{j},{np.linalg.norm(points[i] - points[j])}\n" for i in range(30) for j in range(i)
    )
    with pytest.warns(NearfarWarning, match="drawn at random"):
        one, two = (read(tmp_path, text).triplets for _ in range(2))
    assert 400 < len(one) < 550 and named(one) == named(two)
    order = [int(name[1:]) for name in one.objects]
    assert nf.metrics.triplet_accuracy(one, points=points[order]).accuracy == 1


def test_a_sort_of_the_same_object_twice_is_refused(tmp_path):
    with pytest.raises(FileError, match="twice"):
        read(tmp_path, "participant,object,pile\nann,fig,1\nann,plum,1\nann,fig,2\n")
    with pytest.raises(FileError, match="without a participant"):
        read(tmp_path, "participant,object,pile\nann,fig,1\nann,plum,1\n,fig,2\n")


def test_objects_that_are_ratings_are_refused(tmp_path):
    text = "one,two,rating\n" + "".join(f"a{i},b{i},{i % 7}\n" for i in range(20))
    with pytest.raises(FileError, match="rating"):
        read(tmp_path, text, columns={"anchor": "one", "near": "two", "far": "rating"})


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"wide": "Which {thing} is it?"}, "places"),
        ({"wide": "Is a {anchor} like {option} or {option}?"}, "no column"),
        ({"wide": "no-such-key.csv"}, "no such file"),
        ({"dialect": "distance-matrix"}, "columns for objects"),
        ({"where": "colour"}, "condition"),
        ({"where": "colour = red"}, "no column"),
        ({"sheet": "Data"}, "workbook"),
    ],
)
def test_options_that_do_not_fit_are_one_sentence(tmp_path, options, word):
    with pytest.raises(InputError, match=word):
        read(tmp_path, "anchor,near,far\na,b,c\n", **options)


# -------------------------------------------------------------------- held-out accuracy


def random_file(kind, rng, n=12, people=10):
    """Answers at random, of one kind."""
    names = [f"o{i}" for i in range(n)]
    if kind == "piles":
        rows = [(p, name, rng.integers(4)) for p in range(people) for name in names]
        return "participant,object,pile", rows
    if kind == "ratings":
        pairs = [(names[i], names[j]) for i in range(n) for j in range(i)]
        return "participant,object_1,object_2,similarity", [
            (p, *pair, rng.random()) for p in range(people) for pair in pairs
        ]
    screens = [rng.permutation(n)[:6] for _ in range(15)]
    if kind == "rankings":
        rows = [
            (p, names[a], *(names[x] for x in rng.permutation(rest)))
            for p in range(people)
            for a, *rest in screens
        ]
        return "participant,anchor,rank_1,rank_2,rank_3,rank_4,rank_5", rows
    rows = []
    for p in range(people):
        for a, *rest in (rng.permutation(n)[:5] for _ in range(15)):
            rows.append((p, *(names[x] for x in (a, *rest, *rng.permutation(rest)[:2]))))
    return "participant,anchor,option_1,option_2,option_3,option_4,best,worst", rows


@pytest.mark.parametrize("kind", ["piles", "ratings", "rankings", "best-worst"])
def test_random_answers_are_predicted_at_chance(kind, tmp_path):
    """And far above it, if what one person said were split: a rating stands in many triplets."""
    honest, split = [], []
    for seed in range(16):
        header, rows = random_file(kind, np.random.default_rng(seed))
        text = "\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n"
        answers = read(tmp_path, text).triplets
        units = split_units(answers)
        assert units.kind == ("participant" if kind in ("piles", "ratings") else "statement")
        assert make_draws(answers, units).scope.questions == (
            "same" if units.kind == "participant" else "new"
        )
        for by, found in ((units, honest), ("trio", split)):
            train, test = nf.holdout(answers, 0.3, by=by, seed=seed)
            kernel = nf.kernel_matrix(answers[train], "score")
            found.append(nf.metrics.triplet_accuracy(answers[test], K=kernel).accuracy)
    assert abs(np.mean(honest) - 0.5) < 3 * np.std(honest) / 4
    if kind in ("piles", "ratings"):
        assert np.mean(split) > 0.53


def test_rankings_of_the_same_objects_are_in_one_fold():
    """Everybody ranks the same sets: a fold that tore them apart would leave no question to train on."""
    rng = np.random.default_rng(0)
    screens = [rng.permutation(20)[:5] for _ in range(10)]
    rows, statement = [], []
    for number, (a, *rest) in enumerate(screens * 6):
        order = rng.permutation(rest)
        rows += [(a, order[i], order[j]) for i in range(4) for j in range(i + 1, 4)]
        statement += [number] * 6
    answers = nf.Triplets.from_array(rows, statement=statement)
    units = split_units(answers)
    assert (units.kind, units.count) == ("statement", 10)
    assert all(len(train) == 288 and len(test) == 72 for train, test in nf.kfold(answers, 5))


# -------------------------------------------------------------------- unknown tables


def unknown(kind, rng):
    """A table with names of columns that no dialect has, and the roles that read it."""
    names = ["fig", "plum", "lime", "kiwi", "pear", "nut"]

    def draw(k):
        return [names[i] for i in rng.permutation(6)[:k]]

    questions = [draw(3) for _ in range(40)]
    picks = [q[1 + rng.integers(2)] for q in questions]
    trios = [(f"s{i % 4}", *q) for i, q in enumerate(questions)]
    match kind:
        case "choice":
            rows = [(*trio, pick, rng.integers(500, 4000)) for trio, pick in zip(trios, picks, strict=True)]
            return "Subject,Target,Left,Right,Chosen,RT (ms)", rows, 40
        case "sides":
            rows = [
                (*trio, "links" if pick == trio[2] else "rechts")
                for trio, pick in zip(trios, picks, strict=True)
            ]
            return "VP,Vergleich,Links,Rechts,Antwort", rows, 40
        case "odd":
            return (
                "who,first,second,third,odd one",
                [(*trio, trio[1 + rng.integers(3)]) for trio in trios],
                80,
            )
        case "triplet":
            return "Reference,Closer,Other", questions, 40
        case "ratings":
            return (
                "person,item A,item B,similarity (1-7)",
                [(*trio[:3], rng.random()) for trio in trios],
                None,
            )
        case "piles":
            return "Subject,Card,Pile", [(p, name, rng.integers(3)) for p in "abcd" for name in names], None
        case "matrix":
            d = rng.random((6, 6))
            d += d.T
            np.fill_diagonal(d, 0)
            return "," + ",".join(names), [(name, *row) for name, row in zip(names, d, strict=True)], 60
        case "survey":
            asked = [f"Which is more like a {a}: {x} or {y}?" for a, x, y in questions[:5]]
            rows = [("2024", *(q[1 + rng.integers(2)] for q in questions[:5])) for _ in range(8)]
            return ",".join(["Timestamp", *asked]), rows, 40
    raise AssertionError(kind)


@pytest.mark.parametrize(
    "kind", ["choice", "sides", "odd", "triplet", "ratings", "piles", "matrix", "survey"]
)
def test_an_unknown_table_gets_a_command_that_reads_it(kind, tmp_path, monkeypatch, capsys):
    header, rows, expected = unknown(kind, np.random.default_rng(3))
    monkeypatch.chdir(tmp_path)
    lines = ["My study", "", header, *(",".join(map(str, row)) for row in rows)]
    for name, text in (("plain.csv", lines[2:]), ("titled.csv", lines)):
        Path(name).write_text("\n".join(text) + "\n")
        with pytest.raises(ColumnsError, match=name) as caught:
            nf.read_triplets(name)
        command = next(line for line in str(caught.value).splitlines() if line.startswith("  nearfar check"))
        code, out, _ = run(monkeypatch, capsys, *shlex.split(command)[1:])
        assert code == 0
        answers = int(re.search(r"answers +(\d+)", out)[1])
        assert answers == (expected or answers) and "rejected        nothing" in out
        guessed = run(monkeypatch, capsys, "check", name, "--guess")
        assert (guessed[0], guessed[1]) == (0, out) and "guess" in guessed[2]


def test_what_is_not_certain_is_not_guessed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = "".join(
        f"s{i % 3},{a},{b},{i % 7}\n"
        for i, (a, b) in enumerate(rng.permutation(list("abcdef"))[:2] for _ in range(40))
    )
    Path("scale.csv").write_text("person,item A,item B,rating\n" + rows)
    code, out, err = run(monkeypatch, capsys, "check", "scale.csv", "--guess")
    assert (code, out) == (2, "") and "similarity=rating" in err
    Path("four.csv").write_text(
        "A,B,C,D\n" + "".join(",".join(rng.permutation(list("abcdef"))[:4]) + "\n" for _ in range(20))
    )
    code, _, err = run(monkeypatch, capsys, "check", "four.csv", "--guess")
    assert code == 2 and "quadruplets" in err


def test_a_column_of_lists_is_no_reason_to_fail():
    frame = pl.DataFrame(
        {"who": ["ann", "bob"], "trial": [[1, 2], [3]], "x": [{"a": 1}, {"a": 2}], "y": [1.5, None]}
    )
    with pytest.raises(ColumnsError, match="not known"):
        nf.read_triplets(frame)
    with pytest.raises(FileError, match="trial holds List"):
        nf.read_triplets(frame, dialect="pile-sort")
