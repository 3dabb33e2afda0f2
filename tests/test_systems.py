"""Nothing that works only here: what Windows or macOS lack is asked for first, and text has an encoding."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

SRC = Path(__file__).parents[1] / "src" / "nearfar"
FILES = sorted(SRC.rglob("*.py"))
ONLY_UNIX = {"fcntl", "grp", "pty", "pwd", "resource", "termios"}
ONLY_SOME = {
    *("fork", "geteuid", "getloadavg", "getuid", "killpg", "mkfifo", "sched_getaffinity", "sysconf", "umask"),
    *("SIGALRM", "SIGHUP", "SIGKILL", "SIGSTOP", "SIGUSR1", "SIGUSR2"),
}
WORDS = {"read_text", "write_text"}


def only_some(path):
    """What a file uses that Windows or macOS lack, without asking for it."""
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    for node in tree.body:
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module] if isinstance(node, ast.ImportFrom) else []
        yield from ONLY_UNIX.intersection(names)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") in ("os", "signal"):
            if node.attr in ONLY_SOME and f'hasattr(os, "{node.attr}")' not in source:
                yield node.attr
            if node.attr == "rename" and path.name != "atomic.py":
                yield "rename, which Windows refuses where a file is; use replace"


def text_without_encoding(path):
    """Text files that a file opens in the encoding of the country, which on Windows is not UTF-8."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call) or any(keyword.arg == "encoding" for keyword in node.keywords):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        modes = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
        if name in WORDS or (name == "open" and any(mode and set(mode) <= set("rwxat+") for mode in modes)):
            yield f"line {node.lineno}: {ast.unparse(node)[:60]}"


@pytest.mark.parametrize("look", [only_some, text_without_encoding])
def test_nothing_works_only_here(look, tmp_path):
    assert {str(path.relative_to(SRC)): lines for path in FILES if (lines := list(look(path)))} == {}
    wrong = tmp_path / "wrong.py"
    wrong.write_text("import os, fcntl\nos.getuid()\nos.rename('a', 'b')\nopen('a', 'w')\n", encoding="utf-8")
    assert len(list(look(wrong))) == (3 if look is only_some else 1)


@pytest.mark.parametrize("words", ["check a.csv", "map a.csv --model score", "check b.csv"])
def test_names_that_a_pipe_cannot_hold_are_written_as_escapes(tmp_path, words):
    """As on Windows, where pipes are in the encoding of the country."""
    rows = ["étoile,Käse,🧀", "Käse,🧀,étoile", "🧀,étoile,Käse", "fig,Käse,🧀"] * 3
    (tmp_path / "a.csv").write_text("\n".join(["anchor,near,far", *rows]), encoding="utf-8")
    (tmp_path / "b.csv").write_text("\n".join(["anchor,near,été", *rows]), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "nearfar", *words.split()],
        cwd=tmp_path,
        capture_output=True,
        env=os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
    )
    assert done.returncode == (2 if "b.csv" in words else 0), done.stderr.decode()
    assert b"Traceback" not in done.stderr
