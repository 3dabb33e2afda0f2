"""Facts, pictures and plots -> one HTML file that asks the network for nothing."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import lru_cache
from importlib import resources
from typing import Any

import numpy as np
from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from nearfar.report.collect import Made
from nearfar.report.facts import Facts, Judged, plain
from nearfar.report.plot.document import make_plots
from nearfar.report.words import duration, number, percent

__all__ = ["page_html", "script_json"]

SCRIPTS = ("core.js", "views.js", "tree.js", "plots.js", "map.js")
SECTIONS = (
    ("verdict", "Verdict"),
    ("map-section", "Map"),
    ("tree-section", "Tree"),
    ("clusters-section", "Clusters"),
    ("sure-section", "How sure"),
    ("matrix-section", "Similarity"),
    ("people-section", "People"),
    ("quality-section", "Data quality"),
    ("curve-section", "Learning curve"),
    ("methods-section", "Methods"),
)
TOP_MODELS = 7
PEOPLE_ROWS, PEOPLE_MOST = (
    12,
    500,
)  # shown at once, and on the page; everybody is in the JSON and in the bundle


def page_html(made: Made) -> str:
    """The page."""
    facts = made.facts
    document, roots = make_plots(facts).json()
    scripts = {
        "theme_js": _file("theme.js"),
        "bokeh_js": _bokeh(),
        "page_js": "\n".join(_file(name) for name in SCRIPTS),
    }
    thumbs = {
        index: [small.uri, small.width, small.height]
        for index, found in enumerate(facts.objects)
        if (small := made.thumbnails.get(found.name)) is not None
    }
    people = facts.quality.participants or ()
    html: str = _template().render(
        facts=facts,
        css=Markup(_file("page.css")),
        data=script_json(_data(made)),
        thumbs=script_json(thumbs),
        plots=script_json({"document": document, "roots": roots}),
        policy=_policy(list(scripts.values())),
        sections=_sections(facts),
        remarks=_remarks(facts),
        judged=_judged(facts),
        people_rows=max(PEOPLE_ROWS, sum(1 for person in people if person.reasons)),
        people_most=PEOPLE_MOST,
        has_times=any(person.median_seconds is not None for person in people),
        has_sides=any(person.left is not None for person in people),
        has_checks=any(person.checks for person in people),
        **{name: Markup(text) for name, text in scripts.items()},
    )
    return html


def script_json(value: Any) -> Markup:
    r"""JSON that may stand inside a script element: nothing in it can end the element or start a comment.

    >>> print(script_json({"name": "</script><!--"}))
    {"name":"\u003c/script\u003e\u003c!--"}
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for bad in "<>&\u2028\u2029":
        text = text.replace(bad, f"\\u{ord(bad):04x}")
    return Markup(text)


def _data(made: Made) -> dict[str, Any]:
    """What the page's script needs, short."""
    facts = made.facts
    objects = [
        {
            "name": found.name,
            "display_name": found.display_name,
            "group": found.group,
            "answers": found.answers,
            "anchor": found.as_anchor,
            "accuracy": found.accuracy,
            "circle": found.circle,
            "informed": found.informed,
            "unusual": found.unusual,
            "outlier": found.outlier,
            "near": [[near.object, near.similarity] for near in found.neighbours],
        }
        for found in facts.objects
    ]
    tree = facts.tree
    cuts = [] if tree is None else [_cut(plain(cut), made.kept.get(cut.k)) for cut in tree.cuts]
    shuffled = np.random.default_rng(facts.seed).permutation(len(objects)).tolist()
    found: dict[str, Any] = plain(
        {
            "objects": objects,
            "maps": [{"x": found.x, "y": found.y} for found in facts.maps],
            "cuts": cuts,
            "k": tree.k if tree else 0,
            "members": tree.members if tree else [],
            "leaves": tree.leaves if tree else [],
            "merges": [(a, b, round(h, 4), s) for a, b, h, s in tree.merges] if tree else [],
            "matrix": facts.matrix,
            "outliers": facts.outliers,
            "uninformed": facts.quality.uninformed,
            "contradictions": facts.quality.contradictions,
            "flagged": [bool(person.reasons) for person in facts.quality.participants or ()],
            "spreadOut": shuffled,
        }
    )
    return found


def _cut(cut: dict[str, Any], kept: Any) -> dict[str, Any]:
    shares = None if kept is None else [None if np.isnan(v) else round(float(v), 3) for v in kept]
    return {**cut, "kept": shares}


def _sections(facts: Facts) -> list[tuple[str, str]]:
    missing = set()
    if not facts.maps:
        missing.add("map-section")
    if facts.tree is None:
        missing |= {"tree-section", "clusters-section", "matrix-section"}
    if facts.alike is None and facts.groups is None:
        missing.add("people-section")
    return [(id, name) for id, name in SECTIONS if id not in missing]


def _judged(facts: Facts) -> tuple[list[Judged], list[Judged]]:
    """Models to show at once, the best and the chosen ones, and the others; each by rank."""
    judge = facts.judge
    chosen = (judge.best, judge.map)
    at_once = [model for rank, model in enumerate(judge.models) if rank < TOP_MODELS or model.name in chosen]
    return at_once, [model for model in judge.models if model not in at_once]


def _remarks(facts: Facts) -> list[tuple[str, str]]:
    """Remarks of the judge's fits, each once with the models that earned it."""
    who: dict[str, list[str]] = {}
    for model in facts.judge.models:
        for remark in model.remarks:
            who.setdefault(remark, []).append(model.name)
    return [(remark, ", ".join(names)) for remark, names in who.items()]


def _policy(scripts: list[str]) -> str:
    """A Content-Security-Policy under which exactly these scripts run, and nothing is ever fetched."""
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts]
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; "
        "font-src data:; base-uri 'none'; form-action 'none'"
    )


@lru_cache
def _file(name: str) -> str:
    return (resources.files("nearfar.report") / "page" / name).read_text(encoding="utf-8")


@lru_cache
def _bokeh() -> str:
    """The one part of BokehJS that the figures need."""
    from bokeh.resources import INLINE

    return next(text for text in INLINE.js_raw if "bokeh.min.js" in text or len(text) > 1_000_000)


@lru_cache
def _template() -> Any:
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=False)
    environment.filters.update(number=number, percent=percent, duration=duration)
    return environment.from_string(_file("page.html"))
