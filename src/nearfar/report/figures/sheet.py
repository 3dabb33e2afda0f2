"""What all figures for print share: style, colours, the sheet they are drawn on, saving."""

from __future__ import annotations

import textwrap
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, TypeAlias

import numpy as np

from nearfar._tools.atomic import atomic_path
from nearfar._tools.images import open_image
from nearfar._tools.text import PICTURES, listed
from nearfar.errors import FileError, InputError, MissingExtra

Figure: TypeAlias = Any
FORMATS = (".png", ".svg", ".pdf")
INK, QUIET, FAINT = "#22262b", "#5d646d", "#a3a9b1"
MARGIN = 0.22  # inches
# Okabe and Ito's colours, distinguishable with any colour vision; beyond them the marker differs
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8C7A00", "#000000")
STYLE = {
    "font.family": ["DejaVu Sans"],
    "font.size": 9,
    "axes.edgecolor": FAINT,
    "axes.linewidth": 0.6,
    "text.parse_math": False,  # a name may hold a dollar sign
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "nearfar",
    "figure.dpi": 100,
}


def need_matplotlib() -> Any:
    """Matplotlib, or one sentence on how to get it."""
    try:
        import matplotlib
        import matplotlib.figure
    except ImportError as error:
        raise MissingExtra("matplotlib", "report") from error
    return matplotlib


@contextmanager
def style() -> Iterator[None]:
    """Around drawing: the look of all figures; glyphs that a font lacks, or names too long for the sheet, are no warning."""
    with need_matplotlib().rc_context(STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font|constrained_layout not applied")
        yield


def save_figure(figure: Figure, path: str | Path, *, dpi: int = 200) -> None:
    """Write a figure as PNG, SVG or PDF by its extension; the file appears whole or not at all."""
    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        raise InputError(
            f"{path}: {suffix or 'no extension'} is not a picture format; expected {' or '.join(FORMATS)}",
        )
    metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(suffix)
    for text in figure.findobj(lambda artist: hasattr(artist, "set_text")):
        text.set_text(text.get_text().replace("\ufeff", ""))  # which is not to be seen, and no PDF can hold
    with style(), atomic_path(path) as temporary:
        figure.savefig(temporary, dpi=dpi, metadata=metadata)


def sheet(title: str, note: str, width: float, height: float) -> tuple[Figure, Any]:
    """A figure and its axes, ``width`` by ``height`` inches, a title above and a note below; matplotlib makes room for names."""
    figure_module = need_matplotlib().figure
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    under = 0.15 * (note.count("\n") + 1) if note else 0.0
    figure = figure_module.Figure(
        figsize=(width, height + under + (0.35 if title else 0.0)), layout="constrained"
    )
    FigureCanvasAgg(figure)  # gives text a size before anything is saved
    figure.get_layout_engine().set(w_pad=MARGIN / 2, h_pad=MARGIN / 2)
    if title:
        figure.suptitle(title, x=MARGIN / 2 / width, ha="left", size=12, weight="bold", color=INK)
    if note:
        figure.supxlabel(note, x=MARGIN / 2 / width, ha="left", size=7.5, color=QUIET, linespacing=1.4)
    return figure, figure.add_subplot()


def lay_out(figure: Figure) -> None:
    """Give axes their final place: what is put on them by pixels afterwards stays there."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")


def below(note: str, names: Sequence[str] = (), uninformed: Sequence[int] = ()) -> str:
    """The lines under a figure: a note, and the objects without a usable answer."""
    lines = [note] if note else []
    if len(uninformed):
        lines.append(f"Not shown, no usable answer: {listed([names[x] for x in uninformed])}.")
    return "\n".join(textwrap.fill(line, 112) for line in lines)


def thumbnail(path: Path, side: float) -> Any:
    """(height, width, 3) pixels of a picture, three times as fine as ``side`` on the figure; None where there is none."""
    try:
        image = open_image(path, side=round(3 * side))
    except FileError:  # not a picture after all: the object keeps its point or name
        return None
    image.thumbnail((round(3 * side), round(3 * side)))
    return np.asarray(image.convert("RGB"))


def picture_box(picture: Any, zoom: float, at: Any, colour: str, **more: Any) -> Any:
    """An artist that shows a picture at a point, framed in a colour."""
    from matplotlib.offsetbox import AnnotationBbox, OffsetImage

    frame = {"edgecolor": colour, "linewidth": 1.1}
    return AnnotationBbox(OffsetImage(picture, zoom=zoom), at, bboxprops=frame, annotation_clip=False, **more)


def shortened(name: str, most: int = 28) -> str:
    """A name that fits beside a point; of a picture's path the file's name without its extension.

    >>> shortened("images/cherry pie.jpg"), shortened("a" * 40, most=6)
    ('cherry pie', 'aaaaa…')
    """
    name = name.replace("\ufeff", "")
    path = PurePosixPath(name)
    if path.suffix.lower() in PICTURES:
        name = path.stem
    return name if len(name) <= most else name[: most - 1] + "…"
