"""The files of the pages, read once from the package."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from typing import Any

__all__ = ["STATIC", "render"]

MEDIA = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}


def _static() -> dict[str, tuple[str, bytes]]:
    folder = resources.files("nearfar.ask") / "page"
    return {
        file.name: (media, file.read_bytes())
        for file in folder.iterdir()
        for end, media in MEDIA.items()
        if file.name.endswith(end)
    }


STATIC = _static()


@lru_cache(1)
def _environment() -> Any:
    from jinja2 import Environment, StrictUndefined

    return Environment(autoescape=True, undefined=StrictUndefined)


def render(name: str, **values: Any) -> str:
    """A page; values are escaped, except HTML that ``texts.markdown`` made."""
    from markupsafe import Markup

    text = (resources.files("nearfar.ask") / "page" / name).read_text(encoding="utf-8")
    safe = {
        key: Markup(value) if key in ("welcome", "consent", "debrief") else value
        for key, value in values.items()
    }
    made: str = _environment().from_string(text).render(**safe)
    return made
