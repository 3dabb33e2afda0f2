"""Figures for print: names that do not lie on each other, pictures moved apart, odd names, formats."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles_methods import make_phi

import nearfar as nf
from nearfar.errors import InputError
from nearfar.methods import cut
from nearfar.report.figures import kernel_figure, map_figure, save_figure, tree_figure
from nearfar.report.figures.placing import place_names, spread


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


def words(figure):
    return [text.get_text() for axes in figure.axes for text in axes.texts] + [
        t.get_text() for t in figure.texts
    ]


def test_map_names_objects_and_lists_the_uninformed_below():
    points = np.random.default_rng(0).standard_normal((8, 2))
    names = [f"thing {x}" for x in range(8)]
    figure = map_figure(points, names, uninformed=[2], title="Things", note="A note.")
    texts = words(figure)
    assert "thing 3" in texts and "thing 2" not in texts
    assert "Not shown, no usable answer: thing 2." in texts[-1] and "Things" in texts


def test_groups_have_their_own_colour_or_marker():
    points = np.random.default_rng(1).standard_normal((60, 2))
    groups = [f"cluster {x % 12 + 1}" for x in range(60)]
    figure = map_figure(points, [""] * 60, groups=groups)
    entries = figure.legends[0].legend_handles
    assert [entry.get_label() for entry in entries] == [f"cluster {c + 1}  (5)" for c in range(12)]
    assert len({(entry.get_color(), entry.get_marker()) for entry in entries}) == 12


def test_crowded_maps_say_how_many_names_fit():
    points = np.random.default_rng(2).standard_normal((300, 2)) * 0.01
    figure = map_figure(
        np.concatenate([points, [[5.0, 5.0]]]), [f"a rather long name {x}" for x in range(301)]
    )
    assert any(text.startswith("names of ") and text.endswith("of 301 objects fit") for text in words(figure))


def test_names_are_taken_literally(tmp_path):
    names = ["$x^2$", "<b>&amp;", "名前", "a\\b\ufeff"]
    figure = map_figure(np.eye(4)[:, :2] + np.arange(4)[:, None], names, title="$5 & more")
    save_figure(figure, tmp_path / "map.svg")
    save_figure(figure, tmp_path / "map.png")
    for drawn in (figure, kernel_figure(np.eye(4), names, order=range(4))):  # a PDF has no glyph for U+FEFF
        save_figure(drawn, tmp_path / "map.pdf")
    text = (tmp_path / "map.svg").read_text()
    assert "$x^2$" in text and "&lt;b&gt;&amp;amp;" in text and "名前" in text and "$5 &amp; more" in text


def test_one_object_and_none_at_all(tmp_path):
    for n in (0, 1, 2):
        save_figure(map_figure(np.zeros((n, 2)), ["x"] * n), tmp_path / f"{n}.png")
        assert (tmp_path / f"{n}.png").stat().st_size > 0


def test_kernel_leaves_out_the_uninformed_and_follows_the_order():
    K = np.arange(16.0).reshape(4, 4)
    figure = kernel_figure(K, list("abcd"), order=[3, 1, 0, 2], uninformed=[1])
    axes = figure.axes[0]
    assert axes.images[0].get_array().tolist() == K[np.ix_([3, 0, 2], [3, 0, 2])].tolist()
    assert [label.get_text() for label in axes.get_yticklabels()] == ["d", "a", "c"]


def test_tree_shows_leaves_in_order_and_colours_clusters():
    phi = make_phi(12, 30, zeros=[4], seed=0)
    tree = nf.linkage(phi)
    names = [f"o{x}" for x in range(12)]
    figure = tree_figure(tree, names, labels=cut(tree, 3), uninformed=tree.uninformed)
    axes = figure.axes[0]
    from scipy.cluster.hierarchy import leaves_list

    assert [label.get_text() for label in axes.get_yticklabels()] == [
        names[x] for x in leaves_list(tree)[:-1]
    ]
    lines = axes.collections[0]
    assert len(lines.get_segments()) == 2 * 10
    assert len({tuple(colour) for colour in lines.get_colors()}) >= 3
    assert "no usable answer: o4" in words(figure)[-1]


def test_unknown_format(tmp_path):
    with pytest.raises(InputError, match=r"\.gif is not a picture format; expected \.png or \.svg or \.pdf"):
        save_figure(map_figure(np.zeros((1, 2)), ["x"]), tmp_path / "map.gif")
