"""The whole page: one file with its style and its script inside, and a policy that lets nothing else in."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Callable, Iterator
from importlib.resources import files

from candide.show.explanations.html import safe
from candide.show.pictures.lettering import lettered
from candide.show.report import sections
from candide.show.report.findings import Findings

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="Candide">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
{header}
<nav aria-label="Contents"><ul>{contents}</ul></nav>
<main>
{body}
</main>
<footer><p>Made by Candide, naive Bayes taken seriously. This page needs no network.</p></footer>
<script>{script}</script>
</body>
</html>
"""
CONTENTS = {
    "summary": "In short",
    "telling": "Most telling",
    "features": "Each feature",
    "nomogram": "Nomogram",
    "what-if": "What if",
    "reliability": "Probabilities",
    "confusion": "Mistakes",
    "ranking": "Each class",
    "learning": "Learning curve",
    "choices": "Choices",
    "origin": "Origin",
}
OTHER_PICTURES = 6
"""Pictures besides those of single features."""


def amount(findings: Findings) -> int:
    """How many pictures a report has, for those who wait."""
    return min(len(findings.subject.profiles), sections.FEATURES_DRAWN) + OTHER_PICTURES


def report_page(findings: Findings, report: Callable[[int], None] | None = None) -> str:
    """The report as one HTML document; `report` is told of each picture."""
    style, script = content("page.css"), content("text_terms.js") + content("panel.js")
    digest = b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
        f"script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
    return PAGE.format(
        policy=policy,
        title=safe(f"{lettered(findings.label, 80)}: a naive Bayes model"),
        style=style,
        script=script,
        header=sections.page_header(findings),
        contents="".join(f'<li><a href="#{name}">{said}</a></li>' for name, said in CONTENTS.items()),
        body="\n".join(bodies(findings, report)),
    )


def bodies(findings: Findings, report: Callable[[int], None] | None) -> Iterator[str]:
    """Every section in order."""
    yield sections.summary(findings)
    yield with_progress(sections.telling_section(findings), report)
    yield sections.each_feature(findings, report)
    yield with_progress(sections.the_nomogram(findings), report)
    yield sections.what_if(findings)
    for made in (sections.probabilities, sections.mistakes_section, sections.ranking_section, sections.learning):
        yield with_progress(made(findings), report)
    yield sections.choices(findings)
    yield sections.origin_section(findings)


def with_progress(made: str, report: Callable[[int], None] | None) -> str:
    """A section with a picture, once it is drawn."""
    if report is not None:
        report(1)
    return made


def content(name: str) -> str:
    """A file of this package."""
    return files("candide.show.report").joinpath(name).read_text(encoding="utf-8")
