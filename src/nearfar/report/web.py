"""A report -> one HTML file that asks the network for nothing."""

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

from nearfar._tools.text import number, percent, points
from nearfar.report.make import Report
from nearfar.words import GROUP_MAPS, gloss

SCRIPTS = ("core.js", "views.js", "tree.js", "charts.js", "map.js")
TOP_MODELS = 7
POLICY = """default-src 'none'; script-src {}; style-src 'unsafe-inline'; img-src data: blob:; font-src data:; base-uri 'none'; form-action 'none'"""
IN_SCRIPT = ["objects", "maps", "models", "tree", "matrix", "participants"]
IN_SCRIPT += ["curve", "groups", "explained", "dimensions"]


def page_html(report: Report) -> str:
    """The page."""
    data = report.data
    scripts = {"theme_js": _file("theme.js"), "page_js": "\n".join(map(_file, SCRIPTS))}
    # exactly these scripts run, and nothing is ever fetched
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts.values()]
    chosen = (data["models"]["best"], data["models"]["map"])
    scores = data["models"]["scores"]
    at_once = [score for rank, score in enumerate(scores) if rank < TOP_MODELS or score["name"] in chosen]
    people = data["participants"]["rows"] if data["participants"] else []
    thumbs = {at: report.thumbnails[row["name"]] for at, row in enumerate(data["objects"]) if row["picture"]}
    order = np.random.default_rng(data["seed"]).permutation(len(data["objects"])).tolist()
    html: str = _template().render(
        data=data,
        boxes=_boxes(data),
        group_maps=GROUP_MAPS,
        css=Markup(_file("page.css")),
        script_data=script_json({name: data[name] for name in IN_SCRIPT} | {"order": order}),
        thumbs=script_json(thumbs),
        policy=POLICY.format(" ".join(f"'sha256-{digest}'" for digest in digests)),
        models=(at_once, [score for score in scores if score not in at_once]),
        people=people,
        people_rows=sum(bool(person["reason"]) for person in people),
        people_most=500,  # everybody is in the JSON and in the bundle
        **{name: Markup(text) for name, text in scripts.items()},
    )
    return html


def _boxes(data: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """(topic, finding) of the first screen: six, of which the last is about groups where there are some."""
    findings = data["findings"]
    topics = {"collected": "Collected", "accuracy": "Accuracy", "enough": "More answers?"}
    topics |= {"clusters": "Clusters", "participants": "Participants"}
    boxes = [(topic, findings[name]) for name, topic in topics.items() if findings[name]]
    if data["groups"] and data["groups"]["pairs"]:
        return [*boxes, ("Groups", data["groups"]["finding"])]
    topic, name = ("Subgroups", "subgroups") if findings["subgroups"] else ("Best possible", "ceiling")
    return [*boxes, (topic, findings[name])]


def script_json(value: Any) -> Markup:
    r"""JSON that may stand inside a script element: nothing in it can end the element or start a comment."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for bad in "<>&\u2028\u2029":
        text = text.replace(bad, f"\\u{ord(bad):04x}")
    return Markup(text)


@lru_cache
def _file(name: str) -> str:
    return (resources.files("nearfar.report") / "page" / name).read_text(encoding="utf-8")


@lru_cache
def _template() -> Any:
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=False)
    filters = {"number": number, "percent": percent, "points": points}
    environment.filters.update(**filters, gloss=gloss)
    return environment.from_string(_file("page.html"))
