"""The site opens from disk: fail where a page would fetch a script, a style, a font or a picture from somewhere else."""

import re
from pathlib import Path

from sphinx.errors import ExtensionError

FETCHED = re.compile(
    r"<(?:script|img|iframe|source)\b[^>]*\bsrc=[\"'](?:https?:)?//|<link\b(?=[^>]*stylesheet)[^>]*\bhref=[\"'](?:https?:)?//"
)


def look(app, error):
    """Look through the pages once they are written."""
    if error is not None or app.builder.name != "html":
        return
    pages = sorted(Path(app.outdir).rglob("*.html"))
    wrong = [str(page.relative_to(app.outdir)) for page in pages if FETCHED.search(page.read_text("utf-8"))]
    if wrong:
        raise ExtensionError(f"these pages would ask the network for something: {', '.join(wrong[:5])}")


def setup(app):
    """Look at the end."""
    app.connect("build-finished", look)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
