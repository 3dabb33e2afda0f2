"""What participants read: English and German ship, and a study may replace any text by a file of its own."""

from __future__ import annotations

import string
import tomllib
from importlib import resources
from typing import Any

from nearfar.ask._toml import read_toml
from nearfar.ask.study import Study, inside

__all__ = ["markdown", "read_texts", "shipped_texts"]

LANGUAGES = ("en", "de")


def shipped_texts(language: str) -> dict[str, str]:
    """The texts of a language that comes with nearfar.

    >>> shipped_texts("de")["next"]
    'Weiter'
    """
    file = resources.files("nearfar.ask") / "texts" / f"{language}.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))


def read_texts(study: Study) -> dict[str, str]:
    """The texts of a study: those of its language, with whatever its own file replaces."""
    if study.language in LANGUAGES:
        return shipped_texts(study.language)
    toml = read_toml(study.path)
    if not study.language.endswith(".toml"):
        raise toml.error(
            "",
            "language",
            f"expected {', '.join(LANGUAGES)} or a file of texts (.toml), got {study.language!r}",
        )
    own = read_toml(inside(toml, "", "language", study.language))
    known = shipped_texts("en")
    for key, value in own.values.items():
        if key not in known:
            raise own.error("", key, "is not the name of a text; `nearfar ask texts` prints all of them")
        _check_text(own.error, key, value, known[key])
    return known | own.values


def _check_text(error: Any, key: str, value: Any, original: str) -> None:
    if not isinstance(value, str) or not value.strip():
        raise error("", key, f"expected text that is not blank, got {value!r}")
    if key == "direction" and value not in ("ltr", "rtl"):
        raise error("", key, f"expected ltr or rtl, got {value!r}")
    if key == "code" and not all(word.isalnum() and word.isascii() for word in value.split("-")):
        raise error("", key, f"expected the code of a language such as en or pt-BR, got {value!r}")
    try:
        fields = {name for _, name, _, _ in string.Formatter().parse(value) if name is not None}
    except ValueError as wrong:
        raise error("", key, f"has a brace without its partner ({wrong})") from wrong
    allowed = {name for _, name, _, _ in string.Formatter().parse(original) if name is not None}
    if not fields <= allowed:
        unknown = ", ".join(sorted(f"{{{name}}}" for name in fields - allowed))
        shown = ", ".join(sorted(f"{{{name}}}" for name in allowed)) or "none"
        raise error("", key, f"has {unknown}; what can be filled in here: {shown}")


def markdown(text: str) -> str:
    """HTML of a text in Markdown; HTML inside the text is shown as it is written, never interpreted.

    >>> markdown("Hello *you* <script>")
    '<p>Hello <em>you</em> &lt;script&gt;</p>\\n'
    """
    from markdown_it import MarkdownIt

    made: str = MarkdownIt("commonmark", {"html": False}).disable("image").render(text)
    return made
