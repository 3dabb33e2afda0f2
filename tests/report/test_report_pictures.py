"""Pictures: found by name or by list, never outside their folders, made small, and accounted for."""

import base64
import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from report_tools import answers, paint

from nearfar.errors import FileError, NearfarWarning
from nearfar.io import read_objects
from nearfar.report.make import make_report
from nearfar.report.pictures import find_pictures, side_for, thumbnails


def decoded(thumbnail):
    head, _, data = thumbnail[0].partition(",")
    return head, Image.open(io.BytesIO(base64.b64decode(data)))


def test_files_belong_to_the_object_of_their_name(tmp_path):
    folder = paint(tmp_path / "pictures", ["apple", "Pear", "extra"])
    paint(folder / "more", ["plum"])
    pictures = find_pictures(["apple", "pear", "plum", "fig", "apple.png", "http://x/apple.png"], folder)
    names = {name: path.name for name, path in pictures.files.items()}
    assert names == {
        "apple": "apple.png",
        "pear": "Pear.png",
        "plum": "plum.png",
        "apple.png": "apple.png",
        "http://x/apple.png": "apple.png",
    }
    assert pictures.unused == ("extra.png",)
    assert pictures.trouble == ()


def test_names_in_another_unicode_form_match(tmp_path):
    folder = paint(tmp_path, ["cafe\u0301"])
    assert list(find_pictures(["caf\u00e9"], folder).files) == ["caf\u00e9"]


def test_of_two_files_for_one_object_the_exact_one_is_taken_and_said(tmp_path):
    folder = paint(tmp_path, ["a"])
    paint(folder / "b", ["a"])
    pictures = find_pictures(["a"], folder)
    assert pictures.files["a"] == folder / "a.png"
    assert "could also be b/a.png" in pictures.trouble[0][1]


def test_a_list_names_files_beside_itself(tmp_path):
    paint(tmp_path / "img", ["one"])
    (tmp_path / "objects.csv").write_text(
        "object,image\na,img/one.png\nb,\nc,gone.png\nd,https://x.org/p.png\n"
    )
    listed = read_objects(tmp_path / "objects.csv")
    images = dict(zip(listed.names, listed.images, strict=True))
    pictures = find_pictures(list("abcd"), listed=images, base=tmp_path)
    assert pictures.files == {"a": tmp_path / "img" / "one.png"}
    assert dict(pictures.trouble) == {
        "gone.png": "is not there",
        "p.png": "is an address, not a file; pictures are never fetched",
    }
    aside = find_pictures(["a"], tmp_path / "img", listed={"a": Path("elsewhere/one.png")}, base=None)
    assert aside.files == {"a": tmp_path / "img" / "one.png"}


def test_nothing_outside_the_folders_is_embedded(tmp_path):
    secret = paint(tmp_path / "secret", ["private"]) / "private.png"
    base = tmp_path / "study"
    base.mkdir()
    with pytest.warns(NearfarWarning, match="no object has a picture: there is none"):
        pictures = find_pictures(["a", "../secret/private"], base, listed={"a": secret}, base=base)
    assert pictures.files == {}
    assert "lies outside" in pictures.trouble[0][1]


def test_a_link_that_leaves_the_folder_is_not_followed(tmp_path):
    secret = paint(tmp_path / "secret", ["private"]) / "private.png"
    folder = paint(tmp_path / "img", ["own"])
    try:
        (folder / "a.png").symlink_to(secret)
        (folder / "b.png").symlink_to(folder / "own.png")
        (folder / "below").symlink_to(tmp_path / "secret", target_is_directory=True)
    except OSError:
        pytest.skip("links cannot be made here")
    pictures = find_pictures(["a", "b", "private", "own"], folder)
    assert set(pictures.files) == {"b", "own"}
    assert ("a.png", "is a link that leaves the folder, and is not followed") in pictures.trouble
    with pytest.warns(NearfarWarning, match=r"b\.png and own\.png belong to none"):
        listed = find_pictures(["a"], folder, listed={"a": folder / "a.png"}, base=folder)
    assert listed.files == {}


def test_a_folder_that_is_none_is_refused(tmp_path):
    with pytest.raises(
        FileError, match="there is no such folder; expected the folder that holds the pictures"
    ):
        find_pictures(["a"], tmp_path / "gone")


def test_thumbnails_are_small_and_keep_their_shape(tmp_path):
    folder = paint(tmp_path, ["photo"], size=(900, 600))
    small, unreadable = thumbnails(find_pictures(["photo"], folder).files)
    head, picture = decoded(small["photo"])
    assert picture.size == (176, 117) == small["photo"][1:]
    assert head in ("data:image/webp;base64", "data:image/jpeg;base64")
    assert unreadable == []
    assert len(small["photo"][0]) < 60_000


def test_a_swatch_keeps_its_exact_colour(tmp_path):
    Image.new("RGB", (300, 300), (12, 200, 99)).save(tmp_path / "s.png")
    small, _ = thumbnails(find_pictures(["s"], tmp_path).files)
    head, picture = decoded(small["s"])
    assert head == "data:image/png;base64"
    assert picture.convert("RGB").getpixel((5, 5)) == (12, 200, 99)


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P", "L", "CMYK", "I;16", "1"])
def test_every_kind_of_picture_is_read(tmp_path, mode):
    suffix = "jpg" if mode == "CMYK" else "png"
    Image.new(mode, (40, 30)).save(tmp_path / f"x.{suffix}")
    small, unreadable = thumbnails(find_pictures(["x"], tmp_path).files)
    assert unreadable == []
    assert small["x"][1:] == (40, 30)


def test_orientation_of_a_camera_is_honoured(tmp_path):
    picture = Image.new("RGB", (40, 20))
    exif = Image.Exif()
    exif[0x0112] = 6  # turned by a quarter
    picture.save(tmp_path / "x.jpg", exif=exif)
    small, _ = thumbnails(find_pictures(["x"], tmp_path).files)
    assert small["x"][1:] == (20, 40)


def test_broken_files_are_listed_and_the_page_still_comes(tmp_path):
    given = answers(m=300)
    folder = paint(tmp_path, list(given.objects[:9]))
    (folder / f"{given.objects[9]}.jpg").write_bytes(b"\xff\xd8 not a picture")
    whole = (folder / f"{given.objects[0]}.png").read_bytes()
    (folder / f"{given.objects[10]}.png").write_bytes(whole[: len(whole) // 2])
    (folder / f"{given.objects[11]}.svg").write_text("<svg onload='alert(1)'/>")
    (folder / "nobody.png").write_bytes(whole)
    report = make_report(given, images=folder)
    account = report.data["pictures"]
    assert account["shown"] == 9
    assert account["missing"] == list(given.objects[9:])
    assert dict(account["unreadable"]) == {
        f"{given.objects[9]}.jpg": "is not a picture that can be read",
        f"{given.objects[10]}.png": "is not a picture that can be read",
        f"{given.objects[11]}.svg": "is a drawing in SVG; save it as PNG or JPEG",
    }
    assert account["unused"] == ["nobody.png"]
    page = report.html()
    for name in (*account["missing"], "nobody.png"):
        assert name in page
    assert page.count("data:image/") >= 9
    assert "onload=" not in page.partition('id="nf-data"')[0]


def test_each_picture_is_embedded_once(tmp_path):
    given = answers(m=300)
    report = make_report(given, images=paint(tmp_path, given.objects))
    page = report.html()
    for uri, _, _ in report.thumbnails.values():
        assert page.count(uri) == 1


def test_many_pictures_get_smaller_so_that_the_page_stays_small(tmp_path):
    assert [side_for(n) for n in (1, 150, 151, 501, 2000)] == [176, 176, 128, 96, 72]
    # two thousand of the least compressible pictures there are, within the 25 MB of a page
    noise = np.random.default_rng(0).integers(0, 256, (90, 120, 3), dtype=np.uint8)
    Image.fromarray(noise).save(tmp_path / "n.png")
    file = find_pictures(["n"], tmp_path).files["n"]
    small, _ = thumbnails({f"n{i}": file for i in range(1001)})
    assert max(len(uri) for uri, _, _ in small.values()) * 2000 < 18e6
