"""What a rented server needs for a study: a copy of its files, Dockerfile, compose file, Caddyfile, systemd unit."""

from __future__ import annotations

import re
import shutil
from importlib import resources
from pathlib import Path

from nearfar._tools.atomic import atomic_path, make_folder
from nearfar.ask.objects import find_objects
from nearfar.ask.passwords import new_secret
from nearfar.ask.pool import make_pool
from nearfar.ask.serve import caddyfile
from nearfar.ask.study import Study
from nearfar.errors import FileError

PORT = 8000


def write_deployment(study: Study, public_url: str, folder: Path, *, postgres: bool = False) -> list[Path]:
    """Write the files into a new or empty folder, with the files that the study names in ``study/``; answers stay here."""
    if not re.fullmatch(r"\w[\w.-]*", study.path.name):
        raise FileError(f"{study.path}: rename it; letters, digits, dots, - and _ are safe on a server")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileError(f"{folder}: is there already; name a folder that is new or empty")
    make_pool(study, find_objects(study).names)  # so that every file was asked for
    hosting = resources.files("nearfar.ask") / "hosting"
    filled = {"{study}": study.path.name, "{url}": public_url, "{password}": new_secret()}
    made = {"study/Caddyfile": caddyfile(public_url, PORT)}
    for name in ("Dockerfile", "compose.yaml", "nearfar.service"):
        source = "postgres.yaml" if postgres and name == "compose.yaml" else name
        made[name] = (hosting / source).read_text(encoding="utf-8")
        for mark, text in filled.items():
            made[name] = made[name].replace(mark, text)
    make_folder(folder)
    written = []
    make_folder(folder / "study")
    for name, text in made.items():
        with atomic_path(folder / name) as temporary:
            temporary.touch(0o600 if name == "compose.yaml" else 0o666)  # it may hold a password
            temporary.write_text(text, encoding="utf-8")
        written.append(folder / name)
    for file in sorted(file for file in (study.path.resolve(), *study.toml.used) if file.is_file()):
        target = folder / "study" / file.relative_to(study.path.resolve().parent)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(file, target)
    return [*written, folder / "study"]
