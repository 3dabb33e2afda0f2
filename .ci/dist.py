"""Build wheel and sdist, and try them: contents, metadata, the sdist's own tests, the wheel with each extra.

    make dist                          all of it; the tests take as long as ``make test``
    make dist TESTS=tests/io           with some of the tests only

Everything happens outside the checkout, so that nothing of it can stand in for what a distribution lacks.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TOOLS = Path(sys.executable).parent
EXTRAS = {
    "": False,
    "report": True,
    "dask": False,
    "ask": True,
    "postgres": True,
    "excel": False,
    "all": True,
}
"""Whether an extra brings all that the demo, which makes a report, needs."""
MISSING = re.compile(
    r"nearfar: \w+ is not installed: run  pip install '\.\[report\]'  in the checkout of nearfar\n"
)


def main() -> None:
    """Build, look inside, and try; the first fault ends it."""
    dist = ROOT / "dist"
    for old in dist.glob("nearfar-*"):
        old.unlink()
    run(TOOLS / "python", "-m", "build", "--outdir", dist, ROOT)
    (wheel,), (sdist,) = dist.glob("*.whl"), dist.glob("*.tar.gz")
    check_contents(wheel, sdist, run("git", "-C", ROOT, "ls-files", quiet=True).split("\n"))
    run(TOOLS / "python", "-m", "twine", "check", "--strict", wheel, sdist)
    with tempfile.TemporaryDirectory(prefix="nearfar-dist-") as folder:
        test_sdist(sdist, Path(folder), sys.argv[1:])
        for extra, enough in EXTRAS.items():
            try_wheel(wheel, Path(folder), extra, enough)
    print(f"good: {wheel.name}, {sdist.name}")


def check_contents(wheel: Path, sdist: Path, kept: list[str]) -> None:
    """The wheel holds the package and nothing else; the sdist everything that is kept in the repository."""
    package = {name.removeprefix("src/") for name in kept if name.startswith("src/")}
    in_wheel = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    same(in_wheel, package, "the wheel")
    with tarfile.open(sdist) as archive:
        in_sdist = {member.name.partition("/")[2] for member in archive if member.isfile()}
    same(in_sdist - {"PKG-INFO"}, set(filter(None, kept)), "the sdist")


def same(found: set[str], expected: set[str], where: str) -> None:
    """End with both differences."""
    if found != expected:
        sys.exit(
            f"{where} lacks {sorted(expected - found)[:10]} and has {sorted(found - expected)[:10]} too many"
        )


def test_sdist(sdist: Path, folder: Path, tests: list[str]) -> None:
    """The sdist, unpacked, passes its own tests."""
    with tarfile.open(sdist) as archive:
        archive.extractall(
            folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {})
        )  # not before 3.11.4
    unpacked = folder / sdist.name.removesuffix(".tar.gz")
    python = environment(folder / "sdist", f"{unpacked}[dev]")
    run(
        python,
        "-m",
        "pytest",
        "-q",
        "-n",
        "2",
        "--dist",
        "loadfile",
        "--no-loadscope-reorder",
        *tests,
        cwd=unpacked,
    )


def try_wheel(wheel: Path, folder: Path, extra: str, enough: bool) -> None:
    """With one extra in a fresh environment the demo runs, or says in one sentence what is missing."""
    name = extra or "bare"
    python = environment(folder / name, f"{wheel}[{extra}]" if extra else str(wheel))
    done = subprocess.run(
        [python.parent / "nearfar", "demo", f"demo-{name}"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if enough:
        if done.returncode or not (folder / f"demo-{name}" / "report.html").is_file():
            sys.exit(f"nearfar[{name}]: the demo failed\n{done.stderr}")
        print(f"nearfar[{name}]: the demo ran", flush=True)
        return
    if done.returncode != 2 or not MISSING.fullmatch(done.stderr):
        sys.exit(
            f"nearfar[{name}]: expected one sentence, got {done.stderr!r} and exit code {done.returncode}"
        )
    print(f"nearfar[{name}]: {done.stderr.strip()}", flush=True)


def environment(folder: Path, requirement: str) -> Path:
    """The Python of a fresh environment with one requirement in it."""
    run(TOOLS / "uv", "venv", "--quiet", "--python", sys.executable, folder)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    run(TOOLS / "uv", "pip", "install", "--quiet", "--python", python, requirement)
    return python


def run(*command: object, cwd: Path | None = None, quiet: bool = False) -> str:
    """The output of a command; its failure is ours."""
    words = [str(word) for word in command]
    if quiet:
        return subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=True).stdout.strip()
    print("+", *words, flush=True)
    if subprocess.run(words, cwd=cwd, check=False).returncode:
        sys.exit(f"failed: {' '.join(words)}")
    return ""


if __name__ == "__main__":
    main()
