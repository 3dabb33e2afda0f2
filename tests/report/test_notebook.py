"""The notebook of a bundle makes the analysis of the report again: its models, seed and options."""

import ast
import json
import re

import numpy as np
import pytest
from groups_tools import two_groups
from report_tools import answers

from nearfar import FeatureMap
from nearfar.errors import InputError
from nearfar.evaluate import Analysis
from nearfar.report.make import make_report
from nearfar.report.notebook import notebook_json


def code_of(text):
    return "\n".join(cell["source"] for cell in json.loads(text)["cells"] if cell["cell_type"] == "code")


def redone(report, folder, monkeypatch):
    """What the notebook of a report's bundle defines when it is run there."""
    bundle = report.write_bundle(folder / "bundle")
    monkeypatch.chdir(bundle)
    namespace = {}
    exec(
        compile(code_of((bundle / "redo.ipynb").read_text(encoding="utf-8")), "redo.ipynb", "exec"), namespace
    )
    return namespace


def test_a_named_model_and_its_options_are_used_again(tmp_path, monkeypatch, capsys):
    report = make_report(answers(m=500), model="score-3", n_clusters=4, seed=7)
    namespace = redone(report, tmp_path, monkeypatch)
    analysis = namespace["analysis"]
    assert analysis.settings == report.analysis.settings
    assert analysis.settings | {"model": "score-3", "seed": 7} == analysis.settings
    assert analysis.best.name == report.data["models"]["best"] == "score-3"
    assert analysis.best.accuracy == pytest.approx(report.data["models"]["accuracy"])
    chosen = next(cut for cut in report.data["tree"]["cuts"] if cut["n_clusters"] == 4)
    assert namespace["labels"].tolist() == chosen["labels"] and namespace["labels"].max() == 3
    with np.load("kernel.npz") as stored:
        np.testing.assert_allclose(namespace["K"], stored["K"], atol=1e-12)
    assert namespace["points"].shape == (12, 2)
    was, now = report.analysis.curve, analysis.curve
    assert now.model == "score-3" and [p.accuracy for p in now.points] == [p.accuracy for p in was.points]
    assert "score-3: held-out accuracy by number of answers" in capsys.readouterr().out


def test_the_judged_models_and_groups_are_used_again(tmp_path, monkeypatch, capsys):
    given, groups = two_groups()
    made = Analysis(given[::4], models=["score", "soe-2"], cv=3, n_resamples=6, max_shown=8, seed=2)
    report = make_report(made, groups=groups)
    namespace = redone(report, tmp_path, monkeypatch)
    assert namespace["analysis"].settings == made.settings
    assert [model.name for model in namespace["analysis"].models] == ["score", "soe-2"]
    assert len(namespace["space"]) == 8 and len(namespace["labels"]) == 8
    assert sorted(namespace["groups"].values()) == ["experts"] * 6 + ["novices"] * 6
    assert not set(namespace["groups"]) & set(groups)  # pseudonyms
    assert "experts: 6 participants; novices: 6 participants" in capsys.readouterr().out


def test_pseudonyms_change_no_result(tmp_path, monkeypatch, capsys):
    given, groups = two_groups()
    report = make_report(
        Analysis(given[::4], models=["score"], cv=3, n_resamples=6, max_shown=8, seed=2), groups=groups
    )
    namespace = redone(report, tmp_path, monkeypatch)
    now, was = namespace["analysis"], report.analysis
    assert list(now.answers.participant.names) != list(was.answers.participant.names)
    assert now.curve.to_dict() == was.curve.to_dict()
    pairs = [a.groups(names).pairs[0] for a, names in ((now, namespace["groups"]), (was, groups))]
    first, second = pairs
    assert first.test == second.test and first.moves == second.moves and first.lead == second.lead


@pytest.mark.parametrize(
    "models", [None, {"mine": FeatureMap("k1"), "score": "score"}, ["score", FeatureMap("k2")]]
)
def test_models_of_ones_own_are_asked_for(models):
    """A bundle cannot hold them; another model in their place would be another analysis."""
    given = answers(m=300)
    analysis = Analysis(given, FeatureMap("k1") if models is None else "auto", models=models, n_resamples=6)
    code = code_of(notebook_json(make_report(analysis)))
    own = re.search(r"own = \{(.*?)\n\}", code, re.DOTALL)[1]
    (name,) = (ast.literal_eval(key) for key in re.findall(r"^ +(.*): \.\.\.,$", own, re.MULTILINE))
    assert f"own[{name!r}]" in code
    call = next(line for line in code.splitlines() if line.startswith("analysis ="))
    with pytest.raises(InputError, match="model: Ellipsis is not a model"):
        exec(call, {"nf": __import__("nearfar"), "answers": given, "own": {name: ...}})
