"""What participants read: the pages, and texts in English and German, any of which a study may replace."""

from __future__ import annotations

import string
import tomllib
from importlib import resources
from typing import Any

from nearfar.ask._toml import Toml, read_toml, shown

LANGUAGES = ("en", "de")
FOLDER = resources.files("nearfar.ask") / "page"
MEDIA = {"js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8"}
STATIC = {
    file.name: (MEDIA[ending], file.read_bytes())
    for file in FOLDER.iterdir()
    if (ending := file.name.rpartition(".")[2]) in MEDIA
}


def text_file(language: str) -> str:
    """The file of texts of a language that comes with nearfar."""
    return (resources.files("nearfar.ask") / "texts" / f"{language}.toml").read_text(encoding="utf-8")


def read_texts(toml: Toml, language: str) -> dict[str, str]:
    """The texts of a study: those of its language, with whatever its own file replaces."""
    if language in LANGUAGES:
        return tomllib.loads(text_file(language))
    if not language.endswith(".toml"):
        expected = f"expected {', '.join(LANGUAGES)} or a file of texts (.toml), got {language!r}"
        raise toml.error("", "language", expected)
    own = read_toml(toml.file("", "language", language))
    known: dict[str, str] = tomllib.loads(text_file("en"))
    for key, value in own.values.items():
        if key not in known:
            raise own.error("", key, "is not the name of a text; `nearfar ask texts` prints all of them")
        if wrong := _wrong_text(key, value, known[key]):
            raise own.error("", key, wrong)
    return known | own.values


def _wrong_text(key: str, value: Any, original: str) -> str:
    """What is wrong with a text that replaces an original, or nothing."""
    if not isinstance(value, str) or not value.strip():
        return f"expected text that is not blank, got {shown(value)}"
    if key == "direction" and value not in ("ltr", "rtl"):
        return f"expected ltr or rtl, got {shown(value)}"
    if key == "code" and not all(word.isalnum() and word.isascii() for word in value.split("-")):
        return f"expected the code of a language such as en or pt-BR, got {shown(value)}"
    try:
        unknown = _fields(value) - _fields(original)
    except ValueError as error:
        return f"has a brace without its partner ({error})"
    known = ", ".join(sorted(_fields(original))) or "none"
    return f"has {', '.join(sorted(unknown))}; what can be filled in here: {known}" if unknown else ""


def _fields(text: str) -> set[str]:
    """What is filled into a text, with its braces."""
    return {f"{{{name}}}" for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def render(name: str, **values: Any) -> str:
    """A page; values are escaped, except HTML that ``markdown`` made."""
    from jinja2 import Environment, StrictUndefined

    text = (FOLDER / name).read_text(encoding="utf-8")
    return Environment(autoescape=True, undefined=StrictUndefined).from_string(text).render(**values)


def markdown(text: str) -> Any:
    """HTML of a text in Markdown; HTML inside the text is shown as it is written, never interpreted.

    >>> print(markdown("Hello *you* <script>"))
    <p>Hello <em>you</em> &lt;script&gt;</p>
    <BLANKLINE>
    """
    from markdown_it import MarkdownIt
    from markupsafe import Markup

    return Markup(MarkdownIt("commonmark", {"html": False}).disable("image").render(text))
