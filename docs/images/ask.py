"""Make docs/images/ask.png: the live page of ``nearfar ask --demo`` when its simulated people are done.

    .venv/bin/python docs/images/ask.py

Takes about three minutes. Needs chromium and its driver (sh .ci/chromium gets them, as root).
"""

import io
import re
import subprocess
import sys
import time
from pathlib import Path

from PIL import Image

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "tests"))

from ask_browser import Tab, start_browser  # noqa: E402
from benchmarks.ask_server import free_port  # noqa: E402

WIDTH, HEIGHT = 1200, 1050


def main() -> None:
    """Watch the demo to its end."""
    command = [sys.executable, "-u", "-m", "nearfar", "ask", "--demo", "--port", str(free_port())]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as demo:
        driver = start_browser()
        try:
            watch(demo, Tab(driver))
        finally:
            driver.quit()
            demo.terminate()


def watch(demo: subprocess.Popen, tab: Tab) -> None:
    """Log in, wait until nobody answers any more and the curve has words, and keep the picture."""
    address = next(filter(None, (re.search(r"watch: +(\S+) +password: (\S+)", line) for line in demo.stdout)))
    tab.open(address[1], width=WIDTH, height=HEIGHT)
    tab.driver.find_element("id", "password").send_keys(address[2] + "\n")
    tab.until("/^[1-9]\\d+ of/.test(document.getElementById('people-count')?.textContent)", patience=600)
    tab.until("document.getElementById('people-why').textContent.startsWith('0 answering')", patience=600)
    time.sleep(30)  # the page is computed anew every few seconds
    shot = Image.open(io.BytesIO(tab.driver.get_screenshot_as_png())).convert("RGB")
    shot = shot.quantize(256, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    shot.save(HERE / "ask.png", optimize=True)
    print(HERE / "ask.png", shot.size, (HERE / "ask.png").stat().st_size)


if __name__ == "__main__":
    main()
