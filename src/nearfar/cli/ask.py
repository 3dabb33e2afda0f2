"""``nearfar ask``: collect answers from people, and watch what they say."""

from __future__ import annotations

import importlib.util
import logging
import sys
import time
from collections import deque
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nearfar._tools.terminal import printable, write_out
from nearfar.cli._app import App, Group
from nearfar.cli._options import Given, own, takes, tell
from nearfar.cli._reading import load_features
from nearfar.errors import InputError, MissingExtra

if TYPE_CHECKING:
    from nearfar.ask.prepare import OpenStudy
    from nearfar.ask.study import Study

StudyArgument = Annotated[Path, typer.Argument(metavar="STUDY", help="The study file, e.g. study.toml.")]
DATABASE = own(
    None,
    "A file, or postgresql://... for several processes. Default: study.db beside study.toml.",
    metavar="FILE|URL",
)
QUERIES = {
    "prolific": "?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}",
    "sona": "?survey_code=%SURVEY_CODE%",
    "links": "?link=...   (make them with nearfar ask links)",
}
_logged: deque[float] = deque(maxlen=100)  # when the last lines were written to the log


class _ServeByDefault(Group):
    """``nearfar ask study.toml`` is ``nearfar ask serve study.toml``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the command in where it was left out."""
        if args and args[0] not in self.commands and args[0] not in ("-h", "--help"):
            args = ["serve", *args]
        return super().parse_args(ctx, args)


ask = App(
    name="ask",
    cls=_ServeByDefault,
    help="Collect answers: serve a study to people and watch the results live.\n\n"
    "Examples:  nearfar ask study.toml   |   nearfar ask --demo",
    add_completion=False,
)


@ask.command()
@takes("features", "quiet")
def serve(
    given: Given,
    study: Path | None = typer.Argument(None, metavar="STUDY", help="The study file."),
    database: str | None = DATABASE,
    port: int = own(8000, "Port on this machine.", "--port", "-p", min=1, max=65535),
    public_url: str | None = own(
        None,
        "Where people will open it, e.g. https://study.example.org. A Caddyfile that adds https is written "
        "beside the study file.",
        metavar="URL",
    ),
    new_password: bool = own(False, "Make a new password for the live page.", "--new-password"),
    demo: bool = own(False, "A study of colours, with a hundred simulated people.", "--demo"),
) -> None:
    """Serve a study until Ctrl-C. Answers are in the database the moment a person reads "Saved".

    Example:  nearfar ask study.toml --public-url https://study.example.org
    """
    _need_parts()
    from nearfar.ask.objects import find_objects
    from nearfar.ask.prepare import open_study
    from nearfar.ask.serve import caddyfile, check_public_url
    from nearfar.ask.serve import serve as run
    from nearfar.embedding.prior import as_vectors

    address = check_public_url(public_url)
    handler = logging.StreamHandler()
    handler.addFilter(_harmless)
    logging.basicConfig(format="nearfar: %(message)s", level=logging.WARNING, handlers=[handler])
    if demo:
        from nearfar.ask.rehearse import run_demo

        run_demo(port, given.tell)
        return
    if study is None:
        raise InputError("STUDY: expected a study file such as study.toml, or --demo")
    described = _read(study)
    if (tables := load_features(given)) is not None:  # what does not fit is told before anything is made
        as_vectors(tables, find_objects(described).names)
    with closing(open_study(described, database, fresh_password=new_password)) as ready:
        caddy, host = study.resolve().with_name("Caddyfile"), (address or "").removeprefix("https://")
        if address is not None and not caddy.exists():
            caddy.write_text(caddyfile(address, port), encoding="utf-8")
            given.tell(f"wrote {caddy}: run  caddy run  beside it")
        elif address is not None and host not in caddy.read_text(encoding="utf-8", errors="replace"):
            tell(f"nearfar: warning: {caddy} is for another address; delete it, and it is written again")
        run(
            ready,
            port=port,
            public_url=address,
            features=given.features or (),
            started=lambda: _announce(ready, address or f"http://127.0.0.1:{port}"),
        )


def _need_parts() -> None:
    """An error that names the extra, where a package of it is missing."""
    for package in ("starlette", "uvicorn", "httptools", "jinja2", "markdown_it", "PIL"):
        if importlib.util.find_spec(package) is None:
            raise MissingExtra(package, "ask")


def _announce(ready: OpenStudy, address: str) -> None:
    """Where people and the researcher go; the password is shown this once."""
    tell(f"people:  {address}/{QUERIES.get(ready.study.people.recruit, '')}")
    tell(f"you:     {address}/admin")
    if ready.password is not None:
        tell(f"password: {ready.password}   (shown only now)")
    sys.stderr.flush()


def _harmless(record: logging.LogRecord) -> bool:
    """Let nothing in a line of the log command the terminal, as it may hold what people send; 100 lines a minute."""
    record.msg, record.args = printable(record.getMessage()), None
    if len(_logged) == _logged.maxlen and time.monotonic() - _logged[0] < 60:
        return False
    _logged.append(time.monotonic())
    return True


def _read(study: Path) -> Study:
    from nearfar.ask.study import read_study

    return read_study(study)


def _database(study: Path, database: str | None) -> str:
    """The database of a study, which need not be intact itself."""
    return database or str(study.with_suffix(".db"))


@ask.command()
@takes("quiet")
def check(
    given: Given,
    study: StudyArgument,
    seconds: float | None = own(
        None, "For one question. Default: near 3, odd 4, central 5, grid 12.", min=0.1
    ),
    pay: float = own(12.0, "For one hour.", min=0),
) -> None:
    """Read a study file and say what it will ask, how long it takes and what it costs, without making a database.

    Example:  nearfar ask check study.toml --pay 12
    """
    from nearfar.ask.pool import overview

    _show(overview(_read(study), seconds, pay))


def _show(lines: Iterable[tuple[str, object]]) -> None:
    write_out("".join(f"{name:<18}{value}\n" for name, value in lines))


@ask.command()
@takes("quiet", "seed")
def simulate(
    given: Given,
    study: StudyArgument,
    people: int | None = own(None, "How many take part. Default: the aim.", "--people", min=1, max=100_000),
    drop_out: float = own(0.0, "Share of people who leave before the end.", "--drop-out", min=0, max=1),
    noise: float = own(0.3, "Noise of the judgements.", "--noise", min=0),
    output: Path | None = own(None, "Also export what they answered.", "--output", "-o", metavar="DIR"),
) -> None:
    """Let simulated people answer a study in a database of its own, and say what came out.

    Example:  nearfar ask simulate study.toml --people 100 --drop-out 0.3
    """
    from nearfar.ask.rehearse import rehearse

    planned = _read(study)
    _show(rehearse(planned, count=people, drop_out=drop_out, noise=noise, seed=given.seed, output=output))


@ask.command()
@takes("features", "quiet")
def replay(
    given: Given,
    database: str = typer.Argument(
        metavar="FILE|URL", help="The database of an adaptive study, e.g. study.db."
    ),
) -> None:
    """Choose the adaptive questions of a study again, from the answers and seeds that are kept, and compare.

    The exit code is 1 if some are different.

    Example:  nearfar ask replay study.db
    """
    from nearfar.ask.store import adaptive, read_store

    told = read_store(database, adaptive.replay, load_features(given))
    _show(told)
    if dict(told)["different"] != "0":
        raise typer.Exit(1)


@ask.command()
@takes("quiet")
def export(
    given: Given,
    study: StudyArgument,
    output: Path | None = own(
        None, "Folder to write to. Default: study-answers beside study.toml.", "--output", "-o", metavar="DIR"
    ),
    database: str | None = DATABASE,
) -> None:
    """Write answers.csv, checks.csv, people.csv and objects.csv, also while the study runs.

    Example:  nearfar ask export study.toml && nearfar report study-answers/answers.csv
    """
    from nearfar.ask.export import export_study

    folder = output or study.with_name(f"{study.stem}-answers")
    for path in export_study(_database(study, database), folder):
        given.tell(f"wrote {path}")


@ask.command()
@takes("quiet")
def backup(
    given: Given,
    study: StudyArgument,
    folder: Path = typer.Argument(metavar="DIR", help="Where to; the copy has the name of the database."),
    database: str | None = DATABASE,
) -> None:
    """Copy the database, also while the study runs. The copy is complete; erasing a person reaches it as well.

    Example:  nearfar ask backup study.toml backups/monday
    """
    from nearfar.ask.export import backup_study

    given.tell(f"wrote {backup_study(_database(study, database), folder)}")


@ask.command()
@takes("quiet")
def deploy(
    given: Given,
    study: StudyArgument,
    folder: Path = typer.Argument(metavar="DIR", help="A folder that is new or empty."),
    public_url: str = own(..., "Where people will open it, e.g. https://study.example.org.", metavar="URL"),
    postgres: bool = own(False, "With PostgreSQL instead of a file.", "--postgres"),
) -> None:
    """Write what a rented server needs: the study, a Dockerfile, a compose file, a Caddyfile and a systemd unit.

    Example:  nearfar ask deploy study.toml server/ --public-url https://study.example.org
    """
    _need_parts()
    from nearfar.ask.deploy import write_deployment
    from nearfar.ask.serve import check_public_url

    address = check_public_url(public_url) or ""
    for path in write_deployment(_read(study), address, folder, postgres=postgres):
        given.tell(f"wrote {path}")


@ask.command()
@takes("quiet")
def erase(
    given: Given,
    study: StudyArgument,
    person: str = typer.Argument(metavar="PERSON", help="Name in the exports, or the recruiter's id."),
    database: str | None = DATABASE,
) -> None:
    """Erase a person from the database, its log and the exports. Stop the server first, or erase on the live page.

    Example:  nearfar ask erase study.toml p0c4f21aa
    """
    from nearfar.ask.export import erase_person
    from nearfar.ask.store import open_store, read_store
    from nearfar.ask.store.researcher import study_row

    url = _database(study, database)
    read_store(url, study_row)  # a file that is none is not made
    with closing(open_store(url)) as store:
        lost = erase_person(store, person)
    if lost is None:
        raise InputError(f"{person}: there is no such person in this study")
    given.tell(f"erased {person}")
    for folder in lost:
        tell(f"nearfar: warning: {folder} may still hold this person; delete it")


@ask.command()
def links(
    study: StudyArgument,
    count: int = own(50, "How many links.", "--count", min=1, max=100_000),
    public_url: str | None = own(None, "Where people will open it, as for serve.", metavar="URL"),
    port: int = own(8000, "Port, where there is no URL.", "--port", "-p", min=1, max=65535),
    database: str | None = DATABASE,
) -> None:
    """Print links for one person each, for a study with recruit = "links". Each works in one browser only.

    Example:  nearfar ask links study.toml --count 50 --public-url https://study.example.org > links.txt
    """
    from nearfar.ask.passwords import new_link
    from nearfar.ask.serve import check_public_url
    from nearfar.ask.store import read_store
    from nearfar.ask.store.researcher import study_row

    is_for_links = _read(study).people.recruit == "links"
    row = read_store(_database(study, database), study_row) if is_for_links else None
    if row is None:
        needed = 'links are for a study with recruit = "links" that was served'
        raise InputError(f"{study}: people.recruit: {needed}")
    address = check_public_url(public_url) or f"http://127.0.0.1:{port}"
    for _ in range(count):
        write_out(f"{address}/?link={new_link(row['secret'])}\n")


@ask.command()
def texts(language: str = typer.Argument("en", metavar="LANGUAGE", help="en or de.")) -> None:
    """Print every text that participants read, to be copied, changed and named as ``language`` in a study file.

    Example:  nearfar ask texts > texts.toml
    """
    from nearfar.ask.texts import LANGUAGES, text_file

    if language not in LANGUAGES:
        raise InputError(f"language: expected {' or '.join(LANGUAGES)}, got {language!r}")
    typer.echo(text_file(language))
