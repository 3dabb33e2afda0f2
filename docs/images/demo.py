"""Make docs/images/demo.png, the picture of the README: the demo's map and tree, as a browser shows them.

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
# what a picture in a README has no use for: the bar on top, the controls, the empty panel
TIDY = """
for (const found of document.querySelectorAll('.top, .tools, .panel, .hint, #map-section p, #tree-section p, #tree-section .head, #map-section .head')) found.style.display = 'none';
document.querySelector('.two').style.gridTemplateColumns = '1fr';
document.querySelector('#map-section').style.cssText = 'padding:1rem 0 0;border:0';
document.querySelector('#tree-section').style.cssText = 'padding:1rem 0 0;border:0';
"""


def main() -> None:
    """Run the demo, open its page, and keep the part that says it all."""
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        demo(Path(folder), quiet=True)
        page = browser.open(Path(folder) / "report.html", width=WIDTH, height=1500)
        page.js(TIDY)
        page.call(
            "Emulation.setDeviceMetricsOverride",
            width=WIDTH,
            height=1500,
            deviceScaleFactor=SCALE,
            mobile=False,
        )
        browser.wait(1.5)
        page.js("document.getElementById('zoom-fit').click()")
        page.js("scrollTo(0, document.querySelector('#map').getBoundingClientRect().top + scrollY - 16)")
        browser.wait(1.0)
        area = page.js(
            "(() => { const a = document.querySelector('#map').getBoundingClientRect(),"
            " b = document.querySelector('#tree').getBoundingClientRect();"
            " return [a.left - 12, a.top - 12, b.right + 12, b.bottom + 12]; })()"
        )
        shot = base64.b64decode(page.call("Page.captureScreenshot", format="png")["data"])
    picture = Image.open(io.BytesIO(shot)).convert("RGB").crop(tuple(round(SCALE * edge) for edge in area))
    picture.quantize(256, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(
        HERE / "demo.png", optimize=True
    )
    print(HERE / "demo.png", picture.size, (HERE / "demo.png").stat().st_size)


if __name__ == "__main__":
    main()
