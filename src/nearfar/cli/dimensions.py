"""``nearfar dimensions``: dimensions one can name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from nearfar import words
from nearfar.cli._options import PRINTED, READING, Given, own, takes
from nearfar.cli._prepared import images_of
from nearfar.cli._reading import Loaded, load, load_features
from nearfar.cli._writing import check_outputs, write_all, write_bytes
from nearfar.errors import InputError

if TYPE_CHECKING:
    from nearfar.evaluate.dimensions import Dimensions

NamesOption = own(
    None,
    "Names of dimensions: a table of  nearfar dimensions,  column name filled in.",
    "--names",
    metavar="FILE",
)


@takes(*READING, "output", "model", "features", "images", *PRINTED, "seed")
def dimensions(
    given: Given,
    names: Path | None = NamesOption,
    properties: Path | None = own(
        None, "What is known of the objects: column object, and columns of numbers.", metavar="FILE"
    ),
) -> None:
    """Find sparse non-negative dimensions, such as "animal" or "made of metal", and which of them come back.

    A dimension counts only if another random start and both halves of the participants find it, too (r > 0.8). For each:
    the objects highest on it, its share of all similarity, how many objects use it, and the property it correlates with.

    Held-out answers choose their number; with --model nonneg-12 there are at most 12.

    To name them, write a table (-o dimensions.csv), fill in its column name, and give it back with --names. A table .npz holds
    the coordinates of all objects; a picture shows the objects of every dimension.

    Example:  nearfar dimensions answers.csv -o dimensions.csv -o dimensions.png
    """
    check_outputs(given)
    if given.model != "auto" and not given.model.startswith("nonneg"):
        raise InputError(f"--model {given.model}: has no dimensions to name; give nonneg or, say, nonneg-12")
    from nearfar.report.figures import print_dimensions

    loaded = load(given)
    found = named_dimensions(given, loaded, names, properties)
    if given.features:
        given.tell(words.vector_shares(found.space.shares))
    if "-" in given.output:
        write_bytes("-", f"{found}\n".encode())
    write_all(
        replace(given, output=[path for path in given.output if path != "-"]),
        table=found.to_frame,
        arrays=lambda: {
            "points": found.points(),
            "dimensions": [each.title for each in found.found],
            "objects": list(loaded.triplets.objects),
        },
        picture=lambda look: print_dimensions(look, found, loaded.display_names, images_of(given, loaded)),
    )


def named_dimensions(
    given: Given, loaded: Loaded, names: Path | None, properties: Path | None = None
) -> Dimensions:
    """The dimensions of answers, with the names of a table and the properties of another, or else of the object list."""
    from nearfar.evaluate import find_dimensions
    from nearfar.io.objects import read_columns

    known = loaded.objects if properties is None else properties
    # read before anything is fitted
    called = names and read_columns(names, ("name", "top1"), [f"top{k}" for k in range(2, 9)])
    model = given.model if given.model.startswith("nonneg") else "nonneg"
    prior = load_features(given)
    found = find_dimensions(loaded.triplets, model, properties=known, features=prior, seed=given.seed)
    return found.named(called) if called else found
