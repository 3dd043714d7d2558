"""A page opened in headless Chromium, driven over its own pipe: no driver, no library.

Chromium reads commands from file descriptor 3 and answers on 4, JSON objects with a zero byte between them. Where no
Chromium is found, the tests that ask for it are skipped.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATIENCE = 30.0

# Elements that stick out of the page to the right, unless something around them scrolls or hides them.
OVERFLOWING = """
(() => {
  const wide = document.documentElement.clientWidth;
  const found = [];
  if (document.documentElement.scrollWidth > wide) found.push(`page ${document.documentElement.scrollWidth} > ${wide}`);
  for (const e of document.body.querySelectorAll('*')) {
    if (e.closest('svg') && e.tagName !== 'svg') continue;
    const box = e.getBoundingClientRect();
    if (box.width === 0 || box.right <= wide + 1) continue;
    let hidden = false;
    for (let p = e; p; p = p.parentElement) {
      const s = getComputedStyle(p);
      if (s.overflowX !== 'visible' || s.position === 'fixed' || s.clipPath !== 'none') { hidden = true; break; }
    }
    if (!hidden) found.push(e.tagName + ' ' + e.className + ' ' + Math.round(box.right));
  }
  return found;
})()
"""


@dataclass
class Seen:
    """What happened while a page was open."""

    overflowing: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)
    text: str = ""
    small_text: list[str] = field(default_factory=list)


class Browser:
    """One Chromium; `look` opens a file at a width and says what happened."""

    def __init__(self, program: str, profile: Path) -> None:
        their_in, self._out = os.pipe()
        self._in, their_out = os.pipe()
        words = [
            program,
            "--headless",
            "--disable-gpu",
            "--hide-scrollbars",
            "--remote-debugging-pipe",
            f"--user-data-dir={profile}",
        ]
        words += ["--no-first-run", "--disable-extensions", "--disable-background-networking", "--disable-component-update"]
        if os.geteuid() == 0:
            words.append("--no-sandbox")
        # The two ends that Chromium holds must be 3 and 4 there; the shell puts them in place.
        script = f'exec "$@" 3<&{their_in} 4>&{their_out}'
        self._process = subprocess.Popen(
            ["bash", "-c", script, "bash", *words],
            pass_fds=(their_in, their_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(their_in)
        os.close(their_out)
        self._buffer = b""
        self._number = 0
        self._events: list[dict[str, Any]] = []

    def close(self) -> None:
        self._process.terminate()
        self._process.wait(10)
        os.close(self._out)
        os.close(self._in)

    def look(self, page: Path, width: int, height: int = 900, picture: Path | None = None) -> Seen:
        target = self._ask("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = self._ask("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        for name in ("Page", "Runtime", "Network", "Log"):
            self._ask(f"{name}.enable", {}, session)
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self._ask("Emulation.setDeviceMetricsOverride", metrics, session)
        self._events.clear()
        address = page.resolve().as_uri()
        self._ask("Page.navigate", {"url": address}, session)
        self._until(lambda: any(e["method"] == "Page.loadEventFired" for e in self._events))
        found = self._ask("Runtime.evaluate", {"expression": OVERFLOWING, "returnByValue": True}, session)
        words = self._ask("Runtime.evaluate", {"expression": "document.body.innerText", "returnByValue": True}, session)
        if picture is not None:
            shot = self._ask("Page.captureScreenshot", {"captureBeyondViewport": True, "format": "png"}, session)
            picture.write_bytes(base64.b64decode(shot["data"]))
        seen = Seen(overflowing=found["result"]["value"], text=words["result"]["value"])
        for event in self._events:
            method, said = event["method"], event.get("params", {})
            if method == "Network.requestWillBeSent":
                seen.requests.append(said["request"]["url"])
            elif method == "Page.javascriptDialogOpening":
                seen.dialogs.append(said["message"])
            elif method in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled"):
                seen.complaints.append(json.dumps(said)[:300])
            elif method == "Log.entryAdded":
                seen.complaints.append(said["entry"]["text"])
        self._ask("Target.closeTarget", {"targetId": target})
        return seen

    def _ask(self, method: str, params: dict[str, Any], session: str | None = None) -> dict[str, Any]:
        self._number += 1
        number = self._number
        message = {"id": number, "method": method, "params": params} | ({"sessionId": session} if session else {})
        os.write(self._out, json.dumps(message).encode() + b"\0")
        answers: list[dict[str, Any]] = []

        def answered() -> bool:
            answers[:] = [e for e in self._events if e.get("id") == number]
            return bool(answers)

        self._until(answered)
        self._events.remove(answers[0])
        assert "error" not in answers[0], answers[0]
        return answers[0]["result"]

    def _until(self, condition: Any) -> None:
        end = time.monotonic() + PATIENCE
        while not condition():
            ready, _, _ = select.select([self._in], [], [], max(0.0, end - time.monotonic()))
            assert ready, "Chromium does not answer"
            part = os.read(self._in, 1 << 20)
            assert part, "Chromium has ended"
            self._buffer += part
            *whole, self._buffer = self._buffer.split(b"\0")
            for text in whole:
                event = json.loads(text)
                event.setdefault("method", "")
                self._events.append(event)


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    program = next((found for name in NAMES if (found := shutil.which(name))), None)
    if program is None:
        pytest.skip("there is no Chromium here")
    opened = Browser(program, tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()
