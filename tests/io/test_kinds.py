"""Rankings, sorts, ratings, matrices and surveys, in the layouts of their tools: the same as by the csv module and loops."""

import re
import shlex
import zipfile
from collections import Counter
from itertools import combinations
from pathlib import Path

import fuzz
import mutations
import naive_kinds as naive
import numpy as np
import polars as pl
import pytest
import xlsxwriter
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
FOUR = ("fig", "plum", "lime", "kiwi")
GRID = {f"How similar are they? [{a} and {b}]": (a, b) for a, b in combinations(FOUR, 2)}
RANKS = {f"Q7_{i}": ("fig", name) for i, name in enumerate(FOUR[1:], 1)}
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
    "rating_grid.csv": lambda path: naive.grid(path, "Email Address", GRID, anchored=False),
    "qualtrics_ranks.csv": lambda path: naive.grid(path, "ResponseId", RANKS, anchored=True, skip=2),
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


@pytest.mark.parametrize("targets", ["true", "5", "{}", '"fig"', "null"])
def test_targets_of_next_that_are_no_list_are_no_question(targets, tmp_path):
    said = f'{{"participant_responses": {{"ann": [{{"target_indices": {targets}, "target_winner": 1}}]}}}}'
    (tmp_path / "x.json").write_text(said)
    result = nf.read_answers(tmp_path / "x.json")
    assert not len(result.triplets) and result.checks["kind"].to_list() == ["no question"]


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


@pytest.mark.parametrize("decimal", [".", ","])
def test_a_matrix_without_any_names_is_that_of_an_array(tmp_path, decimal):
    points = np.random.default_rng(4).random((6, 2))
    matrix = np.linalg.norm(points[:, None] - points, axis=2).round(3)
    mark = "," if decimal == "." else ";"
    text = "".join(mark.join(f"{x:.3f}".replace(".", decimal) for x in row) + "\n" for row in matrix)
    np.save(tmp_path / "matrix.npy", matrix)
    of_array = nf.read_triplets(tmp_path / "matrix.npy", dialect="distance-matrix")
    assert named(read(tmp_path, text, dialect="distance-matrix").triplets) == named(of_array)
    with pytest.raises(ColumnsError, match="--dialect distance-matrix"):
        read(tmp_path, text)
    with pytest.raises(FileError, match="rows are called"):  # a row is missing
        read(tmp_path, text[: text.rindex("\n", 0, -1) + 1], dialect="distance-matrix")


@pytest.mark.parametrize("header", ["fig,plum,lime,kiwi", "object,plum,lime,kiwi"])
def test_a_matrix_without_the_names_of_its_rows_is_refused(tmp_path, header):
    rows = "1,0,.5,3\n2.5,.5,0,1.5\n3,2.5,1.5,0\n"
    with pytest.raises(FileError, match=r"rows are called '1', '2\.5' and '3'"):
        read(tmp_path, f"{header}\n{rows}", dialect="distance-matrix")


@pytest.mark.parametrize("header", ["", "who,target,order\n"])
def test_a_first_ranking_without_a_header_is_kept(tmp_path, header):
    rows = "ann,fig,plum > lime > kiwi\nbob,lime,kiwi > fig > plum\n"
    columns = (
        {"participant": 1, "anchor": 2, "rank": 3}
        if header
        else {"participant": "1", "anchor": "2", "rank": "3"}
    )
    columns = {role: str(at) for role, at in columns.items()}
    assert len(read(tmp_path, header + rows, columns=columns).triplets) == 6


@pytest.mark.parametrize("header", ["", "q,x,y,z\n"])
def test_a_ranking_in_columns_by_number_has_a_header_or_none(tmp_path, header):
    rows = "fig,plum,lime,kiwi\nlime,kiwi,fig,plum\nplum,fig,kiwi,lime\n"
    columns = {"anchor": "1", "rank": ["2", "3", "4"]}
    assert len(read(tmp_path, header + rows, columns=columns).triplets) == 9


def test_picks_of_a_grid_in_columns_of_their_own(tmp_path):
    text = "q,one,two,three,four,first pick,second pick\nfig,plum,lime,kiwi,nut,lime,nut\n"
    columns = {
        "anchor": "q",
        "option": ["one", "two", "three", "four"],
        "choice": ["first pick", "second pick"],
    }
    assert set(named(read(tmp_path, text, columns=columns).triplets)) == {
        ("fig", near, far) for near in ("lime", "nut") for far in ("plum", "kiwi")
    }
    with pytest.raises(InputError, match="choice"):
        read(tmp_path, text, columns=columns | {"option": ["one", "two"]})
    with pytest.raises(InputError, match="option must be one column, got 0"):
        read(tmp_path, text, columns=columns | {"option": []})


def test_questions_with_numbers_headings_and_conditions(tmp_path):
    """As SurveyMonkey writes them: a second row of headings, and a number before each question."""
    text = (
        "ID,Keep,1. Is a fig more like a plum or a kiwi?,2. Is a nut more like a fig or a lime?\n"
        ",,Response,Response\nann,TRUE,plum,lime\nbob,FALSE,kiwi,fig\n"
    )
    given = {"wide": "* Is a {anchor} more like a {option} or a {option}?", "columns": {"participant": "ID"}}
    for where, people in (
        ("ID != bob", {"ann"}),
        ("keep = true", {"ann"}),
        ("ID = bob", {"bob"}),
        ((), {"ann", "bob"}),
    ):
        result = read(tmp_path, text, where=where, **given)
        assert {who for who, *_ in said(result.triplets)} == people and not len(result.rejected)


def test_a_sort_of_the_same_object_twice_is_refused(tmp_path):
    with pytest.raises(FileError, match="twice"):
        read(tmp_path, "participant,object,pile\nann,fig,1\nann,plum,1\nann,fig,2\n")
    with pytest.raises(FileError, match="without a participant"):
        read(tmp_path, "participant,object,pile\nann,fig,1\nann,plum,1\n,fig,2\n")


@pytest.mark.parametrize(("rows", "decimal"), [(20, ""), (10, ""), (20, ",5")])
def test_objects_that_are_ratings_are_refused(tmp_path, rows, decimal):
    text = "one;two;rating\n" + "".join(f"a{i};b{i};{i % 7}{decimal}\n" for i in range(rows))
    with pytest.raises(FileError, match="rating"):
        read(tmp_path, text, columns={"anchor": "one", "near": "two", "far": "rating"})


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"wide": "Which {thing} is it?"}, "places"),
        ({"wide": "Is a {anchor} like {option} or {option}?"}, "no column"),
        ({"wide": "Is a {anchor} * like {option} or {option}?"}, "where a name ends"),
        ({"wide": "Are {option} and {option} alike?"}, "no column"),
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


def table(header, cells, rows=40):
    """A file with these columns, one per letter of ``cells``."""
    rng = np.random.default_rng(5)
    made = [header]
    for i in range(rows):
        a, x, y, z = (OBJECTS[k] for k in rng.permutation(6)[:4])
        pick = rng.integers(2)
        one, two = (x, y)[pick], (x, y)[1 - pick]
        side, other = ("left", "right")[pick], OBJECTS[rng.integers(6)]
        shown = {
            "w": f"s{i % 4}", "a": a, "x": x, "y": y, "z": z, "c": one, "u": two, "s": side, "n": str(pick + 1), "o": other,
            "k": (x, y)[rng.integers(2)], "r": str(rng.integers(1, 8)), "t": f"{rng.random():.3f}", "g": str(20 + i % 3),
            "b": "Mozilla", "l": "<p>Which is <b>less</b> like it?</p>", "q": "fj"[pick], "m": str(rng.integers(400, 2000)), "d": str(600 + i % 4), "e": str(1717156800 + i),
        }  # fmt: skip
        made.append(",".join(shown[cell] for cell in cells))
    return "\n".join(made) + "\n"


OBJECTS = ["fig", "plum", "lime", "kiwi", "pear", "nut"]
CHOICE = {"anchor": "target", "option": "left right", "choice": "chosen", "participant": "subject"}
NAMES = [  # header, cells, what --guess takes for what; None where it must not act
    ("subject,target,left,right,chosen", "waxyc", CHOICE),
    ("user_agent,subject,target,left,right,chosen", "bwaxyc", CHOICE),
    ("person_age,PROLIFIC_PID,target,left,right,chosen", "gwaxyc", CHOICE | {"participant": "PROLIFIC_PID"}),
    ("subject,target,left,right,chosen,start_time,rt", "waxycet", CHOICE | {"seconds": "rt"}),
    ("subject,target,left,right,chosen,Duration (in seconds)", "waxycd", CHOICE),
    ("subject,target,left,right,chosen,RT", "waxycm", CHOICE | {"milliseconds": "RT"}),
    ("subject,target,right,left,chosen", "waxyc", CHOICE | {"option": "left right"}),
    ("subject,target,left,right,response", "waxys", CHOICE | {"choice": "response"}),
    ("subject,target,right,left,response", "wayxs", CHOICE | {"choice": "response"}),
    ("subject,target,a,b,response", "waxys", None),
    ("subject,target,stim,stimulus,response", "waxyn", None),
    ("subject,target,left,right,correct_side,response", "waxyss", CHOICE | {"choice": "response"}),
    ("subject,target,left,right,Least similar", "waxyu", None),
    ("subject,target,left,right,Which is more different", "waxyu", None),
    ("subject,target,left,right,unchosen", "waxyu", None),
    ("subject,target,left,right,not chosen", "waxyu", None),
    ("subject,target,left,right,chosen,unchosen", "waxycu", None),
    ("subject,target,left,right,correct_answer,key,rt", "waxykqt", None),
    ("subject,sample,left,right,correct,response", "waxykc", None),
    ("subject,previous_stimulus,target,left,right,chosen", "woaxyc", None),
    ("subject,word,filler,one,two,chosen", "waoxyc", None),
    ("subject,target,left,right,Q5", "waxyc", None),
    ("subject,worker,target,left,right,chosen", "wqaxyc", None),
    ("subject,target,further,closer", "wauc", {"anchor": "target", "near": "closer", "far": "further", "participant": "subject"}),
    ("subject,target,Less similar,More similar", "wauc", {"anchor": "target", "near": "More similar", "far": "Less similar", "participant": "subject"}),
    ("subject,item1,item2,dissimilarity", "waxr", {"object": "item1 item2", "distance": "dissimilarity", "participant": "subject"}),
    ("subject,item1,item2,likeness,confidence rating", "waxrr", {"object": "item1 item2", "similarity": "likeness", "participant": "subject"}),
    ("subject,item1,item2,Rate (1 = very different; 7 = the same)", "waxr", None),
    ("subject,item1,item2,Similarity (1 = identical; 7 = very different)", "waxr", None),
    ("item1,item2,similarity", "axr", None),
    ("Query,Item,Rank", "axr", None),
    ("subject,Query,Item,Rank", "waxr", {"anchor": "Query", "object": "Item", "rank": "Rank", "participant": "subject"}),
    ("subject,target,2nd,1st,3rd", "waxyz", {"anchor": "target", "rank": "1st 2nd 3rd", "participant": "subject"}),
    ("subject,a,b,c,choice", "waxyn", None),
    ("stim1,stim2,stim3,resp,subject", "axynw", None),
    ("participant,card,category", "wxr", None),
    ("subject,pair1_item1,pair1_item2,pair2_item1,pair2_item2,choice", "waxyzn", None),
    ("subject,Which is least like this?,left,right,response", "waxyu", None),
    ("subject,target,left,right,response,prompt", "waxyul", None),
    ("Participant Public ID,subject,target,left,right,chosen", "bwaxyc", CHOICE),
    ("sujet,cible,gauche,droite,le moins ressemblant", "waxyu", None),
    ("sujet,cible,gauche,droite,le plus éloigné", "waxyu", None),
    ("sujet,cible,gauche,droite,bonne réponse,touche", "waxykq", None),
    ("participante,objetivo,izquierda,derecha,menos parecido", "waxyu", None),
    ("participante,objetivo,izquierda,derecha,respuesta correcta", "waxyk", None),
    ("participante,objetivo,izquierda,derecha,distinto", "waxyu", None),
    ("VP,Zielbild,links,rechts,am unaehnlichsten", "waxyu", None),
    ("VP,Ziel,links,rechts,Richtige Antwort,Taste", "waxykq", None),
    ("sujeto,palabra1,palabra2,similitud", "waxr", {"object": "palabra1 palabra2", "similarity": "similitud", "participant": "sujeto"}),
    ("sujet,mot1,mot2,dissemblance", "waxr", {"object": "mot1 mot2", "distance": "dissemblance", "participant": "sujet"}),
]  # fmt: skip


@pytest.mark.parametrize(("header", "cells", "expected"), NAMES, ids=[name for name, *_ in NAMES])
def test_a_guess_takes_no_column_for_another(header, cells, expected, tmp_path, monkeypatch, capsys):
    """Least similar, correct answers, ages, start times: never the contrary, and where in doubt nothing."""
    monkeypatch.chdir(tmp_path)
    Path("x.csv").write_text(table(header, cells))
    code, _, err = run(monkeypatch, capsys, "check", "x.csv", "--guess")
    if expected is None:
        assert code == 2 and "guess" not in err
        return
    words = shlex.split(re.search("read with  (.*)", err)[1])
    taken = {}
    for role, _, name in (word.partition("=") for word in words[1::2]):
        taken[role] = f"{taken[role]} {name}" if role in taken else name
    beside = ("participant", "seconds", "milliseconds")
    told = [name for role, names in expected.items() if role not in beside for name in names.split()]
    assert code == 0 and taken == expected and all(name in err.split("read with")[0] for name in told)


POINTS = dict(zip([*OBJECTS, "date", "leek"], (0.0, 1.0, 2.5, 4.7, 8.1, 13.9, 22.0, 41.0), strict=True))
NEARER = [  # header, cells; of every file that gets a command it reads near as near and far as far
    ("subj,X,A,B,resp", "waxyA"),
    ("participant,refImg,leftImg,rightImg,mouse.clicked_name", "waxyI"),
    ("Subject,Standard,LeftPic,RightPic,Slide1.RESP", "waxyE"),
    ("participant,reference,left,right,key_resp.keys", "waxyP"),
    ("rt,response,subject,ref,left,right", "tswaxy"),
    ("Versuchsperson,Vergleichsobjekt,linkes Bild,rechtes Bild,Antwort", "waxyD"),
    ("sujet,cible,gauche,droite,réponse", "waxyF"),
    ("sujet,référence,droite,gauche,choix", "wayxF"),
    ("participante,objetivo,izquierda,derecha,respuesta", "waxyS"),
    ("subject,target,left,right,eliminated", "waxyf"),
    ("subject,target,left,right,Least similar", "waxyf"),
    ("subject,target,left,right,Answer (less similar)", "waxyf"),
    ("annotator,query,negative,positive", "wafn"),
    ("pid,item1,item2,item3,oddone", "waxyo"),
]
NUMBERED = dict(zip(POINTS, ("3", "7", "12", "101", "102", "205", "206", "300"), strict=True))
SILENT = [  # nothing is proposed, as the numbers might mean the contrary, or nobody knows which column is the anchor
    ("subject,target,option1,option2,chose_first", "waxy0"),
    ("subject,target,left,right,chose_left", "waxy0"),
    ("subject,s1,s2,s3,response", "waxys"),
]


def told(header, cells, rows=40):
    """A file with these columns about points on a line."""
    rng = np.random.default_rng(3)
    made = [header]
    for i in range(rows):
        a, x, y = rng.permutation(list(POINTS))[:3]
        first = abs(POINTS[a] - POINTS[x]) < abs(POINTS[a] - POINTS[y])
        apart = {one: sum(abs(POINTS[one] - POINTS[other]) for other in (a, x, y)) for one in (a, x, y)}
        side = "left" if first else "right"
        shown = {
            "w": f"s{i % 4}", "a": a, "x": x, "y": y, "n": x if first else y, "f": y if first else x, "o": max(apart, key=apart.get),
            "s": f"arrow{side}", "t": f"{rng.random():.3f}", "A": "BA"[first], "I": f"{side}_img", "0": str(int(first)),
            "E": f"{{{side.upper()}ARROW}}", "P": f'"[\'{side}\']"', "D": "links" if first else "rechts",
            "F": "gauche" if first else "droite", "S": "izquierda" if first else "derecha",
        }  # fmt: skip
        made.append(",".join(shown[cell] for cell in cells))
    return "\n".join(made) + "\n"


def proposed(text, path):
    """The options of the command that is proposed for a file."""
    path.write_text(text)
    with pytest.raises(ColumnsError) as caught:
        nf.read_triplets(path)
    line = next((line for line in str(caught.value).splitlines() if line.startswith("  nearfar check")), "")
    return shlex.split(line)[3:]


@pytest.mark.parametrize(("header", "cells"), NEARER, ids=[name for name, _ in NEARER])
def test_a_proposed_command_takes_near_for_near(header, cells, tmp_path):
    path = tmp_path / "x.csv"
    result = nf.read_answers(path, **fuzz.options_of(proposed(told(header, cells), path)))
    place = np.array([POINTS[name] for name in result.triplets.objects])
    anchor, near, far = place[result.triplets.array.T]
    assert len(np.unique(result.triplets.statement_ids)) == 40 and len(result.triplets.participant.names) == 4
    assert (abs(anchor - near) < abs(anchor - far)).all()


def test_objects_called_by_numbers_are_proposed(tmp_path):
    """Also the column of the choice is then one of numbers."""
    text = told("participant,target,left,right,chosen", "waxyn")
    named_so = re.sub("|".join(POINTS), lambda name: NUMBERED[name[0]], text)
    options = fuzz.options_of(proposed(named_so, tmp_path / "x.csv"))
    roles = {
        "anchor": "target",
        "option": ["left", "right"],
        "choice": "chosen",
        "participant": "participant",
    }
    assert options == {"columns": roles}
    back = {number: name for name, number in NUMBERED.items()}
    answers = nf.read_triplets(tmp_path / "x.csv", **options)
    expected = [tuple(line.split(",")) for line in text.splitlines()[1:]]
    near = [tuple(back[name] for name in three) for three in named(answers)]
    assert near == [(a, n, y if n == x else x) for _, a, x, y, n in expected]


def test_a_grid_with_several_picks_in_a_cell_is_proposed(tmp_path):
    rng = np.random.default_rng(0)
    lines = ["subject,query,option1,option2,option3,option4,selected"]
    for i in range(12):
        anchor, *shown = rng.permutation(list(POINTS))[:5]
        picks = "; ".join(rng.choice(shown, 1 + i % 2, replace=False))
        lines.append(",".join([f"s{i % 3}", anchor, *shown, picks]))
    options = fuzz.options_of(proposed("\n".join(lines) + "\n", tmp_path / "x.csv"))
    assert options["columns"]["option"] == [f"option{i}" for i in (1, 2, 3, 4)]
    assert len(nf.read_triplets(tmp_path / "x.csv", **options)) == 6 * 3 + 6 * 4


@pytest.mark.parametrize(("header", "cells"), SILENT, ids=[name for name, _ in SILENT])
def test_nothing_is_proposed_where_it_might_be_the_contrary(header, cells, tmp_path):
    assert proposed(told(header, cells), tmp_path / "x.csv") == []


def survey(ask, cell, path):
    """The options proposed for a survey about points on a line; ``cell`` : names of a question -> the answer."""
    rng = np.random.default_rng(1)
    asked = [rng.permutation(list(POINTS))[:3] for _ in range(9)]
    rows = [[f"{who}@x.org", *(cell(*names) for names in asked)] for who in "abcdefgh"]
    lines = [["Email Address", *(f'"{ask.format(i, *names)}"' for i, names in enumerate(asked))], *rows]
    return proposed("\n".join(map(",".join, lines)) + "\n", path)


def test_surveys_about_names_of_several_words_are_proposed(tmp_path):
    names = ["War & Peace", "Dune part 1", "Emma", "A Far Sea", "Ulysses"]
    path, rng = tmp_path / "x.csv", np.random.default_rng(1)
    asked = [rng.permutation(names)[:3] for _ in range(12)]
    head = ["Email Address", *(f'"Which book is more like {a}: {b} or {c}?"' for a, b, c in asked)]
    rows = [[f"{who}@x.org", *(rng.choice(own[1:]) for own in asked)] for who in "abcdefgh"]
    options = proposed("\n".join(map(",".join, [head, *rows])) + "\n", path)
    assert options[1] == "Which book is more like {anchor}: {option} or {option}?"
    answers = nf.read_triplets(path, **fuzz.options_of(options))
    assert set(answers.objects) <= set(names) and len(answers) == 12 * 8


def test_a_french_survey_is_read_with_its_participants(tmp_path):
    path = tmp_path / "x.csv"
    ask = "Lequel ressemble le plus à {1} : {2} ou {3} ?"
    near = survey(ask, lambda a, x, y: min((x, y), key=lambda one: abs(POINTS[a] - POINTS[one])), path)
    path.write_text(path.read_text().replace("Email Address", "Adresse e-mail"))
    with pytest.raises(ColumnsError) as caught:
        nf.read_triplets(path)
    assert caught.value.options == [*near[:2], "--column", "participant=Adresse e-mail"]
    assert survey(ask.replace("plus", "moins"), lambda a, x, y: x, path) == []


def test_surveys_that_ask_for_the_contrary_are_not_proposed(tmp_path):
    def far(a, x, y):
        return max((x, y), key=lambda one: abs(POINTS[a] - POINTS[one]))

    path = tmp_path / "x.csv"
    for ask in ("Which is less like {1}: {2} or {3}?", "Welches ist {1} weniger ähnlich: {2} oder {3}?"):
        assert survey(ask, far, path) == []
    pattern = "Which is less like {anchor}: {option} or {option}?"
    survey("Which is less like {1}: {2} or {3}?", far, path)
    with pytest.warns(NearfarWarning, match="less similar"):
        nf.read_triplets(path, wide=pattern, columns={"participant": "Email Address"})
    options = survey("Q{0:03}. Which is the odd one out: {1}, {2} or {3}?", lambda a, x, y: a, path)
    assert "Which is the odd one out: {option}, {option} or {option}?" in options[1]
    assert len(nf.read_triplets(path, **fuzz.options_of(options))) == 9 * 8 * 2


@pytest.mark.parametrize(
    ("diagonal", "sign", "wide", "sure"),
    [
        ("", 1, True, False),
        ("", -1, False, False),
        ("0", 1, True, True),
        ("0", -1, True, False),
        ("99", -1, True, True),
    ],
)
def test_a_matrix_is_taken_by_its_diagonal_alone(diagonal, sign, wide, sure, tmp_path):
    names = list(POINTS)
    lines = [["", *names]]
    for i, a in enumerate(names):
        base = 1 if sign > 0 else 90
        values = [f"{base + sign * abs(POINTS[a] - POINTS[b]):g}" for b in names]
        lines.append([a, *(diagonal if i == j else x if wide or j < i else "" for j, x in enumerate(values))])
    path = tmp_path / "x.csv"
    kind = proposed("\n".join(map(",".join, lines)) + "\n", path)[1]
    with pytest.raises(ColumnsError) as caught:
        nf.read_triplets(path)
    assert bool(caught.value.options) == sure
    assert (
        kind == {1: "distance-matrix", -1: "similarity-matrix"}[sign]
        if sure
        else "exchange" in str(caught.value)
    )


def test_the_ends_of_a_scale_say_what_is_high(tmp_path):
    rows = "".join(
        f"s{i},{a},{b},{len(a + b) % 7}\n" for i in range(3) for a in OBJECTS for b in OBJECTS if a < b
    )
    for scale, role in (("1 = same; 7 = different", "distance"), ("1 = different; 7 = same", "similarity")):
        options = proposed(f"person,item A,item B,rating ({scale})\n{rows}", tmp_path / "x.csv")
        assert any(option.startswith(f"{role}=") for option in options)


@pytest.mark.parametrize("order", [["left", "right"], ["right", "left"]])
def test_a_side_is_the_column_of_that_name(order, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("anchor,left,right,response\nfig,plum,lime,left\nfig,plum,kiwi,right\n")
    answers = nf.read_triplets(path, columns={"anchor": "anchor", "option": order, "choice": "response"})
    assert named(answers) == [("fig", "plum", "lime"), ("fig", "kiwi", "plum")]


def test_two_rankings_of_one_anchor_are_not_mixed_in_silence(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("participant,anchor,object,rank\ns,fig,a,1\ns,fig,b,2\ns,fig,b,1\ns,fig,c,2\n")
    with pytest.warns(NearfarWarning, match="several ranks"):
        nf.read_triplets(path)


def test_titles_over_several_rows_and_files_beside_a_table_are_passed_over(tmp_path):
    book = xlsxwriter.Workbook(tmp_path / "x.xlsx")
    sheet = book.add_worksheet()
    sheet.merge_range(0, 0, 1, 2, "A title")
    for row, line in enumerate((["anchor", "near", "far"], ["fig", "plum", "lime"]), 2):
        sheet.write_row(row, 0, line)
    book.close()
    with pytest.warns(NearfarWarning):
        assert len(nf.read_triplets(tmp_path / "x.xlsx")) == 1
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        for name, text in (("README.txt", "x"), ("a/1.png", "x"), ("x.csv", "anchor,near,far\na,b,c\n")):
            archive.writestr(name, text)
    assert len(nf.read_triplets(tmp_path / "x.zip")) == 1


@pytest.mark.parametrize(
    "text",
    [
        "name\nfig\nplum\n",
        "a|b|c\n" + "fig|plum|lime\n" * 9,
        '[{"rt": 1}, {"rt": 2}]\n[{"rt": 3}]\n',
        "a\n",
        "a,b\n,\n",
        "x,,\n1,2,3\n",
    ],
)
def test_a_table_of_nothing_known_is_one_sentence(text, tmp_path):
    for name in ("x.csv", "x.txt"):
        (tmp_path / name).write_text(text)
        with pytest.raises(InputError, match=name):
            nf.read_answers(tmp_path / name)


def test_the_proposed_line_has_what_was_given(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = table("subject,target,left,right,chosen", "waxyc")
    with zipfile.ZipFile("study.zip", "w") as archive:
        archive.writestr("data/answers 1.csv", text)
    Path("-x.csv").write_text(text)
    book = xlsxwriter.Workbook("study.xlsx")
    book.add_worksheet("Read me").write(0, 0, "nothing")
    sheet = book.add_worksheet("Data")
    for row, line in enumerate(text.splitlines()):
        sheet.write_row(row, 0, line.split(","))
    book.close()
    for words in (
        ["study.zip"],
        ["./-x.csv"],
        ["study.xlsx", "--sheet", "Data"],
        ["study.zip", "--where", "subject != s1"],
    ):
        _, _, err = run(monkeypatch, capsys, "check", *words)
        line = next(line for line in err.splitlines() if line.startswith("  nearfar check"))
        code, out, _ = run(monkeypatch, capsys, *shlex.split(line)[1:])
        assert code == 0 and re.search(r"answers +(40|30) ", out) and words[-1] in shlex.split(line)


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
    assert code == 2 and "not known" in err


def test_a_title_that_asks_for_the_less_similar_is_heeded(tmp_path, monkeypatch, capsys):
    text = table("subject,target,left,right,response", "waxyu")
    (tmp_path / "x.csv").write_text("Choose the one that is least similar\n" + text)
    code, _, err = run(monkeypatch, capsys, "check", tmp_path / "x.csv", "--guess")
    assert code == 2 and "may be" in err


def test_rows_of_other_screens_do_not_hide_a_choice(tmp_path):
    """Of jsPsych, PsychoPy and the like: other keys and texts stand in the column of the choice there."""
    rows = table("subject,target,left,right,response,rt", "waxynm").splitlines()
    for other in ("Q0: none", "space", "9"):
        text = f"s1,,,,{other},2000"
        (tmp_path / "x.csv").write_text("\n".join([rows[0], text, *rows[1:], text]) + "\n")
        with pytest.raises(ColumnsError, match="choice=response") as caught:
            nf.read_triplets(tmp_path / "x.csv")
        roles = [word.split("=") for word in caught.value.options[1::2]]
        columns = {role: [name for own, name in roles if own == role] for role, _ in roles}
        columns = {role: own if len(own) > 1 else own[0] for role, own in columns.items()}
        assert len(nf.read_triplets(tmp_path / "x.csv", columns=columns)) == 40


def test_cards_are_proposed_by_their_names_not_by_their_numbers(tmp_path):
    rows = [f"P{p},{i},{name},{i % 3}" for p in range(4) for i, name in enumerate(OBJECTS)]
    (tmp_path / "x.csv").write_text(
        "\n".join(["participant,card index,card label,category label", *rows]) + "\n"
    )
    with pytest.raises(ColumnsError, match="object=card label"):
        nf.read_triplets(tmp_path / "x.csv")


def test_a_triangle_without_its_diagonal_is_proposed(tmp_path):
    rows = [
        f"{a},{','.join(str(i - j + 1) if j <= i else '' for j in range(5))}"
        for i, a in enumerate(OBJECTS[1:])
    ]
    (tmp_path / "x.csv").write_text("\n".join(["," + ",".join(OBJECTS[:5]), *rows]) + "\n")
    with pytest.raises(ColumnsError, match="--dialect distance-matrix"):
        nf.read_triplets(tmp_path / "x.csv")
    assert nf.read_triplets(tmp_path / "x.csv", dialect="distance-matrix").n_objects == 6


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda text: text + "Total,,,,12,\n", "Total"),
        (lambda text: re.sub("kiwi,3,2,1,0", "kiwi,,,,NA", text) + "Total,,,,12,\n", "Total"),
        (lambda text: text.replace(",plum,", ",fig,", 1), "fig"),
        (lambda text: text.replace("\nplum", "\nplumm"), "plumm"),
    ],
)
def test_a_matrix_with_another_row_or_a_column_twice_is_refused(change, word, tmp_path):
    names = ["fig", "plum", "lime", "kiwi"]
    rows = [f"{a},{','.join(str(abs(i - j)) for j in range(4))}" for i, a in enumerate(names)]
    text = "\n".join(["," + ",".join(names) + ",", *(row + "," for row in rows)]) + "\n"
    (tmp_path / "x.csv").write_text(text)
    assert len(nf.read_triplets(tmp_path / "x.csv", dialect="distance-matrix")) == 10
    (tmp_path / "x.csv").write_text(change(text))
    with pytest.raises(FileError, match=f"'{word}'"):
        nf.read_triplets(tmp_path / "x.csv", dialect="distance-matrix")


@pytest.mark.parametrize(("first", "answers"), [("0", 12), ("1", 12)])
def test_numbers_of_options_in_a_survey_are_declared_by_their_role(first, answers, tmp_path):
    asked = [
        f"Which is more like a {a}: {x} or {y}?"
        for a, x, y in (("fig", "plum", "lime"), ("kiwi", "lime", "fig"))
    ]
    rows = [f"p{i},{int(first) + i % 2},{first}" for i in range(6)]
    (tmp_path / "x.csv").write_text("\n".join([",".join(["who", *asked]), *rows]) + "\n")
    columns = {f"choice_from_{first}": "choice", "participant": "who"}
    read_so = nf.read_triplets(
        tmp_path / "x.csv", wide="Which is more like a {anchor}: {option} or {option}?", columns=columns
    )
    told = [near for who, anchor, near, far in said(read_so) if anchor == "fig"]
    assert len(read_so) == answers and told == ["plum", "lime"] * 3


def test_a_question_with_a_slip_in_its_text_is_told(tmp_path):
    asked = ["Which is more like a fig: plum or lime?", "Which ist more like a plum: fig or lime?"]
    (tmp_path / "x.csv").write_text(
        ",".join(["who", "comment", *asked]) + "\nann,no plum,lime,fig\nbob,,plum,lime\n"
    )
    with pytest.warns(NearfarWarning, match="Which ist more .* left out") as told:
        assert (
            len(
                nf.read_triplets(
                    tmp_path / "x.csv", wide="Which is more like a {anchor}: {option} or {option}?"
                )
            )
            == 2
        )
    assert len(told) == 1


def test_a_matrix_of_a_header_alone_holds_no_answers(tmp_path):
    (tmp_path / "x.csv").write_text(",fig,plum,lime\n")
    assert len(nf.read_triplets(tmp_path / "x.csv", dialect="distance-matrix")) == 0


def test_numbered_rows_of_r_have_a_column_that_its_header_leaves_out(tmp_path):
    (tmp_path / "x.txt").write_text(
        '"anchor" "near" "far"\n"1" "fig" "plum" "lime"\n"2" "kiwi" "lime" "fig"\n'
    )
    assert named(nf.read_triplets(tmp_path / "x.txt")) == [("fig", "plum", "lime"), ("kiwi", "lime", "fig")]
    (tmp_path / "x.csv").write_text("anchor,near,far\n1,fig,plum,lime\nkiwi,lime,fig\n")
    with pytest.raises(InputError, match="line 3: wrong number of cells"):
        nf.read_triplets(tmp_path / "x.csv")


def test_a_column_of_lists_is_no_reason_to_fail():
    frame = pl.DataFrame(
        {"who": ["ann", "bob"], "trial": [[1, 2], [3]], "x": [{"a": 1}, {"a": 2}], "y": [1.5, None]}
    )
    with pytest.raises(ColumnsError, match="not known"):
        nf.read_triplets(frame)
    with pytest.raises(FileError, match="trial holds List"):
        nf.read_triplets(frame, dialect="pile-sort")


def test_tables_without_a_header_are_proposed_by_number(tmp_path):
    rows = ["fig,plum,lime", "plum,lime,kiwi", "lime,kiwi,fig", "kiwi,fig,plum"] * 3
    with pytest.raises(ColumnsError, match="column 2 is more similar to column 1") as caught:
        read(tmp_path, "\n".join(rows) + "\n")
    line = str(caught.value).splitlines()[1]
    assert "anchor=1" in line and "near=2" in line and "far=3" in line


def test_the_number_of_the_odd_one_is_proposed(tmp_path):
    names = ["fig", "plum", "lime", "kiwi", "date"]
    rows = [(*np.roll(names, i)[:3], i % 3 + 1) for i in range(15)]
    text = "Person,Item1,Item2,Item3,Odd one (1-3)\n" + "".join(
        f"p{i},{','.join(map(str, row))}\n" for i, row in enumerate(rows)
    )
    with pytest.raises(ColumnsError, match="by its number from 1") as caught:
        read(tmp_path, text)
    assert "'odd=Odd one (1-3)'" in str(caught.value)


def test_piles_with_names_are_proposed_unless_the_columns_are_numbered(tmp_path):
    rows = [
        f"p{i}," + ",".join(["red", "blue", "green"][(i * 7 + k * k) % 3] for k in range(5))
        for i in range(12)
    ]
    for header, are_objects in (("fig,plum,lime,kiwi,date", True), ("Q1,Q2,Q3,Q4,Q5", False)):
        with pytest.raises(ColumnsError) as caught:
            read(tmp_path, "\n".join([f"Subject,{header}", *rows]) + "\n")
        assert ("--dialect pile-sort" in str(caught.value)) == are_objects


def test_one_name_in_the_wrong_cell_does_not_make_participants_objects(tmp_path):
    """Two people, of whom one row is shifted: their column then shares both names with those of the objects."""
    rng = np.random.default_rng(0)
    rows = [[f"s{i % 2}", *rng.permutation(OBJECTS)[:3]] for i in range(40)]
    rows = [[*row, row[1 + i % 3]] for i, row in enumerate(rows)]
    rows[7] = [rows[7][1], rows[7][0], *rows[7][2:]]
    lines = ["subj,item 1,item 2,item 3,choice", *map(",".join, rows)]
    (tmp_path / "x.csv").write_text("\n".join(lines) + "\n")
    with pytest.raises(ColumnsError) as caught:
        nf.read_triplets(tmp_path / "x.csv")
    assert "anchor=subj" not in str(caught.value)


def test_a_question_under_another_name_is_missed_aloud(tmp_path):
    """One of its two options is in no other question."""
    text = "who,Which is more like a fig: plum or lime?,Q2\nann,plum,kiwi\nbob,lime,plum\n"
    (tmp_path / "x.csv").write_text(text)
    with pytest.warns(NearfarWarning, match="'Q2' holds names of objects"):
        nf.read_triplets(tmp_path / "x.csv", wide="Which is more like a {anchor}: {option} or {option}?")
