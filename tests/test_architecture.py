"""Data flows one way: a module imports only from rooms above its own in DESIGN's list."""

import ast
import json
import subprocess
import sys
from pathlib import Path

SRC = Path(__file__).parents[1] / "src" / "nearfar"
ROOMS = [
    "errors",
    "_tools",
    "triplets",
    "io",
    "embedding",
    "design",
    "simulate",
    "datasets",
    "blocks",
    "features",
    "kernel",
    "methods",
    "space",
    "words",
    "evaluate",
    "scale",
    "plot",
    "report",
    "ask",
    "cli",
    "__main__",
]
LEVEL = {name: level for level, name in enumerate(ROOMS)}
DOORS = {
    ("triplets/core.py", "io"): "a data frame is read where it is given",
    ("evaluate/analysis.py", "report"): "analysis.report(...) and a notebook ask for the page",
}
OPEN_TO_ALL = {"_tools", "__version__"}
HEAVY = ["sklearn", "scipy", "polars", "numba", "matplotlib", "bokeh", "dask", "pandas", "narwhals", "numpy"]


def room(path):
    return path.relative_to(SRC).parts[0].removesuffix(".py")


def imports(path):
    """(line, parts of the dotted name) for every import of nearfar in a file.

    Those of ``words`` for type checkers are left out: its sentences are about the records of rooms below it.
    """
    tree = ast.parse(path.read_text())
    typing_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in typing_only and room(path) == "words":
            continue
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "nearfar":
            yield from ((node.lineno, f"{node.module}.{alias.name}".split(".")[1:]) for alias in node.names)
        elif isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
            yield from ((node.lineno, parts[1:]) for parts in names if parts[0] == "nearfar")


def test_imports_point_upwards():
    """No room imports from a room below it, and none the whole package, which would hide from where it takes what."""
    wrong = [
        f"{path.relative_to(SRC)}, line {line}: imports {'.'.join(parts) or 'nearfar'}"
        for path in sorted(SRC.rglob("*.py"))
        for line, parts in imports(path)
        if room(path) != "__init__" and parts != ["__version__"]
        if not parts or (str(path.relative_to(SRC)), parts[0]) not in DOORS
        if not parts or (parts[0] != room(path) and LEVEL.get(parts[0], 99) >= LEVEL[room(path)])
    ]
    assert wrong == []


def test_private_modules_stay_private():
    wrong = [
        f"{path.relative_to(SRC)}, line {line}: imports {'.'.join(parts)}"
        for path in sorted(SRC.rglob("*.py"))
        for line, parts in imports(path)
        if parts and parts[0] != room(path) and room(path) not in ("__main__", "__init__")
        if any(part.startswith("_") and part not in OPEN_TO_ALL for part in parts)
    ]
    assert wrong == []


def test_every_module_has_a_room():
    assert {room(path) for path in SRC.rglob("*.py")} - set(LEVEL) == {"__init__"}


def loaded_by(statement):
    code = f"import sys, json; {statement}; print(json.dumps(sorted(sys.modules)))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in json.loads(out.stdout)}


def test_import_loads_nothing_heavy():
    assert loaded_by("import nearfar").isdisjoint(HEAVY)


def test_help_loads_nothing_heavy():
    code = "import nearfar.cli._app as a; from typer.main import get_command; get_command(a.app)"
    assert loaded_by(code).isdisjoint(HEAVY)


def test_public_names_resolve():
    import nearfar

    assert [name for name in nearfar.__all__ if getattr(nearfar, name, None) is None] == []


def test_no_module_takes_the_place_of_a_function():
    """``from nearfar.evaluate import compare`` is the function, whatever was imported before."""
    from nearfar import evaluate

    modules = {path.stem for path in (SRC / "evaluate").glob("*.py")} - {"metrics"}
    assert modules.isdisjoint(evaluate.__all__)
