"""The directive ``messages``: every sentence that nearfar can print, from its source, with what to do about it.

The sentences are read from the code (what is raised, warned or refused), so none can be missing; the causes and what to
do stand in ``reference/messages.toml``. A sentence without a cause, or a cause without a sentence, fails the build.
"""

import ast
import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).parents[2] / "src" / "nearfar"
CAUSES = Path(__file__).parents[1] / "reference" / "messages.toml"
ROW = "row"
"""Kind of the reason for which a row of a file is refused; other kinds are names of classes."""
WORD = re.compile(r"[a-zA-Z]{2}")


class Sentence(NamedTuple):
    """A sentence as it is printed, with an ellipsis for what differs; its kind, and the file it comes from."""

    kind: str
    room: str
    text: str


@cache
def sentences(source: Path = SOURCE) -> tuple[Sentence, ...]:
    """Every sentence in the code, in the order of the files, each once in a room."""
    found: dict[Sentence, None] = {}
    for path in sorted(source.rglob("*.py")):
        room = path.relative_to(source).parts[0].removesuffix(".py")
        calls = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)]
        for call in sorted(calls, key=lambda node: node.lineno):
            for kind, text in _said(call):
                found[Sentence(kind, room, text)] = None
    return tuple(found)


def _said(call: ast.Call) -> Iterator[tuple[str, str]]:
    """(kind, text) of what a call says, for calls that make errors, warnings and refusals of rows."""
    from nearfar import errors

    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name == "MissingExtra":
        return  # it writes its own sentence, which is found in errors.py
    if name in (*errors.__all__, "NotFittedError") and call.args:
        yield from ((name, text) for text in _texts(call.args[0]))
    elif name == "__init__" and call.args and isinstance(call.args[0], ast.JoinedStr):
        yield from (("MissingExtra", text) for text in _texts(call.args[0]))
    elif name == "warn" and len(call.args) == 2 and isinstance(call.args[1], ast.Name):
        yield from ((call.args[1].id, text) for text in _texts(call.args[0]))
    elif name in ("Fault", "Refusal") and len(call.args) > 1:
        yield from ((ROW, text) for text in _texts(call.args[1]))
    elif name == "error" and len(call.args) == 3:  # of a study file: table, key, words
        for table, key, words in product(*map(_texts, call.args)):
            where = f"{table}.{key}" if table and key else key or f"[{table}]"
            yield "FileError", f"…: {where}: {words}"


def _texts(node: ast.expr) -> list[str]:
    """The texts an expression may give, an ellipsis for what is put in."""
    match node:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.JoinedStr(values=values):
            parts = [[str(v.value)] if isinstance(v, ast.Constant) else ["…"] for v in values]
            return ["".join(each) for each in product(*parts)]
        case ast.BinOp(left=left, right=right):
            return [a + b for a, b in product(_texts(left), _texts(right))]
        case ast.IfExp(body=body, orelse=other):
            return _texts(body) + _texts(other)
    return ["…"]


def causes() -> list[dict]:
    """The areas of the page, with their causes, in order."""
    return tomllib.loads(CAUSES.read_text("utf-8"))["area"]


def arranged(
    found: Sequence[Sentence], areas: list[dict]
) -> tuple[dict[tuple[int, int], list[Sentence]], list[str]]:
    """The sentences of each cause, by the places of its area and itself; and what is wrong, in words."""
    placed: dict[tuple[int, int], list[Sentence]] = {}
    wrong = []
    used = set()
    for sentence in found:
        if not WORD.search(sentence.text):
            continue  # put together elsewhere: the causes name such sentences under "also"
        for at, area in enumerate(areas):
            if not (sentence.room in area.get("rooms", ()) or sentence.kind in area.get("kinds", ())):
                continue
            hits = [
                (number, words)
                for number, cause in enumerate(area["cause"])
                for words in cause.get("match", ())
                if words in sentence.text or words == sentence.kind
            ]
            if hits:
                used.update((at, *hit) for hit in hits)
                number, _ = max(hits, key=lambda hit: (hit[1] == sentence.kind, len(hit[1])))
                placed.setdefault((at, number), []).append(sentence)
                break
        else:
            wrong.append(f"no cause for {sentence.kind} of {sentence.room}: {sentence.text}")
    for at, area in enumerate(areas):
        for number, cause in enumerate(area["cause"]):
            stale = [words for words in cause.get("match", ()) if (at, number, words) not in used]
            wrong += [f"{area['title']}, {cause['name']}: no sentence has {words!r}" for words in stale]
    return placed, wrong


def markdown() -> list[str]:
    """The page: areas, causes, what to do, and the sentences."""
    areas = causes()
    placed, wrong = arranged(sentences(), areas)
    if wrong:
        raise ValueError(f"docs/reference/messages.toml: {'; '.join(wrong)}")
    lines = []
    for at, area in enumerate(areas):
        lines += [f"## {area['title']}", "", area["about"].strip(), ""]
        for number, cause in enumerate(area["cause"]):
            said = placed.get((at, number), [])
            names = sorted({s.kind for s in said if s.kind.endswith("Warning") or s.kind == "NotConverged"})
            lines += [f"### {cause['name']}", "", cause["do"].strip(), ""]
            if names:
                lines += [f"In Python: {', '.join(f'`{name}`' for name in names)}.", ""]
            lines += [
                "{.messages}",
                *(f"- {_code(text)}" for text in _shown(said, cause.get("also", []))),
                "",
            ]
    return lines


def _shown(said: list[Sentence], also: list[str]) -> list[str]:
    """The texts of a cause, each once; a text with a blank that one of ``also`` fills in better is left out."""
    texts = dict.fromkeys(re.sub("…+", "…", sentence.text) for sentence in said)
    filled = {t for t in texts if any(re.fullmatch(re.escape(t).replace("…", ".+"), each) for each in also)}
    return [text for text in texts if text not in filled] + [text for text in also if text not in texts]


def _code(text: str) -> str:
    words = re.sub(r"\s+", " ", text).strip()
    return f"`` {words} ``" if "`" in words else f"`{words}`"


def setup(app) -> dict[str, bool]:
    """Register the directive."""
    from docutils import nodes
    from docutils.statemachine import StringList
    from sphinx.util.docutils import SphinxDirective
    from sphinx.util.nodes import nested_parse_with_titles

    class Messages(SphinxDirective):
        """Insert every area."""

        def run(self):
            for path in (CAUSES, *sorted(SOURCE.rglob("*.py"))):
                self.env.note_dependency(str(path))
            node = nodes.section(document=self.state.document)
            nested_parse_with_titles(
                self.state, StringList(markdown(), "messages"), node, self.content_offset
            )
            return node.children

    app.add_directive("messages", Messages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
