"""Pictures: nomograms that add up to the model, labels that do not meet, and words that stay words."""

from __future__ import annotations

import warnings
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from candide import NaiveBayes, TextOptions
from candide.api.verbs import fit
from candide.data.errors import ColumnRefused, OptionRefused
from candide.families.base.profile import COUNTS, CURVE, EVENTS, STEPS, VALUES, Profile
from candide.model.evaluation import Bin
from candide.model.quality import Point, Quality
from candide.show.pictures import theme
from candide.show.pictures.confusion import confusion
from candide.show.pictures.data_behind import BARS, LEAST_SPREAD, bars_of
from candide.show.pictures.features import feature
from candide.show.pictures.gallery import PICTURES, PictureRequest
from candide.show.pictures.informative import telling
from candide.show.pictures.lettering import apart, lettered
from candide.show.pictures.nomogram import directions, nomogram
from candide.show.pictures.own_curve import own_curve
from candide.show.pictures.ranking_curves import precision_recall_curves, roc_curves
from candide.show.pictures.reliability import reliability
from candide.show.pictures.scales import Scale, Scales
from candide.show.pictures.subject import Subject
from candide.show.report.panel import Panel
from candide.statistics.cells import FINEST_LEVEL, Cells

matplotlib = pytest.importorskip("matplotlib")
ORCHARD = Path(__file__).parents[1] / "examples" / "orchard.csv"
RNG = np.random.default_rng(2004)
HOSTILE = [
    "<img src=x onerror=alert(1)>", "$x$ \\frac{1}{2}", "\\n", "😀 emoji", "果物の名前", "שלום עולם", "a\x00b\x1b[31m",
    "w" * 500, "", " ", "&amp;", "%s {0}", "\u202ertl",
]  # fmt: skip


@pytest.fixture(scope="module")
def orchard() -> NaiveBayes:
    return NaiveBayes.of(fit(ORCHARD, "fruit").trained)


def subject_of(model: NaiveBayes) -> Subject:
    return Subject.of(model.predictor_, model.trained_.label)


def words_of(svg: str) -> str:
    return " ".join(text for text in ET.fromstring(svg).itertext() if text.strip())


def words_in(figure) -> str:
    return words_of(theme.as_svg(figure))


def mixed(rows: int = 240) -> dict[str, list]:
    y = np.arange(rows) % 3
    return {
        "height": (RNG.normal(size=rows) * (1 + y) + y).tolist(),
        "waiting": RNG.gamma(2.0, 1.0 + y).tolist(),
        "visits": RNG.poisson(2 + 3 * y).tolist(),
        "colour": RNG.choice(["red", "green", "blue", "grey"], rows).tolist(),
        "paid": (RNG.random(rows) < 0.2 + 0.3 * y).tolist(),
        "level": RNG.normal(size=rows).tolist(),
        "y": [f"class {label}" for label in y],
    }


FAMILIES = {
    "height": "gaussian", "waiting": "gamma", "visits": "poisson", "colour": "categorical", "paid": "bernoulli",
    "level": "histogram",
}  # fmt: skip


def fitted(calibrate: bool) -> NaiveBayes:
    return NaiveBayes(families=FAMILIES, calibrate=calibrate).fit(mixed(), "y")


def inside(profile: Profile, index: int):
    """The value of a row that stands at a place of a profile."""
    if profile.kind == STEPS:
        return float(profile.points[index] + profile.widths[index] / 2)
    if profile.kind == VALUES:
        value = profile.points[index]
        return {"yes": True, "no": False}[value] if profile.column in ("paid",) else value
    return float(profile.points[index])


@pytest.mark.parametrize("calibrate", [True, False])
@pytest.mark.parametrize(("of", "against"), [(None, None), ("class 2", None), ("class 0", "class 2")])
def test_the_points_of_a_nomogram_add_up_to_the_reported_log_odds(calibrate, of, against):
    model = fitted(calibrate)
    subject = subject_of(model)
    scales = Scales.of(subject, of, against)
    one, other = subject.pair(of, against)
    assert len(scales.scales) >= 4
    assert max(scale.points.max() for scale in scales.scales) == pytest.approx(100)
    for _ in range(20):
        row, total = {name: None for name in FAMILIES}, 0.0
        for scale in scales.scales:
            chosen = int(RNG.integers(len(scale.labels)))
            if RNG.random() < 0.2:
                total += scale.unknown
                continue
            profile = subject.profile(scale.name)
            evidence = profile.factor * (profile.table[:, one] - profile.table[:, other])
            index = int(np.flatnonzero(np.isclose(evidence, scale.evidence[chosen], rtol=1e-12, atol=1e-12))[0])
            row[scale.name] = inside(profile, index)
            total += scale.points[chosen]
        known = model.predict_log_proba({name: [value] for name, value in row.items()})[0]
        if any(subject.profile(name).factor and value is not None for name, value in row.items()):  # else: the prior
            assert float(scales.log_odds(total)) == pytest.approx(known[one] - known[other], abs=1e-9)
        assert float(scales.total(scales.log_odds(total))) == pytest.approx(total, abs=1e-6)


MAILS = ["win a prize now", "claim your prize prize", "see you at noon", "lunch at noon", "win win money", "my lunch"]
KINDS = ["spam", "spam", "ham", "ham", "spam", "ham"]


@pytest.mark.parametrize("options", [
    TextOptions(), TextOptions(weighting="presence"), TextOptions(weighting="presence", model="bernoulli"),
    TextOptions(idf=True), TextOptions(model="complement"), TextOptions(model="poisson"),
])  # fmt: skip
def test_the_words_of_a_nomogram_add_up_too(options):
    model = NaiveBayes({"mail": "text"}, text=options, calibrate=False).fit({"mail": MAILS, "y": KINDS}, "y")
    scales = Scales.of(subject_of(model))
    assert not scales.usual
    for _ in range(10):
        times = [int(RNG.integers(len(scale.labels))) for scale in scales.scales]
        words = [scale.name.strip("“”") for scale in scales.scales for _ in range(times[scales.scales.index(scale)])]
        if not words:
            continue
        total = sum(scale.points[count] for scale, count in zip(scales.scales, times, strict=True))
        known = model.predict_log_proba({"mail": [" ".join(words)]})[0]
        assert float(scales.log_odds(total)) == pytest.approx(known[1] - known[0], abs=1e-9)


def boxes(axes) -> list:
    renderer = axes.figure.canvas.get_renderer()
    return [text.get_window_extent(renderer) for text in axes.texts if text.get_text()]


def overlap(one, other) -> bool:
    return one.x0 < other.x1 and other.x0 < one.x1 and one.y0 < other.y1 and other.y0 < one.y1


@pytest.mark.parametrize("which", ["orchard", "mixed", "long names"])
def test_no_two_labels_of_a_nomogram_meet(orchard, which):
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    if which == "long names":
        cities = [f"{name}-on-the-river {index}" for index in range(9) for name in ("Llan", "Stratford", "Ypres")]
        rows = {"city": [cities[i % 27] for i in range(200)], "n": RNG.poisson(40, 200).tolist()}
        model = NaiveBayes(families={"city": "categorical", "n": "poisson"}).fit(
            {**rows, "y": [int(city[0] == "L") for city in rows["city"]]}, "y"
        )
    else:
        model = orchard if which == "orchard" else fitted(True)
    figure = nomogram(subject_of(model))
    with theme.styled():
        FigureCanvasAgg(figure).draw()
        for axes in figure.axes:
            found = boxes(axes)
            assert found
            for index, one in enumerate(found):
                for other in found[:index]:
                    assert not overlap(one, other)


def test_evidence_that_turns_has_a_stretch_for_each_direction():
    indices = np.linspace(-3, 3, 200)
    valley = Scale("x", ("",) * 200, indices, indices**2, np.ones(200), smooth=True, low=0.0, unit=0.09)
    down, up = directions(valley)
    assert (np.diff(valley.points[down]) < 0).all()
    assert (np.diff(valley.points[up]) > 0).all()
    assert down[0] == 0
    assert up[-1] == 199
    assert len(directions(Scale("x", ("",) * 200, indices, indices, np.ones(200), True, low=-3.0, unit=0.06))) == 1


def test_a_nomogram_sets_two_classes_against_each_other(orchard):
    subject = subject_of(orchard)
    assert "pear rather than plum" in words_in(nomogram(subject, "pear", "plum"))
    with pytest.raises(OptionRefused, match=r"no class 'bear'. Did you mean 'pear'\?"):
        nomogram(subject, "bear")
    with pytest.raises(OptionRefused, match="cannot be set against itself"):
        nomogram(subject, "pear", "pear")
    two = NaiveBayes(calibrate=False).fit({"x": ["a", "b"] * 5, "y": ["no", "yes"] * 5}, "y")
    assert subject_of(two).pair() == (1, 0)
    with pytest.warns(UserWarning, match="only one class"):
        alone = NaiveBayes(calibrate=False).fit({"x": ["a", "b"] * 5, "y": ["yes"] * 10}, "y")
    with pytest.raises(OptionRefused, match="only one class"):
        nomogram(subject_of(alone))


def a_subject(kind: str, classes: int = 2, indices: int = 30, name: str = "x") -> Subject:
    prior = np.arange(1.0, classes + 1)
    prior /= prior.sum()
    table = np.log(RNG.dirichlet(np.ones(indices), classes).T)
    numbers = np.arange(indices, dtype=float)
    where = numbers if kind in (CURVE, STEPS, COUNTS) else tuple(f"{name} {index}" for index in range(indices))
    widths = np.ones(indices) if kind in (CURVE, STEPS) else None
    profile = Profile(name, kind, where, table, widths, information=0.5, vocabulary=indices)
    return Subject(tuple(f"{name} {c}" for c in range(classes)), prior, np.log(prior), (profile,), "label")


@pytest.mark.parametrize("classes", [1, 2, 3, 9])
@pytest.mark.parametrize("kind", [CURVE, STEPS, COUNTS, VALUES, EVENTS])
def test_every_kind_of_feature_is_drawn_for_any_number_of_classes(kind, classes):
    said = words_in(feature(a_subject(kind, classes), "x"))
    if classes == 9:
        assert "the 6 commonest of 9 classes" in said
        assert "x 8" in said
    if kind == VALUES:
        assert "18 rarer values" in said


@pytest.mark.parametrize("kind", [CURVE, STEPS, COUNTS, VALUES, EVENTS])
def test_a_feature_with_one_place_is_drawn(kind):
    assert words_in(feature(a_subject(kind, 2, 1), "x"))


@pytest.mark.parametrize(("kind", "hostile"), [*zip([CURVE, VALUES, EVENTS] * 5, HOSTILE, strict=False)])
def test_whatever_names_say_they_stay_text_and_nothing_is_complained_about(kind, hostile):
    """Of columns, classes and values; each name in a picture of one of the kinds."""
    subject = a_subject(kind, 3, 4, hostile)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for figure in (feature(subject, hostile), telling(subject), *([] if kind == EVENTS else [nomogram(subject)])):
            tree = ET.fromstring(theme.as_svg(figure))
            assert {node.tag.rpartition("}")[2] for node in tree.iter()} <= {
                "svg", "g", "path", "text", "defs", "use", "clipPath", "rect", "style", "tspan"
            }  # fmt: skip
            start = lettered(hostile, 10).rstrip("…").strip()
            assert start in " ".join(text for text in tree.itertext())
        figure.set_layout_engine("none")  # it is laid out already
        theme.as_png(figure)


def test_long_names_end_in_an_ellipsis_and_stay_apart():
    assert lettered("x" * 500, 20) == "x" * 19 + "…"
    assert len(lettered("果" * 500, 20)) < 13
    assert lettered("short") == "short"
    names = apart(["w" * 40 + "a", "w" * 40 + "b", "w" * 40 + "a"], 12)
    assert names[0] == names[2] != names[1]
    assert max(map(len, names)) <= 12


def measured(classes: int = 2, empty: bool = False) -> Quality:
    names = tuple(f"class {c}" for c in range(classes))
    table = RNG.integers(0, 5, (classes, classes)) + 40 * np.eye(classes, dtype=np.int64)
    bins = tuple(
        Bin(k / 15, (k + 1) / 15, 0 if k < 7 else 20, 0 if k < 7 else k + 4, 0.0 if k < 7 else 20 * (k + 0.5) / 15)
        for k in range(15)
    )
    curve = () if empty else tuple(Point(n, 50, 0.6 + n / 3000, 0.5 - n / 5000) for n in (20, 80, 300, 1000))
    return Quality("leave-one-out", "y", names, names, table, 0.3, 0.2, bins, raw_log_loss=0.4, curve=curve)


def test_confusion_has_counts_and_shares_or_the_most_confused():
    small = measured(3)
    said = words_in(confusion(small))
    for count in small.confusion.ravel():
        assert f"{count:,}" in said
    assert "%" in said
    large = theme.as_svg(confusion(measured(50)))
    assert "The 20 most confused of 50 classes" in words_of(large)
    assert "%" not in words_of(large)
    assert len(large) < 150_000


def test_a_label_that_was_never_learned_has_a_row_and_no_column():
    found = measured(2)
    table, truths = np.vstack([found.confusion, [3, 4]]), (*found.classes, "zebra")
    wider = Quality("rows given", "y", found.classes, truths, table, 0.3, 0.2, found.reliability)
    assert "zebra" in words_in(confusion(wider))


def test_reliability_and_the_learning_curve_say_what_they_show():
    said = words_in(reliability(measured()))
    for words in ("probability of the answer", "calibration error", "share that is right", "rows", "leave-one-out"):
        assert words in said
    said = words_in(own_curve(measured()))
    for words in ("Accuracy", "Log loss", "rows learned", "1,000", "always the commonest"):
        assert words in said


def test_curves_of_ranking_name_their_classes_and_areas(orchard):
    found = orchard.trained_.tuning.quality
    for drawn, area in ((roc_curves, "roc_area"), (precision_recall_curves, "average_precision")):
        said = words_in(drawn(found))
        assert "cross-fitted" in said
        for one in found.ranking:
            assert one.name in said
            assert f"{getattr(one, area):.3f}" in said
    with pytest.raises(OptionRefused, match="How well rows are ranked is not known"):
        PICTURES["roc"](PictureRequest(subject_of(orchard), measured()))


def test_the_most_telling_feature_comes_first(orchard):
    subject = subject_of(orchard)
    said = words_in(telling(subject))
    first, second = (profile.column for profile in subject.ranked[:2])
    assert said.index(first) < said.index(second)
    with pytest.raises(ColumnRefused, match=r"Did you mean 'colour'\?"):
        feature(subject, "color")


@pytest.mark.parametrize("picture", ["nomogram", "telling", "reliability", "confusion", "learning_curve"])
def test_plot_gives_every_picture_by_its_name(orchard, picture, tmp_path):
    figure = orchard.plot(picture)
    assert theme.as_svg(figure) == theme.as_svg(orchard.plot(picture))
    figure.set_layout_engine("none")  # it is laid out already
    theme.save_figure(figure, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes()[:4] == b"\x89PNG"


def test_plot_helps_where_it_cannot(orchard):
    assert "weight_g" in words_in(orchard.plot("feature", "weight_g"))
    with pytest.raises(OptionRefused, match=r"no picture 'nomogramm'. Did you mean 'nomogram'\?"):
        orchard.plot("nomogramm")
    with pytest.raises(OptionRefused, match="needs its name"):
        orchard.plot("feature")
    with pytest.raises(OptionRefused, match="is for the picture of a feature"):
        orchard.plot("telling", "weight_g")
    with pytest.raises(OptionRefused, match="are for the nomogram"):
        orchard.plot("telling", of="pear")
    plain = NaiveBayes(calibrate=False).fit({"x": ["a", "b"] * 5, "y": ["no", "yes"] * 5}, "y")
    for picture in ("reliability", "confusion"):
        with pytest.raises(OptionRefused, match="keeps no measure of how good"):
            plain.plot(picture)
    with pytest.raises(OptionRefused, match="keeps no learning curve"):
        plain.plot("learning_curve")


# The rows behind a curve.


def ages(rows: int = 400) -> dict[str, np.ndarray]:
    return {"age": np.random.default_rng(7).gamma(2.0, 15.0, rows).round(), "y": np.arange(rows) % 2}


def drawn_ends(figure) -> tuple[float, float]:
    lines = [line.get_xdata() for line in figure.axes[0].lines]
    return min(line.min() for line in lines), max(line.max() for line in lines)


def as_bell(model: NaiveBayes) -> tuple[Subject, Subject]:
    """Ages as a bell, as the rows are known by their cells, and as they are known by nothing but sums."""
    bell = NaiveBayes("gaussian", calibrate=False).fit(ages(), "y")
    plain = Subject.of(bell.predictor_)
    return replace(plain, cells=model.predictor_.cells), plain


def test_a_bell_of_ages_is_not_drawn_where_there_are_none():
    known, unknown = as_bell(NaiveBayes(calibrate=False).fit(ages(), "y"))
    assert drawn_ends(feature(unknown, "age"))[0] < 0
    low, high = drawn_ends(feature(known, "age"))
    assert 0 <= low < high < 1.2 * ages()["age"].max()
    assert len(feature(known, "age").axes[0].patches) == 2
    assert not feature(unknown, "age").axes[0].patches


def test_rows_behind_curves_change_nothing_that_is_added_up(orchard):
    subject = subject_of(orchard)
    without = replace(subject, cells={})
    assert subject.cells
    assert Panel.of(subject).to_json() == Panel.of(without).to_json()
    assert theme.as_svg(nomogram(subject, "pear", "plum")) == theme.as_svg(nomogram(without, "pear", "plum"))
    assert theme.as_svg(feature(subject, "weight_g")) != theme.as_svg(feature(without, "weight_g"))


numbers = st.lists(st.one_of(st.integers(-50, 50).map(float), st.floats(-1e9, 1e9), st.floats(-2, 2)), min_size=1)


@settings(deadline=None)
@given(numbers, st.integers(12, FINEST_LEVEL))
def test_bars_hold_every_number_once(values, level):
    labels = np.arange(len(values)) % 2
    cells = Cells.of(np.array(values), labels, classes=2, level=level)
    bars = bars_of(cells, -np.inf, np.inf)
    if bars is None:
        assert len(cells) == 1 or np.ptp(values) <= LEAST_SPREAD
        return
    assert 1 <= len(bars.density) <= BARS + 1
    assert (bars.density >= 0).all()
    held = (bars.density * np.diff(bars.edges)[:, None]).sum(axis=0)
    assert held == pytest.approx((np.bincount(labels, minlength=2) > 0).astype(float), abs=1e-6)


def test_bars_of_whole_numbers_hold_equally_many_of_them():
    values = np.repeat(np.arange(1.0, 101.0), 5)
    bars = bars_of(Cells.of(values, np.zeros(500, np.int64), classes=1), 0.0, 200.0)
    assert np.ptp(bars.density[:-1]) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("values", [[5.0] * 20, [-1.7e308, 1.7e308] * 10, [0.0, 5e-324] * 10, [1e16, 1e16 + 2] * 10])
def test_odd_columns_can_be_drawn_with_their_rows(values):
    cells = Cells.of(np.array(values), np.arange(20) % 2, classes=2)
    profile = Profile("x", CURVE, np.linspace(-3, 3, 50), np.zeros((50, 2)), np.full(50, 0.1))
    half = np.array([0.5, 0.5])
    subject = Subject(("a", "b"), half, np.log(half), (profile,), cells={"x": cells})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "x" in words_in(feature(subject, "x"))
