"""The two pages say what the rows say, and the pictures are pictures."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from experiments import _lines, _plots, _words
from experiments.__main__ import main
from experiments._catalogue import EXPERIMENTS
from experiments._data import Data
from experiments._experiment import Cell, key_of, table, turned
from experiments._page import _anchor, _figures, _whole_time, write_pages
from experiments._runner import Places
from experiments._store import Store
from PIL import Image

import nearfar


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    folder = tmp_path_factory.mktemp("paper")
    assert main(["figure1", "figure2", "nature", "--quick", "--jobs", "1", "--output", str(folder)]) == 0
    return folder


def test_the_page_is_made_from_rows(small):
    page, ours = (
        (small / "results" / "paper-details.md").read_text(),
        (small / "results" / "paper-ours.md").read_text(),
    )
    summary = (small / "paper.md").read_text()
    assert "| 1 | six similarity scores of three pairs |" in summary and "quick run" in summary
    assert "6 of 6 numbers are the same fractions." in page
    assert "| x1, x7 | -5/7 | -5/7 |" in page
    assert "Not run yet: `python -m experiments usps`." in page
    assert "Not run yet: `python -m experiments landmarks`." in ours
    assert "quick run" in page and "quick run" in ours
    for picture in re.findall(r"\]\((\S+\.png)\)", page):
        assert 0 < (small / "results" / picture).stat().st_size < 1_000_000
    assert len(re.findall(r"^!\[", page, re.M)) == 4
    assert str(small) not in page + ours


def test_absent_data_is_a_row_at_a_glance_and_a_stand_in_is_run(small):
    page = (small / "results" / "paper-details.md").read_text()
    assert re.search(r"maps and a tree of scenes: no data", page)
    assert "simulated stand-in" in page
    assert (small / "paper" / "nature_tree.png").exists()


def test_every_claim_is_said_once(small):
    page = (small / "results" / "paper-details.md").read_text()
    for claim in (
        EXPERIMENTS["figure2"].section(Store(small / "results", "figure2").rows(), Data(small)).claims
    ):
        assert page.count(claim.paper) == 1


def test_the_same_rows_give_the_same_page(small):
    before = (small / "paper.md").read_text()
    assert main(["--quick", "--page", "--output", str(small)]) == 0
    assert (small / "paper.md").read_text() == before


def test_a_wrong_number_is_seen(small, tmp_path):
    places = Places.below(tmp_path)
    places.rows.mkdir()
    text = (small / "results" / "figure1.jsonl").read_text()
    (places.rows / "figure1.jsonl").write_text(text.replace('"ideal_k1": "1/3"', '"ideal_k1": "2/3"'))
    page = write_pages([EXPERIMENTS["figure1"]], places, Data(tmp_path), quick=True)[1].read_text()
    assert "5 of 6 numbers are the same fractions." in page
    assert "**Does not hold.**" in page


def test_pictures_are_drawn_again_only_when_rows_are_newer(small):
    picture = small / "paper" / "figure2.png"
    before = picture.stat().st_mtime_ns
    main(["--quick", "--page", "--output", str(small)])
    assert picture.stat().st_mtime_ns == before
    rows = small / "results" / "figure2.jsonl"
    picture.unlink()
    main(["--quick", "--page", "--output", str(small)])
    assert picture.stat().st_mtime > rows.stat().st_mtime


def test_pictures_keep_their_colours_and_drafts_are_coarser(tmp_path):
    figure, axes = _plots.panels(1, 1, width=2, height=2)
    axes[0, 0].scatter([0], [0], s=4, color="#d55e00")  # few coloured pixels among many white ones
    for draft in (True, False):
        _plots.save(figure, tmp_path / "dot.png", draft=draft)
        with Image.open(tmp_path / "dot.png") as picture:
            assert picture.size[0] == (1 if draft else 2) * _plots.RESOLUTION
    pixels = np.asarray(Image.open(tmp_path / "dot.png").convert("RGB")).astype(int)
    assert (np.ptp(pixels, axis=2) > 100).any()
    assert pixels.shape[:2] == (2 * _plots.RESOLUTION, 2 * _plots.RESOLUTION)


def test_an_unknown_name_is_one_sentence(capsys):
    assert main(["figure9"]) == 2
    assert capsys.readouterr().err.startswith("experiments: 'figure9' is none of figure1, figure2,")


def test_all_fourteen_figures_are_mapped_to_sections():
    assert len(_words.FIGURES) == 14
    anchors = {_anchor(experiment.title) for experiment in EXPERIMENTS.values() if experiment.section}
    for *_, here, _how in _words.FIGURES:
        assert re.search(r"\(#(.+)\)", here)[1] in anchors


def test_figures_in_one_place_share_a_row():
    lines = _figures().splitlines()[2:]
    assert (
        sum(int(re.search(r"\((\d) figures\)", line)[1]) if "figures)" in line else 1 for line in lines) == 13
    )
    assert lines[2].startswith("| 3, supplement | ")  # the fourteenth
    for _, shows, *_ in _words.FIGURES:
        assert sum(shows in line for line in lines) == 1


def test_lines_with_the_same_results_share_a_row():
    lines = _lines.kernels("k1") | _lines.published([2, 10])
    same = {name: ["0.42"] if "GNMDS" in name and "random" not in name else [name] for name in lines}
    rows = _lines.alike(lines, same)
    assert sum(map(len, rows.values())) == len(lines) == len(rows) + 3
    assert rows["GNMDS 2-d and 10-d, k1's and k2's triplets"] == [
        name for name in lines if same[name] == ["0.42"]
    ]
    # three of the four pairs have no common name
    same["GNMDS 2-d, k1's triplets"] = ["0.43"]
    assert list(_lines.alike(lines, same)) == list(lines)


def test_tables_are_markdown_and_can_be_turned():
    assert table(["a", "b"], [[1, 2]]).splitlines() == ["| a | b |", "|---|---:|", "| 1 | 2 |"]
    assert turned(["m", "p", "s"], [["k1", 1, 2], ["k2", 3, 4]]) == table(
        ["m", "k1", "k2"], [["p", 1, 3], ["s", 2, 4]]
    )


def test_the_time_of_the_whole_run_is_that_of_its_cells(tmp_path):
    store = Store(tmp_path, "usps")
    store.add(Cell({"n": 1}), {"seconds": 60.0}, cpu_seconds=100.0)
    store.add(Cell({"n": 2}), {"seconds": 80.0})
    Store(tmp_path, "peers").add(Cell({"n": 1}), {"seconds": 9000.0})  # not part of the default run
    said = _whole_time(list(EXPERIMENTS.values()), tmp_path)
    assert (
        "takes about 4 minutes in one process" in said and "the 2 cells that are computed, of " in said
    )  # 100 s, and 80 s with the 40 s that the other had beside its fit
    assert "Of 1 of them only the fit" in said


def test_a_quick_run_takes_fewer_steps_and_says_so():
    for name in ("usps", "mnist", "mnist_map", "general", "car", "food"):
        for quick in (True, False):
            programs = [
                c.settings for c in EXPERIMENTS[name].cells(quick) if c.settings.get("start") == "published"
            ]
            assert programs and all(("steps" in settings) == quick for settings in programs)


# ---------------------------------------------------------------- what is committed


def committed():
    rows = Places.full().rows
    return [experiment for experiment in EXPERIMENTS.values() if (rows / f"{experiment.name}.jsonl").exists()]


@pytest.mark.parametrize("experiment", committed(), ids=lambda experiment: experiment.name)
def test_committed_rows_are_cells_and_the_pages_say_what_they_say(experiment, tmp_path):
    store = Store(Places.full().rows, experiment.name)
    keys = {cell.key for cell in experiment.cells(False)}
    lines = [json.loads(line) for line in store.path.read_text().splitlines()]
    assert {key_of(line["cell"]) for line in lines} <= keys
    for says, place in ((experiment.section, Places.full().page), (experiment.ours, Places.full().ours)):
        if says is not None:
            section, page = says(store.rows(), Data(tmp_path)), place.read_text()
            assert section.text in page
            for claim in section.claims:
                assert (
                    f"{claim.paper} **{claim.verdict[0].upper()}{claim.verdict[1:]}.** {claim.ours}" in page
                )
            for name in section.figures:
                assert f"/docs/paper/{name}.png)" in page
                assert (Places.full().figures / f"{name}.png").exists()


def test_no_picture_is_left_over():
    pages = Places.full().page.read_text() + Places.full().ours.read_text()
    for picture in Places.full().figures.glob("*.png"):
        assert f"paper/{picture.name}" in pages


def test_nearfar_never_imports_experiments():
    sources = [path.read_text() for path in Path(nearfar.__file__).parent.rglob("*.py")]
    assert not [text for text in sources if re.search(r"^\s*(from|import) experiments\b", text, re.M)]
