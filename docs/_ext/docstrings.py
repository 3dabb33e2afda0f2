"""Docstrings of this house say ``name : what it is`` on one line; numpydoc takes what follows the colon for a type.

This puts the words below the name before numpydoc reads them, so that a sentence stays in one piece.
"""

import re

SECTIONS = {"Parameters", "Attributes", "Returns", "Yields", "Other Parameters"}
ENTRY = re.compile(r"^([A-Za-z_*][\w*, .]*?) : (.+)$")


def reflow(app, what, name, obj, options, lines):
    """Rewrite the entries of sections in place."""
    result, inside = [], False
    for at, line in enumerate(lines):
        following = lines[at + 1] if at + 1 < len(lines) else ""
        if set(following) == {"-"} and following:
            inside = line.strip() in SECTIONS
        entry = ENTRY.match(line) if inside else None
        if entry:
            result += [entry[1], f"    {entry[2]}"]
        else:
            result.append(line)
    lines[:] = result


def setup(app):
    """Run before numpydoc, which is connected at 500."""
    app.connect("autodoc-process-docstring", reflow, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
