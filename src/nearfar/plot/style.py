"""What all figures share: colours, fonts, sizes on paper, text that is measured, saving."""

from __future__ import annotations

import logging
import re
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any, TypeAlias

import numpy as np

from nearfar._tools.arrays import Floats
from nearfar._tools.atomic import atomic_path
from nearfar._tools.checks import need
from nearfar._tools.images import open_image
from nearfar._tools.text import PICTURES
from nearfar.errors import FileError, InputError

Figure: TypeAlias = Any
Axes: TypeAlias = Any
FORMATS = (".png", ".svg", ".pdf")
# the colours of the report's page (a test compares them): clusters, told apart by any colour vision; further ones differ by marker
PALETTE = (
    "#3322bb", "#dd9900", "#33aabb", "#aa1144", "#9999ff", "#aaaa77",
    "#552266", "#117700", "#552211", "#ee3333", "#bb00aa", "#ff3399",
)  # fmt: skip
ACCENT, STRIKING, SHADE = "#2457a6", "#b35806", "#e9effa"
INK, QUIET, FAINT = "#1c222b", "#56606d", "#a3a9b1"
MILLIMETRE = 1 / 25.4  # inches
COLUMNS = {"single": 85.0, "double": 178.0}  # millimetres: what fits the columns of most journals
PAGE = 240.0  # millimetres: the height of the text on a page of A4
SMALLEST = 4.0  # points: smaller names cannot be read and are not drawn
OTHER_SCRIPTS = ("Noto Sans CJK JP", "Noto Sans CJK SC", "PingFang SC", "Hiragino Sans", "Apple SD Gothic Neo", "Microsoft YaHei",
    "Yu Gothic", "Malgun Gothic", "WenQuanYi Micro Hei", "Noto Sans Devanagari", "Nirmala UI", "Lohit Devanagari")  # fmt: skip
STYLE = {
    "font.family": ["DejaVu Sans"],
    "font.size": 8,
    "axes.edgecolor": FAINT,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "text.parse_math": False,  # a name may hold a dollar sign
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "nearfar",
    "pdf.fonttype": 42,  # TrueType, which journals ask for
    "figure.dpi": 100,
}


@dataclass(frozen=True)
class Look:
    """How figures are printed: ``report.write_bundle("paper", nf.plot.Look(width=85))``.

    ``width``, ``height`` : millimetres; a height of None follows from what is drawn. ``font`` : a family, or "" for the usual
    one. ``size`` : of text, in points. ``dpi`` : of PNG. ``labels`` : whether names of objects are drawn.

    >>> Look(width=85, size=7).dpi
    300
    """

    width: float = COLUMNS["double"]
    height: float | None = None
    font: str = ""
    size: float = 8.0
    dpi: int = 300
    labels: bool = True
    title: str = ""

    @contextmanager
    def figure(self, height: float, *shape: int, **grid: Any) -> Iterator[tuple[Figure, Any]]:
        """A figure and its axes, as high as asked for, else ``height`` millimetres; drawn in our style."""
        with style(self):
            yield self._sheet(height, *shape, **grid)

    def _sheet(self, height: float, *shape: int, **grid: Any) -> tuple[Figure, Any]:
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        figure = need_matplotlib().figure.Figure(figsize=self._inches(height), layout="constrained")
        FigureCanvasAgg(figure)  # gives text a size before anything is saved
        figure.get_layout_engine().set(w_pad=0.03, h_pad=0.03)
        if self.title:
            figure.suptitle(self.title, x=0.01, ha="left", size="large", weight="bold", color=INK)
        return figure, figure.subplots(*shape, **grid)

    def _inches(self, height: float) -> tuple[float, float]:
        return self.width * MILLIMETRE, (self.height or min(height, PAGE)) * MILLIMETRE


def length(text: str, option: str) -> float:
    """Millimetres, from "85mm", "8.5 cm", "3.3in", or the name of a column.

    >>> length("8.5 cm", "--width"), length("single", "--width")
    (85.0, 85.0)
    """
    if text in COLUMNS:
        return COLUMNS[text]
    given = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*(mm|cm|in)\s*", text)
    value = float(given[1]) * {"mm": 1.0, "cm": 10.0, "in": 25.4}[given[2]] if given else 0.0
    if not 20 <= value <= 2000:
        expected = "a length from 20mm to 2000mm, such as 85mm, 8.5cm or 3.3in, or one of"
        raise InputError(f"{option} {text}: expected {expected} {', '.join(COLUMNS)}")
    return value


def font(text: str) -> tuple[str, float]:
    """Family and size from "Arial 7", "Arial" or "7"; the usual ones where they are not given."""
    family, size = re.fullmatch(r"\s*(.*?)\s*(\d+(?:\.\d*)?)?\s*(?:pt)?\s*", text, re.DOTALL).groups()  # type: ignore[union-attr]
    points = float(size or STYLE["font.size"])  # type: ignore[arg-type]
    if not SMALLEST <= points <= 40:
        raise InputError(f"--font {text}: expected a size from {SMALLEST:g} to 40 points, such as 'Arial 7'")
    if family:
        need_matplotlib()
        from matplotlib.font_manager import FontProperties, findfont

        try:
            findfont(FontProperties(family=family), fallback_to_default=False)
        except ValueError:
            way = "name another one, or give a size alone, such as 7"
            raise InputError(f"--font {text}: no font {family!r} is installed here; {way}") from None
    return family, points


def need_matplotlib() -> Any:
    """Matplotlib, or one sentence on how to get it."""
    need("matplotlib.figure", "matplotlib", "report")
    return need("matplotlib", "matplotlib", "report")


@lru_cache
def _other_scripts() -> list[str]:
    """The fonts installed here that have what DejaVu lacks, for names in Chinese, Japanese, Korean or Hindi."""
    installed = set(need("matplotlib.font_manager", "matplotlib", "report").get_font_names())
    # matplotlib logs that most of these have no bold, whether or not a character of theirs is drawn
    logging.getLogger("matplotlib.font_manager").addFilter(lambda record: "font weight" not in record.msg)
    return [name for name in OTHER_SCRIPTS if name in installed]


@contextmanager
def style(look: Look | None = None) -> Iterator[None]:
    """Around drawing: the look of our figures; names too long for a sheet are no warning, and glyphs are looked at on saving."""
    given: dict[str, Any] = {"font.family": [*STYLE["font.family"], *_other_scripts()]}  # type: ignore[misc]
    if look is not None:
        given |= {"font.size": look.size, "font.family": [look.font] * bool(look.font) + given["font.family"]}
    with need_matplotlib().rc_context({**STYLE, **given}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font|constrained_layout not applied")
        yield


def axes_of(ax: Axes, height: float, ratio: float = 0.0, shape: tuple[int, int] = (1, 1)) -> Axes:
    """The axes given, or new ones: of a ``Look`` on its sheet, else of pyplot; high by millimetres and a share of the width."""
    if isinstance(ax, Look):
        return ax._sheet(height + ratio * ax.width, *shape)[1]
    if ax is not None:
        return ax
    need_matplotlib()
    from matplotlib import pyplot

    size = Look()._inches(height + ratio * Look.width)
    return pyplot.subplots(*shape, figsize=size, layout="constrained")[1]


def save_figure(figure: Figure, path: str | Path, *, dpi: int = 300) -> str:
    """Write a figure as PNG, SVG or PDF by its extension, whole or not at all; the characters that the font lacks."""
    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        wrong = f"{suffix or 'no extension'} is not a picture format"
        raise InputError(f"{path}: {wrong}; expected {' or '.join(FORMATS)}")
    metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(suffix)
    for text in figure.findobj(lambda artist: hasattr(artist, "set_text")):
        text.set_text(text.get_text().replace("\ufeff", ""))  # which is not to be seen, and no PDF can hold
    with warnings.catch_warnings(record=True) as caught, atomic_path(path) as temporary:
        warnings.filterwarnings("always", message="Glyph .* missing from")
        figure.savefig(temporary, dpi=dpi, metadata=metadata)
    codes = (re.match(r"Glyph (\d+) ", str(warning.message)) for warning in caught)
    return "".join(dict.fromkeys(chr(int(code[1])) for code in codes if code))


def settle(ax: Axes) -> Floats:
    """Lay the figure out, and give the width and height of the axes in points, which text and marks are measured in."""
    figure = ax.get_figure(root=True)
    figure.draw_without_rendering()
    frame = ax.get_window_extent()
    size: Floats = np.array([frame.width, frame.height]) * 72 / figure.dpi
    return size


def font_size() -> float:
    """Points of ordinary text."""
    return float(need_matplotlib().rcParams["font.size"])


def name_size(ax: Axes, n: int, along: int = 1) -> float:
    """Points of names that fit side by side at ``n`` places of an axis; 0 where they could not be read."""
    size = min(font_size(), 0.85 * settle(ax)[along] / max(n, 1))
    return float(size if size >= SMALLEST else 0.0)


def text_sizes(ax: Axes, texts: Sequence[str], size: float) -> Floats:
    """(n, 2) width and height of texts, in points."""
    figure = ax.get_figure(root=True)
    drawn = [ax.text(0, 0, text, size=size, parse_math=False) for text in texts]
    boxes = [text.get_window_extent(figure.canvas.get_renderer()) for text in drawn]
    for text in drawn:
        text.remove()
    sizes: Floats = np.array([(box.width, box.height) for box in boxes]).reshape(-1, 2) * 72 / figure.dpi
    return sizes


def by_index(given: Mapping[Any, Any] | Sequence[Any] | None, names: Sequence[str]) -> dict[int, Any]:
    """Index of an object -> its value, from a mapping by names or indices, or from one value per object."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        return dict(enumerate(one_each(given, len(names), "images or groups")))
    return {x: given[key] for x, name in enumerate(names) for key in (x, name) if key in given}


def one_each(given: Any, n: int, what: str, otherwise: Any = None) -> Any:
    """What was given, one value per object; ``otherwise`` for each without; an error where there are more or fewer."""
    if given is None and otherwise is not None:
        return [otherwise] * n
    try:
        got = len(given)
    except TypeError:  # a single value
        got = 0
    if got != n:
        raise InputError(f"{what}: got {got} for {n} objects; give one per object")
    return given


def thumbnail(path: str | Path, side: float) -> Any:
    """Pixels of a picture, four per point, its longer side ``side`` points; None where it is not a picture after all."""
    try:
        image = open_image(path, side=round(4 * side))
    except FileError:  # the object keeps its point or name
        return None
    return np.asarray(image.convert("RGB"))


def picture_box(picture: Any, side: float, at: Any, offset: Any, colour: str, **more: Any) -> Any:
    """An artist that shows a picture beside a point, ``offset`` points away, framed in a colour."""
    from matplotlib.offsetbox import AnnotationBbox, OffsetImage

    image = OffsetImage(picture, zoom=side / max(picture.shape[:2]))
    frame = {"edgecolor": colour, "linewidth": 1.1}
    more |= {"xybox": tuple(offset), "boxcoords": "offset points", "annotation_clip": False}
    box = AnnotationBbox(image, at, bboxprops=frame, **more)
    box.set_in_layout(False)
    return box


def tie(colour: str, end: float = 0.0) -> dict[str, Any]:
    """A thin line from what is annotated to its point, which ends so many points before it."""
    return {"arrowstyle": "-", "color": colour, "lw": 0.6, "shrinkA": 0, "shrinkB": end}


def briefly(names: Sequence[str], most: int = 28) -> list[str]:
    """Names that fit; of long ones that begin alike, what follows where they differ, and as much of the beginning as fits.

    >>> briefly(["a car with a long name 1", "a car with a long name 2", "bus"], most=15)
    ['a car with a …1', 'a car with a …2', 'bus']
    """
    whole, brief = ([shortened(name, size) for name in names] for size in (sys.maxsize, most))
    alike: dict[str, list[str]] = {}
    for name, cut in zip(whole, brief, strict=True):
        alike.setdefault(cut, []).append(name)
    for x, name in enumerate(whole):
        if len(set(same := alike[brief[x]])) > 1:
            pairs = enumerate(zip(min(same), max(same), strict=False))
            differ = next((at for at, (one, other) in pairs if one != other), len(min(same)))
            rest = shortened(name[differ:], most - most // 3 - 1)
            brief[x] = f"{name[: most - 1 - len(rest)]}…{rest}"
    return brief


def shortened(name: str, most: int = 28) -> str:
    """A name that fits beside a point; of a picture's path the file's name without its extension.

    >>> shortened("images/cherry pie.jpg"), shortened("a" * 40, most=6)
    ('cherry pie', 'aaaaa…')
    """
    name = str(name).replace("\ufeff", "")
    path = PurePosixPath(name)
    if path.suffix.lower() in PICTURES:
        name = path.stem
    return name if len(name) <= most else name[: most - 1] + "…"
