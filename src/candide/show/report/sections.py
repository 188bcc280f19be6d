"""The sections of a report, from what is seen first to where the model came from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from candide.data.errors import OptionRefused
from candide.data.written_numbers import percent, three_digits
from candide.families.base.profile import CURVE, EVENTS, Profile
from candide.show.explanations.html import safe
from candide.show.pictures.confusion import CLASSES_DRAWN, confusion
from candide.show.pictures.features import feature
from candide.show.pictures.informative import telling
from candide.show.pictures.lettering import lettered
from candide.show.pictures.nomogram import nomogram
from candide.show.pictures.own_curve import own_curve
from candide.show.pictures.ranking_curves import precision_recall_curves, roc_curves
from candide.show.pictures.reliability import reliability
from candide.show.pictures.scales import Scales
from candide.show.report import ranking_words, sentences
from candide.show.report.calibration_words import calibration_in_words
from candide.show.report.findings import Findings, count_in_words
from candide.show.report.pairs_drawn import pairs_drawn
from candide.show.report.panel import Control, Panel
from candide.show.report.parts import details, facts, html_table, paragraph, picture, section

CLASSES_TOLD = 20
FEATURES_DRAWN = 24
FEATURES_TOLD = 200
COLUMNS_TOLD = 500
MISTAKES_TOLD = 20
LONGEST = 200
"""Letters of a value in a table."""


def summary(findings: Findings) -> str:
    """The card: what is predicted from how much, how well, and the classes."""
    measured, there = findings.measured, findings.classes
    used = sum(choice.family is not None for choice in findings.trained.schema.choices)
    pairs = [
        ("rows learned", f"{findings.trained.summary.rows:,}"),
        ("classes", f"{len(there):,}"),
        ("columns used", f"{used:,}"),
    ]
    if measured is not None:
        pairs += [("answered rightly", percent(measured.accuracy)), ("log loss", f"{measured.log_loss:.3f}")]
        if measured.unequal:
            pairs.append(("balanced accuracy", percent(measured.balanced_accuracy)))
        if measured.roc_area is not None:
            pairs.append(("ROC area", three_digits(measured.roc_area)))
    rows = [(lettered(name, LONGEST), f"{count:,}", percent(share)) for name, count, share in there]
    header = (lettered(findings.label, LONGEST), "rows", "prior")
    listed = html_table(header, rows[:CLASSES_TOLD], numbers=(1, 2))
    if len(rows) > CLASSES_TOLD:
        more = count_in_words(len(rows) - CLASSES_TOLD, "more class", "more classes")
        listed += details(f"and {more}", html_table(header, rows[CLASSES_TOLD:], numbers=(1, 2)))
    notes = "".join(paragraph(note, "soft") for note in findings.notes)
    return section("summary", "In short", facts(pairs), paragraph(sentences.quality_in_words(measured)), notes, listed)


def telling_section(findings: Findings) -> str:
    """Which features matter."""
    about = (
        "How much knowing one feature tells about the class, in bits, taken by itself. Features that say the same are "
        "each counted in full."
    )
    if not findings.subject.profiles:
        return section("telling", "Most telling features", paragraph("No column has anything to say."))
    drawing = picture("picture-telling", telling(findings.subject), sentences.telling_in_words(findings.subject))
    return section("telling", "Most telling features", paragraph(about), drawing)


def each_feature(findings: Findings, report: Callable[[int], None] | None = None) -> str:
    """The most telling features drawn, a table of the others."""
    ranked = findings.subject.ranked
    about = "What the values look like in each class: where curves or bars part, the feature tells classes apart."
    if any(profile.column in findings.subject.cells and profile.kind == CURVE for profile in ranked):
        about += " Light bars behind a curve are the rows themselves: where they leave it, it does not fit."
    drawn = []
    for number, profile in enumerate(ranked[:FEATURES_DRAWN], 1):
        drawn.append(feature_figure(findings, profile, number))
        if report is not None:
            report(1)
    grid = f'<div class="grid">{"".join(drawn)}</div>'
    together = pairs_drawn(findings)
    return section("features", "Each feature", paragraph(about), grid, other_features(findings), together)


def feature_figure(findings: Findings, profile: Profile, number: int) -> str:
    """One feature with its family and what it tells."""
    about = f"{family_name(findings, profile)}, {profile.information:.3f} bits"
    if profile.kind == EVENTS:
        what = "run of characters" if findings.subject.occurrences(profile).characters else "word"
        about = f"{about} a {what}, {profile.vocabulary:,} different ones"
    told = sentences.feature_in_words(findings.subject, profile)
    alternative = f"{lettered(profile.column, 60)} in each class. {told}"
    drawing = feature(findings.subject, profile.column)
    return picture(f"feature-{number}", drawing, alternative, caption=about)


def other_features(findings: Findings) -> str:
    """What is not drawn, in words."""
    rest = findings.subject.ranked[FEATURES_DRAWN:]
    if not rest:
        return ""
    rows = [
        (
            lettered(profile.column, LONGEST),
            family_name(findings, profile),
            f"{profile.information:.3f}",
            sentences.feature_in_words(findings.subject, profile),
        )
        for profile in rest[:FEATURES_TOLD]
    ]
    left = len(rest) - len(rows)
    note = f" The last {left:,} are left out." if left else ""
    listed = html_table(("feature", "family", "bits", "in each class"), rows, numbers=(2,))
    return details(f"{len(rest):,} less telling features in words.{note}", listed)


def family_name(findings: Findings, profile: Profile) -> str:
    """The name of the family a feature was given."""
    rule = findings.subject.events.get(profile.column)
    column = rule.column if rule is not None and rule.column else profile.column
    for choice in findings.trained.schema.choices:
        if choice.column == column and choice.family is not None:
            return choice.family.name
    return "counts" if profile.kind == EVENTS else profile.kind


def the_nomogram(findings: Findings) -> str:
    """The model on paper."""
    about = (
        "To be read with a ruler: find each value on its scale, go straight up to its points, add up the points of all "
        "features, and look up the total at the bottom. Below it stands the probability that the model reports."
    )
    try:
        scales = Scales.of(findings.subject, findings.of, findings.against)
    except OptionRefused as refused:
        return section("nomogram", "Nomogram", paragraph(str(refused)))
    drawing = nomogram(findings.subject, findings.of, findings.against)
    shown = picture("picture-nomogram", drawing, sentences.nomogram_in_words(scales), wide=True)
    return section("nomogram", "Nomogram", paragraph(about), shown)


def what_if(findings: Findings) -> str:
    """The panel, and what it leaves out."""
    panel = Panel.of(findings.subject)
    about = "Set what is known of a row and see the answer, computed as the model computes it. The rest stays unknown."
    notes = []
    notes += [text_note(control) for control in panel.controls if control.readings]
    if any(control.kind == "words" for control in panel.controls):
        notes.append("A text is the words counted here and no others; where none is counted there is no text.")
    if panel.left:
        notes.append(f"{count_in_words(panel.left, 'less telling feature')} cannot be set here and stay unknown.")
    if panel.joined:
        several = count_in_words(panel.joined, "column")
        notes.append(f"{several} speak together: what one says depends on the others, so they stay unknown here.")
    data = f'<script type="application/json" id="model">{panel.to_json()}</script>'
    without = "<noscript><p>This panel needs JavaScript, which is off. All else works without it.</p></noscript>"
    noted = "".join(paragraph(note[0].upper() + note[1:], "soft") for note in notes)
    return section("what-if", "What if", paragraph(about), noted, without, panel.to_html(), data)


def text_note(control: Control) -> str:
    """How much of what the model knows about texts is on the page."""
    there, known = (sum(map(count, control.readings)) for count in (lambda one: len(one.terms), lambda one: one.known))
    if there == known:
        return f"Of {lettered(control.labels[0], 30)}, all {known:,} words and runs the model knows are on this page."
    missed = sum(reading.missed for reading in control.readings) / sum(one.evidence for one in control.readings)
    return (
        f"Of {lettered(control.labels[0], 30)}, the {there:,} strongest of {known:,} words and runs are on this page. "
        f"The others had {percent(missed)} of the evidence in the texts learned, so the model itself may answer "
        "otherwise."
    )


def probabilities(findings: Findings) -> str:
    """Whether probabilities mean something."""
    title, measured = "Do probabilities mean what they say?", findings.measured
    if measured is None:
        return section("reliability", title, paragraph(sentences.NOT_MEASURED))
    about = "Of the answers given with a probability of 80%, about 80% should be right: dots should lie on the line."
    drawing = picture("picture-reliability", reliability(measured), sentences.reliability_in_words(measured))
    said = calibration_in_words(measured)
    if findings.tested is None and measured.kind == "leave-one-out" and findings.trained.tuning.calibration is not None:
        said += " The calibration was fitted to these very answers, so for new rows they may be farther off."
    return section("reliability", title, paragraph(about), paragraph(said), drawing)


def ranking_section(findings: Findings) -> str:
    """How well each class is found and ranked above all others, whatever threshold is chosen."""
    title, measured = "How well is each class found?", findings.measured
    if measured is None:
        return section("ranking", title, paragraph(sentences.NOT_MEASURED))
    parts = [ranking_words.recall_in_words(measured)]
    pictures = ""
    if measured.ranking:
        parts.append(ranking_words.ranking_in_words(measured))
        drawn = sum(bool(one.curve) for one in measured.ranking)
        if drawn < len(measured.ranking):
            parts.append(f"Drawn are the {count_in_words(drawn, 'class', 'classes')} ranked worst.")
        told = ranking_words.precision_recall_in_words(measured)
        pictures = picture("picture-roc", roc_curves(measured), ranking_words.roc_in_words(measured))
        pictures += picture("picture-precision-recall", precision_recall_curves(measured), told)
    listed = "".join(paragraph(part) for part in parts if part)
    scores = class_scores(findings.label, measured)
    return section("ranking", title, listed, f'<div class="grid">{pictures}{scores}</div>')


def class_scores(label: str, measured: Any) -> str:
    """Precision, recall and areas of each class, the worst recall first where there are many."""
    ranked = {one.name: one for one in measured.ranking}
    there = list(measured.by_class.items())
    if len(there) > CLASSES_TOLD:
        there.sort(key=lambda one: (one[1].recall is None, one[1].recall, one[0]))
    rows = [
        (lettered(name, LONGEST), f"{score.rows:,}", *map(three_digits, (score.recall, score.precision)),
         *(three_digits(getattr(ranked.get(name), area, None)) for area in ("roc_area", "average_precision")))
        for name, score in there
    ]  # fmt: skip
    header = (lettered(label, LONGEST), "rows", "recall", "precision", "ROC area", "av. precision")
    listed = html_table(header, rows[:CLASSES_TOLD], numbers=range(1, 6))
    if len(rows) > CLASSES_TOLD:
        more = count_in_words(len(rows) - CLASSES_TOLD, "more class", "more classes")
        listed += details(f"and {more}", html_table(header, rows[CLASSES_TOLD:], numbers=range(1, 6)))
    return f'<div class="two">{listed}</div>'


def mistakes_section(findings: Findings) -> str:
    """What is taken for what."""
    measured = findings.measured
    if measured is None:
        return section("confusion", "What is taken for what", paragraph(sentences.NOT_MEASURED))
    wide = max(len(measured.truths), len(measured.classes)) > 8
    drawing = picture("picture-confusion", confusion(measured), sentences.confusion_in_words(measured), wide=wide)
    about = "Each row of the table is a label, each column an answer; the blue is the share of the label's rows."
    return section("confusion", "What is taken for what", paragraph(about), drawing, commonest_mistakes_table(measured))


def commonest_mistakes_table(measured: Any) -> str:
    """The commonest mistakes one by one, where the picture cannot show them all."""
    if len(measured.truths) <= CLASSES_DRAWN:
        return ""
    made = sorted(sentences.commonest_mistakes(measured), key=lambda one: (-one[0], one[1:]))[:MISTAKES_TOLD]
    rows = [(f"{count:,}", lettered(truth, LONGEST), lettered(answer, LONGEST)) for count, truth, answer in made]
    return f"<h3>The commonest mistakes</h3>{html_table(('rows', 'label', 'answer'), rows, numbers=(0,))}"


def learning(findings: Findings) -> str:
    """How answers got better with rows."""
    quality = findings.quality
    if quality is None or not quality.curve:
        return section("learning", "Learning curve", paragraph(sentences.NO_CURVE))
    about = (
        "How good answers are once so many rows are learned, each point judged by rows not yet learned; all choices "
        "are held fixed. Where the curve still rises, more rows may help."
    )
    drawing = picture("picture-learning-curve", own_curve(quality), sentences.curve_in_words(quality))
    return section("learning", "Learning curve", paragraph(about), drawing)


def choices(findings: Findings) -> str:
    """What was decided about each column."""
    there = findings.trained.schema.choices
    rows = [
        (lettered(choice.column, LONGEST), choice.family.name if choice.family else "left out", choice.reason)
        for choice in there[:COLUMNS_TOLD]
    ]
    more = paragraph(f"and {len(there) - len(rows):,} more columns", "soft") if len(there) > len(rows) else ""
    decisions = html_table(("column", "family", "because"), rows)
    return section("choices", "How it was chosen", warned_of(findings), decisions, more)


def warned_of(findings: Findings) -> str:
    """Columns that should be looked at twice."""
    there = list(findings.trained.schema.warnings.items())
    if not there:
        return ""
    rows = [(lettered(column, LONGEST), warning) for column, warning in there[:COLUMNS_TOLD]]
    more = paragraph(f"and {len(there) - len(rows):,} more", "soft") if len(there) > len(rows) else ""
    return html_table(("look twice at", "because"), rows) + more


def origin_section(findings: Findings) -> str:
    """Options and provenance."""
    options = findings.trained.options.as_dict()
    rows = [(name, option_in_words(value)) for name, value in options.items() if value not in (None, False)]
    rows += list(provenance_rows(findings.provenance))
    return section("origin", "Options and origin", html_table(("what", "how"), rows))


def provenance_rows(origin: Any) -> Iterator[tuple[str, str]]:
    """Where a model came from, line by line."""
    if origin.get("sources"):
        yield "learned from", ", ".join(lettered(source, LONGEST) for source in origin["sources"][:COLUMNS_TOLD])
    if "created" in origin:
        yield "created", str(origin["created"]).replace("T", " ")
    for name, version in dict(origin.get("versions", {})).items():
        yield f"version of {name}", str(version)
    for event in origin.get("events", []):
        sources = ", ".join(lettered(source, LONGEST) for source in event.get("sources", ()))
        told = f"{event['rows']:,} rows of {sources}, " if "rows" in event else ""
        yield str(event["verb"]), f"{told}{str(event['when'])[:10]}"


def option_in_words(value: Any) -> str:
    """An option's value, not too long."""
    if isinstance(value, dict):
        value = ", ".join(f"{name}={one}" for name, one in value.items())
    return lettered(value, 4 * LONGEST)


def page_header(findings: Findings) -> str:
    """What the page is about."""
    title = f"{lettered(findings.label, LONGEST)}: a naive Bayes model"
    rows, classes = findings.trained.summary.rows, len(findings.classes)
    told = f"{count_in_words(rows, 'row')} learned, {count_in_words(classes, 'class', 'classes')}"
    named = f"{lettered(findings.name, LONGEST)}: " if findings.name else ""
    return f'<header><h1>{safe(title)}</h1><p class="soft">{safe(named + told)}</p></header>'
