"""Chromium, driven over two pipes: what a person does with a page."""

import base64
import json
import os
import shutil
import subprocess
import time
from pathlib import Path

_NAMES = ("chromium", "chromium-browser", "google-chrome")
BROWSER = next((path for name in _NAMES if (path := shutil.which(name))), None)


class Browser:
    """One page in headless Chromium."""

    def __init__(self, profile: Path) -> None:
        commands, self.commands = os.pipe()
        self.answers, answers = os.pipe()
        flags = f"--headless=new --no-sandbox --disable-gpu --user-data-dir={profile}"
        self.process = subprocess.Popen(
            ["bash", "-c", f"exec {BROWSER} {flags} --remote-debugging-pipe "
             f"3<&{commands} 4>&{answers} 2>/dev/null"],
            pass_fds=(commands, answers),
        )  # fmt: skip
        os.close(commands)
        os.close(answers)
        self.unread, self.number, self.session = b"", 0, None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        self.call("Page.enable")

    def call(self, method: str, **parameters):
        """A command of the DevTools protocol, and its result."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self.unread:
                part = os.read(self.answers, 1 << 16)
                assert part, "the browser has ended"
                self.unread += part
            first, _, self.unread = self.unread.partition(b"\0")
            found = json.loads(first)
            if found.get("id") == self.number:
                assert "error" not in found, found
                return found["result"]

    def open(self, url: str, width: int = 1280, height: int = 900) -> None:
        self.resize(width, height)
        self.call("Page.navigate", url=url)
        self.wait("document.readyState == 'complete'")

    def resize(self, width: int, height: int) -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 500)  # fmt: skip

    def value(self, expression: str):
        """What JavaScript computes."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def wait(self, expression: str, seconds: float = 60) -> float:
        """Waits until JavaScript says so; gives the seconds that it took."""
        start = time.perf_counter()
        while not self.value(expression):
            assert time.perf_counter() - start < seconds, f"{expression} is not so"
            time.sleep(0.01)
        return time.perf_counter() - start

    def type(self, text: str) -> None:
        """Types into what has the focus."""
        self.call("Input.insertText", text=text)

    def point_at(self, selector: str) -> None:
        """Moves the mouse to the middle of the first element."""
        x, y = self._middle(selector)
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def tap(self, selector: str) -> None:
        """Taps the middle of the first element with a finger."""
        self.call("Emulation.setTouchEmulationEnabled", enabled=True)
        x, y = self._middle(selector)
        for kind, points in (("touchStart", [{"x": x, "y": y}]), ("touchEnd", [])):
            self.call("Input.dispatchTouchEvent", type=kind, touchPoints=points)

    def _middle(self, selector: str) -> tuple[float, float]:
        element = f"document.querySelector({json.dumps(selector)})"
        self.value(f"{element}.scrollIntoView({{block: 'nearest'}})")
        box = f"{element}.getBoundingClientRect()"
        x, y = (self.value(f"{box}.{a} + {box}.{b} / 2") for a, b in
                (("left", "width"), ("top", "height")))  # fmt: skip
        return x, y

    def screenshot(self, path: Path) -> None:
        size = {name: self.value(f"document.documentElement.scroll{name.title()}")
                for name in ("width", "height")}  # fmt: skip
        clip = {"x": 0, "y": 0, **size, "scale": 1}
        found = self.call("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(found["data"]))

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.commands)
        os.close(self.answers)
