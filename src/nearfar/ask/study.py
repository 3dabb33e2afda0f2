"""The study file: one TOML file that says what is asked, of whom, and what people read."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nearfar._tools.text import read_lines
from nearfar.ask._toml import Toml, read_toml, shown
from nearfar.ask.forms import FIELD_KINDS, PAGES, FormField, form_conflicts, read_form
from nearfar.ask.texts import read_texts
from nearfar.design.booklets import GAP
from nearfar.design.questions import KINDS, QuestionKind

RECRUITERS = ("open", "links", "prolific", "mturk", "sona")
MOST_TEXT = 100_000  # characters of a page
LISTS = ("form", "condition")  # tables that may come several times
# of people.csv, which no form, kept parameter or picture size may be called
COLUMNS = (
    "participant", "outside", "state", "condition", "answers", "places", "cannot_tell", "fast_notices", "early", "replays",
    "code", "consent", "seen", "details", "claimed_seconds", "elapsed_seconds", "px_per_mm", "practice_tries",
)  # fmt: skip


@dataclass(frozen=True)
class QuestionPlan:
    """The table ``[questions]``; see docs/ask.md for each key."""

    design: str = "random"
    random: float = 0.2
    again: float = 0.1
    checks: int = 3
    each: int = 5
    per_person: int = 60
    practice: int = 2
    break_every: int = 20
    options: int = 8
    pick: int = 2
    seed: int = 0

    @property
    def n_again(self) -> int:
        """Questions that a person gets a second time."""
        return round(self.again * self.per_person)

    @property
    def n_new(self) -> int:
        """Questions of the design that a person gets."""
        return self.per_person - self.n_again - self.checks


@dataclass(frozen=True)
class PeoplePlan:
    """The table ``[people]``."""

    aim: int = 20
    limit: int | None = None
    recruit: str = "open"
    code: str | None = None
    return_link: str | None = None
    idle_minutes: float = 5.0
    keep: tuple[str, ...] = ()
    assign: str = "evenly"


@dataclass(frozen=True)
class Screen:
    """The table ``[screen]``: how objects are shown, and how answers are taken."""

    size: float | None = None
    unit: str = "px"
    background: str | None = None
    cannot_tell: bool = False
    least_seconds: float = 0.0
    fast_seconds: float = 0.0


@dataclass(frozen=True)
class Condition:
    """A table ``[[condition]]``: participants in it get its prompt, and questions about its objects only."""

    name: str
    prompt: str | None = None
    objects: tuple[str, ...] | None = None

    def members(self, names: tuple[str, ...]) -> list[int]:
        """Indices of its objects among all."""
        return [i for i, name in enumerate(names) if self.objects is None or name in self.objects]


@dataclass(frozen=True)
class Study:
    """A study file, read and checked; ``pages`` has the Markdown of the files that replace built-in texts."""

    toml: Toml
    title: str
    objects: Path | tuple[str, ...]
    kind: QuestionKind = "near"
    prompt: str | None = None
    language: str = "en"
    texts: dict[str, str] = field(default_factory=dict)
    show: str | None = None
    questions: QuestionPlan = field(default_factory=QuestionPlan)
    people: PeoplePlan = field(default_factory=PeoplePlan)
    pages: dict[str, str] = field(default_factory=dict)
    screen: Screen = field(default_factory=Screen)
    form: tuple[FormField, ...] = ()
    conditions: tuple[Condition, ...] = ()

    @property
    def path(self) -> Path:
        """Where the study file is."""
        return self.toml.path

    def fingerprint(self, names: tuple[str, ...]) -> str:
        """A hash of what may not change once somebody has answered: objects, kind, questions and conditions."""
        fixed: list[Any] = [list(names), self.kind, vars(self.questions)]
        fixed += [[one.name, one.objects] for one in self.conditions]
        return hashlib.sha256(json.dumps(fixed, sort_keys=True).encode()).hexdigest()

    def page(self, when: str) -> list[FormField]:
        """The fields of the form before, after practice, or after."""
        return [one for one in self.form if one.when == when]

    def condition(self, name: str) -> Condition:
        """A condition by its name; where there is none, everybody is in the one without a name."""
        return next((one for one in self.conditions if one.name == name), Condition(""))


# ---------------------------------------------------------------- the keys, and what each may hold

Check = Callable[[Any], str]  # "" where the value is right, else what was expected


def _text(value: Any) -> str:
    return "" if isinstance(value, str) and value.strip() else "expected text that is not blank"


def _number(least: float, most: float, types: Any = (int, float)) -> Check:
    name = "whole number" if types is int else "number"

    def check(value: Any) -> str:
        right = isinstance(value, types) and not isinstance(value, bool) and least <= value <= most
        return "" if right else f"expected a {name} from {least:,} to {most:,}"

    return check


def _whole(least: int, most: int = 1_000_000) -> Check:
    return _number(least, most, int)


def _one_of(*choices: str) -> Check:
    return lambda value: (
        "" if isinstance(value, str) and value in choices else f"expected one of {', '.join(choices)}"
    )


def _yes_or_no(value: Any) -> str:
    return "" if isinstance(value, bool) else "expected true or false"


def _texts(least: int, most: int = 100, pattern: str = r"(?s).{1,500}\Z") -> Check:
    def check(value: Any) -> str:
        right = isinstance(value, list) and all(isinstance(one, str) and one.strip() for one in value)
        right = right and least <= len(set(value)) == len(value) <= most
        right = right and all(re.match(pattern, one) for one in value)
        return "" if right else f"expected a list of {least} to {most} different short texts"

    return check


def _pattern(pattern: str, expected: str) -> Check:
    return lambda value: "" if isinstance(value, str) and re.match(pattern, value) else f"expected {expected}"


def _objects(value: Any) -> str:
    if isinstance(value, list):
        wrong = [name for name in value if not isinstance(name, str) or not name.strip()]
        if wrong or len(set(value)) != len(value) or len(value) < 3:
            return "expected at least three different names, none of them blank"
        return ""
    return "" if not _text(value) else "expected a folder of pictures, a file, or a list of names"


def _link(value: Any) -> str:
    right = (
        isinstance(value, str) and value.startswith("https://") and not any(c in value for c in " \n\"'<>")
    )
    return "" if right else "expected an address that starts with https://"


FIELDS: dict[str, dict[str, Check]] = {
    "": {
        "title": _text,
        "objects": _objects,
        "kind": _one_of(*KINDS),
        "prompt": _text,
        "language": _text,
        "show": _one_of("both", "pictures", "words"),
    },
    "questions": {
        "design": _text,
        "random": _number(0, 1),
        "again": _number(0, 0.5),
        "checks": _whole(0, 1000),
        "each": _whole(1, 100_000),
        "per_person": _whole(1, 5000),
        "practice": _whole(0, 20),
        "break_every": _whole(0, 5000),
        "options": _whole(3, 24),
        "pick": _whole(1, 23),
        "seed": _whole(0, 2**53),
    },
    "people": {
        "aim": _whole(1),
        "limit": _whole(1),
        "recruit": _one_of(*RECRUITERS),
        "code": _text,
        "return_link": _link,
        "idle_minutes": _number(0.01, 60 * 24 * 365),
        "keep": _texts(1, 20, r"[A-Za-z][A-Za-z0-9_]{0,39}\Z"),
        "assign": _pattern(r"(evenly|random|parameter:\w+)\Z", "evenly, random or parameter:NAME"),
    },
    "screen": {
        "size": _number(5, 2000),
        "unit": _one_of("px", "mm"),
        "background": _pattern(r"#[0-9a-fA-F]{6}\Z", "a colour such as #808080"),
        "cannot_tell": _yes_or_no,
        "least_seconds": _number(0, 60),
        "fast_seconds": _number(0, 60),
    },
    "form": {
        "name": _text,
        "ask": _text,
        "kind": _one_of(*FIELD_KINDS),
        "when": _one_of(*PAGES),
        "required": _yes_or_no,
        "options": _texts(2),
        "least": _number(-1e9, 1e9),
        "most": _number(-1e9, 1e9),
        "labels": _texts(2, 2),
        "right": lambda value: "" if isinstance(value, (str, int, float)) else "expected text or a number",
    },
    "condition": {
        "name": _pattern(r"[\w-]{1,40}\Z", "letters, digits, - and _"),
        "prompt": _text,
        "objects": _objects,
    },
    "pages": {"welcome": _text, "consent": _text, "debrief": _text},
}


def read_study(path: str | Path) -> Study:
    """Read and check a study file; the first thing that is wrong is one sentence with its line."""
    toml = read_toml(Path(path))
    _check_keys(toml)
    top = {key: value for key, value in toml.values.items() if not _is_table(key, value)}
    for key in ("title", "objects"):
        if key not in top:
            raise toml.error("", key, "is missing; every study needs it")
    questions = QuestionPlan(**toml.values.get("questions", {}))
    people = toml.values.get("people", {})
    people = PeoplePlan(**people | {"keep": tuple(people.get("keep", ()))})
    given = top.pop("objects")
    objects = tuple(given) if isinstance(given, list) else toml.file("", "objects", given)
    pages = {
        key: text for key, name in toml.values.get("pages", {}).items() if (text := _page(toml, key, name))
    }
    study = Study(
        toml=toml,
        texts=read_texts(toml, top.get("language", "en")),
        objects=objects,
        questions=questions,
        people=people,
        pages=pages,
        screen=Screen(**toml.values.get("screen", {})),
        form=tuple(read_form(one) for one in toml.values.get("form", ())),
        conditions=tuple(_condition(toml, *one) for one in enumerate(toml.values.get("condition", ()), 1)),
        **top,
    )
    for table, key, wrong in _conflicts(study, toml.values.get("questions", {})):
        raise toml.error(table, key, wrong)
    return study


def _is_table(key: str, value: Any) -> bool:
    return isinstance(value, dict) or key in LISTS


def _check_keys(toml: Toml) -> None:
    tables = {"": {key: value for key, value in toml.values.items() if not _is_table(key, value)}}
    for name, value in toml.values.items():
        if name in LISTS:
            if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
                raise toml.error("", name, f"expected tables that begin with [[{name}]]")
            tables |= {f"{name} {i}": one for i, one in enumerate(value, start=1)}
        elif isinstance(value, dict):
            tables[name] = value
    for table, values in tables.items():
        if table.partition(" ")[0] not in FIELDS:
            known = ", ".join(f"[[{name}]]" if name in LISTS else f"[{name}]" for name in FIELDS if name)
            raise toml.error(table, "", f"is not a known table; expected one of {known}")
        for key, value in values.items():
            _check_value(toml, table, key, value)
        for key in {"form": ("name", "ask", "kind"), "condition": ("name",)}.get(table.partition(" ")[0], ()):
            if key not in values:
                raise toml.error(table, key, "is missing")


def _condition(toml: Toml, number: int, values: dict[str, Any]) -> Condition:
    """A condition; its objects are a list of names, or a text file with one a line."""
    given = values.get("objects")
    if isinstance(given, str):
        given = read_lines(toml.file(f"condition {number}", "objects", given), "name")
    return Condition(values["name"], values.get("prompt"), None if given is None else tuple(given))


def _check_value(toml: Toml, table: str, key: str, value: Any) -> None:
    known = FIELDS[table.partition(" ")[0]]
    if key not in known:
        elsewhere = [name for name, fields in FIELDS.items() if key in fields]
        if elsewhere:
            hint = f"it belongs to [{elsewhere[0]}]" if elsewhere[0] else "it belongs to the top of the file"
        else:
            hint = f"expected one of {', '.join(known)}"
        raise toml.error(table, key, f"is not a known key; {hint}")
    wrong = known[key](value)
    if wrong or (isinstance(value, float) and not math.isfinite(value)):
        raise toml.error(table, key, f"{wrong}, got {shown(value)}")


def _page(toml: Toml, key: str, name: str) -> str:
    path = toml.file("pages", key, name)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise toml.error("pages", key, f"{name!r} cannot be read as UTF-8 text") from error
    if len(text) > MOST_TEXT:
        raise toml.error("pages", key, f"{name!r} has more than {MOST_TEXT:,} characters")
    return text


def _conflicts(study: Study, given: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """(table, key, what is wrong) where several keys do not go together; ``given`` holds the table [questions]."""
    plan, people, is_grid = study.questions, study.people, study.kind == "grid"
    only = 'only for kind = "{}", got kind = "' + study.kind + '"'
    if plan.n_new < 1:
        room = f"beside {plan.n_again} repeats and {plan.checks} checks"
        yield "questions", "per_person", f"{plan.per_person} questions leave no room for new ones {room}"
    if plan.n_again > max(plan.n_new - GAP, 0):
        needed = f"{plan.n_again} repeats at least {GAP} places later need at least {plan.n_again + GAP} new questions"
        way_out = f"per person, got {plan.n_new}; raise per_person or set again = 0"
        yield "questions", "again" if "again" in given else "per_person", f"{needed} {way_out}"
    for key in ("options", "pick"):
        if key in given and not is_grid:
            yield "questions", key, f"is {only.format('grid')}"
    if plan.design.startswith("landmarks") and study.kind != "near":
        yield "questions", "design", f"landmarks are {only.format('near')}"
    if is_grid and plan.pick >= plan.options:
        yield "questions", "pick", f"expected fewer than the {plan.options} options, got {plan.pick}"
    if people.limit is not None and people.limit < people.aim:
        yield "people", "limit", f"expected at least the aim of {people.aim} people"
    if people.recruit == "prolific" and people.code is None:
        yield "people", "code", 'is missing; recruit = "prolific" needs the completion code of the study'
    if people.recruit == "sona" and people.return_link is None:
        needed = 'recruit = "sona" needs the completion address, with XXXX for the survey code'
        yield "people", "return_link", f"is missing; {needed}"
    if study.screen.unit == "mm" and study.screen.size is None:
        yield "screen", "unit", "needs a size"
    yield from _additions(study)


def _additions(study: Study) -> Iterator[tuple[str, str, str]]:
    """The same for forms, kept parameters and conditions."""
    keep, names = study.people.keep, [one.name for one in study.conditions]
    if set(keep) & {*COLUMNS}:
        yield "people", "keep", f"{min(set(keep) & {*COLUMNS})!r} is a column that people.csv has anyway"
    for number, key, wrong in form_conflicts(study.form, {*COLUMNS, *keep}):
        yield f"form {number}", key, wrong
    if len(set(names)) < len(names) or len(names) == 1:
        yield f"condition {len(names)}", "name", "expected two or more conditions of different names"
    by = study.people.assign.partition(":")[2]
    if by and (by not in keep or not names):
        yield "people", "assign", f"needs conditions, and {by!r} among the parameters to keep"
