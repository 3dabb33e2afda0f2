"""``nearfar report``: from answers to one page that can be mailed."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from nearfar.cli._options import PRINTED, READING, Given, own, takes
from nearfar.cli._reading import load, load_features, read_groups
from nearfar.cli._writing import check_file, check_look, look_of, write_bytes
from nearfar.cli.dimensions import NamesOption, named_dimensions
from nearfar.errors import FileError, InputError, NearfarWarning

if TYPE_CHECKING:
    from nearfar.report.make import Report

STANDARD = Path("-")


@takes(*READING, "model", "features", "images", *PRINTED, "groups", "design", "seed", "no_cache")
def report(
    given: Given,
    output: Path = own(
        "report.html", "The page to write; - for standard output.", "--output", "-o", metavar="FILE"
    ),
    bundle: Path | None = own(
        None,
        "Also write all figures (SVG, PDF), tables (CSV), K and the space (NPZ), and a notebook that redoes them.",
        metavar="DIR",
    ),
    json: Path | None = own(
        None, "Also write every fact of the page as JSON; - for standard output.", metavar="FILE"
    ),
    clusters: int | None = own(None, "Clusters. Default: chosen.", "--clusters", "-k", min=2),
    dimensions: bool = own(
        False, "Add a section of dimensions one can name; see  nearfar dimensions.", "--dimensions"
    ),
    names: Path | None = NamesOption,
    distances: list[str] | None = own(
        None,
        "A matrix of distances, to correlate with (RSA).",
        "--distances",
        metavar="[NAME=]FILE",
    ),
    show_participants: bool = own(
        False, "Show participants by name instead of by pseudonym.", "--show-participants"
    ),
) -> None:
    """Make one HTML page: verdict, map, tree, clusters, data quality, learning curve.

    The page holds everything it shows and opens offline. Participants appear under pseudonyms, and nobody is left
    out unless listed, by name or pseudonym, in a file for --exclude.

    Example:  nearfar report answers.csv --images pictures -o report.html
    """
    _check_targets(output, bundle, json)
    check_look(given, drawn=bundle is not None)

    from nearfar._tools.pseudonyms import keep_key, key_beside, read_key
    from nearfar.cli._choices import remember
    from nearfar.io.vectors import read_named_vectors
    from nearfar.report.make import make_report

    secret = None  # as for a page on standard output: nothing is beside it
    if not show_participants and (given.key is not None or output != STANDARD):
        secret = key_beside(output) if given.key is None else read_key(given.key)
    loaded = load(given, key=secret)
    same = ("model", "design", "objects", "images", "title", "seed")
    made = make_report(
        replace(loaded.result, triplets=loaded.triplets),
        features=load_features(given),
        distances=read_named_vectors(distances, vary=False) if distances else None,
        n_clusters=clusters,
        show_participants=show_participants,
        groups=read_groups(given, loaded),
        key=secret,
        files=[file for file in given.answers if file != "-"],
        excluded=loaded.excluded,
        dimensions=named_dimensions(given, loaded, names) if dimensions or names else None,
        **{name: getattr(given, name) for name in same},
    )
    if made.data["groups"] and made.data["groups"]["reason"]:
        warnings.warn(made.data["groups"]["reason"], NearfarWarning, stacklevel=2)
    for path, text in ((output, made.html), (json, made.json)):
        if path is not None:
            write_bytes(str(path), text().encode())
    written = [path for path in (output, json) if path not in (None, STANDARD)]
    if bundle is not None:
        written.append(made.write_bundle(bundle, replace(look_of(given), title="")))
    remember(given, made.analysis)
    if secret is not None and given.key is None and made.people:
        keep_key(output, secret)
    for path in written:
        given.tell(f"wrote {path}")
    _tell_people(given, made)


def _tell_people(given: Given, made: Report) -> None:
    """Whom to check, by name: here only the person at the terminal reads it."""
    real = {shown: name for name, shown in made.people.items()}
    people = made.data["participants"]
    for person in people["rows"] if people else ():
        if person["reason"]:
            who, shown = real[person["name"]], person["name"]
            name = shown if who == shown else f"{shown} ({who})"
            given.tell(f"check {name}: {person['reason']}".replace("\xa0", " "))


def _check_targets(output: Path, bundle: Path | None, json: Path | None) -> None:
    """Whether the results can be written, before minutes are spent on them."""
    if output == json == STANDARD:
        raise InputError("--output and --json: both are standard output; name a file for one of them")
    check_file(output)
    check_file("-" if json is None else json)
    if bundle is not None and bundle.exists() and not bundle.is_dir():
        raise FileError(f"{bundle}: cannot be written, it is a file; give the name of a folder")
