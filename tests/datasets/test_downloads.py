"""Downloads, from this machine to itself: kept, checked, and every way to fail."""

import hashlib
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from nearfar.datasets import _download
from nearfar.datasets._download import Download, obtain
from nearfar.errors import FileError, UnreachableError


@pytest.fixture
def server(tmp_path):
    """An HTTP server on the loopback address: (address, folder it serves)."""
    folder = tmp_path / "served"
    folder.mkdir()

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *arguments):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as http:
        thread = threading.Thread(target=partial(http.serve_forever, poll_interval=0.01), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}", folder
        http.shutdown()
        thread.join()


def source_of(address, content):
    return Download(f"{address}/data.zip", hashlib.sha256(content).hexdigest(), "kept.zip")


def test_a_download_is_kept_and_not_repeated(server, tmp_path, capfd):
    address, folder = server
    (folder / "data.zip").write_bytes(b"precious")
    source = source_of(address, b"precious")
    path = obtain(source, tmp_path / "cache")
    assert path == tmp_path / "cache" / "kept.zip" and path.read_bytes() == b"precious"
    (folder / "data.zip").unlink()
    assert obtain(source, tmp_path / "cache") == path
    assert capfd.readouterr() == ("", "")


def test_a_wrong_checksum_leaves_nothing_behind(server, tmp_path):
    address, folder = server
    (folder / "data.zip").write_bytes(b"forged")
    with pytest.raises(FileError, match=r"does not have the checksum sha256 .* and was deleted"):
        obtain(source_of(address, b"precious"), tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []


def test_no_file_and_no_server(server, tmp_path):
    with pytest.raises(UnreachableError, match=r"cannot be reached \(HTTPError\); get the file another way"):
        obtain(source_of(server[0], b"precious"), tmp_path / "cache")
    said = r"ConnectionError.*put it at .*kept.zip, or point NEARFAR_DATA"
    with pytest.raises(UnreachableError, match=said):
        obtain(Download("http://127.0.0.1:9/data.zip", "0" * 64, "kept.zip"), tmp_path / "cache")


def test_a_damaged_file_at_hand(tmp_path):
    (tmp_path / "kept.zip").write_bytes(b"forged")
    with pytest.raises(
        FileError, match=r"kept.zip: checksum is sha256 .* delete it to have it fetched again"
    ):
        obtain(Download("http://127.0.0.1:9/data.zip", "0" * 64, "kept.zip"), tmp_path)


def test_a_folder_for_reading_only_is_left_alone(server, tmp_path, monkeypatch):
    address, folder = server
    (folder / "data.zip").write_bytes(b"precious")
    monkeypatch.setattr("pooch.os_cache", lambda project: tmp_path / "home" / project)
    locked = tmp_path / "locked"
    locked.mkdir()
    locked.chmod(0o555)
    path = obtain(source_of(address, b"precious"), locked)
    assert path == tmp_path / "home" / "nearfar" / "kept.zip"
    assert list(locked.iterdir()) == []


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match=r"cannot be made .*choose another folder"):
        obtain(Download("http://127.0.0.1:9/x", "0" * 64, "x"), tmp_path / "file" / "below")


def test_default_folder_is_the_users_cache(monkeypatch, tmp_path):
    monkeypatch.delenv("NEARFAR_DATA", raising=False)
    monkeypatch.setattr("pooch.os_cache", lambda project: tmp_path / project)
    assert _download.data_folder() == tmp_path / "nearfar"
