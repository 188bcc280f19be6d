"""A real browser for tests: a Chromium, driven by Playwright, that tells everything a page did.

It is found as CANDIDE_CHROMIUM, or on the PATH; `make browser` installs Debian's.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ABSENT = "No Chromium was found. `make browser` installs Debian's; or set CANDIDE_CHROMIUM to the path of one."
QUIET = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--in-process-gpu",
    "--no-first-run",
)
HEIGHT = 800


def find() -> str | None:
    """The path of a Chromium, if there is one."""
    named = os.environ.get("CANDIDE_CHROMIUM")
    return shutil.which(named) if named else next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def chromium() -> Iterator[Browser]:
    """A headless Chromium with nothing to say to the network, closed with all its processes afterwards."""
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is missing: pip install playwright")
    path = find()
    if path is None:
        pytest.skip(ABSENT)
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=list(QUIET))
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Visit:
    """A page that was opened, and what it did meanwhile."""

    page: Page
    address: str
    requests: list[str] = field(default_factory=list)
    console: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """What a person can read."""
        return self.page.inner_text("body")

    def look(self, scheme: str, width: int) -> None:
        """See the page anew: light or dark, wide or on a phone."""
        self.page.emulate_media(color_scheme=scheme)
        self.page.set_viewport_size({"width": width, "height": HEIGHT})

    def touch_everything(self) -> None:
        """Move a mouse over every element there is."""
        self.page.evaluate("document.querySelectorAll('*').forEach(box => "
                           "box.dispatchEvent(new MouseEvent('mouseover', {bubbles: true})))")  # fmt: skip

    def assert_quiet(self) -> None:
        """Nothing was fetched but the page itself, nothing complained, nothing hostile ran."""
        assert self.requests == [self.address]
        assert self.console == []
        assert self.errors == []
        assert self.dialogs == []
        assert self.page.evaluate("window.hacked === undefined")

    def assert_fits(self) -> None:
        """Nobody has to scroll sideways."""
        wide, shown = self.page.evaluate("[document.scrollingElement.scrollWidth, innerWidth]")
        assert wide <= shown

    def assert_readable(self, least: float = 4.5) -> None:
        """Every visible piece of text stands out from what is behind it (WCAG's contrast ratio)."""
        seen = self.page.evaluate(CONTRASTS)
        assert seen, "the page shows no text"
        faint = [one for one in seen if one["ratio"] < least]
        assert not faint, faint


@contextmanager
def visiting(
    browser: Browser, path: Path, scheme: str = "light", width: int = 1280, javascript: bool = True, **options: Any
) -> Iterator[Visit]:
    """Open a file as a person would: light or dark, wide or on a phone."""
    visit = Visit(tab_of(browser, javascript, **options), path.as_uri())
    visit.look(scheme, width)
    with listening(visit):
        visit.page.goto(visit.address, wait_until="load")
        yield visit


@cache
def tab_of(browser: Browser, javascript: bool, **options: Any) -> Page:
    """A tab in a session of its own, opened once: a new one starts a process, which takes longer than most visits."""
    return browser.new_context(java_script_enabled=javascript, **options).new_page()


@contextmanager
def listening(visit: Visit) -> Iterator[None]:
    """Write down what the page does; a dialog is closed, so that it cannot block."""

    def dialog(opened: Any) -> None:
        visit.dialogs.append(opened.message)
        opened.dismiss()

    heard = {
        "request": lambda request: visit.requests.append(request.url),
        "console": lambda message: visit.console.append(f"{message.type}: {message.text}"),
        "pageerror": lambda error: visit.errors.append(str(error)),
        "dialog": dialog,
    }
    for event, hear in heard.items():
        visit.page.on(event, hear)
    try:
        yield
    finally:
        for event, hear in heard.items():
            visit.page.remove_listener(event, hear)


CONTRASTS = """() => {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 1;
  const brush = canvas.getContext('2d', {willReadFrequently: true});
  const probe = document.documentElement.appendChild(document.createElement('i'));
  probe.style.color = 'Canvas';
  const paper = getComputedStyle(probe).color;
  probe.remove();

  const known = new Map();  // few colours lie over each other in many places
  const painted = (layers) => {
    const key = layers.join(';');
    if (!known.has(key)) known.set(key, paint(layers));
    return known.get(key);
  };
  const paint = (layers) => {
    brush.globalAlpha = 1;
    brush.clearRect(0, 0, 1, 1);
    for (const [colour, opacity] of layers) {
      brush.globalAlpha = opacity;
      brush.fillStyle = colour;
      brush.fillRect(0, 0, 1, 1);
    }
    return [...brush.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const layersOf = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) layers.unshift([getComputedStyle(at).backgroundColor, 1]);
    return [[paper, 1], ...layers];
  };
  const opacityOf = (element) => {
    let opacity = 1;
    for (let at = element; at; at = at.parentElement) opacity *= Number(getComputedStyle(at).opacity);
    return opacity;
  };
  const shapesUnder = (text, drawing) => {
    text.scrollIntoView({block: 'center', inline: 'center', behavior: 'instant'});
    const box = text.getBoundingClientRect();
    const stack = document.elementsFromPoint(box.x + box.width / 2, box.y + box.height / 2);
    const shapes = stack.filter((shape) => drawing.contains(shape) && shape instanceof SVGGeometryElement);
    return shapes.reverse().map((shape) => [getComputedStyle(shape), opacityOf(shape)])
      .filter(([style]) => style.fill !== 'none').map(([style, opacity]) => [style.fill, opacity * style.fillOpacity]);
  };

  const seen = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const text = walker.currentNode.data.trim();
    if (!text || !element.checkVisibility({opacityProperty: true, visibilityProperty: true})) continue;
    if (['SCRIPT', 'STYLE', 'NOSCRIPT', 'OPTION'].includes(element.tagName.toUpperCase())) continue;
    const drawing = element.closest('svg');
    const behind = drawing ? [...layersOf(drawing), ...shapesUnder(element, drawing)] : layersOf(element);
    const style = getComputedStyle(element);
    const ink = [drawing ? style.fill : style.color, opacityOf(element)];
    const [light, dark] = [painted(behind), painted([...behind, ink])].map(luminance).sort((a, b) => b - a);
    seen.push({text: text.slice(0, 40), ratio: (light + 0.05) / (dark + 0.05), colour: ink[0]});
  }
  return seen;
}"""
