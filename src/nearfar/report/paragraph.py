"""The methods paragraph, ready to paste, with what it cites."""

from __future__ import annotations

import sys
from importlib import metadata

from nearfar import __version__
from nearfar.report.facts import Collection, Curve, Judge, Sure, TreeFacts
from nearfar.report.verdict import asked_again
from nearfar.report.words import count, number, percent

__all__ = ["citations", "methods_paragraph", "versions"]

PAPER = (
    "M. Kleindessner and U. von Luxburg. Kernel functions based on triplet comparisons. "
    "Advances in Neural Information Processing Systems 30, 2017."
)
SIMILARITY_PAPER = (  # N + N' of the score kernel is its AddS-3, k1 off the diagonal its MulK-3
    "M. Perrot, P. Esser and D. Ghoshdastidar. Near-optimal comparison based clustering. "
    "Advances in Neural Information Processing Systems 33, 2020."
)
EMBEDDING_PAPERS = {
    "ste": "L. van der Maaten and K. Weinberger. Stochastic triplet embedding. IEEE MLSP, 2012.",
    "tste": "L. van der Maaten and K. Weinberger. Stochastic triplet embedding. IEEE MLSP, 2012.",
    "ckl": "O. Tamuz, C. Liu, S. Belongie, O. Shamir and A. Kalai. Adaptively learning the crowd kernel. ICML, 2011.",
    "soe": "Y. Terada and U. von Luxburg. Local ordinal embedding. ICML, 2014.",
    "gnmds": "S. Agarwal et al. Generalized non-metric multidimensional scaling. AISTATS, 2007.",
}
KERNELS = {
    "k1": "k1 (Kendall's tau between two objects' rankings of the others)",
    "k2": "k2 (agreement of two objects' ranks in the others' rankings)",
    "score": "score (whether two objects were preferred alike, and as seen from each other)",
}


def versions() -> dict[str, str]:
    """Of nearfar, Python and the libraries that computed."""
    found = {"nearfar": __version__, "python": ".".join(map(str, sys.version_info[:3]))}
    for package in ("numpy", "scipy", "scikit-learn", "numba", "bokeh"):
        found[package] = metadata.version(package)
    return found


def citations(judge: Judge) -> tuple[str, ...]:
    """What the methods paragraph rests on."""
    loss, best = (name.rpartition("-")[0] for name in (judge.map, judge.best))
    papers = [PAPER, *(EMBEDDING_PAPERS[name] for name in (loss, best) if name in EMBEDDING_PAPERS)]
    if any("score" in name for name in (judge.map, judge.best)):
        papers.append(SIMILARITY_PAPER)
    own = f"nearfar {__version__}: kernels, maps and trees from triplet comparisons. Software."
    return tuple(dict.fromkeys([*papers, own]))


def methods_paragraph(
    answers: Collection,
    judge: Judge,
    tree: TreeFacts | None,
    sure: Sure | None,
    curve: Curve | None,
    *,
    seed: int,
) -> str:
    """What was done, in the past tense, with every number that a reader needs to redo it."""
    sentences = [_input(answers), _model(judge)]
    if judge.map:
        sentences.append(_map(judge))
    if tree is not None:
        sentences.append(
            f"The tree is complete linkage on the distances in that space, cut into {tree.k} clusters "
            f"(mean silhouette {tree.chosen.silhouette:.2f})."
        )
    if judge.models:
        sentences.append(_judged(judge, answers))
    if sure is not None:
        sentences.append(
            f"The certainty of locations and clusters comes from {sure.resamples} bootstrap resamples of "
            f"{sure.resampled}s."
        )
    if curve is not None:
        ahead = (
            "; what more answers would bring is half of what the last doubling brought"
            if curve.change
            else ""
        )
        sentences.append(f"The learning curve refits the model to growing shares of the answers{ahead}.")
    sentences.append(_software(seed))
    return " ".join(sentences)


def _input(answers: Collection) -> str:
    who = f" from {count(answers.participants, 'participant')}" if answers.participants else ""
    file = f" (SHA-256 of the input {answers.sha256})" if answers.sha256 else ""
    text = (
        f'We analysed {count(answers.answers, "triplet comparison")} of the form "A is nearer to B than to C"{who} '
        f"about {count(answers.objects, 'object')}{file}."
    )
    if answers.left_out:
        reasons = "; ".join(f"{number(group.count)} {group.what} ({group.why})" for group in answers.left_out)
        text += f" Left out before the analysis: {reasons}."
    return text


def _model(judge: Judge) -> str:
    base = judge.best.rpartition("-")[0] or judge.best
    if base in EMBEDDING_PAPERS:
        dimensions = judge.best.rpartition("-")[2]
        text = f"Similarities between objects are those of an ordinal embedding ({base.upper()}) in {dimensions} dimensions"
    elif all(name in KERNELS for name in base.split("+")):
        text = f"Similarities between objects are values of the kernel {' + '.join(KERNELS[name] for name in base.split('+'))}"
        text += (
            " of Kleindessner and von Luxburg (2017)"
            if "score" not in base
            else (", a variant of the triplet kernels of Kleindessner and von Luxburg (2017)")
        )
        if base == judge.best:
            text += ", its diagonal reduced by the smallest eigenvalue, as they propose"
        else:
            text += f", in the first {judge.best.rpartition('-')[2]} components of its kernel PCA"
    else:
        text = f"Similarities between objects are those of the model {judge.best}"
    if judge.models and not judge.named:
        text += (
            f", chosen among {count(len(judge.models), 'model')} by how well they predict held-out answers"
        )
    return text + "."


def _map(judge: Judge) -> str:
    loss = judge.map.rpartition("-")[0]
    how = f"ordinal embedding ({loss.upper()})" if loss in EMBEDDING_PAPERS else "kernel PCA"
    return f"The map in the plane was made by {how}."


def _judged(judge: Judge, answers: Collection) -> str:
    error = f" (standard error {percent(judge.error)}, pigeonhole bootstrap)" if judge.error else ""
    predicted = f"{percent(judge.accuracy or 0.0)} of held-out answers were predicted{error}"
    text = f"In {judge.cv}-fold cross-validation, with every {judge.unit} wholly on one side, {predicted}"
    if judge.ceiling is None:
        return f"{text}; the noise ceiling is unknown ({judge.unknown.partition(';')[0]}). {judge.remark}".strip()
    low, high = judge.ceiling
    return (
        f"{text}; from the agreement on {asked_again(judge, answers)}, the best possible accuracy lies "
        f"between {percent(low)} and {percent(high)}. "
        f"{judge.remark}".strip()
    )


def _software(seed: int) -> str:
    found = versions()
    libraries = ", ".join(f"{name} {found[name]}" for name in ("numpy", "scipy", "scikit-learn", "numba"))
    return f"All computations were made with nearfar {found['nearfar']} (Python {found['python']}, {libraries}; seed {seed})."
