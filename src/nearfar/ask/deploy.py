"""What a rented server needs for a study: a copy of its files, Dockerfile, compose file, Caddyfile, systemd unit."""

from __future__ import annotations

import shutil
from importlib import resources
from pathlib import Path

from nearfar._tools.atomic import atomic_path, make_folder
from nearfar.ask.objects import find_objects
from nearfar.ask.passwords import new_secret
from nearfar.ask.serve import caddyfile
from nearfar.ask.study import Study
from nearfar.errors import FileError

PORT = 8000


def deploy_files(study: Study, public_url: str, *, postgres: bool = False) -> dict[str, str]:
    """File name -> contents; the study itself is not among them."""
    folder = resources.files("nearfar.ask") / "hosting"
    kept = {name: (folder / name).read_text(encoding="utf-8") for name in ("Dockerfile", "compose.yaml")}
    service = (folder / "nearfar.service").read_text(encoding="utf-8")
    name, password = study.path.name, new_secret()
    words = ["nearfar", "ask", name, "--public-url", public_url]
    words += ["--database", f"postgresql://study:{password}@postgres/study"]
    command = ", ".join(f'"{word}"' for word in words)
    depends = "\n    depends_on:\n      postgres:\n        condition: service_healthy"
    server = (folder / "postgres.yaml").read_text(encoding="utf-8").replace("{password}", password)
    filled = {
        "{study}": name,
        "{url}": public_url,
        "{command}": f"\n    command: [{command}]" if postgres else "",
        "{depends}": depends if postgres else "",
        "{postgres}": server if postgres else "",
        "{volume}": "\n  answers:" if postgres else "",
    }
    made = kept | {"nearfar.service": service, "Caddyfile": caddyfile(public_url, PORT)}
    for mark, text in filled.items():
        made = {file: content.replace(mark, text) for file, content in made.items()}
    return made


def write_deployment(study: Study, public_url: str, folder: Path, *, postgres: bool = False) -> list[Path]:
    """Write the files into a new or empty folder, with the files that the study names in ``study/``; answers stay here."""
    if any(character in study.path.name for character in "\"'\\ \n"):
        raise FileError(
            f"{study.path}: rename it without spaces and quotation marks, as configuration files name it"
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileError(f"{folder}: is there already; name a folder that is new or empty")
    find_objects(study)  # so that every file was asked for
    home = study.path.resolve().parent
    make_folder(folder)
    written = []
    for name, text in deploy_files(study, public_url, postgres=postgres).items():
        with atomic_path(folder / name) as temporary:
            temporary.touch(0o600)  # one of them may hold a password
            temporary.write_text(text, encoding="utf-8")
        written.append(folder / name)
    for file in sorted({study.path.resolve(), *study.toml.used}):
        target = folder / "study" / file.relative_to(home)
        target.parent.mkdir(parents=True, exist_ok=True)
        if file.is_dir():
            shutil.copytree(file, target, dirs_exist_ok=True)
        else:
            shutil.copy2(file, target)
    return [*written, folder / "study"]
