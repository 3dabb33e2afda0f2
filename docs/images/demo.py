"""Make docs/images/report.png and report-dark.png, the pictures of the README and the site, and parts.png, numbered parts of the page.

All of them show the demo's report, as a browser does.

    .venv/bin/python docs/images/demo.py

Needs chromium (sh .ci/chromium gets it, as root).
"""

import base64
import io
import sys
import tempfile
from pathlib import Path

from PIL import Image, ImageDraw

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "tests"))

from browser_driver import Browser  # noqa: E402

from nearfar.cli.demo import demo  # noqa: E402

WIDTH, SCALE = 1280, 1.25
THEME = "document.documentElement.dataset.theme === '{theme}' || document.getElementById('theme').click();"
# the top of the page and its map, without the table of models between them
REPORT = """
for (const part of document.querySelectorAll('#verdict > .card, .panel, .hint, #map-section p, #tree-section')) part.style.display = 'none';
document.querySelector('.two').style.gridTemplateColumns = '1fr';
document.querySelector('.top').style.position = 'static';
"""
# the numbered parts of docs/report.md, and the column of the picture that each stands in
PARTS = (
    (".verdicts", 0),
    ("#verdict > .card", 0),
    ("#map-section .two", 0),
    ("#tree", 1),
    ("#matrix", 0),
    ("#positions", 1),
    ("#people", 1),
    ("#curve", 1),
    ("#methods", 1),
)
COLUMN, GAP = 640, 34
AREA = """(() => {{ const a = document.querySelector('{first}').getBoundingClientRect(), b = document.querySelector('{last}').getBoundingClientRect();
return [b.left - 12, a.top - 12, b.right + 12, b.bottom + 12]; }})()"""


def shoot(browser: Browser, path: Path, name: str, tidy: str, first: str, last: str) -> None:
    """Keep the part of the page from one element to another."""
    page = browser.open(path, width=WIDTH, height=1700)
    size = {"width": WIDTH, "height": 1700, "deviceScaleFactor": SCALE, "mobile": False}
    page.call("Emulation.setDeviceMetricsOverride", **size)
    page.js(tidy)
    browser.wait(1.5)
    page.js("document.getElementById('zoom-fit').click()")
    browser.wait(1.0)
    area = page.js(AREA.format(first=first, last=last))
    shot = base64.b64decode(page.call("Page.captureScreenshot", format="png")["data"])
    edges = tuple(max(0, round(SCALE * edge)) for edge in area)
    picture = Image.open(io.BytesIO(shot)).convert("RGB").crop(edges)
    picture = picture.quantize(256, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    picture.save(HERE / name, optimize=True)
    print(HERE / name, picture.size, (HERE / name).stat().st_size)


def parts(browser: Browser, path: Path) -> None:
    """The parts of the page in two columns, each with its number."""
    page = browser.open(path, width=WIDTH, height=1700)
    page.js(THEME.format(theme="light"))
    browser.wait(1.5)
    columns: list[list[tuple[int, Image.Image]]] = [[], []]
    for number, (part, column) in enumerate(PARTS, start=1):
        left, top, right, bottom = page.js(
            f"(() => {{ const r = document.querySelector('{part}').getBoundingClientRect();"
            " return [r.left + scrollX, r.top + scrollY, r.right + scrollX, r.bottom + scrollY]; })()"
        )
        clip = {"x": left, "y": top, "width": right - left, "height": bottom - top, "scale": 1}
        shot = page.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)[
            "data"
        ]
        picture = Image.open(io.BytesIO(base64.b64decode(shot))).convert("RGB")
        picture.thumbnail((COLUMN, 430), Image.Resampling.LANCZOS)
        columns[column].append((number, picture))
    height = max(sum(picture.height + GAP for _, picture in column) for column in columns)
    sheet = Image.new("RGB", (2 * COLUMN + 3 * GAP, height + GAP), "white")
    draw = ImageDraw.Draw(sheet)
    for at, column in enumerate(columns):
        x, y = GAP + at * (COLUMN + GAP), GAP
        for number, picture in column:
            sheet.paste(picture, (x, y))
            draw.ellipse((x - 26, y - 4, x - 2, y + 20), fill="#D55E00")
            draw.text((x - 14, y + 8), str(number), fill="white", anchor="mm", font_size=15)
            y += picture.height + GAP
    sheet.save(HERE / "parts.png", optimize=True)
    print(HERE / "parts.png", sheet.size, (HERE / "parts.png").stat().st_size)


def main() -> None:
    """Run the demo, open its page, and keep the parts that say it all."""
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        demo(Path(folder), quiet=True)
        path = Path(folder) / "report.html"
        shoot(browser, path, "report.png", THEME.format(theme="light") + REPORT, ".top", "#map")
        shoot(browser, path, "report-dark.png", THEME.format(theme="dark") + REPORT, ".top", "#map")
        parts(browser, path)


if __name__ == "__main__":
    main()
