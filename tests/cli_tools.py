"""Running a command of nearfar within a test."""

import sys

import pytest

from nearfar.cli import main


def run(monkeypatch, capsys, *arguments):
    """(exit code, stdout, stderr) of a command."""
    monkeypatch.setattr(sys, "argv", ["nearfar", *map(str, arguments)])
    with pytest.raises(SystemExit, match=r"^\d+$") as ended:
        main()
    captured = capsys.readouterr()
    return ended.value.code, captured.out, captured.err
