"""``nearfar kernel | cluster | map | tree``: every format, stdout, exclusion, uninformed objects, errors before work."""

import io
import sys

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import nearfar as nf
from nearfar._tools.limits import LIMITS
from nearfar.cli._app import app
from nearfar.errors import FileError, InputError, MissingExtra, TooLargeError, UninformedWarning
from nearfar.methods import cut, link_clusters

RUN = CliRunner()


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Twelve objects on two hills, answers by two honest people and one who turns everything round."""
    folder = tmp_path_factory.mktemp("study")
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.normal(0, 1, (6, 2)), rng.normal(6, 1, (6, 2))])
    rows = []
    for person in ("ann", "bob", "eve"):
        for _ in range(600):
            a, b, c = rng.choice(12, 3, replace=False)
            near, far = (
                (b, c)
                if np.sum((points[a] - points[b]) ** 2) < np.sum((points[a] - points[c]) ** 2)
                else (c, b)
            )
            near, far = (far, near) if person == "eve" else (near, far)
            rows.append((f"o{a}", f"o{near}", f"o{far}", person))
    pl.DataFrame(rows, schema=["anchor", "near", "far", "participant"], orient="row").write_csv(
        folder / "answers.csv"
    )
    (folder / "exclude.txt").write_text("eve\n")
    (folder / "landmarks.txt").write_text("o0\no1\no2\no6\no7\n")
    listing = {"object": [f"o{x}" for x in range(12)] + ["ghost"]}
    listing["display_name"] = [f"Object {x}" for x in range(12)] + ["Ghost"]
    listing["group"] = ["left"] * 6 + ["right"] * 7
    pl.DataFrame(listing).write_csv(folder / "objects.csv")
    return folder


def is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def run(study, command, *options, model="k1"):
    """Run a command that ends well; its result."""
    words = [command, str(study / "answers.csv"), "--model", model, *map(str, options)]
    result = RUN.invoke(app, words)
    assert result.exit_code == 0, result.output + repr(result.exception)
    return result


def answers(study, *, honest=True, listed=False):
    triplets = nf.read_triplets(study / "answers.csv", objects=study / "objects.csv" if listed else None)
    return triplets[~(triplets.participant == "eve")] if honest else triplets


def table(text):
    return pl.read_csv(io.StringIO(text))


# ---------------------------------------------------------------- what is written


def test_map_is_that_of_the_library(study):
    result = run(study, "map", "--exclude", study / "exclude.txt", "--dimensions", 3)
    frame = table(result.stdout)
    phi = nf.FeatureMap("k1").fit_transform(answers(study))
    assert frame["object"].to_list() == list(answers(study).objects)
    np.testing.assert_allclose(
        frame.select("x1", "x2", "x3").to_numpy(), nf.KernelPCA(3).fit_transform(phi), atol=1e-9
    )
    assert frame["informed"].all()
    assert "the coordinates hold" in result.stderr
    everybody = table(run(study, "map", "--dimensions", 3).stdout)
    assert np.abs(everybody["x1"].to_numpy() - frame["x1"].to_numpy()).max() > 0.01


def test_clusters_are_found_and_numbered_from_one(study, tmp_path):
    options = ["-k", 2, "--exclude", study / "exclude.txt", "--objects", study / "objects.csv"]
    result = run(study, "cluster", *options, "-o", "-", "-o", tmp_path / "c.npz")
    frame = table(result.stdout)
    assert frame.columns == ["object", "display_name", "cluster", "medoid", "informed"]
    assert sorted(frame["cluster"].unique().to_list()) == [1, 2]
    assert len(set(frame["cluster"][:6].to_list())) == 1 and len(set(frame["cluster"][6:12].to_list())) == 1
    assert frame["cluster"][0] != frame["cluster"][6]
    assert frame.filter("medoid").height == 2
    assert frame.filter(~pl.col("informed"))["object"].to_list() == ["ghost"]
    assert "objects around Object" in result.stderr
    with np.load(tmp_path / "c.npz") as stored:
        assert stored["cluster"].tolist() == frame["cluster"].to_list()
        assert stored["uninformed"].tolist() == [12]


def test_kernel_in_every_table_format(study, tmp_path):
    paths = [tmp_path / f"k.{end}" for end in ("csv", "tsv", "parquet", "npz")]
    outputs = [part for path in paths for part in ("-o", path)]
    run(study, "kernel", "--diagonal", "keep", *outputs, model="k1+k2")
    K = nf.kernel_matrix(answers(study, honest=False), "k1+k2", diagonal="keep")
    names = list(answers(study).objects)
    frames = [pl.read_csv(paths[0]), pl.read_csv(paths[1], separator="\t"), pl.read_parquet(paths[2])]
    for frame in frames:
        assert frame.columns == ["object", *names] and frame["object"].to_list() == names
        np.testing.assert_allclose(frame.drop("object").to_numpy(), K, atol=1e-12)
    with np.load(paths[3]) as stored:
        np.testing.assert_allclose(stored["kernel"], K, atol=1e-12)
        assert stored["objects"].tolist() == names


def test_kernel_of_an_object_called_object(tmp_path):
    (tmp_path / "answers.csv").write_text("anchor,near,far\nobject,b,c\nb,object,c\nc,b,object\n")
    frame = table(run(tmp_path, "kernel", "--diagonal", "keep", model="score").stdout)
    assert frame.columns == ["object_", "b", "c", "object"]
    assert frame["object_"].to_list() == ["b", "c", "object"] and frame["object"][2] == 1


def test_kernel_is_shifted_and_uses_landmarks(study, tmp_path):
    run(study, "kernel", "--landmarks", study / "landmarks.txt", "-o", tmp_path / "k.npz")
    triplets = answers(study, honest=False)
    landmarks = ["o0", "o1", "o2", "o6", "o7"]
    with np.load(tmp_path / "k.npz") as stored:
        np.testing.assert_allclose(
            stored["kernel"], nf.kernel_matrix(triplets, "k1", landmarks=landmarks), atol=1e-9
        )
        assert stored["shift"] == 0  # ten columns for twelve objects
    run(study, "kernel", "-o", tmp_path / "all.npz")
    with np.load(tmp_path / "all.npz") as stored:
        assert stored["shift"] > 0.01
        np.testing.assert_allclose(stored["kernel"], nf.kernel_matrix(triplets, "k1"), atol=1e-9)


def test_tree_as_joins_members_arrays_and_newick(study, tmp_path):
    listed = ["--objects", study / "objects.csv"]
    joins = table(run(study, "tree", *listed).stdout)
    tree = nf.linkage(nf.FeatureMap("k1").fit_transform(answers(study, honest=False)))
    np.testing.assert_allclose(joins["height"].to_numpy()[:-1], tree[:, 2], atol=1e-9)
    assert joins["size"].to_list()[-1] == 13 and joins["right"].to_list()[-1] == "ghost"
    into = tmp_path / "members.csv"
    assert table(run(study, "tree", "-k", 2, *listed, "--members", into).stdout).equals(joins)
    members = pl.read_csv(into)
    expected = [int(c) + 1 for c in cut(tree, 2)]
    by_name = dict(zip(answers(study).objects, expected, strict=True))
    assert members["cluster"].to_list() == [*(by_name[f"o{x}"] for x in range(12)), None]
    run(study, "tree", "-k", 2, *listed, "-o", tmp_path / "t.npz", "-o", tmp_path / "t.nwk")
    with np.load(tmp_path / "t.npz") as stored:
        assert stored["linkage"].shape == (12, 4) and stored["leaves"][-1] == 12
        assert stored["cluster"].tolist()[-1] == 0
    text = (tmp_path / "t.nwk").read_text()
    assert text.endswith(";\n") and text.count("(") == text.count(")") == 12
    assert all(f"'o{x}':" in text for x in range(12))


def test_tree_of_clusters(study, tmp_path):
    """What to do with too many objects: cluster first, then link the centres."""
    options = ["--objects", study / "objects.csv", "--leaves", 4]
    with pytest.warns(UninformedWarning, match="ghost"):
        phi = nf.FeatureMap("k1").fit_transform(answers(study, honest=False, listed=True))
    clusters = link_clusters(phi, 4)
    joins = table(run(study, "tree", *options).stdout)
    np.testing.assert_allclose(joins["height"].to_numpy()[:-1], clusters.tree[:, 2], atol=1e-9)
    assert joins["right"].to_list()[-1] == "ghost" and joins["size"].to_list()[-2:] == [12, 13]
    assert {"cluster 1", "cluster 4"} <= {*joins["left"], *joins["right"]}
    run(study, "tree", *options, "-k", 4, "--members", tmp_path / "members.csv")
    members = pl.read_csv(tmp_path / "members.csv")
    assert members["cluster"].to_list() == [*(clusters.labels[:12] + 1).tolist(), None]
    outputs = [part for end in ("npz", "svg") for part in ("-o", tmp_path / f"t.{end}")]
    run(study, "tree", *options, "-k", 2, *outputs)
    with np.load(tmp_path / "t.npz") as stored:
        assert stored["uninformed"].tolist() == [12] and stored["leaf_of"].shape == (13,)
        first, second, none = np.bincount(stored["cluster"], minlength=3)[[1, 2, 0]]
        assert first >= second > 0 and none == 1
    text = (tmp_path / "t.svg").read_text()
    assert "Object" in text and "Ghost" not in text
    assert "no usable answer: Ghost" in (tmp_path / "t.caption.txt").read_text()


@pytest.mark.parametrize(
    ("command", "said"),
    [("tree", "--leaves 200"), ("kernel", "(nearfar map, nearfar cluster) work on Phi without it")],
)
def test_what_does_not_fit_names_the_way_out(study, monkeypatch, command, said):
    monkeypatch.setattr(LIMITS, "memory_bytes", 1000)
    wrong = error(study, command, "--model", "score")
    assert isinstance(wrong, TooLargeError) and said in str(wrong)


@pytest.mark.parametrize("method", ["average", "single"])
def test_tree_methods(study, method):
    joins = table(run(study, "tree", "--method", method).stdout)
    tree = nf.linkage(nf.FeatureMap("k1").fit_transform(answers(study, honest=False)), method)
    np.testing.assert_allclose(joins["height"].to_numpy(), tree[:, 2], atol=1e-9)


@pytest.mark.parametrize(
    ("command", "end"),
    [
        ("kernel", "svg"),
        ("kernel", "png"),
        ("cluster -k 2", "svg"),
        ("map", "svg"),
        ("map", "pdf"),
        ("tree -k 2", "svg"),
    ],
)
def test_pictures(study, tmp_path, command, end):
    path = tmp_path / f"picture.{end}"
    run(study, *command.split(), "--objects", study / "objects.csv", "--title", "A study", "-o", path)
    start = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[end]
    assert path.read_bytes().startswith(start)
    if end == "svg":
        text = path.read_text()
        assert "A study" in text and "Object 3" in text
        assert "Ghost" not in text
        assert "no usable answer: Ghost" in path.with_suffix(".caption.txt").read_text()


def test_pictures_of_the_objects(study, tmp_path):
    """One for every object of a map; for every leaf of a tree, an object or the medoid that a cluster is named after."""
    from PIL import Image

    drawn = [(20 * x, 0, 255 - 20 * x) for x in range(12)]
    (tmp_path / "photos").mkdir()
    for x, colour in enumerate(drawn):
        Image.new("RGB", (40, 30), colour).save(tmp_path / "photos" / f"o{x}.png")
    pictures = ["--images", tmp_path / "photos", "-o"]
    for command, count in {"map": 12, "tree -k 2": 12, "tree --leaves 3": 3}.items():
        run(study, *command.split(), *pictures, tmp_path / "picture.svg")
        assert (tmp_path / "picture.svg").read_text().count("<image") == count
    for command in ("cluster -k 2", "tree -k 2"):
        run(study, *command.split(), *pictures, tmp_path / "picture.png")
        shown = Image.open(tmp_path / "picture.png").convert("RGB").getcolors(10**6)
        assert drawn[-1] in {colour for _, colour in shown}
    assert set(drawn) <= {colour for _, colour in shown}


def test_seed_fixes_everything_and_quiet_says_nothing(study, tmp_path):
    one, two = (run(study, "cluster", "-k", 4, "--seed", 3, "--quiet") for _ in range(2))
    assert one.stdout == two.stdout and one.stderr == ""
    pictures = [tmp_path / "one.svg", tmp_path / "two.svg"]
    for path in pictures:
        run(study, "map", "-o", path)
    assert pictures[0].read_bytes() == pictures[1].read_bytes()


def test_the_best_model_is_the_default(study):
    """Tree, clusters and kernel come from the best space, the map from the best plane; one line says what it is."""
    triplets = answers(study)
    options = ["--exclude", study / "exclude.txt"]
    analysis = nf.analyse(triplets)
    tree = run(study, "tree", *options, model="auto")
    np.testing.assert_allclose(
        table(tree.stdout)["height"].to_numpy(), analysis.space.tree()[:, 2], atol=1e-9
    )
    assert analysis.headline in tree.stderr and tree.stderr.startswith(f"chosen: {analysis.best.name} (")
    points = table(run(study, "map", *options, model="auto").stdout).select("x1", "x2").to_numpy()
    np.testing.assert_allclose(points, analysis.plane.rows, atol=1e-9)
    K = table(run(study, "kernel", *options, model="auto").stdout).drop("object").to_numpy()
    np.testing.assert_allclose(K, analysis.space.kernel(), atol=1e-9)
    default = RUN.invoke(app, ["cluster", str(study / "answers.csv"), *map(str, options), "-k", "2"])
    assert default.stdout == run(study, "cluster", *options, "-k", 2, model="auto").stdout


@pytest.mark.parametrize("model", ["soe-3", "score-2", "ckl-8"])
def test_every_command_takes_every_model(study, model):
    space = nf.fit(answers(study), model)
    options = ["--exclude", study / "exclude.txt"]
    heights = table(run(study, "tree", *options, model=model).stdout)["height"].to_numpy()
    np.testing.assert_allclose(heights, space.tree()[:, 2], atol=1e-9)
    K = table(run(study, "kernel", *options, model=model).stdout).drop("object").to_numpy()
    np.testing.assert_allclose(K, nf.kernel_matrix(answers(study), model), atol=1e-9)
    points = table(run(study, "map", *options, model=model).stdout).select("x1", "x2").to_numpy()
    np.testing.assert_allclose(points, space.map(2), atol=1e-9)
    labels = table(run(study, "cluster", *options, "-k", 3, model=model).stdout)["cluster"].to_numpy()
    assert np.array_equal(labels - 1, space.clusters(3, seed=0).labels)


# ---------------------------------------------------------------- what goes wrong


def error(study, command, *options):
    result = RUN.invoke(app, [command, str(study / "answers.csv"), *map(str, options)])
    assert result.stdout == ""
    return result.exception


def test_output_is_checked_before_the_work(study, tmp_path):
    """The model is not known, which is said only when the work begins."""
    for command in ("kernel", "map", "tree"):
        assert "model: 'k9' is not known" in str(error(study, command, "-m", "k9"))
        wrong = error(study, command, "-m", "k9", "-o", tmp_path / "picture.jpg")
        assert isinstance(wrong, FileError) and "cannot write .jpg; expected .csv, .tsv" in str(wrong)
    wrong = error(study, "kernel", "-o", tmp_path / "k.zarr")
    assert "a Zarr array is written block by block; add --scratch or --dask" in str(wrong)
    wrong = error(study, "map", "-m", "k9", "-o", tmp_path / "nowhere" / "map.csv")
    assert isinstance(wrong, FileError) and "there is no directory" in str(wrong)
    (tmp_path / "folder.csv").mkdir()
    assert "is a directory" in str(error(study, "map", "-m", "k9", "-o", tmp_path / "folder.csv"))


def test_without_matplotlib_one_sentence(study, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    wrong = error(study, "map", "-o", tmp_path / "map.png")
    assert isinstance(wrong, MissingExtra) and "pip install '.[report]'" in str(wrong)


@pytest.mark.parametrize(
    ("command", "kind", "said"),
    [
        ("map --model k9", InputError, "'k9' is not known"),
        ("map --model k1 --landmarks wrong.txt", InputError, "nobody"),
        ("map --landmarks wrong.txt", InputError, "they go with a kernel; name one, such as --model k1"),
        ("map --model k1 --landmarks absent.txt", FileError, "expected a text file with one object per line"),
        ("tree --model soe", InputError, "'soe' needs a number of dimensions"),
        ("cluster -k 50", InputError, "50 are too many; there are 12 objects"),
    ],
)
def test_wrong_models_landmarks_and_numbers(study, tmp_path, monkeypatch, command, kind, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wrong.txt").write_text("o0\nnobody\n")
    wrong = error(study, *command.split())
    assert isinstance(wrong, kind) and said in str(wrong)


@pytest.mark.parametrize("command", ["kernel", "map", "tree", "cluster -k 2"])
def test_no_answers(study, tmp_path, command):
    (tmp_path / "empty.csv").write_text("anchor,near,far\n")
    (tmp_path / "everybody.txt").write_text("ann\nbob\neve\n")
    verb, *options = command.split()
    wrong = RUN.invoke(app, [verb, str(tmp_path / "empty.csv"), *options]).exception
    assert isinstance(wrong, FileError) and "empty.csv: there are no answers in it" in str(wrong)
    wrong = error(study, verb, *options, "--exclude", tmp_path / "everybody.txt")
    assert isinstance(wrong, FileError)
    assert "no answer is left without those of the 3 participants to be excluded" in str(wrong)


@pytest.mark.parametrize("command", ["map", "cluster", "kernel", "tree"])
def test_a_spreadsheet_runs_no_name_of_an_object(tmp_path, command):
    names = ["=1+1", "@x", "+y", "-z", "-1", "plain"]
    rows = [np.random.default_rng(seed).permutation(6)[:3] for seed in range(60)]
    path = tmp_path / "answers.jsonl"
    nf.write_triplets(nf.Triplets.from_array(rows, names), path)
    options = ["-k", "2"] if command == "cluster" else []
    words = [command, str(path), "--model", "score", "-o", str(tmp_path / "out.csv"), *options]
    assert RUN.invoke(app, words).exit_code == 0
    cells = pl.read_csv(tmp_path / "out.csv", has_header=False, infer_schema=False)
    text = [cell for row in cells.rows() for cell in row if cell and not is_number(cell)]
    assert not [cell for cell in text if cell[0] in "=+-@"]
    assert {"'=1+1", "'@x", "'+y", "'-z"} <= set(text)
