"""Methods and results as a journal prints them, ready to paste, with what they cite."""

from __future__ import annotations

import sys
from importlib import metadata
from typing import Any

from nearfar import __version__, words
from nearfar._tools.text import count, number, percent

PAPERS = {
    "kernel": "Kleindessner, M., & von Luxburg, U. (2017). Kernel functions based on triplet comparisons. Advances in Neural "
    "Information Processing Systems, 30. https://doi.org/10.48550/arXiv.1607.08456",
    # N + N' of the score kernel is its AddS-3
    "score": "Perrot, M., Esser, P., & Ghoshdastidar, D. (2020). Near-optimal comparison based clustering. Advances in Neural "
    "Information Processing Systems, 33. https://doi.org/10.48550/arXiv.2010.03918",
    "ste": "van der Maaten, L., & Weinberger, K. (2012). Stochastic triplet embedding. IEEE MLSP. "
    "https://doi.org/10.1109/MLSP.2012.6349720",
    "ckl": "Tamuz, O., Liu, C., Belongie, S., Shamir, O., & Kalai, A. (2011). Adaptively learning the crowd kernel. ICML. "
    "https://doi.org/10.48550/arXiv.1105.1033",
    "soe": "Terada, Y., & von Luxburg, U. (2014). Local ordinal embedding. Proceedings of Machine Learning Research, 32, 847-855.",
    "gnmds": "Agarwal, S., Wills, J., Cayton, L., Lanckriet, G., Kriegman, D., & Belongie, S. (2007). Generalized non-metric "
    "multidimensional scaling. Proceedings of Machine Learning Research, 2, 11-18.",
    "nonneg": "Hebart, M. N., Zheng, C. Y., Pereira, F., & Baker, C. I. (2020). Revealing the multidimensional mental representations of "
    "natural objects underlying human similarity judgements. Nature Human Behaviour, 4, 1173-1185. "
    "https://doi.org/10.1038/s41562-020-00951-3",
    "selection": "Tsamardinos, I., Greasidou, E., & Borboudakis, G. (2018). Bootstrapping the out-of-sample predictions for "
    "efficient and accurate cross-validation. Machine Learning, 107, 1895-1922. https://doi.org/10.1007/s10994-018-5714-4",
    "bootstrap": "Owen, A. B. (2007). The pigeonhole bootstrap. The Annals of Applied Statistics, 1(2), 386-411. "
    "https://doi.org/10.1214/07-AOAS122",
}
LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba")
KERNELS = {
    "k1": "k1 (Kendall's tau between two objects' rankings of the others)",
    "k2": "k2 (agreement of two objects' ranks in the others' rankings)",
    "score": "score (whether two objects were preferred alike, and as seen from each other)",
}
TO_OTHERS = "The intervals also apply to new participants, because participants are resampled."
DIMENSIONS = "The number of dimensions is the smallest that no larger one clearly beat in the likelihood of held-out answers{}."
NAMEABLE = (
    "Non-negative dimensions were fitted by the likelihood of choices (Hebart et al., 2020). Only those are shown that another "
    "random start and both halves of the data found, too (r > 0.8)."
)
CLUSTERS = "Clusters were accepted only if within-cluster variance had an elbow and neighbouring clusters were separated by a gap."
HALVES = (
    "The expected correlation of map distances with a new study is a split-half correlation (Spearman-Brown)."
)
SUBGROUPS = "Subgroups of participants were accepted only if separate maps predicted held-out answers better."


def versions() -> dict[str, str]:
    """Of nearfar, Python and the libraries that computed."""
    used = {"nearfar": __version__, "python": ".".join(map(str, sys.version_info[:3]))}
    return used | {package: metadata.version(package) for package in LIBRARIES}


def citations(data: dict[str, Any]) -> list[str]:
    """The papers behind the chosen model, the map and the intervals, and nearfar itself."""
    used = []
    for name in (data["models"]["best"], data["models"]["map"]):
        base = name.rpartition("-")[0] or name
        kernels = [part for part in base.split("+") if part in KERNELS]
        used += [base.replace("tste", "ste")] if base in words.EMBEDDINGS else ["kernel"] * bool(kernels)
        used += ["score"] * ("score" in kernels)
        used += ["nonneg"] * bool(base == "nonneg" or data.get("dimensions"))
    if data["models"]["scores"]:
        used += ["bootstrap"] if data["models"]["is_named"] else ["selection", "bootstrap"]
    own = "The nearfar developers (2026). nearfar: kernels, clusters, maps and trees from triplet comparisons"
    own = f"{own} (version {__version__}) [Computer software]."
    return [*(PAPERS[name] for name in dict.fromkeys(used)), own]


def methods(data: dict[str, Any]) -> str:
    """What was done, in the past tense, with every number that a reader needs to redo it."""
    size, models, groups, findings = data["collection"], data["models"], data["groups"], data["findings"]
    trial, question, gives = words.TASKS[size["task"]]
    who = count(size["participants"], "participant") if size["participants"] else "Participants"
    asked = f"{count(size['statements'], trial)} about {count(size['objects'], 'object')}"
    gone = [(each["what"], each["count"], each["why"]) for each in size["left_out"]]
    sentences: list[Any] = [
        f'{who} {"gave" if trial == "answer" else "completed"} {asked} ("{question}").',
        gives and f"{gives} We analysed these {count(size['answers'], 'answer')}.",
        gone and words.left_out(gone),
        *_model(models),
    ]
    if models["scores"]:
        people = "participants and " if size["participants"] else ""
        unit = "about the same three objects" if models["unit"] == "trio" else f"of one {models['unit']}"
        tried = ", ".join(score["name"] for score in models["by_dimension"])
        sentences += [
            f"Accuracy is the share of held-out answers predicted in {models['cv']}-fold cross-validation; all answers "
            f"{unit} were in the same fold. The 95 % intervals come from a pigeonhole bootstrap over "
            f"{people}{words.unit(models['unit'].partition(' ')[0], many=True)} (Owen, 2007).",
            models["scope"]["participants"] == "new" and TO_OTHERS,
            models["scope"]["n_random"] and words.from_random(models["scope"]["n_random"]),
            models["dimensions"] and DIMENSIONS.format(f" (tried: {tried})" * bool(tried)),
            models["judged"] < size["answers"]
            and f"Models were compared on a random {number(models['judged'])} answers.",
        ]
    tree = f"The tree was built by complete linkage on the distances in the space of {models['best']}. {CLUSTERS}"
    sentences += [
        models["ceiling"]["best_possible"] and _first(data, "ceiling"),
        data["dimensions"] and NAMEABLE,
        data["tree"] and tree,
        findings["stability"] and _first(data, "stability"),
        findings["reliability"] and HALVES,
        data["explained"] and findings["explained"]["details"],
        data["participants"] and words.FLAGGING,
        findings["subgroups"] and SUBGROUPS,
    ]
    for pair in groups["pairs"] if groups else ():
        both = " and ".join(f"{name} ({n})" for name, n in zip(pair["names"], pair["people"], strict=True))
        sentences.append(f"Groups of participants, {both}, were compared by a permutation test.")
    used = data["versions"]
    libraries = ", ".join(f"{name} {used[name]}" for name in LIBRARIES)
    own = f"We used nearfar {used['nearfar']} (Python {used['python']}, {libraries}; seed {data['seed']})."
    return " ".join(text for text in [*sentences, own] if text)


def _first(data: dict[str, Any], finding: str) -> str:
    return str(data["findings"][finding]["details"]).partition(". ")[0].rstrip(".") + "."


def _model(models: dict[str, Any]) -> list[str]:
    best, plane = models["best"], models["map"]
    plain = best.removesuffix("+features")
    base, _, size = plain.rpartition("-") if plain.rpartition("-")[0] else (plain, "", "")
    if base == "nonneg":
        text = "Objects have sparse non-negative dimensions, and similarity is their inner product (Hebart et al., 2020)"
    elif base in words.EMBEDDINGS:
        most = "at most " * ("at most" in models["gloss"])
        text = f"Objects were embedded by {words.EMBEDDINGS[base]} in {most}{count(int(size), 'dimension')}"
    elif all(part in KERNELS for part in base.split("+")):
        how = f"in the first {size} components of its kernel PCA" if size else ""
        how = how or "its diagonal reduced by the smallest eigenvalue"
        text = f"Similarities are those of the kernel {' + '.join(KERNELS[part] for part in base.split('+'))}, {how}"
        text += " (Kleindessner and von Luxburg, 2017)"
    else:
        text = f"Similarities are those of the {'vectors alone' if best == 'features' else f'model {best}'}"
    sentences, listed = [f"{text}."], [score["name"] for score in models["scores"]]
    if plain != best:
        sentences.append(
            "Vectors of the objects were a Gaussian-process prior of the points. Their kernel, share and weights were chosen by "
            "held-out answers within the training answers."
        )
    elif any(name.endswith("+features") for name in listed):
        sentences.append("In models with +features vectors of the objects were a prior of the points.")
    elif "features" in listed:
        sentences.append(
            "Vectors of the objects did not predict held-out answers clearly better, and were left out."
        )
    if len(listed) > 1 and not models["is_named"]:
        names = ", ".join(name for name in listed if name != "features" or name == best)
        sentences.append(
            f"This model was chosen from {names}. {models['rule']} "
            "Its accuracy was corrected for this choice (Tsamardinos et al., 2018)."
        )
    if plane not in ("", best):
        sentences.append(f"The map comes from a separate model, {plane} ({words.gloss(plane)}).")
    elif plane and not plane.removesuffix("+features").endswith("-2"):
        sentences.append(f"The map shows the first two principal components of {best}.")
    return sentences


def results(data: dict[str, Any]) -> str:
    """What was found, with intervals, and with and without the participants to check."""
    findings, models, size = data["findings"], data["models"], data["collection"]
    sentences: list[Any] = []
    if models["scores"]:
        odd = models["odd_one_out"]
        sentences = [
            f"The model is {models['best']} ({models['gloss']}). "
            f"Its expected accuracy is {percent(models['accuracy'])} for {models['applies_to']}.",
            odd and f"It predicted the odd one out in {percent(odd)} of held-out trials (guessing 33).",
            models["dimensions"],
            findings["ceiling"]["text"],
            size["task"] in ("odd", "central") and findings["ceiling"]["details"].rpartition(". ")[2],
        ]
    sentences += [findings["worth"] and findings["worth"]["text"], findings["reliability"]]
    sentences += [findings[name]["text"] for name in ("clusters", "subgroups") if findings[name]]
    for pair in data["groups"]["pairs"] if data["groups"] else ():
        found, both = pair["finding"], " and ".join(pair["names"])
        sentences.append(f"{both}: {found['short'][:1].lower()}{found['short'][1:]}. {found['text']}")
    people = data["participants"]["rows"] if data["participants"] else []
    unusual = sum(bool(person["reason"]) for person in people)
    if unusual or findings["participants"]["level"] == "good":
        of = count(size["participants"], "participant")
        sentences.append(f"{number(unusual)} of {of} answered unusually; all were kept.")
    elif people:  # nobody could have been found
        sentences.append(findings["participants"]["text"])
    usual = [p["with_prediction"] for p in people if p["with_prediction"] and not p["reason"]]
    if unusual and usual:
        share = sum(rate["value"] * rate["of"] for rate in usual) / sum(rate["of"] for rate in usual)
        sentences.append(f"Of the other participants' answers, the model predicted {percent(share)}.")
        possible = models["ceiling"]["best_possible"]
        if possible and share > possible["value"]:
            told = f"This can exceed the noise ceiling ({percent(possible['value'], 0)})"
            sentences.append(f"{told}, because the ceiling includes the unusual participants.")
    return " ".join(text for text in sentences if text)
