"""Pictures as journals print them: sizes, fonts, captions beside them, nothing of the terminal in them."""

import re

import pytest
from cli_tools import run
from docs_tools import answers_file

NAMES = [f"object {x:02d}" for x in range(14)]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("study") / "answers.csv"
    answers_file(path, NAMES)
    return path


def text_of(svg):
    return " ".join(re.findall(r"<text[^>]*>([^<]*)</text>", svg.read_text()))


@pytest.mark.parametrize(
    "command", ["map", "map -n 3", "tree -k 3", "tree --root top", "cluster -k 3", "kernel"]
)
def test_nothing_of_the_terminal_is_written_into_a_picture(command, file, tmp_path, monkeypatch, capsys):
    path = tmp_path / "x.svg"
    code, _, told = run(monkeypatch, capsys, *command.split(), file, "-o", path, "--width", "single")
    assert code == 0 and "chosen: " in told
    written = text_of(path)
    assert "object 03" in written or command == "map -n 3"
    assert not re.search(r"chosen|predicts|second|map:|%|ckl|soe|score", written)
    caption = (tmp_path / "x.caption.txt").read_text()
    assert "14 objects" in caption and caption.endswith(".\n") and "chosen" not in caption
    assert ("PCA of" in caption) == (command == "map -n 3")  # auto tries no model in three dimensions


def test_a_single_column_in_a_small_font_without_names(file, tmp_path, monkeypatch, capsys):
    path = tmp_path / "x.svg"
    options = ["--width", "85mm", "--height", "6cm", "--font", "6", "--no-labels"]
    assert run(monkeypatch, capsys, "tree", file, "-m", "score", "-o", path, *options)[0] == 0
    width, height = re.search(r'width="([\d.]+)pt" height="([\d.]+)pt"', path.read_text()).groups()
    assert float(width) == pytest.approx(85 / 25.4 * 72, abs=0.1)
    assert float(height) == pytest.approx(60 / 25.4 * 72, abs=0.1)
    assert "object" not in text_of(path)


def test_models_are_drawn(file, tmp_path, monkeypatch, capsys):
    path = tmp_path / "models.svg"
    assert (
        run(monkeypatch, capsys, "compare", file, "-m", "score,ckl-2", "-o", path, "--width", "single")[0]
        == 0
    )
    assert "ckl-2" in text_of(path) and "2 models" in (tmp_path / "models.caption.txt").read_text()


def test_the_bundle_is_drawn_as_asked_and_its_tree_is_that_of_the_command(
    file, tmp_path, monkeypatch, capsys
):
    rows = ["report", file, "-m", "score", "-o", tmp_path / "r.html", "--bundle", tmp_path / "b"]
    assert run(monkeypatch, capsys, *rows, "--width", "single")[0] == 0
    figures = tmp_path / "b" / "figures"
    drawn = sorted(figures.glob("*.svg"))
    widths = {re.search(r'width="([\d.]+)pt"', each.read_text())[1] for each in drawn}
    assert len(drawn) > 5 and {round(float(width)) for width in widths} == {241}
    told = (figures / "captions.txt").read_text()
    assert all(f"{each.stem}: " in told for each in drawn)
    assert run(monkeypatch, capsys, "tree", file, "-m", "score", "-o", tmp_path / "tree.csv")[0] == 0
    assert (tmp_path / "tree.csv").read_text() == (tmp_path / "b" / "tables" / "tree.csv").read_text()


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ("-o x.png --width 3", "--width"),
        ("-o x.png --height 1mm", "--height"),
        ("-o x.png --font Nowhere", "Nowhere"),
        ("-o x.png --font 300", "--font"),
        ("-o x.csv --width 85mm", "no picture"),
        ("-o x.csv --no-labels", "--no-labels"),
    ],
)
def test_what_cannot_be_printed_is_refused_before_the_work(
    options, word, file, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    code, _, told = run(monkeypatch, capsys, "map", file, *options.split())
    assert code == 2 and word in told and told.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_caption_never_takes_the_place_of_a_folder(file, tmp_path, monkeypatch, capsys):
    (tmp_path / "x.caption.txt").mkdir()
    code, _, told = run(monkeypatch, capsys, "map", file, "-m", "score", "-o", tmp_path / "x.png")
    assert code == 2 and "x.caption.txt" in told and not (tmp_path / "x.png").exists()
