"""Make docs/images/report.png and report-dark.png, the pictures of the README and the site, and demo.png.

All of them show the demo's report, as a browser does.

    .venv/bin/python docs/images/demo.py

Needs chromium (sh .ci/chromium gets it, as root).
"""

import base64
import io
import sys
import tempfile
from pathlib import Path

from PIL import Image

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "tests"))

from browser_driver import Browser  # noqa: E402

from nearfar.cli.demo import demo  # noqa: E402

WIDTH, SCALE = 1280, 1.25
THEME = "document.documentElement.dataset.theme === '{theme}' || document.getElementById('theme').click();"
# the top of the page and its map, without the table of models between them
REPORT = """
for (const found of document.querySelectorAll('#verdict > .card, .panel, .hint, #map-section p, #tree-section')) found.style.display = 'none';
document.querySelector('.two').style.gridTemplateColumns = '1fr';
document.querySelector('.top').style.position = 'static';
"""
# what a picture of map and tree has no use for: the bar on top, the controls, the empty panel
DEMO = """
for (const found of document.querySelectorAll('.top, .tools, .panel, .hint, #map-section p, #tree-section p, #tree-section .head, #map-section .head')) found.style.display = 'none';
document.querySelector('.two').style.gridTemplateColumns = '1fr';
document.querySelector('#map-section').style.cssText = 'padding:1rem 0 0;border:0';
document.querySelector('#tree-section').style.cssText = 'padding:1rem 0 0;border:0';
scrollTo(0, document.querySelector('#map').getBoundingClientRect().top + scrollY - 16);
"""
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


def main() -> None:
    """Run the demo, open its page, and keep the parts that say it all."""
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        demo(Path(folder), quiet=True)
        path = Path(folder) / "report.html"
        shoot(browser, path, "report.png", THEME.format(theme="light") + REPORT, ".top", "#map")
        shoot(browser, path, "report-dark.png", THEME.format(theme="dark") + REPORT, ".top", "#map")
        shoot(browser, path, "demo.png", THEME.format(theme="light") + DEMO, "#map", "#tree")


if __name__ == "__main__":
    main()
