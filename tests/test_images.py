"""Pictures of others: only formats that we name are opened, and any damage is one sentence."""

import io
import os
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from PIL import Image, ImageOps

from nearfar._tools.images import FORMATS, open_image
from nearfar.errors import FileError

EPS = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 20 20\n%%EndComments\n(x) run\n%%EOF\n"


def saved(path, kind="PNG", size=(8, 6), mode="RGB", **options):
    Image.new(mode, size, "red").save(path, kind, **options)
    return path


def said(path):
    """The size of a picture, or the sentence why there is none."""
    try:
        return str(open_image(path, 50).size)
    except FileError as error:
        return str(error)


@pytest.mark.parametrize("kind", FORMATS)
def test_every_format_that_is_named_is_opened(tmp_path, kind):
    if kind == "AVIF" and "AVIF" not in Image.SAVE and not (Image.init() and "AVIF" in Image.SAVE):
        pytest.skip("this Pillow has no AVIF")
    picture = open_image(saved(tmp_path / "o1.png", kind), 50)
    assert picture.size == (8, 6) and picture.mode == "RGB"


@pytest.mark.parametrize("kind", ["PNG", "TIFF"])
def test_sixteen_bits_become_eight_and_thirty_two_are_refused(tmp_path, kind):
    shades = np.arange(0, 1 << 16, 257, dtype=np.uint16).reshape(16, 16)
    Image.fromarray(shades).save(tmp_path / "grey", kind)
    assert (np.asarray(open_image(tmp_path / "grey", 50))[..., 0] == shades // 257).all()
    Image.fromarray(shades / np.float32(65535)).save(tmp_path / "real.tif")
    assert "32 bits" in said(tmp_path / "real.tif")


@pytest.mark.parametrize("kind", ["GIF", "PNG", "TIFF", "WEBP"])
def test_what_moves_is_refused_where_it_must_be_still(tmp_path, kind):
    first, *others = (Image.new("RGB", (8, 6), colour) for colour in ("red", "green", "blue"))
    first.save(tmp_path / "moving", kind, save_all=True, append_images=others)
    assert open_image(tmp_path / "moving", 50).size == (8, 6)
    with pytest.raises(FileError, match="3 frames"):
        open_image(tmp_path / "moving", 50, still=True)


def test_an_eps_never_comes_to_ghostscript(tmp_path, monkeypatch):
    """Its name does not matter, and neither whether Ghostscript is installed."""
    ran = tmp_path / "ran"
    program = tmp_path / "gs"
    program.write_text(f"#!/bin/sh\ntouch {ran}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr("PIL.EpsImagePlugin.gs_binary", "gs")
    path = tmp_path / "o1.png"
    path.write_bytes(EPS)
    with Image.open(path) as opened:
        assert opened.format == "EPS"  # to Pillow it is a picture
    with pytest.raises(FileError, match="is not a picture"):
        open_image(path, 50)
    assert not ran.exists()


def test_pixels_are_limited_before_they_are_decoded(tmp_path):
    path = saved(tmp_path / "huge.png", size=(15_000, 15_000), mode="1")
    assert path.stat().st_size < 100_000
    with pytest.raises(FileError, match="too large"):
        open_image(path, 50)
    with pytest.raises(FileError, match="too large"):
        open_image(saved(tmp_path / "a.png"), 50, most_pixels=47)
    assert open_image(saved(tmp_path / "b.jpg", "JPEG", size=(800, 600)), 50).size == (50, 38)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF"])
def test_damage_is_one_sentence_wherever_it_is(tmp_path, kind):
    stream = io.BytesIO()
    Image.new("RGB", (40, 30), "red").save(stream, kind)
    whole = stream.getvalue()
    for at in range(0, len(whole), max(1, len(whole) // 40)):
        damaged = tmp_path / "o1.png"
        for data in (whole[:at], whole[:at] + b"\xff\x00\xfe" + whole[at + 3 :]):
            damaged.write_bytes(data)
            assert said(damaged).startswith(("(", f"{damaged}: is "))  # a size, or a sentence


def test_a_damaged_exif_is_one_sentence(tmp_path):
    path = saved(tmp_path / "a.jpg", "JPEG", exif=b"Exif\0\0II*\0\xff\xff\xff\x7f")
    assert said(path) in ("(8, 6)", f"{path}: is not a picture that can be read")


def test_one_large_picture_is_decoded_at_a_time(tmp_path, monkeypatch):
    """Or threads would take the memory of several, for files of a few kilobytes each."""
    now, most = [], []
    decode = ImageOps.exif_transpose

    def watched(image, **options):
        now.append(image)
        most.append(len(now))
        time.sleep(0.02)
        decode(image, **options)
        now.remove(image)

    monkeypatch.setattr(ImageOps, "exif_transpose", watched)
    path = saved(tmp_path / "large.png", size=(4200, 4200), mode="1")
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda _: open_image(path, 50).size, range(4)))
    assert made == [(50, 50)] * 4 and max(most) == 1
