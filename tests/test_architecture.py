"""Data flows one way: a module imports only from rooms above its own in DESIGN's list."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

SRC = Path(__file__).parents[1] / "src" / "nearfar"
ROOMS = [
    ["errors"],
    ["limits"],
    ["arrays", "atomic", "checks", "compiled", "mapped_files", "memory", "progress", "terminal", "threads"],
    ["ids"],
    ["answer_columns"],
    ["frames", "joining"],
    ["triplets"],
    ["io"],
    ["design"],
    ["simulate"],
    ["datasets"],
    ["blocks"],
    ["features"],
    ["kernel"],
    ["methods"],
    ["embedding"],
    ["space"],
    ["evaluate"],
    ["scale"],
    ["report"],
    ["ask"],
    ["cli"],
    ["__main__"],
]
LEVEL = {name: level for level, names in enumerate(ROOMS) for name in names}
HEAVY = ["sklearn", "scipy", "polars", "numba", "matplotlib", "bokeh", "dask", "pandas", "narwhals", "numpy"]


def room(path):
    return path.relative_to(SRC).parts[0].removesuffix(".py")


def imported_rooms(path):
    """(line, room) for every import of nearfar in a file, those for type checkers left out."""
    tree = ast.parse(path.read_text())
    typing_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "nearfar":
            parts = node.module.split(".")
            names = [parts[1]] if len(parts) > 1 else [alias.name for alias in node.names]
            yield from ((node.lineno, name) for name in names)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                parts = alias.name.split(".")
                if parts[0] == "nearfar" and len(parts) > 1:
                    yield node.lineno, parts[1]


@pytest.mark.parametrize("path", sorted(SRC.rglob("*.py")), ids=lambda p: str(p.relative_to(SRC)))
def test_imports_point_upwards(path):
    own = room(path)
    if own == "__init__":
        return
    wrong = [
        f"line {line}: {own} imports {other}"
        for line, other in imported_rooms(path)
        if other in LEVEL and other != own and LEVEL[other] >= LEVEL[own]
    ]
    assert wrong == []


def private_imports(path):
    """(line, module) for every import of a module or name with a leading underscore out of nearfar's rooms."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "nearfar":
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names if alias.name.split(".")[0] == "nearfar"]
        else:
            continue
        for name in names:
            parts = name.split(".")[1:]
            if any(part.startswith("_") and part != "__version__" for part in parts):
                yield node.lineno, parts[0], name


@pytest.mark.parametrize("path", sorted(SRC.rglob("*.py")), ids=lambda p: str(p.relative_to(SRC)))
def test_private_modules_stay_private(path):
    own = room(path)
    wrong = [
        f"line {line}: {own} imports {name}"
        for line, other, name in private_imports(path)
        if other != own and own not in ("__main__", "__init__")
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

    assert len(nearfar.__all__) > 30
    assert [name for name in nearfar.__all__ if getattr(nearfar, name, None) is None] == []


def test_no_module_takes_the_place_of_a_function():
    """``from nearfar.evaluate import compare`` is the function, whatever was imported before."""
    from nearfar import evaluate

    modules = {path.stem for path in (SRC / "evaluate").glob("*.py")} - {"metrics"}
    assert modules.isdisjoint(evaluate.__all__)


SAME_NAME = {
    "FeatureMap": "scale's has the parameters and results of the one in memory, on blocks of rows",
}


def types_defined(path):
    """Names of the classes and type aliases of a file; a leading underscore does not make another name."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield node.name.lstrip("_")
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) == "TypeAlias":
            yield ast.unparse(node.target).lstrip("_")
        elif isinstance(node, ast.Assign) and not ast.unparse(node.value).startswith("TypeVar("):
            names = [ast.unparse(target).lstrip("_") for target in node.targets]
            yield from (name for name in names if name[:1].isupper() and not name.isupper())


def test_a_type_has_a_name_of_its_own():
    """One word, one meaning: no two classes or type aliases share a name, wherever they are."""
    found = {}
    for path in sorted(SRC.rglob("*.py")):
        for name in types_defined(path):
            found.setdefault(name, []).append(str(path.relative_to(SRC)))
    assert len(found) > 200
    shared = {name: paths for name, paths in found.items() if len(paths) > 1}
    assert shared.keys() == SAME_NAME.keys(), shared
