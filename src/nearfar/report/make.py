"""The report as one object: made once, written as a page, as JSON, or as a folder of figures and tables."""

from __future__ import annotations

import importlib.util
import json
import os
import secrets
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nearfar._tools.atomic import atomic_path
from nearfar._tools.checks import Seed
from nearfar._tools.progress import step
from nearfar._tools.pseudonyms import pseudonyms
from nearfar._tools.text import count
from nearfar.errors import InputError, MissingExtra, NearfarWarning

if TYPE_CHECKING:
    from nearfar.evaluate.analysis import Analysis
    from nearfar.evaluate.dimensions import Dimensions
    from nearfar.io import ObjectList
    from nearfar.plot.style import Look


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """A finished analysis, ready to be written.

    Attributes
    ----------
    analysis : what it is about.
    data : everything it says, as plain dictionaries, lists, numbers and text; ``write_json`` writes it.
    people : participant -> the name shown; the way back from a pseudonym.
    files : object -> its picture; thumbnails : object -> a small one as data URI, its width and height.
    n_clusters, groups : as they were asked for.

    Examples
    --------
    >>> import nearfar as nf
    >>> answers = nf.datasets.make_colours().triplets[:600]
    >>> report = nf.report.make_report(nf.analyse(answers, models=["score"], n_resamples=2))
    >>> report.data["collection"]["answers"]
    600
    """

    analysis: Analysis
    data: dict[str, Any]
    people: dict[str, str]
    files: dict[str, Path]
    thumbnails: dict[str, tuple[str, int, int]]
    n_clusters: int | None = None
    groups: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        size = self.data["collection"]
        return f"Report({size['answers']} answers, {size['objects']} objects, best {self.data['models']['best']!r})"

    def html(self) -> str:
        """The page as text."""
        from nearfar.report.web import page_html

        return page_html(self)

    def json(self) -> str:
        """``data`` as JSON text."""
        return json.dumps(self.data, ensure_ascii=False, allow_nan=False, indent=1) + "\n"

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write the page as one HTML file, whole or not at all."""
        with step("page"):
            text = self.html()
        return write_page(path, text)

    def write_json(self, path: str | os.PathLike[str]) -> Path:
        """Write ``data`` as JSON, whole or not at all."""
        return write_page(path, self.json())

    def write_bundle(self, folder: str | os.PathLike[str], look: Look | None = None) -> Path:
        """Write figures as SVG and PDF, tables as CSV, K and the space as NPZ, and a notebook, into a folder.

        The notebook runs there: the answers are in the folder, too, their participants under the names of the page.
        ``look`` : width, fonts and so on of the figures, ``nf.plot.Look(width=85)``.
        """
        from nearfar.plot.style import Look
        from nearfar.report.bundle import write_bundle

        return write_bundle(self, Path(folder), look or Look())


def make_report(
    answers: Any,
    *,
    model: Any = "auto",
    objects: ObjectList | str | os.PathLike[str] | None = None,
    images: str | os.PathLike[str] | None = None,
    title: str = "",
    n_clusters: int | None = None,
    show_participants: bool = False,
    groups: Mapping[str, str] | None = None,
    key: str | None = None,
    design: str | None = None,
    features: Any = None,
    distances: Any = None,
    seed: Seed = 0,
    files: Sequence[str | os.PathLike[str]] = (),
    excluded: dict[str, int] | None = None,
    dimensions: Dimensions | None = None,
) -> Report:
    """Analyse answers and gather everything a report shows.

    Parameters
    ----------
    answers : Triplets, an (m, 3) array, what ``read_answers`` returned (then the page says what was not a valid answer), or an
        Analysis of them.
    model : "auto", the name of a model, or an estimator: what tree, clusters and neighbours come from. An Analysis has
        its own, and its seed.
    objects : display names, pictures and groups: the file of an object list, or what ``read_objects`` returned (then
        its pictures are used only where they lie below ``images``).
    images : folder of pictures; a file belongs to the object of its name.
    title : of the page.
    n_clusters : to cut the tree into; None: chosen, and explained.
    show_participants : under their own names instead of pseudonyms.
    groups : participant -> group; the page then compares the groups.
    key : any text that pseudonyms are made from: the same key gives the same person the same one, whatever the seed and
        whoever was excluded. Default: a new one, so that pseudonyms mean nothing outside this report.
    design, features : as for ``Analysis``.
    distances : matrices with a row and a column per object, given as vectors are; the page shows how they correlate with the
        distances of the space (``nearfar.evaluate.rsa``).
    seed : fixes everything random.
    files : where the answers came from, for the record and the hash.
    excluded : participant -> number of answers that were left out before.
    dimensions : what ``nearfar.find_dimensions`` found, for a section of the page.

    Examples
    --------
    >>> import numpy as np
    >>> import nearfar as nf
    >>> rows = nf.simulate.answers(nf.design.random_questions(8, 160), points=np.arange(8.0)[:, None] ** 1.1).triplets
    >>> make_report(nf.analyse(rows, "score", models=["score"], n_resamples=2), title="Eight points on a line")
    Report(160 answers, 8 objects, best 'score')
    """
    for module, package in (("jinja2", "jinja2"), ("PIL", "pillow")):
        if importlib.util.find_spec(module) is None:
            raise MissingExtra(package, "report")
    from nearfar.evaluate.analysis import Analysis
    from nearfar.evaluate.properties import shared_distances
    from nearfar.io import ObjectList, ReadResult, read_objects
    from nearfar.io.vectors import vector_tables
    from nearfar.report.content import report_data
    from nearfar.report.pictures import find_pictures

    gone, checks = list[tuple[str, int, str]](), dict[str, tuple[int, int]]()
    if isinstance(answers, ReadResult):
        for table, column in ((answers.rejected, "reason"), (answers.checks, "kind")):
            counts = table[column].value_counts(sort=True)
            gone += [("rows", int(size), str(reason)) for reason, size in counts.iter_rows()]
        checks, answers = _checks(answers), answers.triplets
    if not isinstance(answers, Analysis):
        analysis = Analysis(answers, model, design=design, features=features, seed=seed)
    elif features is not None or not isinstance(model, str) or (model, seed) != ("auto", 0):
        raise InputError("model, features and seed: an Analysis has its own; give them to nearfar.analyse")
    else:
        analysis = answers
    if not len(analysis.answers) or analysis.answers.n_objects < 3:
        size = f"{count(len(analysis.answers), 'answer')} about {count(analysis.answers.n_objects, 'object')}"
        raise InputError(f"answers: got {size}; a report needs at least one answer and three objects")
    people = analysis.answers.participant
    known = [*({} if people is None else map(str, people.names)), *(excluded or {})]
    names = {name: name for name in known if name}
    shown = names if show_participants else pseudonyms(names, secrets.token_hex(16) if key is None else key)
    left = {name: size for name, size in (excluded or {}).items() if size}
    gone += [(f"answers of {shown[name]}", size, "excluded") for name, size in left.items()]
    base, folder = None, None if images is None else Path(images)
    if objects is not None and not isinstance(objects, ObjectList):
        base, objects = Path(objects).parent, read_objects(objects)
    listed = {} if objects is None else dict(zip(objects.names, objects.images, strict=True))
    pictures = find_pictures(analysis.answers.objects, folder, listed=listed, base=base)
    given: Any = {"title": title, "files": files, "objects": objects, "pictures": pictures, "people": shown}
    asked: Any = {"n_clusters": n_clusters, "groups": groups, "dimensions": dimensions}
    asked["distances"] = () if distances is None else vector_tables(distances, vary=False)
    for each in asked["distances"]:
        shared_distances(analysis.answers.objects, each)  # an error, before models are fitted
    with warnings.catch_warnings(
        action="ignore", category=NearfarWarning
    ):  # what they say stands on the page
        data, thumbs = report_data(analysis, left_out=gone, checks=checks, **given, **asked)
    data["pseudonyms"] = not show_participants
    return Report(analysis, data, shown, pictures.files, thumbs, n_clusters, groups or {})


def _checks(result: Any) -> dict[str, tuple[int, int]]:
    """Participant -> check questions answered right, and answered at all, of those whose right answer is known."""
    import polars as pl

    graded = result.checks.filter((pl.col("kind") == "check") & pl.col("correct").is_not_null())
    people = graded.group_by(pl.col("participant").cast(pl.String))
    counted = people.agg(right=pl.col("correct").sum(), of=pl.len())
    return {str(name): (int(right), int(of)) for name, right, of in counted.iter_rows() if name}


def write_page(path: str | os.PathLike[str], text: str) -> Path:
    """Write text as UTF-8, whole or not at all."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
    return Path(path)
