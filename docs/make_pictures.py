"""Draw every picture of the documents anew, from data that comes with the repository.

    python docs/make_pictures.py

Plots are drawn by matplotlib. Pages are opened in a Chromium, found as CANDIDE_CHROMIUM or on the PATH (`make browser`
installs Debian's), and photographed; without one, their pictures are left as they are. The learning curves,
curves_*.svg, are drawn by benchmarks/curves.py, which needs data that is not in the repository.
"""

from __future__ import annotations

import os
import runpy
import shutil
import tempfile
from pathlib import Path

from candide.api import verbs

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
PICTURES = Path(__file__).with_name("pictures")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
LEARNED = 450
ROW = 5
MESSAGE = "Lunch tomorrow? I have a free ticket for the match"
PLAIN = {"families": "guess", "smoothing": "default", "calibrate": False}
SIZE = {"width": 800, "height": 1235}


def main() -> None:
    """All pictures, one after the other."""
    with tempfile.TemporaryDirectory() as index:
        folder = Path(index)
        model, new = fitted_orchard(folder)
        draw_plots(model)
        photograph_pages(written_pages(folder, model, new))
    runpy.run_path(str(EXAMPLES / "digits.py"))["main"](str(PICTURES / "digits.png"))


def fitted_orchard(folder: Path) -> tuple[verbs.Fitted, Path]:
    """The model of the tour, and the rows that were kept back."""
    header, *rows = (EXAMPLES / "orchard.csv").read_text().splitlines(keepends=True)
    for name, part in {"learned": rows[:LEARNED], "new": rows[LEARNED:]}.items():
        (folder / f"{name}.csv").write_text("".join([header, *part]))
    return verbs.fit(folder / "learned.csv", "fruit", folder / "orchard.candide"), folder / "new.csv"


def draw_plots(model: verbs.Fitted) -> None:
    """What matplotlib draws."""
    verbs.report(model, PICTURES / "nomogram.svg", picture="nomogram", of="quince", against="pear")
    verbs.report(model, PICTURES / "weight.svg", picture="feature", column="weight_g")
    verbs.report(model, PICTURES / "reliability.svg", picture="reliability")
    print("drawn: nomogram.svg, weight.svg, reliability.svg")


def written_pages(folder: Path, model: verbs.Fitted, new: Path) -> dict[str, tuple[Path, str]]:
    """Pages to be photographed: the name of the picture, the file, and what of it is to be seen."""
    spam = verbs.fit(EXAMPLES / "messages.jsonl", "label", folder / "spam.candide", **PLAIN)
    report = folder / "report.html"
    verbs.report(model, report)
    explained = {
        "explanation": verbs.explain(model, new, [ROW])[0].explanation,
        "spam": verbs.explain(spam, text=MESSAGE)[0].explanation,
    }
    for name, why in explained.items():
        (folder / f"{name}.html").write_text(f"<!doctype html><meta charset=utf-8>{why.to_html()}")
    return {
        "explanation": (folder / "explanation.html", ".candide-why"),
        "spam": (folder / "spam.html", ".candide-why"),
        "report": (report, ""),
    }


def photograph_pages(pages: dict[str, tuple[Path, str]]) -> None:
    """Open each page, and write a picture of it: of one element, or of what fits on the screen."""
    browser_path = find_browser()
    if browser_path is None:
        print(f"no Chromium found, left as they are: {', '.join(f'{name}.png' for name in pages)}")
        return
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=browser_path)
        page = browser.new_page(viewport=SIZE, device_scale_factor=1.5, color_scheme="light")
        for name, (path, element) in pages.items():
            page.goto(path.as_uri())
            target = page.locator(element).first if element else page
            target.screenshot(path=PICTURES / f"{name}.png")
            print(f"photographed: {name}.png")
        browser.close()


def find_browser() -> str | None:
    """The path of a Chromium, if there is one."""
    named = os.environ.get("CANDIDE_CHROMIUM")
    return shutil.which(named) if named else next(filter(None, map(shutil.which, BROWSERS)), None)


if __name__ == "__main__":
    main()
