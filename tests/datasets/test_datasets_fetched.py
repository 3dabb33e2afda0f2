"""Loaders: the published counts from the real files, the published layouts from tiny ones, and every way to fail."""

import json
import zipfile
from urllib.error import URLError

import numpy as np
import pytest

from nearfar import datasets
from nearfar.datasets import _readers
from nearfar.datasets._readers import check_counts
from nearfar.errors import FileError, UnreachableError
from nearfar.triplets import Triplets

# ---------------------------------------------------------------- the real files


def test_food(shared_data):
    data = datasets.fetch_food(shared_data)
    answers = data.triplets
    assert len(answers.unique().triplets) == 190_376
    check_counts(answers, {"contradictions": 9_349}, "food")
    assert (len(answers), answers.n_objects) == (250_320, 100)
    assert len(answers.statement.present) == 15_320
    assert len(answers.participant.present) == 243
    assert answers.seconds[0] == 8.051


def test_car(shared_data):
    data = datasets.fetch_car(shared_data)
    answers = data.triplets
    assert (len(answers), len(answers.unique().triplets)) == (13_514, 12_502)
    assert len(answers.statement.present) == 6_757
    assert len(answers.participant.present) == 146 - 7
    assert len(data.images) == 60 and data.images[0].name == "1.jpg" and data.images[59].name == "60.jpg"
    known = np.load(shared_data / "car" / "triplets.npz")
    assert {tuple(row) for row in known["triplets"].tolist()} == {
        tuple(row) for row in answers.array.tolist()
    }
    rename = {"offroad_suv": "off-road"}
    assert [rename.get(str(name), str(name)) for name in known["classes"]] == list(data.groups)
    # survey_data.csv, first row: round 1, car 32 is the centre of 32, 16, 30, after 11.108 s
    assert answers.array[:2].tolist() == [[15, 31, 29], [29, 31, 15]]
    assert answers.seconds[:2].tolist() == [11.108, 11.108]
    assert np.asarray(answers.participant)[:2].tolist() == [1, 1]


def test_things(shared_data):
    answers = datasets.fetch_things(shared_data).triplets
    assert (len(answers), answers.n_objects) == (2 * 127_304, 1_854)
    assert len(answers.statement.present) == 127_304
    assert answers.array[:2].tolist() == [[1663, 1132, 1], [1132, 1663, 1]]
    assert answers.objects[:2] == ("aardvark", "abacus")
    assert answers.participant is not None


def test_musicians(shared_data):
    data = datasets.fetch_musicians(shared_data)
    answers = data.triplets
    assert len(answers) == 9_107 - 17 and answers.n_objects == 412
    assert data.set_aside == {_readers.SAME: 17}
    by_statement = {}
    for row, statement in zip(answers.array.tolist(), answers.statement_ids.tolist(), strict=True):
        by_statement.setdefault(statement, set()).add((row[0], row[1]))
    assert all(len(choices) == 1 for choices in by_statement.values())
    assert len(by_statement) == len({tuple(row[:2]) for row in answers.array.tolist()})
    assert data.details["genre_matrix"].shape == (412, len(data.details["genres"]))


USPS = [1553, 1269, 929, 824, 852, 716, 834, 792, 708, 821]
MNIST = [6903, 7877, 6990, 7141, 6824, 6313, 6876, 7293, 6825, 6958]


@pytest.mark.parametrize(
    ("fetch", "shape", "n_train", "values", "counts"),
    [
        (datasets.fetch_usps, (9_298, 16, 16), 7_291, (-1, 1), USPS),
        (datasets.fetch_mnist, (70_000, 28, 28), 60_000, (0, 255), MNIST),
    ],
)
def test_digits(shared_data, fetch, shape, n_train, values, counts):
    data = fetch(shared_data)
    assert data.images.shape == shape and data.points.shape == (shape[0], shape[1] * shape[2])
    assert data.n_train == n_train and (data.images.min(), data.images.max()) == values
    assert np.bincount(data.labels).tolist() == counts


def test_environment_names_the_folder(shared_data, monkeypatch):
    monkeypatch.setenv("NEARFAR_DATA", str(shared_data))
    assert datasets.fetch_car().source == shared_data / "car"


# ---------------------------------------------------------------- the published layouts, made small


def write_zip(path, members):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def unpack(archive, folder):
    with zipfile.ZipFile(archive) as file:
        file.extractall(folder)
    return folder


SCREENS = [
    {
        "worker_id": 7,
        "HIT_screens": [
            {
                "images": ["images/b.jpg", "images/c.jpg", "images/d.jpg"],
                "probe": "images/a.jpg",
                "near_answer": ["images/c.jpg"],
                "is_catchtrial": False,
                "timer": 1500,
            },
            {
                "images": ["images/a.jpg", "images/b.jpg"],
                "probe": "images/d.jpg",
                "near_answer": ["images/a.jpg"],
                "is_catchtrial": True,
                "timer": 10,
            },
        ],
    }
]
LINES = "images/a.jpg; images/c.jpg; images/b.jpg\nimages/a.jpg; images/c.jpg; images/d.jpg\nimages/b.jpg; images/a.jpg; images/d.jpg\n"
PICTURES = {f"food100-dataset/images/{name}.jpg": name for name in "abcd"}


def test_food_screens(tmp_path):
    second = [{"worker_id": 9, "HIT_screens": [{**SCREENS[0]["HIT_screens"][0], "timer": 2000}]}]
    path = write_zip(
        tmp_path / "food.zip",
        {
            "food100-dataset/raw-json/grid4_rep1.json": json.dumps(SCREENS),
            "food100-dataset/raw-json/grid4_rep2.json": json.dumps(second),
            "food100-dataset/all-triplets.csv": LINES,
            **PICTURES,
        },
    )
    for place in (path, unpack(path, tmp_path / "unpacked")):
        data = _readers.read_food(place, {"objects": 4, "answers": 4, "unique": 2, "contradictions": 0})
        answers = data.triplets
        assert answers.array.tolist() == [[0, 2, 1], [0, 2, 3]] * 2
        assert answers.statement_ids.tolist() == [0, 0, 1, 1]
        assert np.asarray(answers.participant).tolist() == [7, 7, 9, 9]
        assert answers.seconds.tolist() == [1.5, 1.5, 2.0, 2.0]
        assert [file.read_text() for file in data.images] == list("abcd")


def test_food_lines(tmp_path):
    path = write_zip(tmp_path / "food.zip", {"food100-dataset/all-triplets.csv": LINES})
    data = _readers.read_food(path, {"objects": 4, "answers": 3})
    assert data.triplets.array.tolist() == [[0, 2, 1], [0, 2, 3], [1, 0, 3]]
    assert data.triplets.statement_ids.tolist() == [0, 0, 1]
    assert data.images == ()


SURVEY = "survey_round,chosen_center,triplet_object_1,triplet_object_2,triplet_object_3,response_time\n"


def test_car_archive(tmp_path):
    members = {
        "60_cars_data/survey_data.csv": SURVEY + "1,32,32,16,30,11.108\n2,5,9,5,7,1.0\n3,18,53,18,15,4.5\n",
        "60_cars_data/ordinal_data_preprocessed/T_ALL.csv": "32,16,30\n18,15,53\n",
        **{f"60_cars_data/car_data_set_images/{i}.jpg": str(i) for i in range(1, 61)},
    }
    path = write_zip(tmp_path / "60_cars_data.zip", members)
    for place in (path, unpack(path, tmp_path / "unpacked") / "60_cars_data"):
        data = _readers.read_car(place, {"objects": 60, "statements": 2, "answers": 4})
        answers = data.triplets
        assert answers.array.tolist() == [[15, 31, 29], [29, 31, 15], [14, 17, 52], [52, 17, 14]]
        assert np.asarray(answers.participant).tolist() == [1, 1, 3, 3]
        assert answers.seconds.tolist() == [11.108, 11.108, 4.5, 4.5]
        assert [file.read_text() for file in data.images] == [str(i) for i in range(1, 61)]
        assert data.groups[20] == "outlier"


# odd one last; taking another column for the odd one gives (unique, contradictions) (10, 4) or (8, 2)
NATURE = [list("abc"), list("dcb"), list("cab"), list("cdb"), list("bac")]
COUNTS = {"objects": 4, "statements": 5, "unique": 6, "contradictions": 1}


@pytest.mark.parametrize("odd", [0, 1, 2])
def test_nature_and_vogue(tmp_path, odd):
    """The odd one is found in whichever column reproduces the counts; vogue follows nature."""

    def text(rows):
        moved = [[*row[:2][:odd], row[2], *row[:2][odd:]] for row in rows]
        return "".join("\t".join(row) + "\n" for row in moved)

    vogue = [["x", "y", "z"], ["y", "z", "x"]]
    members = {"nature/nature_triplets.txt": text(NATURE), "vogue/vogue_triplets.txt": text(vogue)}
    path = write_zip(tmp_path / "scenes.zip", members)
    counts = {"nature": COUNTS, "vogue": {"objects": 3, "statements": 2, "answers": 4}}
    nature = _readers.read_scenes(path, counts, "nature")
    assert nature.details["odd_column"] == odd
    assert nature.triplets.array[:2].tolist() == [[0, 1, 2], [1, 0, 2]]
    covers = _readers.read_scenes(path, counts, "vogue")
    assert covers.triplets.array.tolist() == [[0, 1, 2], [1, 0, 2], [1, 2, 0], [2, 1, 0]]


def test_musicseer(tmp_path):
    path = tmp_path / "musicseer.txt"
    path.write_text(
        "Judgement S/G User Target Chosen Other\n"
        "1 S u1 10 20 30\n1 S u1 10 20 40\n2 G u2 20 20 30\n3 G u2 20 40 10\n4 S u3 10 20\n\n(4 rows)\n"
    )
    data = _readers.read_musicians(path, {"objects": 4, "rows": 4})
    assert data.triplets.objects == ("artist10", "artist20", "artist30", "artist40")
    assert data.triplets.array.tolist() == [[0, 1, 2], [0, 1, 3], [1, 3, 0]]
    assert data.triplets.statement_ids[0] == data.triplets.statement_ids[1] != data.triplets.statement_ids[2]
    assert np.asarray(data.triplets.participant).tolist() == ["u1", "u1", "u2"]
    assert data.set_aside == {_readers.SAME: 1, _readers.NO_OTHER: 1, _readers.NO_JUDGEMENT: 2}
    with pytest.raises(FileError, match="found 4 rows, the published data has 5"):
        _readers.read_musicians(path, {"objects": 4, "rows": 5})


def test_things_text(tmp_path):
    trials, names = tmp_path / "trials.txt", tmp_path / "names.tsv"
    trials.write_text("0 1 2\n2 0 1\n")
    names.write_text("Word\tA\tB\tC\tD\tuniqueID\n" + "".join(f"bat\t-\t-\t-\t-\tbat{i}\n" for i in range(3)))
    data = _readers.read_things(trials, {"objects": 3, "statements": 2, "answers": 4}, names)
    assert data.triplets.array.tolist() == [[0, 1, 2], [1, 0, 2], [2, 0, 1], [0, 2, 1]]
    assert data.triplets.objects == ("bat0", "bat1", "bat2")
    names.write_text("Word\nbat\n")
    with pytest.raises(FileError, match="names in column 6"):
        _readers.read_things(trials, {}, names)


def test_material(tmp_path):
    train = {"answers": [[0, 1, 2], [2, 0, 1]], "agreement": [[2, 1], [1, 0]]}
    test = {"answers": [[1, 0, 2]], "agreement": [[0, 2]]}
    root = "material-appearance-similarity-master/data"
    members = {
        f"{root}/answers_processed_train.json": json.dumps(train),
        f"{root}/answers_processed_test.json": json.dumps(test),
        **{f"{root}/havran1_ennis_298x298_LDR/{name}.jpg": name for name in ("brass", "nylon", "steel")},
    }
    path = write_zip(tmp_path / "material.zip", members)
    data = _readers.read_material(path, {"objects": 3, "questions": 3})
    rows = sorted(data.triplets.array.tolist())
    assert rows == sorted([[0, 1, 2], [0, 1, 2], [0, 2, 1], [2, 0, 1], [1, 2, 0], [1, 2, 0]])
    assert data.triplets.objects == ("brass", "nylon", "steel")
    assert data.details["test"].tolist() == [False] * 4 + [True] * 2
    assert [image.read_text() for image in data.images] == ["brass", "nylon", "steel"]
    with pytest.raises(FileError, match="found 3 questions, the published data has 25,801"):
        _readers.read_material(path, {"objects": 3, "questions": 25_801})


class FakeBunch:
    def __init__(self, data, target):
        self.data, self.target = data, target


def test_openml_digits(tmp_path, monkeypatch):
    """OpenML's USPS counts classes from 1; its MNIST gives labels as text."""
    usps = FakeBunch(np.zeros((9_298, 256)), np.resize(np.arange(1, 11), 9_298).astype(str))
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda **options: usps)
    data = datasets.fetch_usps(tmp_path)
    assert data.images.shape == (9_298, 16, 16) and data.labels[:3].tolist() == [0, 1, 2]
    few = FakeBunch(np.zeros((5, 784)), np.array(["1"] * 5))
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda **options: few)
    with pytest.raises(FileError, match="expected 70,000 square images with digits 0 to 9, found 5 images"):
        datasets.fetch_mnist(tmp_path)

    def fail(**options):
        raise URLError("no route")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fail)
    with pytest.raises(UnreachableError, match=r"41082 cannot be fetched into .*URLError.*NEARFAR_DATA"):
        datasets.fetch_usps(tmp_path)


# ---------------------------------------------------------------- files that are not what they should be


@pytest.mark.parametrize(
    ("fetch", "members", "said"),
    [
        (datasets.fetch_food, {"other/readme.txt": "hello"}, r"has no raw-json"),
        (datasets.fetch_food, {"x/all-triplets.csv": LINES + "a; b\n"}, "line 4: expected three names"),
        (
            datasets.fetch_car,
            {"x/survey_data.csv": SURVEY + "1,32,32,16,30,11.1\n", "x/T_ALL.csv": "31,16,30\n"},
            r"statement 1 of T_ALL.csv is not in survey_data.csv",
        ),
        (
            datasets.fetch_car,
            {"x/survey_data.csv": SURVEY, "x/T_ALL.csv": "one,two,three\n"},
            "expected a table of numbers",
        ),
        (datasets.fetch_nature, {"nature/nature_triplets.txt": "a b c\n"}, "found 3 objects, .* has 120"),
        (
            datasets.fetch_nature,
            {"nature/nature_triplets.txt": "a b c\na b\n"},
            "line 2: expected three names",
        ),
    ],
)
def test_archives_of_something_else(tmp_path, fetch, members, said):
    with pytest.raises(FileError, match=said):
        fetch(write_zip(tmp_path / "data.zip", members))
    (tmp_path / "no.zip").write_bytes(b"not a zip")
    with pytest.raises(FileError, match="expected a folder or a zip archive"):
        fetch(tmp_path / "no.zip")


def test_an_npz_of_something_else_or_of_pickles_is_not_loaded(tmp_path):
    np.savez(tmp_path / "triplets.npz", rows=[1])
    with pytest.raises(FileError, match="expected an NPZ file with triplets, names"):
        datasets.fetch_food(tmp_path / "triplets.npz")
    np.savez(tmp_path / "mnist.npz", x_train=np.array([object()]), y_train=[0], x_test=[0], y_test=[0])
    with pytest.raises(FileError, match="expected an NPZ file with x_train"):
        datasets.fetch_mnist(tmp_path / "mnist.npz")


@pytest.mark.parametrize("name", ["objects", "answers", "statements", "unique", "contradictions"])
def test_every_count_is_checked(name):
    answers = Triplets.from_array([[0, 1, 2], [0, 2, 1], [0, 2, 1], [1, 0, 2]], participant=list("abba"))
    right = {"objects": 3, "answers": 4, "statements": 4, "unique": 3, "contradictions": 1}
    check_counts(answers, right, "here")
    with pytest.raises(FileError, match=f"here: found {right[name]} {name}, the published data has 99"):
        check_counts(answers, {name: 99}, "here")
