"""The demo: a circle of colours, the careless found, a ceiling near the truth."""

import json
import sys

import numpy as np
import pytest

from nearfar.cli import main
from nearfar.datasets import make_colours
from nearfar.datasets.colours import lab_from_hex


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """The folder of the demo, what it said, and the facts on its page."""
    folder = tmp_path_factory.mktemp("demo") / "new" / "place"
    patch = pytest.MonkeyPatch()
    patch.setattr(sys, "argv", ["nearfar", "demo", str(folder)])
    said = []
    patch.setattr("nearfar.cli._options.tell", said.append)
    with pytest.raises(SystemExit, match=r"^0$"):
        main()
    patch.undo()
    page = (folder / "report.html").read_text(encoding="utf-8")
    data = json.loads(page.partition('id="nf-data">')[2].partition("</script>")[0])
    return folder, "\n".join(said), page, data


def test_the_demo_writes_data_pictures_and_page(shown):
    folder, said, page, data = shown
    assert {path.name for path in folder.iterdir()} == {"answers.csv", "objects.csv", "images", "report.html"}
    assert len(list((folder / "images").glob("*.png"))) == 100
    assert page.partition('id="nf-thumbs">')[2].partition("</script>")[0].count("data:image/png") == 100
    assert len(data["objects"]) == 100
    assert f"wrote {folder / 'report.html'}" in said


def test_the_map_is_the_colour_circle(shown):
    """Around the middle of the map the vivid colours come in the order of their hue."""
    _, _, _, data = shown
    colours = make_colours()
    lab = lab_from_hex(list(colours.hex))
    vivid = np.hypot(lab[:, 1], lab[:, 2]) > 50
    names = [each["name"] for each in data["objects"]]
    assert names == list(colours.triplets.objects)
    points = np.array([data["maps"][0]["x"], data["maps"][0]["y"]]).T
    grey = points[np.hypot(lab[:, 1], lab[:, 2]) < 15].mean(axis=0)
    angle = np.arctan2(*(points[vivid] - grey).T[::-1])
    hue = np.arctan2(lab[vivid, 2], lab[vivid, 1])
    # circular agreement, whichever way round and however turned
    agreement = max(abs(np.mean(np.exp(1j * (angle - sign * hue)))) for sign in (1, -1))
    assert vivid.sum() > 40
    assert agreement > 0.9


def test_the_careless_are_found_and_nobody_else(shown):
    _, said, _, _ = shown
    truth = make_colours().truth
    line = next(line for line in said.splitlines() if "to check: " in line)
    named, _, told = line.partition("to check: ")[2].rstrip(")").partition(" (simulated as careless: ")
    assert set(named.split(", ")) == set(truth.careless)
    assert told == ", ".join(truth.careless)


def test_the_ceiling_brackets_the_truth(shown):
    _, said, page, _ = shown
    colours = make_colours()
    truth = colours.truth.ceiling(colours.triplets)
    line = next(line for line in said.splitlines() if "noise ceiling" in line)
    low, high = (float(word) for word in line.partition("ceiling ")[2].partition(" (")[0].split(" to "))
    assert low < truth < high
    assert high - low < 0.21
    assert f"{truth:.3f}" in line and f"{100 * low:.0f} to {100 * high:.0f}" in page


def test_a_place_that_cannot_be_made_is_one_sentence(tmp_path, monkeypatch, capsys):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(sys, "argv", ["nearfar", "demo", str(tmp_path / "file")])
    with pytest.raises(SystemExit, match=r"^2$"):
        main()
    assert "cannot be made" in capsys.readouterr().err
