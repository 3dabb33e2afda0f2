"""Chromium driven by Selenium, for the pages of a study."""

import shutil
import time

import pytest

PATIENCE = 60


def find_driver():
    """(browser, driver) paths, or None where one is absent."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    driver = next(filter(None, map(shutil.which, ("chromedriver", "chromium.chromedriver"))), None)
    return (browser, driver) if browser and driver else None


def start_browser():
    """A headless browser; the caller quits it."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    browser, driver = find_driver()
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                 "--disable-background-networking", "--disable-component-update", "--disable-sync"):  # fmt: skip
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "OFF"})
    options.page_load_strategy = "normal"
    return webdriver.Chrome(options=options, service=Service(driver))


CONTRASTS = """(() => {
  const rgb = (text) => { const [r, g, b, a] = text.match(/[\\d.]+/g).map(Number); return {r, g, b, a: a ?? 1}; };
  const light = ({r, g, b}) => [r, g, b].map((x) => x / 255)
    .map((x) => (x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4))
    .reduce((sum, x, i) => sum + x * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const colour = rgb(getComputedStyle(at).backgroundColor);
      if (colour.a === 1) return colour;
    }
    return {r: 255, g: 255, b: 255};
  };
  const low = [];
  for (const node of document.body.querySelectorAll("*")) {
    const own = [...node.childNodes].some((x) => x.nodeType === 3 && x.textContent.trim());
    if (!own || !node.getClientRects().length || node.closest(":disabled, svg, noscript")) continue;
    const [a, b] = [light(rgb(getComputedStyle(node).color)), light(behind(node))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) low.push(`${node.tagName} ${node.id} ${node.textContent.trim().slice(0, 30)}: ${ratio.toFixed(2)}`);
  }
  return low;
})()"""


class Tab:
    """What tests do with a page."""

    def __init__(self, driver):
        self.driver = driver
        self.seen_log = []
        driver.get_log("browser")  # what earlier tests left there

    def open(self, url, *, width=1280, height=900, dark=False):
        self.resize(width, height)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        self.driver.get(url)

    def resize(self, width, height=900):
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600},
        )

    def js(self, code, *arguments):
        return self.driver.execute_script(f"return ({code})", *arguments)

    def until(self, code, *arguments, patience=PATIENCE):
        """Wait until an expression is true."""
        end = time.monotonic() + patience
        while not (value := self.js(code, *arguments)):
            if time.monotonic() > end:
                body = self.driver.execute_script("return document.body && document.body.innerText")
                raise AssertionError(f"never true: {code}\n{body}\n{self.log()}")
            time.sleep(0.02)
        return value

    def click(self, id):
        self.until(f"document.getElementById('{id}')?.offsetParent !== null")
        self.driver.find_element("id", id).click()

    def begin(self):
        """Welcome and consent."""
        self.click("begin")
        self.click("agree")

    def practise(self, times):
        """The practice questions between their two notes."""
        self.click("note-go")
        for _ in range(times):
            self.choose()
        self.click("note-go")

    def choose(self, place=0, key=None):
        """Answer the question on the screen once it is open."""
        self.until("document.querySelector('.option:enabled') !== null")
        opened = self.js("document.documentElement.dataset.open")
        if key is not None:
            self.driver.switch_to.active_element.send_keys(key)
        else:
            self.driver.find_elements("css selector", ".option")[place].click()
        self.until(
            "document.documentElement.dataset.open !== arguments[0] || "
            "document.getElementById('question').hidden || document.querySelector('.option:enabled') === null",
            opened,
        )

    def tap(self, selector, number=0):
        """Touch the middle of an element with a finger."""
        element = self.driver.find_elements("css selector", selector)[number]
        x, y = self.js(
            "((one) => { one.scrollIntoView({block: 'center'}); const box = one.getBoundingClientRect(); "
            "return [box.x + box.width / 2, box.y + box.height / 2]; })(arguments[0])",
            element,
        )
        self.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
        for kind, points in (("touchStart", [{"x": x, "y": y}]), ("touchEnd", [])):
            self.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    def offline(self, yes):
        self.driver.execute_cdp_cmd("Network.enable", {})
        self.driver.execute_cdp_cmd(
            "Network.emulateNetworkConditions",
            {"offline": yes, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1},
        )

    def log(self):
        """What the console said so far."""
        self.seen_log += self.driver.get_log("browser")
        return self.seen_log

    def hard_to_read(self):
        """Texts on the screen whose contrast with what is behind them is below 4.5 to 1."""
        return self.js(CONTRASTS)

    def complaints(self, but=()):
        """Everything a console shows in red, but for messages that hold one of ``but``."""
        return [
            entry["message"]
            for entry in self.log()
            if entry["level"] == "SEVERE" and not any(part in entry["message"] for part in but)
        ]

    def picture(self, path):
        self.driver.save_screenshot(str(path))


needs_browser = pytest.mark.skipif(
    find_driver() is None, reason="NO BROWSER TESTS: chromium or chromedriver is absent; see .ci/chromium"
)
