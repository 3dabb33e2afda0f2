"""``nearfar compare``: which model predicts answers it has not seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nearfar import words
from nearfar.cli._options import PRINTED, READING, Given, OutputOption, own, takes
from nearfar.cli._reading import Loaded, load, load_features, read_groups
from nearfar.cli._writing import as_json, check_file, check_pictures, is_picture, write_bytes, write_picture
from nearfar.errors import InputError

if TYPE_CHECKING:
    from nearfar.evaluate import Analysis


@takes(*READING, *PRINTED, "features", "groups", "design", "seed", "no_cache")
def compare(
    given: Given,
    model: list[str] | None = own(
        None,
        "Models, with commas between them: kernels (k1, k2, k1+k2, score), their PCA (score-5), embeddings (ste-2, "
        "tste-5, ckl-8, soe-8, gnmds-2), dimensions one can name (nonneg-12, nonneg). Default: those that auto chooses from.",
        "--model",
        "-m",
        metavar="NAMES",
    ),
    cv: int | None = own(None, "Folds. Default: 5; fewer with many answers.", min=2),
    dimensions: bool = own(
        False, "Compare 1, 2, 3, 5 and 8 dimensions of SOE and CKL, or of the models named.", "--dimensions"
    ),
    json: bool = own(False, "Everything as JSON.", "--json"),
    csv: bool = own(False, "The table as CSV.", "--csv"),
    output: OutputOption = "-",
) -> None:
    """Compare models by how many held-out answers they predict.

    All answers to a trio (or of a statement) are in the same fold, so that nothing leaks. Questions answered more than
    once tell how accurate the best possible model would be.

    With --groups, groups of participants are compared instead: agreement within and between them, a permutation test, each
    group's model on the other's held-out answers, the objects that differ. An output ending in .svg, .pdf or .png is a
    figure: of the models, or of the maps of the two groups.

    Example:  nearfar compare answers.csv --model "k1, score, score-5, ste-2"
    """
    if json and csv:
        raise InputError("--json and --csv: got both; choose one")
    drawn = is_picture(output)
    if drawn and (json or csv):
        raise InputError(f"{output}: a figure is neither JSON nor CSV; leave out --json and --csv")
    check_file(output)
    check_pictures(given, [output] if drawn else [])
    from nearfar.cli._choices import remember
    from nearfar.evaluate import Analysis
    from nearfar.evaluate.collection import controls_text

    loaded = load(given)
    given.tell(controls_text(loaded.triplets))
    names = None if model is None else _names(model)
    if dimensions:
        _compare_dimensions(given, loaded, names, cv, json, csv, output)
        return
    settings: Any = {"cv": cv, "design": given.design, "features": load_features(given), "seed": given.seed}
    analysis = Analysis(loaded.triplets, models=names, **settings)
    if given.groups is not None:
        _compare_groups(given, analysis, read_groups(given, loaded) or {}, json, csv, output)
        return
    remember(given, analysis)
    if drawn:
        from nearfar.report.figures import print_comparison

        best = (analysis.best.name, analysis.plane_name)
        write_picture(given, output, lambda look: print_comparison(look, analysis.scores, best))
        given.tell(analysis.headline)
        return
    if json:
        worth = {} if analysis.worth is None else {"worth": analysis.worth.to_dict()}
        text = as_json({**analysis.scores.to_dict(), "auto": analysis.best.to_dict(), **worth})
    elif csv:
        text = analysis.scores.to_frame().write_csv()
    else:
        text = f"{analysis.scores}\n\n{analysis.headline}\n"
        if analysis.worth is not None:
            correlation = words.correlation(analysis.vector_correlation).replace("\xa0", " ")
            text += f"\n{words.worth_text(analysis.worth, analysis.ceiling)}\n{correlation}\n"
    write_bytes(output, text.encode())
    if output != "-":
        given.tell(f"{analysis.headline}; in {output}")


def _compare_dimensions(
    given: Given, loaded: Loaded, names: list[str] | None, cv: int | None, json: bool, csv: bool, output: str
) -> None:
    """The number of dimensions that the answers support, with the accuracy of all that were tried."""
    from nearfar.evaluate import choose_dimension
    from nearfar.evaluate.judging import LAWS

    if given.groups is not None or given.features:
        raise InputError("--dimensions: are counted without --groups or --features; leave these out")
    settings: Any = {"cv": cv, "design": given.design, "seed": given.seed}
    chosen = choose_dimension(loaded.triplets, names or LAWS, **settings)
    if is_picture(output):
        from nearfar.report.figures import print_comparison

        rows = zip(chosen.comparison.scores, chosen.dimensions, strict=True)
        shown = chosen.comparison, [score.name for score, d in rows if d == chosen.dimension]
        told = f"models by their number of dimensions. {words.dimension_text(chosen)}."
        write_picture(given, output, lambda look: print_comparison(look, *shown, told))
        return
    text = as_json(chosen.to_dict()) if json else f"{chosen}\n"
    write_bytes(output, (chosen.comparison.to_frame().write_csv() if csv else text).encode())


def _names(given: list[str]) -> list[str]:
    """Names between commas, each once."""
    return list(dict.fromkeys(name.strip() for text in given for name in text.split(",") if name.strip()))


def _compare_groups(
    given: Given, analysis: Analysis, groups: dict[str, str], json: bool, csv: bool, output: str
) -> None:
    """Compare groups of people, as text, as JSON or as a figure of the two maps side by side."""
    from nearfar._tools.records import plain
    from nearfar.report.figures import print_groups
    from nearfar.report.groups import group_comparison

    if csv:
        raise InputError("--groups: is written as text, as JSON, or as a figure (.svg, .pdf, .png)")
    compared = analysis.groups(groups)
    if not is_picture(output):
        text = as_json(plain(group_comparison(compared, {}))) if json else f"{compared}\n"
        write_bytes(output, text.encode())
        return
    if len(compared.pairs) > 1:
        pairs = f"a figure shows two groups, got {len(compared.pairs)} pairs"
        raise InputError(f"--groups: {pairs}; nearfar report --bundle draws them all")
    write_picture(given, output, lambda look: print_groups(look, compared))
    given.tell(words.group_pair(compared.pairs[0]).text)
