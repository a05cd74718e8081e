"""Debian's Chromium, driven by Selenium, and a workbench that it can open."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import uvicorn
from axe_core_python.selenium import Axe
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select

from zealous.web.app import application
from zealous.web.bench import Bench
from zealous.web.security import Sessions
from zealous.web.server import HOST, _listen

CHROMIUM = shutil.which("chromium")
DRIVER = shutil.which("chromedriver")
_FLAGS = (
    *("headless=new", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run"),
    *("disable-background-networking", "disable-component-update", "disable-sync"),
    *("hide-scrollbars", "disable-dev-shm-usage"),
)
Scheme = Literal["light", "dark"]


@dataclass(frozen=True)
class Live:
    """A workbench that a browser can open."""

    address: str
    sessions: Sessions

    def entrance(self) -> str:
        """The address with the token that is valid now."""
        return f"{self.address}/?token={self.sessions.token}"


@contextmanager
def live(bench: Bench) -> Iterator[Live]:
    """Serve a workbench from a thread of this process."""
    with _listen(0) as listening:
        port = listening.getsockname()[1]
        sessions = Sessions()
        hosts = frozenset({f"{HOST}:{port}"})
        config = uvicorn.Config(
            application(bench, sessions, hosts), log_level="critical", lifespan="off", ws="none"
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        try:
            yield Live(f"http://{HOST}:{port}", sessions)
        finally:
            server.should_exit = True
            thread.join(10)
            bench.jobs.close()


class Browser:
    """A browser with one window."""

    def __init__(self) -> None:
        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM or ""
        for flag in _FLAGS:
            options.add_argument(f"--{flag}")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(DRIVER))
        self._axe = Axe()

    def show(self, width: int, scheme: Scheme, height: int = 900) -> None:
        """Be a screen of some width, light or dark."""
        colours = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", colours)
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def open(self, address: str) -> None:
        self.driver.get(address)

    def find(self, css: str) -> Any:
        return self.driver.find_element(By.CSS_SELECTOR, css)

    def find_all(self, css: str) -> list[Any]:
        return self.driver.find_elements(By.CSS_SELECTOR, css)

    def type(self, css: str, text: str) -> None:
        field = self.find(css)
        field.clear()
        field.send_keys(text)

    def choose(self, css: str, words: str) -> None:
        """Choose from a list."""
        Select(self.find(css)).select_by_visible_text(words)

    def click(self, words: str) -> None:
        """Click the button or link that says this."""
        self.driver.find_element(
            By.XPATH, f"//*[self::button or self::a][normalize-space()='{words}']"
        ).click()

    def says(self) -> str:
        """What the page says."""
        return " ".join(str(self.find("main").text).split())

    def wait_for(self, words: str, seconds: float = 600) -> None:
        """Until the page says this."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                if words in self.says():
                    return
            except Exception:  # the page is being exchanged
                pass
            time.sleep(0.1)
        raise AssertionError(f"the page does not say {words!r}: {self.says()}")

    def too_wide(self) -> bool:
        """Whether the page must be moved sideways to be read, once it is laid out and drawn."""
        script = """
            const say = arguments[0], page = document.documentElement;
            const measure = () => say(page.scrollWidth > window.innerWidth);
            requestAnimationFrame(() => requestAnimationFrame(measure));
        """
        return bool(self.driver.execute_async_script(script))

    def barriers(self) -> list[str]:
        """What is serious for whoever does not see, or uses no mouse, as axe finds it."""
        found = self._axe.run(self.driver, options={"resultTypes": ["violations"]})
        return [
            f"{each['id']}: {each['help']} {[node['target'] for node in each['nodes']][:3]}"
            for each in found["violations"]
            if each["impact"] in ("serious", "critical")
        ]

    def complaints(self) -> list[str]:
        """What the browser refused or could not run."""
        return [each["message"] for each in self.driver.get_log("browser")]

    def picture(self, path: Path, width: int, scheme: Scheme) -> None:
        """A picture of the whole page."""
        high = self.driver.execute_script("return document.documentElement.scrollHeight")
        self.show(width, scheme, min(int(high), 4000))
        self.driver.save_screenshot(str(path))
        self.show(width, scheme)

    def close(self) -> None:
        self.driver.quit()
