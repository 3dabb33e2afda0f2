"""Escape sequences in files never reach the terminal, whatever the command prints."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

EVIL = (
    *("\x1b]0;owned\x07", "\x9b31m", "\u202eback", "a\rb"),
    *("\x1b[2J", "nul\x00l", "next\x85line", "bell\x07"),
)
RUN = """
import json, sys
from nearfar.cli import main
for words in json.loads(sys.argv[1]):
    print("@@", words[0], flush=True)
    sys.argv = ["nearfar", *words]
    try:
        main()
    except SystemExit as end:
        print("@@ exit", end.code, flush=True)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Answers about objects, by people, in a file and with columns, all of hostile names."""
    folder = tmp_path_factory.mktemp("evil")
    rng = np.random.default_rng(0)
    names = [*EVIL, "plain"]
    rows = [rng.permutation(len(names))[:3] for _ in range(200)]
    for name in ("a.csv", "b\x1b[31m.csv"):
        write(folder / name, names, rows, "participant,\x1b[7mextra")
    write(folder / "bad.csv", names, [*rows, (0, 0, 1), (1, 1, 2)], "participant,x")
    (folder / "unknown.csv").write_text("\x1b[1mwho,\x9b31mwhat,where\n1,2,3\n", encoding="utf-8")
    (folder / "list.csv").write_text(
        "object,display_name\n" + "".join(f'"{name}","l{name}"\n' for name in names),
        encoding="utf-8",
        newline="",
    )
    (folder / "left out.txt").write_text("\x1b[5mnobody\n", encoding="utf-8")
    for name in ("pictures", "evil\x1b[31mdemo"):
        (folder / name).mkdir()
    for at, name in enumerate(names):
        if "\x00" not in name:
            Image.new("RGB", (8, 8), (9 * at, 90, 90)).save(folder / "pictures" / f"{name}.png")
    study(folder / "study.toml", title=EVIL[0], objects=[name for name in names if "\x00" not in name])
    study(folder / "wrong.toml", title=EVIL[4], objects=["a", "b", "a"])
    study(folder / "odd\x1b[31m.toml", title="t", objects=list("abcdef"), more='["\\u009b31mkey"]\nx = 1\n')
    study(folder / "lost.toml", title="t", objects="\x1b[2Jnowhere.txt")
    return folder


def study(path, *, title, objects, more=""):
    """A study file in which every text that can be hostile is."""
    text = f"title = {json.dumps(title)}\nobjects = {json.dumps(objects)}\n[questions]\nper_person = 8\nagain = 0\n[people]\naim = 3\n"
    path.write_text(text + more, encoding="utf-8")


def write(path, names, rows, more):
    lines = [f"anchor,near,far,{more}"]
    lines += [",".join(f'"{names[i]}"' for i in row) + f',"p{names[row[0]]}","x"' for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="")


def on_a_terminal(folder, commands):
    """All that a terminal gets from commands run one after the other."""
    pty = pytest.importorskip("pty", reason="there are no terminals to open here")
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", RUN, json.dumps(commands)],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        env=os.environ | {"TERM": "dumb", "NO_COLOR": "1", "COLUMNS": "200", "PYTHONIOENCODING": "utf-8"},
    ):
        os.close(theirs)
        seen = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # what Linux says at the end
                break
            if not part:
                break
            seen += part
    os.close(ours)
    return seen.decode("utf-8").replace("\r\n", "\n")


REPORT = ["report", "a.csv", "--model", "score"]
COMMANDS = [
    ["check", "a.csv"],
    ["check", "a.csv", "--json"],
    ["check", "bad.csv", "--objects", "list.csv"],
    ["check", "b\x1b[31m.csv"],
    ["check", "no\x1b[31m.csv"],
    ["check", "unknown.csv"],
    ["check", "a.csv", "--exclude", "left out.txt"],
    ["convert", "a.csv", "-"],
    ["convert", "a.csv", "-", "--format", "jsonl"],
    ["convert", "bad.csv", "-"],
    ["convert", "bad.csv", "x.csv", "--on-bad", "drop"],
    ["plan", "list.csv", "--budget", "20"],
    ["plan", "list.csv", "--budget", "20", "--landmarks", "4", "-o", "plan.csv"],
    ["kernel", "a.csv", "--model", "score", "-o", "-"],
    ["cluster", "a.csv", "--model", "score", "-k", "2", "-o", "-"],
    ["map", "a.csv", "--model", "score", "-o", "-"],
    ["tree", "a.csv", "--model", "score", "-o", "-"],
    ["compare", "a.csv", "--model", "score,k1", "--cv", "3"],
    ["map", "a.csv", "--model", "\x1b[31mnone"],
    [*REPORT, "--images", "pictures", "--title", EVIL[0], "-o", "b\x1b[31m.html"],
    [*REPORT, "--show-participants", "-o", "-", "--json", "facts.json"],
    [*REPORT, "--json", "-", "-o", "page.html", "--bundle", "evil\x1b[31mbundle"],
    ["report", "bad.csv", "-o", "page.html"],
    ["report", "a.csv", "--images", "no\x1b[31mpictures", "-o", "page.html"],
    ["report", "a.csv", "-o", "no\x1b[31mfolder/page.html"],
    ["demo", "evil\x1b[31mdemo"],
    ["demo", "a.csv/\x1b[31mdemo"],
    ["ask", "check", "study.toml"],
    ["ask", "check", "wrong.toml"],
    ["ask", "check", "odd\x1b[31m.toml"],
    ["ask", "check", "lost.toml"],
    ["ask", "check", "no\x1b[31m.toml"],
    ["ask", "simulate", "study.toml", "--people", "2", "-o", "evil\x1b[31mout"],
    ["ask", "export", "study.toml", "-o", "evil\x1b[31mout"],
    ["ask", "erase", "study.toml", "\x1b[31mnobody"],
    ["ask", "study.toml", "--public-url", "\x1b[31mhere"],
    ["ask", "texts", "\x1b[31mxx"],
    ["ask", "--\x1b[31moption"],
]


def harmless(sign):
    return sign.isprintable() or sign in "\n\t\u00a0"


def test_no_command_lets_escapes_through(folder):
    seen = on_a_terminal(folder, COMMANDS)
    parts = seen.split("@@ ")[1:]
    assert [part.split()[0] for part in parts if not part.startswith("exit")] == [c[0] for c in COMMANDS]
    assert "Traceback" not in seen
    wrong = {part.split("\n")[0]: {sign for sign in part if not harmless(sign)} for part in parts}
    assert {name: signs for name, signs in wrong.items() if signs} == {}
    assert r"\x1b]0;owned\x07" in seen and r"\x9b31m" in seen and r"\u202eback" in seen
    written = ("b\x1b[31m.html", "facts.json", "evil\x1b[31mdemo/report.html", "evil\x1b[31mout/answers.csv")
    assert [name for name in written if not (folder / name).exists()] == []  # they did not just fail


def test_a_pipe_gets_names_as_they_are(folder):
    """Only a terminal is protected: what is piped on is data."""
    done = subprocess.run(
        [sys.executable, "-m", "nearfar", "convert", "a.csv", "-", "--format", "jsonl"],
        cwd=folder,
        capture_output=True,
        check=True,
    )
    anchors = {json.loads(line)["anchor"] for line in done.stdout.decode().strip().split("\n")}
    assert set(EVIL) <= anchors
