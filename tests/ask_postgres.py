"""A PostgreSQL server for tests: Debian's programs, a cluster in a temporary folder, reached by a socket in it."""

import contextlib
import getpass
import os
import pwd
import shutil
import subprocess
import tempfile
import time
import uuid
from pathlib import Path


def find_programs():
    """The folder of initdb and postgres, or None; PostgreSQL refuses to run as root, so then its user is needed."""
    initdb = shutil.which("initdb")
    folders = (
        [Path(initdb).parent] if initdb else sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    )
    if not folders:
        return None
    if os.geteuid() == 0:
        try:
            pwd.getpwnam("postgres")
        except KeyError:
            return None
    return folders[0]


@contextlib.contextmanager
def cluster():
    """A running server; yields a function that makes an empty database and returns its address."""
    programs, root = find_programs(), os.geteuid() == 0
    user = "postgres" if root else getpass.getuser()
    own = {"user": user} if root else {}
    with tempfile.TemporaryDirectory(prefix="nearfar-pg-", ignore_cleanup_errors=True) as folder:
        if root:
            shutil.chown(folder, user)
        os.chmod(folder, 0o755)
        data = f"{folder}/data"
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
        subprocess.run(
            [programs / "initdb", "-D", data, "-A", "trust", "-U", user, "--no-sync"],
            check=True,
            **own,
            **quiet,
        )
        server = subprocess.Popen(
            [
                programs / "postgres",
                "-D",
                data,
                "-k",
                folder,
                "-c",
                "listen_addresses=",
                "-c",
                "max_connections=80",
            ],
            **own,
            **quiet,
        )
        try:
            address = f"postgresql://{user}@/{{name}}?host={folder}"
            wait_for(address.format(name="postgres"), server)
            yield lambda: new_database(address)
        finally:
            server.terminate()
            server.wait(30)


def wait_for(address, server):
    import psycopg

    end = time.monotonic() + 60
    while True:
        try:
            psycopg.connect(address).close()
            return
        except psycopg.OperationalError:
            assert server.poll() is None and time.monotonic() < end, "PostgreSQL did not start"
            time.sleep(0.1)


def new_database(address):
    import psycopg

    name = f"study_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(address.format(name="postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return address.format(name=name)
