"""The study file: one TOML file that says what is asked, of whom, and what people read."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any

from nearfar._tools.text import read_lines
from nearfar.ask import keys
from nearfar.ask._toml import Toml, read_toml, shown
from nearfar.ask.forms import MOST_LETTERS, FormField, read_form
from nearfar.ask.texts import read_texts
from nearfar.design.booklets import GAP, n_repeats
from nearfar.design.questions import KINDS, QuestionKind

LEAST_RANDOM = 0.1  # share of the questions in an adaptive study
MOST_TEXT = 100_000  # characters of a page
HTTPS, ASSIGN = r"https://[^ \n\"'<>]*\Z", r"(evenly|random|parameter:\w+)\Z"
LISTS = ("form", "condition")  # tables that may come several times
# columns of people.csv, as the database tells them; no form or kept parameter may be called so
PEOPLE = (
    "participant", "outside", "state", "answers", "places", "code", "consent", "seen", "details", "claimed_seconds", "elapsed_seconds",
    "condition", "cannot_tell", "early", "replays", "fast_notices", "not_playable",
)  # fmt: skip
COLUMNS = {*PEOPLE, "control", "px_per_mm", "practice_tries"}


def _objects(value: Any) -> str:
    if isinstance(value, list):
        wrong = keys.texts(3, 1 << 30, r"(?s).")(value)
        return "expected at least three different names, none of them blank" if wrong else ""
    return "expected a folder of pictures, a file, or a list of names" if keys.text(value) else ""


@dataclass(frozen=True)
class QuestionPlan:
    """The table ``[questions]``; see docs/ask.md for each key."""

    design: str = keys.key(keys.text, "random")
    random: float = keys.key(keys.within(0, 1), 0.2)
    control: float = keys.key(keys.within(0, 0.5), 0.25)
    again: float = keys.key(keys.within(0, 0.5), 0.1)
    checks: int = keys.key(keys.within(0, 1000, int), 3)
    each: int = keys.key(keys.within(1, 100_000, int), 5)
    per_person: int = keys.key(keys.within(1, 5000, int), 60)
    practice: int = keys.key(keys.within(0, 20, int), 2)
    break_every: int = keys.key(keys.within(0, 5000, int), 20)
    options: int = keys.key(keys.within(3, 24, int), 8)
    pick: int = keys.key(keys.within(1, 23, int), 2)
    seed: int = keys.key(keys.within(0, 2**53, int), 0)

    @property
    def is_adaptive(self) -> bool:
        """Whether questions are chosen by the answers so far."""
        return self.design == "adaptive"

    @property
    def wanted(self) -> float:
        """Answers wanted per question of the pool; adaptive questions take the place of most of them."""
        return self.each * (self.control + (1 - self.control) * self.random if self.is_adaptive else 1.0)

    def n_random(self, n_new: int) -> int:
        """How many of somebody's new questions are random, where others are adaptive: never less than the share."""
        return math.ceil(round(self.random * n_new, 6))

    @property
    def n_control(self) -> int:
        """Of every twenty people, those who get random questions only."""
        return math.ceil(round(20 * self.control, 6)) if self.is_adaptive else 0

    @property
    def n_again(self) -> int:
        """Questions that a person gets a second time."""
        return n_repeats(self.per_person, self.again, self.checks)

    @property
    def n_new(self) -> int:
        """Questions of the design that a person gets."""
        return self.per_person - self.n_again - self.checks


@dataclass(frozen=True)
class PeoplePlan:
    """The table ``[people]``."""

    aim: int = keys.key(keys.within(1, 1_000_000, int), 20)
    limit: int | None = keys.key(keys.within(1, 1_000_000, int), None)
    stop_width: float | None = keys.key(keys.within(0.005, 0.5), None)
    recruit: str = keys.key(keys.one_of("open", "links", "prolific", "mturk", "sona"), "open")
    code: str | None = keys.key(keys.text, None)
    return_link: str | None = keys.key(keys.like(HTTPS, "an address that starts with https://"), None)
    idle_minutes: float = keys.key(keys.within(0.01, 60 * 24 * 365), 5.0)
    keep: tuple[str, ...] = keys.key(keys.texts(1, 20, r"[A-Za-z][A-Za-z0-9_]{0,39}\Z"), ())
    assign: str = keys.key(keys.like(ASSIGN, "evenly, random or parameter:NAME"), "evenly")


@dataclass(frozen=True)
class Screen:
    """The table ``[screen]``: how objects are shown, and how answers are taken."""

    size: float | None = keys.key(keys.within(5, 2000), None)
    unit: str = keys.key(keys.one_of("px", "mm"), "px")
    background: str | None = keys.key(keys.like(r"#[0-9a-fA-F]{6}\Z", "a colour such as #808080"), None)
    cannot_tell: bool = keys.key(keys.yes_or_no, False)
    least_seconds: float = keys.key(keys.within(0, 60), 0.0)
    fast_seconds: float = keys.key(keys.within(0, 60), 0.0)
    expected_seconds: float | None = keys.key(keys.within(0.1, 3600), None)


@dataclass(frozen=True)
class Condition:
    """A table ``[[condition]]``: participants in it get its prompt, and questions about its objects only."""

    name: str = keys.key(keys.like(r"[\w-]{1,40}\Z", "letters, digits, - and _"))
    prompt: str | None = keys.key(keys.text, None)
    objects: tuple[str, ...] | None = keys.key(_objects, None)

    def members(self, names: tuple[str, ...]) -> list[int]:
        """Indices of its objects among all."""
        return [i for i, name in enumerate(names) if self.objects is None or name in self.objects]


@dataclass(frozen=True)
class Pages:
    """The table ``[pages]``: files of Markdown."""

    welcome: str = keys.key(keys.text, "")
    consent: str = keys.key(keys.text, "")
    debrief: str = keys.key(keys.text, "")


@dataclass(frozen=True)
class Study:
    """A study file, read and checked; ``pages`` has the Markdown of the files that replace built-in texts."""

    toml: Toml
    title: str = keys.key(keys.text)
    objects: Path | tuple[str, ...] = keys.key(_objects)
    kind: QuestionKind = keys.key(keys.one_of(*KINDS), "near")
    prompt: str | None = keys.key(keys.text, None)
    language: str = keys.key(keys.text, "en")
    show: str | None = keys.key(keys.one_of("both", "pictures", "words"), None)
    texts: dict[str, str] = field(default_factory=dict)
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
        plan = dict(vars(self.questions))
        if not self.questions.is_adaptive:
            del plan["control"]
        fixed: list[Any] = [list(names), self.kind, plan]
        fixed += [[one.name, one.objects] for one in self.conditions]
        return hashlib.sha256(json.dumps(fixed, sort_keys=True).encode()).hexdigest()

    def page(self, when: str) -> list[FormField]:
        """The fields of the form before, after practice, or after."""
        return [one for one in self.form if one.when == when]

    def condition(self, name: str) -> Condition:
        """A condition by its name; where there is none, everybody is in the one without a name."""
        return next((one for one in self.conditions if one.name == name), Condition(""))


RECORDS: dict[str, Any] = {
    "": Study, "questions": QuestionPlan, "people": PeoplePlan, "screen": Screen, "form": FormField, "condition": Condition,
    "pages": Pages,
}  # fmt: skip
FIELDS = {
    table: {one.name: one for one in fields(record) if one.metadata} for table, record in RECORDS.items()
}


def read_study(path: str | Path) -> Study:
    """Read and check a study file; the first thing that is wrong is one sentence with its line."""
    toml = read_toml(Path(path))
    top = _checked_tables(toml)[""]
    table, given = {name: toml.values.get(name, {}) for name in FIELDS}, top["objects"]
    people = table["people"] | {"keep": tuple(table["people"].get("keep", ()))}
    pages = {page: _page(toml, page, name) for page, name in table["pages"].items()}
    parts = {
        "texts": read_texts(toml, top.get("language", "en")),
        "objects": tuple(given) if isinstance(given, list) else toml.file("", "objects", given),
        "questions": QuestionPlan(**table["questions"]),
        "people": PeoplePlan(**people),
        "pages": {page: text for page, text in pages.items() if text},
        "screen": Screen(**table["screen"]),
        "form": tuple(map(read_form, table["form"])),
        "conditions": tuple(_condition(toml, *one) for one in enumerate(table["condition"], start=1)),
    }
    study = Study(toml, **top | parts)
    for where, key, wrong in _conflicts(study, table["questions"]):
        raise toml.error(where, key, wrong)
    return study


def _checked_tables(toml: Toml) -> dict[str, dict[str, Any]]:
    """The tables by name, the top of the file as "", their keys and values checked one by one."""
    tables: dict[str, dict[str, Any]] = {"": {}}
    for name, value in toml.values.items():
        if name in LISTS:
            if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
                raise toml.error("", name, f"expected tables that begin with [[{name}]]")
            tables |= {f"{name} {i}": one for i, one in enumerate(value, start=1)}
        elif isinstance(value, dict):
            tables[name] = value
        else:
            tables[""][name] = value
    for table, values in tables.items():
        if table.partition(" ")[0] not in FIELDS:
            names = ", ".join(f"[[{name}]]" if name in LISTS else f"[{name}]" for name in FIELDS if name)
            raise toml.error(table, "", f"is not a known table; expected one of {names}")
        known = FIELDS[table.partition(" ")[0]]
        for key, value in values.items():
            if key not in known:
                homes = [
                    f"[{name}]" if name else "the top of the file" for name in FIELDS if key in FIELDS[name]
                ]
                hint = f"it belongs to {homes[0]}" if homes else f"expected one of {', '.join(known)}"
                raise toml.error(table, key, f"is not a known key; {hint}")
            wrong = known[key].metadata["check"](value)
            if wrong or (isinstance(value, float) and not math.isfinite(value)):
                raise toml.error(table, key, f"{wrong}, got {shown(value)}")
        if lost := [name for name, one in known.items() if one.default is MISSING and name not in values]:
            raise toml.error(table, lost[0], "is missing" if table else "is missing; every study needs it")
    return tables


def _condition(toml: Toml, number: int, values: dict[str, Any]) -> Condition:
    """A condition; its objects are a list of names, or a text file with one a line."""
    given = values.get("objects")
    if isinstance(given, str):
        given = read_lines(toml.file(f"condition {number}", "objects", given), "name")
    return Condition(values["name"], values.get("prompt"), None if given is None else tuple(given))


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
    has_landmarks = plan.design.startswith("landmarks")
    if plan.n_new < 1:
        room = f"beside {plan.n_again} repeats and {plan.checks} checks"
        yield "questions", "per_person", f"{plan.per_person} questions leave no room for new ones {room}"
    if plan.n_again > max(plan.n_new - GAP, 0):
        needed = f"{plan.n_again} repeats at least {GAP} places later need at least {plan.n_again + GAP} new questions"
        way_out = f"per person, got {plan.n_new}; raise per_person or set again = 0"
        yield "questions", "again" if "again" in given else "per_person", f"{needed} {way_out}"
    used = {
        "options": ('kind = "grid"', is_grid),
        "pick": ('kind = "grid"', is_grid),
        "control": ('design = "adaptive"', plan.is_adaptive),
        "random": ('design = "landmarks:..." or "adaptive"', has_landmarks or plan.is_adaptive),
    }
    for key, (where, is_used) in used.items():
        if key in given and not is_used:
            yield "questions", key, f"is only for {where}"
    if has_landmarks and study.kind != "near":
        yield "questions", "design", f'landmarks are only for kind = "near", got kind = "{study.kind}"'
    if plan.is_adaptive and plan.random < LEAST_RANDOM:
        why = "accuracy comes from random questions"
        yield "questions", "random", f"expected at least {LEAST_RANDOM}: {why}, got {plan.random}"
    if plan.is_adaptive and plan.n_again > plan.n_random(plan.n_new):
        needed = f"{plan.n_again} repeats need as many random questions, got {plan.n_random(plan.n_new)} per person"
        yield "questions", "again" if "again" in given else "random", f"{needed}; lower again or raise random"
    if plan.is_adaptive and any(one.objects is not None for one in study.conditions):
        yield "questions", "design", "adaptive questions need conditions with the same objects"
    if is_grid and plan.pick >= plan.options:
        yield "questions", "pick", f"expected fewer than the {plan.options} options, got {plan.pick}"
    if people.limit is not None and people.limit < people.aim:
        yield "people", "limit", f"expected at least the aim of {people.aim} people"
    if people.recruit == "prolific" and people.code is None:
        yield "people", "code", 'is missing; recruit = "prolific" needs the completion code of the study'
    if people.recruit == "sona" and people.return_link is None:
        needed = 'recruit = "sona" needs the completion address, with XXXX for the survey code'
        yield "people", "return_link", f"is missing; {needed}"
    for recruit, key in (("sona", "code"), ("mturk", "return_link")):
        if people.recruit == recruit and getattr(people, key) is not None:
            yield "people", key, f'is not shown where recruit = "{recruit}"; leave it out'
    if study.screen.unit == "mm" and study.screen.size is None:
        yield "screen", "unit", "needs a size"
    yield from _additions(study)


def _additions(study: Study) -> Iterator[tuple[str, str, str]]:
    """The same for forms, kept parameters and conditions."""
    keep, names = study.people.keep, [one.name for one in study.conditions]
    taken = {name.casefold() for name in COLUMNS}  # as R, SPSS and spreadsheets do not tell case
    columns = [("people", "keep", name) for name in keep]
    for table, key, name in columns + [
        (f"form {i}", "name", x.name) for i, x in enumerate(study.form, start=1)
    ]:
        if name.casefold() in taken:
            yield table, key, f"{name!r} is the name of another column of people.csv"
        taken.add(name.casefold())
    for number, one in enumerate(study.form, start=1):
        if wrong := one.conflict():
            yield f"form {number}", *wrong
        letters = [x.most or 0 for x in study.form[:number] if (x.when, x.kind) == (one.when, "text")]
        if sum(letters) > MOST_LETTERS:
            yield f"form {number}", "most", f"the texts of a page may have {MOST_LETTERS:,} letters in all"
    if len(set(names)) < len(names) or len(names) == 1:
        yield f"condition {len(names)}", "name", "expected two or more conditions of different names"
    by = study.people.assign.partition(":")[2]
    if by and by not in keep:
        yield "people", "assign", f"needs {by!r} among the parameters to keep"
    if study.people.assign != "evenly" and not names:
        yield "people", "assign", "needs conditions"
