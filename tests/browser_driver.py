"""A real browser for tests: Debian's chromium over the DevTools protocol, with tornado's websocket client."""

import asyncio
import json
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from tornado.websocket import websocket_connect

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--hide-scrollbars",
    "--mute-audio",
    "--remote-debugging-port=0",
    "--remote-allow-origins=*",
]
PATIENCE = 60  # seconds


def find_browser():
    """The path of a chromium, or None."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Browser:
    """A running browser; use as a context manager."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        command = [find_browser(), *FLAGS, f"--user-data-dir={self.folder.name}", "about:blank"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.loop = asyncio.new_event_loop()
        self.socket = self.loop.run_until_complete(self._connect())
        self.reader = self.loop.create_task(self._read())
        self.waiting, self.pages, self.count = {}, {}, 0
        return self

    def __exit__(self, *error):
        self.loop.run_until_complete(self._close())
        self.loop.close()
        self.process.terminate()
        self.process.wait(10)
        self.folder.cleanup()

    async def _connect(self):
        note = Path(self.folder.name) / "DevToolsActivePort"
        end = time.monotonic() + PATIENCE
        while not (note.exists() and note.read_text().count("\n")):
            if time.monotonic() > end or self.process.poll() is not None:
                raise RuntimeError("chromium did not start")
            await asyncio.sleep(0.05)
        port, path = note.read_text().split("\n")[:2]
        return await websocket_connect(f"ws://127.0.0.1:{port}{path}", max_message_size=1 << 28)

    async def _close(self):
        self.socket.close()  # here, where there is a running loop
        await asyncio.wait([self.reader], timeout=5)

    async def _read(self):
        while (message := await self.socket.read_message()) is not None:
            told = json.loads(message)
            if "id" in told:
                self.waiting.pop(told["id"]).set_result(told)
            elif told.get("sessionId") in self.pages:
                self.pages[told["sessionId"]].events.append(told)

    def call(self, method, session=None, **parameters):
        """The result of a DevTools command."""
        self.count += 1
        answer = self.waiting[self.count] = self.loop.create_future()
        message = {"id": self.count, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session

        async def ask():
            await self.socket.write_message(json.dumps(message))
            return await asyncio.wait_for(answer, PATIENCE)

        told = self.loop.run_until_complete(ask())
        if "error" in told:
            raise RuntimeError(f"{method}: {told['error']}")
        return told["result"]

    def wait(self, seconds):
        """Let the page work, and hear what it says."""
        self.loop.run_until_complete(asyncio.sleep(seconds))

    def open(self, path, *, width=1280, height=900, dark=False, mobile=False):
        """A new tab with a file, once its report says that it is ready."""
        return Page(self, path, width, height, dark, mobile)


class Page:
    """A tab with a report."""

    def __init__(self, browser, path, width, height, dark, mobile):
        self.browser, self.events = browser, []
        self.target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        browser.pages[self.session] = self
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=mobile,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.url = Path(path).resolve().as_uri()
        self.call("Page.navigate", url=self.url)
        self.until("document.documentElement?.dataset.ready === 'true'")
        self.settle()

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def js(self, code):
        """The value of an expression in the page."""
        told = self.call("Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in told:
            raise RuntimeError(json.dumps(told["exceptionDetails"])[:1000])
        return told["result"].get("value")

    def until(self, code):
        """Wait until an expression is true."""
        end = time.monotonic() + PATIENCE
        while not self.js(code):
            if time.monotonic() > end:
                raise RuntimeError(f"never true: {code}; {self.complaints()}")
            self.browser.wait(0.05)

    def settle(self):
        """Two frames, so that what was asked to be drawn is drawn."""
        self.js("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=f"mouse{kind}", x=x, y=y, **more)

    def move(self, x, y):
        self.mouse("Moved", x, y)
        self.settle()

    def click(self, x, y):
        for kind in ("Pressed", "Released"):
            self.mouse(kind, x, y, button="left", clickCount=1)
        self.settle()

    def key(self, name):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name)
        self.settle()

    def show(self, selector):
        """Scroll an element into the middle and say where it is: (x, y, width, height)."""
        self.js(
            f"document.querySelector({json.dumps(selector)}).scrollIntoView({{behavior:'instant',block:'center'}})"
        )
        self.settle()
        return self.js(
            f"(() => {{ const r = document.querySelector({json.dumps(selector)}).getBoundingClientRect();"
            " return [r.x, r.y, r.width, r.height]; })()"
        )

    def complaints(self):
        """Everything a console would show in red or yellow."""
        faults = []
        for event in self.events:
            told = event["params"]
            if event["method"] == "Runtime.exceptionThrown":
                faults.append(json.dumps(told["exceptionDetails"])[:800])
            elif event["method"] == "Log.entryAdded" and told["entry"]["level"] in ("error", "warning"):
                faults.append(told["entry"]["text"])
            elif event["method"] == "Runtime.consoleAPICalled" and told["type"] in (
                "error",
                "warning",
                "assert",
            ):
                faults.append(json.dumps(told["args"])[:800])
        return faults

    def requests(self):
        """Addresses the page asked for, besides itself and what it holds."""
        asked = [
            e["params"]["request"]["url"] for e in self.events if e["method"] == "Network.requestWillBeSent"
        ]
        return [url for url in asked if url != self.url and not url.startswith("data:")]
