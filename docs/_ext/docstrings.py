"""Docstrings of this house say ``name : what it is`` on one line; numpydoc takes what follows the colon for a type.

This puts the words below the name before numpydoc reads them, so that a sentence stays in one piece, and beside the name the type
of the signature.
"""

import inspect
import re

SECTIONS = {"Parameters", "Attributes", "Returns", "Yields", "Other Parameters"}
ENTRY = re.compile(r"^([A-Za-z_*][\w*, .]*?) : (.+)$")


def types_of(obj):
    """Name -> annotation, of parameters and of attributes."""
    types = {}
    for kind in reversed(getattr(obj, "__mro__", (obj,))):
        types |= {
            name: text for name, text in getattr(kind, "__annotations__", {}).items() if isinstance(text, str)
        }
    try:
        parameters = inspect.signature(obj).parameters.values()
    except (TypeError, ValueError):
        parameters = ()
    return types | {each.name: each.annotation for each in parameters if isinstance(each.annotation, str)}


def reflow(app, what, name, obj, options, lines):
    """Rewrite the entries of sections in place."""
    result, inside, types = [], False, types_of(obj)
    for at, line in enumerate(lines):
        if (
            line.startswith(">>>") and inside
        ):  # an example right below a section belongs to a section of its own
            result += ["Examples", "--------"]
            inside = False
        following = lines[at + 1] if at + 1 < len(lines) else ""
        if set(following) == {"-"} and following:
            inside = line.strip() in SECTIONS
        entry = ENTRY.match(line) if inside else None
        if entry:
            kinds = {types.get(each.strip(" *"), "") for each in entry[1].split(",")}
            kind = kinds.pop().replace("_", "\\_") if len(kinds) == 1 else ""  # np.bool_ would be a link
            result += [f"{entry[1]} : {kind}" if kind else entry[1], f"    {entry[2]}"]
        else:
            result.append(line)
    lines[:] = result


def skip(app, what, name, obj, would_skip, options):
    """Leave out the fields of named tuples, whose docstrings only count them, and scikit-learn's request methods."""
    return True if type(obj).__name__ == "_tuplegetter" or name.endswith("_request") else None


def setup(app):
    """Run before numpydoc, which is connected at 500."""
    app.connect("autodoc-process-docstring", reflow, priority=400)
    app.connect("autodoc-skip-member", skip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
