"""Figures: names that do not lie on each other, axes taken and returned, nothing written into them, sizes on paper."""

import re
from dataclasses import replace
from importlib import resources
from itertools import combinations, pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles_methods import make_phi

import nearfar as nf
from nearfar.errors import InputError, UninformedWarning
from nearfar.methods import cut
from nearfar.plot.placing import place_names, spread
from nearfar.plot.style import ACCENT, PALETTE, STRIKING, Look, font, length, save_figure
from nearfar.report.figures import print_groups, print_map, print_matrix, print_tree

NAMES = [f"thing {x}" for x in range(8)]
POINTS = np.random.default_rng(0).standard_normal((8, 2))


@pytest.fixture
def axes():
    """Axes of a figure that pyplot knows nothing of."""
    with Look().figure(120.0) as (_, ax):
        yield ax


def texts(ax):
    return [text.get_text() for text in ax.texts if text.get_text()]


def boxes(ax):
    """(n, 4) where names stand, in pixels."""
    renderer = ax.figure.canvas.get_renderer()
    names = [text for text in ax.texts if text.get_text()]
    for text in names:
        text.arrowprops = text.arrow_patch = None  # the line to its point is no part of a name
    drawn = [text.get_window_extent(renderer) for text in names]
    return np.array([(box.x0, box.y0, box.x1, box.y1) for box in drawn])


def collisions(found):
    """Pairs of boxes that lie on each other by more than a pixel."""
    return [
        (a, b)
        for a, b in combinations(range(len(found)), 2)
        if (np.minimum(found[a, 2:], found[b, 2:]) - np.maximum(found[a, :2], found[b, :2]) > 1).all()
    ]


def overlaps(centres, sizes):
    """Pairs of boxes that lie on each other."""
    pairs = []
    for a in range(len(centres)):
        for b in range(a):
            gap = np.abs(centres[a] - centres[b]) - (sizes[a] + sizes[b]) / 2
            if (gap < -1e-3).all():
                pairs.append((a, b))
    return pairs


@settings(max_examples=25)
@given(n=st.integers(0, 40), seed=st.integers(0, 99))
def test_names_never_lie_on_each_other_or_leave_the_frame(n, seed):
    rng = np.random.default_rng(seed)
    points, sizes = rng.uniform(20, 480, (n, 2)), rng.uniform((20, 8), (90, 12), (n, 2))
    centres = place_names(points, sizes, gap=5.0, frame=(500.0, 500.0))
    placed = np.isfinite(centres[:, 0])
    assert overlaps(centres[placed], sizes[placed]) == []
    assert (centres[placed] >= sizes[placed] / 2).all() and (centres[placed] <= 500 - sizes[placed] / 2).all()
    for x in np.flatnonzero(placed):
        inside = np.abs(points - centres[x]) < sizes[x] / 2
        assert not inside.all(axis=1).any()  # on no point, not even its own


def test_lonely_names_all_find_a_place():
    points = (
        np.stack(np.meshgrid(np.arange(5) * 100 + 50, np.arange(5) * 100 + 50), axis=-1)
        .reshape(-1, 2)
        .astype(float)
    )
    assert np.isfinite(
        place_names(points, np.full((25, 2), (40.0, 10.0)), gap=5.0, frame=(500.0, 500.0))
    ).all()


@settings(max_examples=25)
@given(n=st.integers(1, 25), seed=st.integers(0, 99))
def test_pictures_are_moved_apart(n, seed):
    rng = np.random.default_rng(seed)
    points, sizes = rng.uniform(0, 600, (n, 2)), np.tile([40.0, 30.0], (n, 1))
    centres = spread(points, sizes, frame=(600.0, 600.0), steps=1000)
    assert overlaps(centres, sizes - 1) == []
    assert (centres >= sizes / 2).all() and (centres <= 600 - sizes / 2).all()


def test_pictures_on_one_spot_are_told_apart():
    centres = spread(np.full((3, 2), 50.0), np.full((3, 2), 10.0), frame=(100.0, 100.0))
    assert overlaps(centres, np.full((3, 2), 9.9)) == []


def test_important_names_choose_first():
    points, sizes = np.array([[50.0, 50.0], [52.0, 50.0]]), np.full((2, 2), (60.0, 90.0))
    for wanted in (0, 1):
        centres = place_names(points, sizes, gap=5, frame=(125, 100), first=np.arange(2) == wanted)
        assert np.flatnonzero(np.isfinite(centres[:, 0])).tolist() == [wanted]


# ---------------------------------------------------------------- maps


def test_a_map_is_drawn_into_the_axes_given_and_holds_names_alone(axes):
    assert nf.plot.map(POINTS, axes, names=NAMES) is axes
    assert sorted(texts(axes)) == NAMES and axes.get_title() == "" and axes.get_legend() is None
    assert axes.figure.texts == [] and axes.get_xlabel() == ""


def test_without_axes_a_figure_of_pyplot_is_made():
    from matplotlib import pyplot

    ax = nf.plot.map(nf.Space.of_points(POINTS, NAMES))
    assert pyplot.gcf() is ax.figure and sorted(texts(ax)) == NAMES
    pyplot.close(ax.figure)


def test_objects_that_nothing_is_known_about_are_not_drawn(axes):
    space = nf.Space(POINTS, NAMES, kind="points", informed=np.arange(8) != 2)
    nf.plot.map(space, axes)
    assert len(axes.collections[0].get_offsets()) == 7 and "thing 2" not in texts(axes)


def test_one_scale_for_both_axes_and_every_point_inside(axes):
    nf.plot.map(POINTS * [9, 1], axes, names=NAMES)
    axes.figure.draw_without_rendering()
    pixels = axes.transData.transform([[0, 0], [1, 0], [0, 1]])
    across, along = np.linalg.norm(pixels[1:] - pixels[0], axis=1)
    assert across == pytest.approx(along, rel=1e-6)
    low, high = zip(axes.get_xlim(), axes.get_ylim(), strict=True)
    wide = POINTS * [9, 1]
    assert (wide.min(axis=0) > low).all() and (wide.max(axis=0) < high).all()


@settings(max_examples=5)
@given(n=st.integers(2, 60), seed=st.integers(0, 99), width=st.sampled_from([85, 178]))
def test_names_on_a_map_do_not_collide_at_its_printed_size(n, seed, width):
    points = np.random.default_rng(seed).standard_normal((n, 2))
    with Look(width=width).figure(width) as (_, ax):
        nf.plot.map(points, ax, names=[f"object {x}" for x in range(n)])
        assert collisions(boxes(ax)) == []


def test_groups_have_their_own_colour_or_marker(axes):
    points = np.random.default_rng(1).standard_normal((60, 2))
    nf.plot.map(points, axes, groups=[f"cluster {x % 15 + 1}" for x in range(60)], labels=False)
    entries = axes.get_legend().legend_handles
    assert [entry.get_label() for entry in entries] == [f"cluster {c + 1}" for c in range(15)]
    assert len({(entry.get_color(), entry.get_marker()) for entry in entries}) == 15
    assert texts(axes) == []


def test_groups_and_pictures_by_name(axes, tmp_path):
    from PIL import Image

    Image.new("RGB", (40, 20), "red").save(tmp_path / "red.png")
    (tmp_path / "no.png").write_bytes(b"not a picture")
    images = {"thing 1": tmp_path / "red.png", 2: tmp_path / "no.png"}
    nf.plot.map(POINTS, axes, names=NAMES, images=images, groups={"thing 1": "a", "thing 3": "b"})
    assert len(axes.artists) == 1 and "thing 1" not in texts(axes)
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["a", "b"]


def test_placed_objects_are_hollow_and_arrows_keep_their_proportions(axes):
    placed = np.arange(8) >= 6
    nf.plot.map(POINTS, axes, names=NAMES, placed=placed, arrows={"big": (2, 0), "red": (0, 1)})
    full, hollow = axes.collections
    assert (
        len(full.get_offsets()) == 6 and len(hollow.get_offsets()) == 2 and len(hollow.get_facecolor()) == 0
    )
    tips = np.array([text.xy for text in axes.texts if not text.get_text()]) - POINTS.mean(axis=0)
    assert np.linalg.norm(tips, axis=1)[0] == pytest.approx(2 * np.linalg.norm(tips, axis=1)[1])
    assert {"big", "red"} <= set(texts(axes))
    with pytest.raises(InputError, match="two numbers"):
        nf.plot.map(POINTS, axes, arrows={"big": (1, 2, 3)})


def test_long_names_are_whole_where_there_is_room():
    names = [f"wooden chair with armrests {x}" for x in range(8)]
    with Look(width=178).figure(178) as (_, ax):
        nf.plot.map(np.random.default_rng(2).standard_normal((8, 2)), ax, names=names)
    assert sorted(texts(ax)) == names


def test_arrows_end_inside_the_frame_and_strike_no_name():
    points = np.random.default_rng(3).standard_normal((40, 2)) * [0.2, 1.0]
    points[0] = (0.0, 6.0)  # far up, where the arrow does not go
    with Look(width=85).figure(100) as (_, ax):
        nf.plot.map(
            points, ax, names=[f"thing {x}" for x in range(40)], arrows={"size": (1, 0.1), "price": (-1, 0)}
        )
        found, names, frame = boxes(ax), texts(ax), ax.get_window_extent()
        middle = ax.transData.transform(points.mean(axis=0))
        for tip in (text.xy for text in ax.texts if not text.get_text()):
            end = ax.transData.transform(tip)
            assert (end > frame.min).all() and (end < frame.max).all()
            way = np.linspace(middle, end, 200)[:, None]
            struck = ((found[:, :2] + 1 < way) & (way < found[:, 2:] - 1)).all(axis=2).any(axis=0)
            assert not struck.any(), np.array(names)[struck]


def test_circles_lie_inside_the_frame(axes):
    nf.plot.map(POINTS, axes, circles=np.full(8, 0.8), labels=False)
    frame = axes.get_window_extent()
    for ring in axes.patches:
        box = ring.get_window_extent()
        assert (box.min >= frame.min).all() and (box.max <= frame.max).all()


def test_circles_are_shares_of_the_radius(axes):
    nf.plot.map(POINTS, axes, circles=np.where(np.arange(8) == 3, np.nan, 0.5), labels=False)
    rings = axes.patches
    radius = np.sqrt(((POINTS - POINTS.mean(axis=0)) ** 2).sum(axis=1).mean())
    assert len(rings) == 7
    assert rings[0].radius == pytest.approx(0.5 * radius)


TREE = [[0, 1, 0.5, 2], [2, 3, 1.0, 3]]


@pytest.mark.parametrize(
    ("draw", "what", "given", "word"),
    [
        (nf.plot.map, POINTS, {"names": ["one"]}, "names"),
        (nf.plot.map, POINTS, {"groups": ["a"]}, "one per object"),
        (nf.plot.map, POINTS, {"circles": [0.1] * 9}, "circles"),
        (nf.plot.map, POINTS, {"placed": [True]}, "placed"),
        (nf.plot.map, POINTS, {"arrows": {"a": [1, 2], "b": [1]}}, "arrows"),
        (nf.plot.scale, POINTS[:, 0], {"placed": [True]}, "placed"),
        (nf.plot.scale, POINTS[:, 0], {"low": 0.1}, "low"),
        (nf.plot.scale, POINTS, {}, "shape"),
        (nf.plot.tree, TREE, {"names": ["a", "b", "c", "d"]}, "names"),
        (nf.plot.tree, TREE, {"clusters": [0]}, "clusters"),
        (nf.plot.tree, POINTS, {}, "shape"),
        (nf.plot.matrix, np.eye(3), {"names": ["a"]}, "names"),
        (nf.plot.matrix, np.eye(3), {"order": [3]}, "order"),
        (nf.plot.matrix, POINTS, {}, "shape"),
    ],
)
def test_values_that_do_not_match_the_objects(axes, draw, what, given, word):
    with pytest.raises(InputError, match=word):
        draw(what, ax=axes, **given)


def test_names_are_taken_literally(tmp_path):
    names = ["$x^2$", "<b>&amp;", "名前", "a\\b\ufeff"]
    look = Look(title="$5 & more")
    drawn = print_map(look, np.eye(4)[:, :2] + np.arange(4)[:, None], names, model="soe-2")
    for end in ("svg", "png", "pdf"):  # a PDF has no glyph for U+FEFF
        drawn.save(tmp_path / f"map.{end}", look)
    print_matrix(look, np.eye(4), names, order=range(4), model="k1").save(tmp_path / "k.pdf", look)
    text = (tmp_path / "map.svg").read_text()
    assert "$x^2$" in text and "&lt;b&gt;&amp;amp;" in text and "名前" in text and "$5 &amp; more" in text


def test_one_object_and_none_at_all(tmp_path):
    for n in (0, 1, 2):
        drawn = print_map(Look(), np.zeros((n, 2)), ["x"] * n, model="soe-2")
        drawn.save(tmp_path / f"{n}.png", Look(dpi=50))
        assert (tmp_path / f"{n}.png").stat().st_size > 0


# ---------------------------------------------------------------- trees and matrices


@pytest.mark.parametrize("root", ["left", "top"])
def test_a_tree_shows_leaves_in_order_and_colours_clusters(axes, root):
    from scipy.cluster.hierarchy import leaves_list

    tree = nf.linkage(make_phi(12, 30, zeros=[4], seed=0))
    names = [f"o{x}" for x in range(12)]
    assert nf.plot.tree(tree, axes, names=names, n_clusters=3, orientation=root) is axes
    ticks = axes.get_yticklabels() if root == "left" else axes.get_xticklabels()
    assert [label.get_text() for label in ticks] == [names[x] for x in leaves_list(tree)[:-1]]
    lines = axes.collections[0]
    assert len(lines.get_segments()) == 2 * 10
    assert len({tuple(colour) for colour in lines.get_colors()}) >= 3
    at = axes.lines[0].get_xdata()[0] if root == "left" else axes.lines[0].get_ydata()[0]
    informed = np.delete(cut(tree, 3), 4)
    below = tree[:10][tree[:10, 2] < at]
    assert len(informed) - len(below) == 3  # so many branches cross the dashed line


def test_a_tree_of_sixty_pictures_fits_a_page(tmp_path):
    from PIL import Image

    Image.new("RGB", (60, 40), "green").save(tmp_path / "car.png")
    phi = make_phi(60, 90, zeros=[], seed=1)
    images = dict.fromkeys(range(60), tmp_path / "car.png")
    drawn = print_tree(Look(), nf.linkage(phi), [f"car {x}" for x in range(60)], model="k1", images=images)
    width, height = drawn.figure.get_size_inches() * 25.4
    assert (width, height) == (pytest.approx(178), pytest.approx(240)) and len(
        drawn.figure.axes[0].artists
    ) == 60
    ticks = drawn.figure.axes[0].get_yticklabels()
    assert len(ticks) == 60 and ticks[0].get_size() > 5


@pytest.mark.parametrize("width", [85, 178])
@pytest.mark.parametrize("n", [20, 60])
def test_a_tree_with_its_root_on_top_keeps_room_for_branches_and_pictures(n, width, tmp_path):
    from PIL import Image

    Image.new("RGB", (60, 40), "green").save(tmp_path / "car.png")
    names = [f"emergency services vehicle {x}" for x in range(n)]
    given = {"orientation": "top", "images": dict.fromkeys(range(n), tmp_path / "car.png")}
    drawn = print_tree(
        Look(width=width), nf.linkage(make_phi(n, 90, zeros=[], seed=1)), names, model="k1", **given
    )
    figure, ax = drawn.figure, drawn.figure.axes[0]
    figure.draw_without_rendering()
    assert ax.get_window_extent().height > 0.35 * figure.bbox.height
    assert min(box.get_window_extent().y0 for box in ax.artists) >= -1
    assert ("no room for names" in drawn.caption) == (n == 60 and width == 85)


def test_names_too_small_to_be_read_are_left_out_and_the_caption_says_so():
    tree = nf.linkage(make_phi(300, 40, zeros=[], seed=1))
    drawn = print_tree(Look(width=85), tree, [str(x) for x in range(300)], model="k1")
    assert drawn.figure.axes[0].get_yticklabels() == [] and "no room for names" in drawn.caption


def test_what_the_model_places_nowhere_cannot_be_drawn(axes):
    with pytest.warns(UninformedWarning):
        space = nf.fit([[0, 1, 2], [0, 2, 1]], "k1")
    for draw in (nf.plot.tree, nf.plot.matrix):
        with pytest.raises(InputError, match="none of the 3"):
            draw(space, axes)


def test_a_matrix_follows_the_order_given(axes):
    K = np.arange(16.0).reshape(4, 4)
    nf.plot.matrix(K, axes, names=list("abcd"), order=[3, 0, 2])
    assert axes.images[0].get_array().tolist() == K[np.ix_([3, 0, 2], [3, 0, 2])].tolist()
    assert [label.get_text() for label in axes.get_yticklabels()] == ["d", "a", "c"]


# ---------------------------------------------------------------- charts


@pytest.mark.parametrize("width", [85, 120, 178])
@pytest.mark.parametrize(("n", "name"), [(36, "flower"), (20, "word with a tail"), (5, "x"), (60, "word")])
def test_names_beside_a_matrix_are_within_the_figure(n, name, width):
    X = np.random.default_rng(n).standard_normal((n, 3))
    figure = print_matrix(Look(width=width), X @ X.T, [f"{name} {x}" for x in range(n)], range(n), "m").figure
    figure.draw_without_rendering()
    assert all(box.x0 >= 0 for box in (t.get_window_extent() for t in figure.axes[0].get_yticklabels()))


@pytest.mark.parametrize("width", [85, 178])
def test_names_of_a_dimension_keep_apart(width):
    names = [f"{'wwwwww' if x % 3 else 'iii'}{x} banana" for x in range(20)]
    W = np.random.default_rng(3).random((20, 4))
    with Look(width=width).figure(40) as (figure, ax):
        nf.plot.dimensions(W, names, ax, top=8 if width > 120 else 4)
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))


def test_long_names_beside_a_matrix_keep_apart():
    names = [f"{x} is a name as long as names may be" for x in range(20)]
    with Look(width=85).figure(120) as (figure, ax):
        nf.plot.matrix(np.eye(20), ax, names=names)
        figure.draw_without_rendering()
        found = [text.get_window_extent() for text in ax.get_yticklabels()]
    heights = sorted((box.y0, box.y1) for box in found)
    assert len(heights) == 20 and all(below[1] <= above[0] + 1 for below, above in pairwise(heights))


def test_the_title_of_a_dimension_ends_before_its_objects():
    with Look(width=85).figure(30) as (figure, ax):
        nf.plot.dimensions([[1.0, 0.5]] * 3, ["a", "b", "c"], ax, titles=["a very long title of it"] * 2)
        figure.draw_without_rendering()
        title, first = (text.get_window_extent() for text in ax.texts[:2])
    assert title.x1 < first.x0


def test_a_scale_is_ordered_and_shows_its_limits(axes):
    nf.plot.scale([0.3, np.nan, 0.1], [0.2, 0, 0.0], [0.4, 1, 0.2], ["b", "x", "a"], axes, placed=[1, 0, 0])
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "b"]
    limits = [line.get_xdata() for line in axes.lines if len(line.get_xdata()) == 2]
    assert np.allclose(limits, [[0, 0.2], [0.2, 0.4]])
    assert [line.get_markerfacecolor() for line in axes.lines if len(line.get_xdata()) == 1] == [
        ACCENT,
        "white",
    ]
    with pytest.raises(InputError, match="names"):
        nf.plot.scale([1, 2], names=["a"], ax=axes)


def test_dimensions_show_their_top_objects(axes):
    weights = np.array([[3.0, 0.0], [1.0, 2.0], [0.0, 1.0], [2.0, 0.0]])
    nf.plot.dimensions(weights, list("abcd"), axes, top=2, titles=["round", "red"])
    assert texts(axes) == ["round", "a", "d", "red", "b", "c"]
    bars = [np.ptp(line.get_xdata()) for line in axes.lines]
    assert np.allclose(np.array(bars) / bars[0], [1, 2 / 3, 1, 1 / 2])
    with pytest.raises(InputError, match="weights"):
        nf.plot.dimensions(weights, ["a"], axes)
    names = ["a very long name of an object, number 1", "a very long name of an object, number 2", "c", "d"]
    assert len(set(texts(nf.plot.dimensions(np.ones((4, 1)), names)))) == 5
    with Look().figure(60.0) as (_, narrow):
        long = ["a title that is as long as it may be", "red"]
        ax = nf.plot.dimensions(np.ones((8, 2)), list("abcdefgh"), narrow, titles=long)
        drawn = {text.get_text()[:3]: text for text in ax.texts}
        assert drawn["a t"].get_window_extent().x1 < drawn["a"].get_window_extent().x0
        assert drawn["a t"].get_fontsize() < drawn["red"].get_fontsize()


def test_curve_and_comparison_of_an_analysis(axes):
    questions = nf.design.random_questions(10, 360, seed=0)
    rows = nf.simulate.answers(questions, points=np.arange(10.0)[:, None], flip=0.1, seed=0).triplets
    analysis = nf.analyse(rows, models=["score", "ckl-2"])
    nf.plot.curve(analysis, axes)
    measured = [(point.answers, point.accuracy) for point in analysis.curve.points]
    assert np.allclose(np.transpose(axes.lines[0].get_data()), measured)
    with Look().figure(60) as (_, ax):
        nf.plot.comparison(analysis, ax)
        drawn = dict(zip([t.get_text() for t in ax.get_yticklabels()], _dots(ax), strict=True))
    expected = {score.name: score.accuracy for score in analysis.scores}
    assert drawn == pytest.approx(expected)


def _dots(ax):
    return [line.get_xdata()[0] for line in ax.lines if len(line.get_xdata()) == 1]


# ---------------------------------------------------------------- two groups


def compared(n=40, seed=0):
    """Two groups about objects with long names, the first four seen elsewhere by the second group."""
    rng = np.random.default_rng(seed)
    base = rng.standard_normal((n, 2))
    maps = np.stack([base, base + 0.1 * rng.standard_normal((n, 2))])
    maps[1, :4] += 1
    names = tuple(f"a long name {x}" for x in range(n))
    moves = [SimpleNamespace(name=name, sure=x < 4) for x, name in enumerate(names)]
    pair = SimpleNamespace(names=("experts", "novices"), people=(9, 8), maps=maps, moves=moves)
    return SimpleNamespace(pairs=[pair], objects=names)


@pytest.mark.parametrize(("width", "size"), [(178, 8), (85, 6)])
def test_names_of_two_groups_do_not_collide_and_stay_inside(width, size):
    with Look(width=width, size=size).figure(width / 2, 1, 2) as (_, pair):
        drawn = nf.plot.groups(compared(), pair)
        for ax in drawn:
            found, frame = boxes(ax), ax.get_window_extent()
            assert collisions(found) == []
            assert (found[:, :2] > frame.min - 1).all() and (found[:, 2:] < frame.max + 1).all()
    limits = [(ax.get_xlim(), ax.get_ylim()) for ax in drawn]
    assert np.allclose(*limits)  # both maps in one scale
    assert {ax.get_title() for ax in drawn} == {"experts (n = 9)", "novices (n = 8)"}


def test_a_line_strikes_no_name_and_whatever_moved_has_one():
    with Look().figure(90, 1, 2) as (_, pair):
        for ax in nf.plot.groups(compared(), pair):
            assert {f"a long name {x}" for x in range(4)} <= set(texts(ax))
            found, names = boxes(ax), texts(ax)
            for line in ax.lines:
                at = ax.transData.transform(line.get_xydata())
                way = np.linspace(at[0], at[-1], 300)[:, None] if len(at) == 2 else np.zeros((0, 1, 2))
                struck = ((found[:, :2] + 1 < way) & (way < found[:, 2:] - 1)).all(axis=2).any(axis=0)
                assert {names[x] for x in np.flatnonzero(struck)} <= {f"a long name {x}" for x in range(4)}


def test_an_object_far_out_stands_at_the_border_and_squeezes_nobody():
    study = compared()
    study.pairs[0].maps[0, 9] = (400.0, 9.0)
    with Look().figure(90, 1, 2) as (_, pair):
        left, right = nf.plot.groups(study, pair)
        arrows = [
            [line for line in ax.lines if not isinstance(line.get_marker(), str)] for ax in (left, right)
        ]
        assert [len(each) for each in arrows] == [1, 0]
        assert left.get_xlim()[1] < 10 and arrows[0][0].get_xdata()[0] < left.get_xlim()[1]
        assert "a long name 9" in texts(left)


# ---------------------------------------------------------------- on paper


def test_the_palette_is_that_of_the_page():
    style = (
        (resources.files("nearfar.report") / "page" / "page.css").read_text().split('data-theme="dark"')[0]
    )
    assert tuple(re.findall(r"--c\d+: (#[0-9a-f]{6})", style)) == PALETTE
    assert f"--accent: {ACCENT}" in style and f"--hot: {STRIKING}" in style


@pytest.mark.parametrize("end", ["pdf", "svg", "png"])
def test_a_picture_has_the_size_asked_for(end, tmp_path):
    look = Look(width=85, height=60, dpi=254)
    print_map(look, POINTS, NAMES, model="soe-2").save(tmp_path / f"m.{end}", look)
    data = (tmp_path / f"m.{end}").read_bytes()
    if end == "png":
        size = np.frombuffer(data[16:24], ">u4") / 10
    else:
        found = {
            "pdf": rb"/MediaBox \[ ?0 0 ([\d.]+) ([\d.]+)",
            "svg": rb'width="([\d.]+)pt" height="([\d.]+)pt"',
        }
        size = np.array(re.search(found[end], data).groups(), float) * 25.4 / 72
    assert size == pytest.approx([85, 60], abs=0.2)


def test_lengths_and_fonts():
    assert length("85mm", "--width") == length("8.5 cm", "--width") == length("single", "--width") == 85
    assert length("2in", "--width") == pytest.approx(50.8)
    for wrong in ("85", "-3mm", "1mm", "9999mm", "nan", "triple"):
        with pytest.raises(InputError, match="--height"):
            length(wrong, "--height")
    assert font("7") == ("", 7) and font("DejaVu Serif 6.5pt") == ("DejaVu Serif", 6.5)
    assert font("DejaVu Sans") == ("DejaVu Sans", 8)
    with pytest.raises(InputError, match="Nowhere Grotesk"):
        font("Nowhere Grotesk 8")
    with pytest.raises(InputError, match="size"):
        font("99")


def test_fonts_have_the_size_asked_for():
    drawn = print_map(Look(size=6.5, font="DejaVu Serif"), POINTS, NAMES, model="soe-2")
    names = [text for text in drawn.figure.axes[0].texts if text.get_text()]
    assert {text.get_size() for text in names} == {6.5}
    assert {text.get_family()[0] for text in names} == {"DejaVu Serif"}


def test_captions_tell_what_is_missing():
    crowded = np.concatenate(
        [np.random.default_rng(2).standard_normal((80, 2)) * 0.01, [[5.0, 5.0], [np.nan] * 2]]
    )
    drawn = print_map(Look(), crowded, [f"a rather long name {x}" for x in range(82)], model="ckl-2")
    named = len(texts(drawn.figure.axes[0]))
    assert 0 < named < 81 and f"{named} of 81" in drawn.caption and "a rather long name 81" in drawn.caption
    arrows = {"arrows": {"big": (1.0, 0.0)}, "placed": [True] + [False] * 81}
    told = print_map(
        Look(), crowded, [f"a rather long name {x}" for x in range(82)], model="ckl-2", **arrows
    ).caption
    assert "Arrows:" in told and "Hollow:" in told and "of 81 are shown" in told
    nobody = print_map(Look(), crowded, ["x"] * 82, model="ckl-2", placed=[False] * 81 + [True])
    assert "Hollow:" not in nobody.caption  # it is not drawn at all
    assert "are shown" not in print_map(Look(labels=False), crowded, ["x"] * 82, model="ckl-2").caption


def test_three_dimensions_are_three_planes_in_one_scale():
    points = np.random.default_rng(0).standard_normal((9, 3)) * [3, 2, 1.5]
    drawn = print_map(Look(), points, list("abcdefghi"), model="ste-3")
    first, second, third, none = drawn.figure.axes
    assert [ax.get_xlabel()[-1] + ax.get_ylabel()[-1] for ax in (first, second, third)] == ["12", "32", "13"]
    assert not none.axison and "1 and 3" in drawn.caption
    scales = [np.ptp(ax.get_xlim()) / ax.get_window_extent().width for ax in (first, second, third)]
    assert np.ptp(scales) < 0.01 * min(scales)
    assert "first two of 4" in print_map(Look(), np.eye(9)[:, :4], list("abcdefghi"), model="ste-4").caption


def test_the_groups_of_three_planes_are_named_once_in_the_free_corner():
    points = np.random.default_rng(1).standard_normal((12, 3))
    groups = [f"kind {x % 3}" for x in range(12)]
    figure = print_map(Look(), points, list("abcdefghijkl"), model="ste-3", groups=groups).figure
    figure.draw_without_rendering()
    *planes, corner = figure.axes
    assert [ax.get_legend() is None for ax in figure.axes] == [True, True, True, False]
    legend = corner.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["kind 0", "kind 1", "kind 2"]
    assert not any(legend.get_window_extent().overlaps(ax.get_tightbbox()) for ax in planes)


def test_groups_are_printed_with_a_caption():
    from groups_tools import two_groups

    answers, groups = two_groups()
    found = nf.analyse(answers, "soe-2", models=["soe-2"]).groups(groups)
    drawn = print_groups(replace(Look(), width=120.0), found)
    assert drawn.figure.get_size_inches()[0] == pytest.approx(120 / 25.4)
    assert "experts and novices" in drawn.caption
    above, below = print_groups(Look(width=85), found).figure.axes  # in a single column one below the other
    assert above.get_position().y0 > below.get_position().y1


def test_unknown_format(tmp_path):
    with pytest.raises(InputError, match=r"\.gif is not a picture format; expected \.png or \.svg or \.pdf"):
        save_figure(print_map(Look(), np.zeros((1, 2)), ["x"], model="k1").figure, tmp_path / "map.gif")


def test_characters_that_the_font_lacks_are_known(axes, tmp_path):
    ax = nf.plot.map(np.eye(3, 2), axes, names=["fig", "𒀀𒀁", "Käse"])  # cuneiform
    assert save_figure(ax.get_figure(), tmp_path / "x.png") == "𒀀𒀁"


def test_names_in_other_scripts_take_a_font_that_is_installed(monkeypatch):
    import matplotlib

    from nearfar.plot import style

    style._other_scripts.cache_clear()
    monkeypatch.setattr(style, "OTHER_SCRIPTS", ("Nowhere Grotesk", "DejaVu Serif"))
    with Look(font="DejaVu Sans Mono").figure(40):
        assert matplotlib.rcParams["font.family"] == ["DejaVu Sans Mono", "DejaVu Sans", "DejaVu Serif"]
    style._other_scripts.cache_clear()


def test_that_a_font_has_no_bold_is_no_message(monkeypatch, caplog, tmp_path):
    from nearfar.plot import style

    style._other_scripts.cache_clear()
    monkeypatch.setattr(style, "OTHER_SCRIPTS", ("DejaVu Sans Display",))
    print_map(Look(title="Figs"), np.eye(3, 2), ["x", "y", "z"], model="k1").save(
        tmp_path / "map.png", Look(title="Figs")
    )
    assert caplog.messages == []
    style._other_scripts.cache_clear()


def test_a_scale_takes_a_space(axes):
    rows = nf.simulate.answers(nf.design.random_questions(8, 150), points=np.arange(8.0)[:, None]).triplets
    space = nf.fit(rows, "soe-1")
    ax = nf.plot.scale(space, ax=axes)
    drawn = [text.get_text() for text in ax.get_yticklabels()]
    assert (
        drawn in ([*map(str, range(8))], [*map(str, range(7, -1, -1))]) and ax.get_xlabel() == "dimension 1"
    )
