"""Comparison: the same rows for every method, curves that repeat, crossings that are no noise, pictures that open."""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as ET
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from candide import NaiveBayes, compare
from candide.data.batch import Batch
from candide.data.errors import CandideError, LabelsRefused, OptionRefused, RowsRefused
from candide.evaluation.comparison import Contest, CurvePoint, Duel, draws
from candide.evaluation.comparison.columns import ColumnKinds
from candide.evaluation.comparison.discriminative import Encoding
from candide.evaluation.comparison.draws import Draws, sizes_up_to
from candide.evaluation.comparison.generative import fit_as_guessed, linear
from candide.evaluation.comparison.methods import Method
from candide.evaluation.comparison.one_dependence import OneDependence, why_no_one_dependence
from candide.show.pictures import theme
from commands import candide

ROOT = Path(__file__).parents[1]
ORCHARD = ROOT / "examples" / "orchard.csv"
RNG = np.random.default_rng(2001)
FEW = {"rows": 40, "folds": 2}


def numbers(rows: int = 60) -> dict[str, list]:
    label = np.arange(rows) % 2
    height = RNG.normal(size=rows) + 2 * label
    return {"height": height.tolist(), "width": RNG.normal(size=rows).tolist(), "y": label.tolist()}


def mixed() -> dict[str, list]:
    rows = numbers()
    rows["height"][3] = None
    rows["colour"] = [["red", "green", None][(index + y) % 3] for index, y in enumerate(rows["y"])]
    return rows


def texts() -> dict[str, list]:
    words = {"spam": "win a prize now money", "ham": "see you at lunch today"}
    labels = ["spam", "ham"] * 30
    said = [" ".join(RNG.choice(words[label].split(), 4)) + f" word{index}" for index, label in enumerate(labels)]
    return {"mail": said, "y": labels}


TABLES = {"numbers": numbers(), "mixed": mixed(), "text": texts()}
BELLS = ["linear naive Bayes", "A1DE", "GDA, shared covariance", "GDA, full covariance"]
REGRESSIONS = ["logistic regression", "plain logistic regression"]
EXPECTED = {
    "numbers": ["naive Bayes", "plain naive Bayes", *BELLS, *REGRESSIONS],
    "mixed": ["naive Bayes", "plain naive Bayes", *BELLS, *REGRESSIONS],
    "text": ["naive Bayes", "plain naive Bayes", "logistic regression", "linear SVM"],
}


def batch_of(table: dict[str, list]) -> Batch:
    return Batch.of({name: values for name, values in table.items() if name != "y"}, table["y"])


@contextmanager
def few_draws():
    """Each size is drawn twice from each fold, not eight times: enough where no curve has to be smooth."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(draws, "DRAWS", ((999, 2),))
        yield


@pytest.fixture(scope="module", params=TABLES)
def kind(request):
    return request.param


@pytest.fixture(scope="module")
@few_draws()
def found():
    return compare(ORCHARD, "fruit", **FEW)


@pytest.fixture(scope="module")
def contest(kind):
    return Contest.of(batch_of(TABLES[kind]), folds=2)


@pytest.fixture(scope="module")
def compared(contest):
    with few_draws():
        return contest.run()


def test_methods_suit_the_columns(kind, compared):
    assert [method.name for method in compared.methods] == EXPECTED[kind]
    for method in compared.methods:
        assert 0.5 <= method.best.accuracy <= 1
        assert method.fit_seconds > 0
        assert method.predict_seconds > 0
        assert [point.rows for point in method.curve] == list(compared.sizes)
        given = (method.best.log_loss, method.best.log_loss_error, method.calibration_error)
        assert all(value is None for value in given) == (method.name == "linear SVM")
    for words in ("discriminant analysis is left out", "A1DE is left out"):
        assert any(words in note for note in compared.notes) == (kind == "text")


@few_draws()
def test_equal_rows_and_seed_give_an_equal_comparison_in_any_order(kind, contest, compared):
    batch = batch_of(TABLES[kind])
    shuffled = batch.take(np.random.default_rng(1).permutation(len(batch)))
    assert Contest.of(shuffled, folds=2).run() == compared
    alone, other = (replace(one, methods=one.methods[1:2]) for one in (contest, Contest.of(batch, folds=2, seed=1)))
    assert alone.run() != other.run()


def test_every_method_learns_and_judges_the_same_rows():
    seen: dict[str, list] = {"first": [], "second": []}

    class Watched:
        def __init__(self, name: str, batch: Batch):
            self.name, self.classes = name, batch.labels.keys
            seen[name].append(batch.numbers(["height"]).tolist())

        def log_posterior(self, batch: Batch):
            seen[self.name].append(batch.numbers(["height"]).tolist())
            return np.log(np.full((len(batch), len(self.classes)), 1 / len(self.classes)))

    contest = Contest.of(batch_of(TABLES["numbers"]))
    methods = [Method(name, "", lambda batch, name=name: Watched(name, batch)) for name in seen]
    replace(contest, methods=methods).run()
    assert seen["first"] == seen["second"]
    assert len(seen["first"]) > 2 * 5 * 3


def test_draws_are_nested_fair_and_never_of_the_rows_they_are_judged_by():
    labels = np.array([0] * 150 + [1] * 45 + [2] * 5)
    dealt = Draws.of(Batch.of({"x": np.arange(200.0)}, labels), 5, seed=3)
    by_fold: dict[int, list] = {}
    for draw in dealt:
        assert not set(draw.learned) & set(draw.tested)
        assert len(draw.learned) == draw.size
        assert set(labels[draw.learned]) == {0, 1, 2}
        if draw.size > 50:
            assert abs(np.mean(labels[draw.learned] == 0) - 0.75) < 0.03
        by_fold.setdefault(draw.fold, []).append(draw)
    assert sorted(np.concatenate([one[0].tested for one in by_fold.values()])) == list(range(200))
    for one in by_fold.values():
        for small in (draw for draw in one if draw.size == dealt.sizes[0]):
            larger = [set(draw.learned) for draw in one if draw.size == dealt.sizes[1]]
            assert any(set(small.learned) <= rows for rows in larger)
    assert dealt.amount == sum(draw.size for draw in dealt)


@pytest.mark.parametrize(("largest", "classes"), [(4, 2), (16, 2), (100, 2), (16_000, 2), (500, 150), (40, 30)])
def test_sizes_grow_from_few_rows_to_all(largest, classes):
    sizes = sizes_up_to(largest, classes)
    assert list(sizes) == sorted(set(sizes))
    assert sizes[-1] == largest
    assert sizes[0] >= min(10, largest)
    assert len(sizes) <= 8


SIZES = (10, 100, 1000, 10_000)


def duel(*leads: float, error: float = 0.01) -> Duel:
    return Duel("naive Bayes", "logistic regression", SIZES, leads, (error,) * 4, (5,) * 4)


def test_curves_that_cross_once():
    found = duel(0.1, 0.05, -0.05, -0.1)
    assert found.crossings == (pytest.approx(10**2.5),)
    assert found.sentence == "naive Bayes is ahead up to about 320 rows, logistic regression from there on."


def test_curves_that_cross_within_noise_do_not_cross():
    wavering = duel(0.1, -0.01, 0.01, 0.1)
    assert wavering.crossings == ()
    assert "at some sizes from 10 to 10,000 rows, and nowhere clearly behind" in wavering.sentence
    assert duel(0.01, -0.01, 0.02, -0.02).sentence.endswith("are too close to tell apart at every size.")
    assert duel(0.1, 0.1, -0.01, -0.02).crossings == ()
    assert "up to 100 rows; beyond that" in duel(0.1, 0.1, -0.01, -0.02).sentence
    assert "from 1,000 rows on; below that" in duel(0.0, 0.0, -0.1, -0.1).sentence
    assert "at 100 rows; elsewhere" in duel(0.0, 0.1, 0.0, 0.0).sentence


def test_noise_between_two_clear_leads_moves_the_crossing_to_the_last_meeting():
    found = duel(0.1, -0.001, 0.001, -0.1)
    assert 1000 < found.crossings[0] < 1100


def test_curves_that_cross_twice():
    found = duel(-0.1, 0.1, 0.1, -0.1)
    assert len(found.crossings) == 2
    assert found.sentence == (
        "logistic regression is ahead up to about 32 rows, naive Bayes up to about 3,200, "
        "logistic regression from there on."
    )


def test_curves_that_never_cross_and_equal_ones():
    assert duel(-0.1, -0.1, -0.1, -0.1).sentence.endswith("from 10 to 10,000 rows: the curves do not cross.")
    assert duel(-0.1, -0.1, -0.1, -0.1).sentence.startswith("logistic regression is ahead of naive Bayes from 10 to")
    assert duel(0.0, 0.0, 0.0, 0.0, error=0.0).leads == (0, 0, 0, 0)


def test_the_fewer_repeats_the_clearer_a_lead_must_be():
    few, many = ((repeats,) * 4 for repeats in (2, 50))
    leads = (0.03, 0.03, 0.03, 0.03)
    assert Duel("a", "b", SIZES, leads, (0.01,) * 4, few).leads == (0, 0, 0, 0)
    assert Duel("a", "b", SIZES, leads, (0.01,) * 4, many).leads == (1, 1, 1, 1)


def test_leads_are_measured_draw_by_draw():
    ours, theirs = np.array([0.9, 0.5, 0.7]), np.array([0.88, 0.48, 0.68])
    found = Duel.of("a", "b", (10,), [ours], [theirs])
    assert found.leads == (1,)
    assert found.differences[0] == pytest.approx(0.02)


def test_ng_and_jordan_on_rows_made_for_it():
    """Copies that naive Bayes counts as if they were news, and noise that logistic regression learns by heart."""
    rng = np.random.default_rng(5)
    label = np.arange(600) % 2
    told = rng.normal(size=(600, 4)) + label[:, None]
    copies = told[:, :1] + 0.2 * rng.normal(size=(600, 8))
    contest = Contest.of(Batch.of(np.hstack([told, copies, rng.normal(size=(600, 24))]), label), folds=3)
    pair = [m for m in contest.methods if m.name in ("linear naive Bayes", "plain logistic regression")]
    (found,) = replace(contest, methods=pair).run().duels
    assert len(found.crossings) == 1
    assert found.sentence.startswith("linear naive Bayes is ahead up to about")


def test_plain_is_naive_bayes_without_choices():
    batch = batch_of(TABLES["mixed"])
    learned = NaiveBayes(families="guess", smoothing="default", calibrate=False)
    few = batch.rows(0, 40)
    learned.fit({name: few.columns.raw(few.position(name)) for name in few.names}, few.labels)
    ours = fit_as_guessed(ColumnKinds.of(few), few).log_posterior(batch)
    rows = {name: batch.columns.raw(batch.position(name)) for name in batch.names}
    np.testing.assert_allclose(ours, learned.predict_log_proba(rows), atol=1e-12)


def test_linear_naive_bayes_has_straight_log_odds():
    batch = batch_of(TABLES["numbers"])
    fitted = linear(ColumnKinds.of(batch), batch)
    line = np.column_stack([np.linspace(-3, 3, 7), np.linspace(2, -1, 7)])
    odds = fitted.log_posterior(Batch.of({"height": line[:, 0], "width": line[:, 1]}))
    steps = np.diff(odds[:, 1] - odds[:, 0])
    np.testing.assert_allclose(steps, steps[0])


def slowly_averaged(columns: tuple[str, ...], learned: Batch, row: dict[str, object]) -> dict[object, float]:
    """P(class | row) by A1DE as in the paper, of categories, None being missing."""
    table = list(zip(*(learned.columns.raw(learned.position(name)).to_pylist() for name in columns), strict=True))
    labels = [learned.labels.keys[code] for code in learned.labels.codes]
    values = [sorted({cells[index] for cells in table} - {None}) for index in range(len(columns))]
    own = [row[name] if row[name] in values[index] else None for index, name in enumerate(columns)]
    classes = sorted(set(labels))
    joint = {}
    for label in classes:
        of_parents = []
        for parent, given in enumerate(own):
            if given is None:
                continue
            known = sum(cells[parent] is not None for cells in table)
            rows = [c for c, y in zip(table, labels, strict=True) if y == label and c[parent] == given]
            chance = (len(rows) + 1 / (len(values[parent]) * len(classes))) / (known + 1)
            for index, value in enumerate(own):
                if value is not None and index != parent:
                    held = [cells[index] for cells in rows if cells[index] is not None]
                    chance *= (held.count(value) + 1 / len(values[index])) / (len(held) + 1)
            of_parents.append(chance)
        prior = (labels.count(label) + 1 / len(classes)) / (len(labels) + 1)
        joint[label] = np.mean(of_parents) if of_parents else prior
    return {label: chance / sum(joint.values()) for label, chance in joint.items()}


def test_one_dependence_is_the_formula_of_its_paper():
    rng = np.random.default_rng(9)
    table = {name: rng.choice(np.array([*"abc", None]), 40).tolist() for name in ("one", "two", "three")}
    learned = Batch.of(table, rng.choice([*"xyz"], 40).tolist())
    fitted = OneDependence.of(ColumnKinds.of(learned), learned)
    new = {name: [*rng.choice(np.array([*"abc", None, "never"]), 30), None] for name in table}
    for index, found in enumerate(np.exp(fitted.log_posterior(Batch.of(new)))):
        expected = slowly_averaged(tuple(table), learned, {name: cells[index] for name, cells in new.items()})
        np.testing.assert_allclose(found, [expected[key] for key in fitted.classes], rtol=1e-12)


def test_one_dependence_sees_what_two_columns_say_together():
    rng = np.random.default_rng(10)
    cells = rng.normal(size=(400, 2))
    batch = Batch.of(cells, (cells[:, 0] * cells[:, 1] > 0).astype(int))
    fitted = OneDependence.of(ColumnKinds.of(batch), batch.rows(0, 300))
    right = fitted.log_posterior(batch.rows(300, 400)).argmax(axis=1) == batch.labels.codes[300:]
    assert right.mean() > 0.8


def test_one_dependence_is_left_out_where_columns_are_too_many():
    wide = ColumnKinds.of(Batch.of(RNG.normal(size=(20, 101))))
    assert why_no_one_dependence(wide, 2).endswith("With 2 classes 100 are affordable.")
    assert "101 columns" in why_no_one_dependence(wide, 2)


def test_rows_become_a_matrix_by_hand():
    rows = Batch.of({"n": [1.0, 3.0, None, 2.0], "c": ["a", "b", None, "c"], "two": ["x", "y", "x", "y"]})
    encoding = Encoding.of(ColumnKinds.of(rows), rows)
    new = Batch.of({"n": [3.0, None, np.inf], "c": ["c", "never", None], "two": ["y", "x", "z"]})
    third = np.sqrt(1.5)
    assert encoding.matrix(new).toarray().tolist() == [
        [pytest.approx(third), 0, 0, 1, 0, 1],
        [0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 1, 0],
    ]


@few_draws()
def test_a_column_ignored_is_ignored_by_all():
    table = {**TABLES["numbers"], "id": [f"row {index}" for index in range(60)]}
    found = compare(table, "y", folds=2, families={"id": "ignore"})
    assert found == compare(TABLES["numbers"], "y", folds=2)


def test_numbers_said_to_be_categories_are_categories():
    batch = Batch.of({"grade": [1, 2, 3, 4] * 10, "y": [0.5, 1.5] * 20})
    assert ColumnKinds.of(batch).numbers == ("grade", "y")
    assert ColumnKinds.of(batch, {"grade": "categorical"}).categories == ("grade",)


def test_plain_data_holds_everything(found):
    data = json.loads(json.dumps(found.to_dict()))
    assert data["label"] == "fruit"
    assert data["classes"] == ["apple", "pear", "plum", "quince"]
    assert (data["rows"], data["folds"], data["seed"]) == (40, 2, 0)
    for method in data["methods"]:
        assert {"accuracy", "accuracy_error", "log_loss", "calibration_error", "fit_seconds", "predict_seconds"} <= {
            *method
        }
        assert [point["rows"] for point in method["curve"]] == data["sizes"]
        assert CurvePoint(**method["curve"][-1]).accuracy == method["accuracy"]
    assert len(data["crossings"]) == 3 * 2
    assert all(len(one["ahead"]) == len(data["sizes"]) for one in data["crossings"])


def test_people_read_tables_and_sentences(found):
    said = str(found)
    assert "8 methods on 40 rows in 2 folds" in said
    for words in ("calibration", "±", "linear naive Bayes", "plain logistic regression", "too close to tell apart"):
        assert words in said


def test_of_many_rows_some_are_picked_and_that_is_said(found):
    assert found.rows == 40
    assert "Compared on 40 of 600 rows, picked by chance. More take longer: rows=..." in found.notes


@few_draws()
def test_progress_is_told():
    told: list[tuple[str, int, int]] = []

    class Watching:
        def __init__(self, work, size):
            self.work, self.size, self.done = work, size, 0

        def __enter__(self):
            return self.advance

        def advance(self, amount):
            self.done += amount

        def __exit__(self, *_):
            told.append((self.work, self.size.amount, self.done))

    compare(TABLES["text"], "y", folds=2, watch=Watching)
    (reading, _, read), (comparing, amount, done) = told
    assert (reading, read) == ("Reading", 60)
    assert (comparing, done) == ("Comparing 4 methods", amount)


REFUSED = {
    "few rows": ({"x": [1, 2] * 5, "y": ["a", "b"] * 5}, "y", {}, RowsRefused, "10 rows are too few to compare"),
    "one class": ({"x": [1, 2] * 20, "y": ["a", "a"] * 20}, "y", {}, LabelsRefused, "only one class"),
    "a lone row": ({"x": [1.5] * 40, "y": ["a"] * 39 + ["b"]}, "y", {}, LabelsRefused, "only 'a' has more than one"),
    "every row a class": ({"x": [1.5] * 40, "y": [*range(40)]}, "y", {}, LabelsRefused, "each has only one row"),
    "no label": (TABLES["numbers"], None, {}, LabelsRefused, "Which column is to be learned"),
    "misspelt": ({"x": [1] * 40, "kind": ["a", "b"] * 20}, "knid", {}, CandideError, "Did you mean 'kind'"),
    "numbers": ({"x": [1] * 40, "y": [0.5, 1.5] * 20}, "y", {}, LabelsRefused, "a label is a class"),
    "no columns": (TABLES["text"], "y", {"families": {"mail": "ignore"}}, RowsRefused, "no column to learn from"),
    "one fold": (TABLES["text"], "y", {"folds": 1}, OptionRefused, "from 2 to half the rows"),
    "no rows": (TABLES["text"], "y", {"rows": 0}, OptionRefused, "a whole number from 1 up"),
    "a kind of picture": (TABLES["text"], "y", {"output": "curves.gif"}, OptionRefused, "Known names: 'svg', 'png'"),
    "no such folder": (TABLES["text"], "y", {"output": "nowhere/curves.svg"}, CandideError, "folder does not exist"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_compared_is_said_in_a_sentence(case):
    data, label, options, refusal, sentence = REFUSED[case]
    with pytest.raises(refusal, match=sentence.replace("(", r"\(")):
        compare(data, label, **options)


CALL = ("compare", ORCHARD, "--label", "fruit", "--rows", "20", "--folds", "2")


def test_the_command_shows_tables_and_draws(tmp_path):
    pytest.importorskip("matplotlib")
    done = candide(*CALL, "-o", tmp_path / "curves.png", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    for words in ("8 methods on 20 rows in 2 folds", "Who is ahead", "±", "Compared on 20 of 600", "longer: --rows."):
        assert words in done.stdout
    assert "rows=" not in done.stdout
    assert max(map(len, done.stdout.split("Who is ahead")[0].splitlines())) <= 80
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")


def test_the_command_gives_json(tmp_path):
    done = candide(*CALL, "--format", "json", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    data, found = json.loads(done.stdout), compare(ORCHARD, "fruit", rows=20, folds=2)
    assert [method["curve"] for method in data["methods"]] == [m.to_dict()["curve"] for m in found.methods]


def test_without_matplotlib_a_sentence_and_no_work_in_vain(tmp_path, monkeypatch):
    for name in {"matplotlib", *sys.modules}:
        if name.split(".")[0] == "matplotlib":
            monkeypatch.setitem(sys.modules, name, None)
    few = {"label": "fruit", "rows": 20, "folds": 2}
    with pytest.raises(CandideError, match="drawn by matplotlib, which is not installed: pip install 'candide"):
        compare(ORCHARD, **few, output=tmp_path / "curves.svg", watch=pytest.fail)
    assert not (tmp_path / "curves.svg").exists()
    assert len(compare(ORCHARD, **few).methods) == 8


def drawn(found, **changed):
    pytest.importorskip("matplotlib")
    from candide.show.pictures.learning_curves import learning_curves

    return learning_curves(replace(found, **changed))


def words_in(svg: str) -> str:
    return " ".join(text for text in ET.fromstring(svg).itertext() if text.strip())


def test_the_picture_is_svg_with_its_words_as_text(found):
    svg = theme.as_svg(drawn(found))
    assert ET.fromstring(svg).tag == "{http://www.w3.org/2000/svg}svg"
    said = words_in(svg)
    for words in (*EXPECTED["numbers"], "Accuracy", "Log loss", "rows learned", "fruit: 40 rows, 2 folds"):
        assert words in said
    assert len(svg) < 60_000


def test_the_picture_is_the_same_bytes_each_time(found):
    assert theme.as_svg(drawn(found)) == theme.as_svg(drawn(found))
    assert theme.as_png(drawn(found)) == theme.as_png(drawn(found))


def test_ink_is_left_to_the_surroundings(found):
    own, inline = theme.as_svg(drawn(found)), theme.as_svg(drawn(found), inline=True)
    assert "prefers-color-scheme: dark" in own
    assert own.count(theme.INK) == 1
    assert inline.startswith("<svg")
    assert "currentColor" in inline
    for unwanted in (theme.INK, "<style", "<?xml", "<!DOCTYPE", "<metadata", "#ffffff"):
        assert unwanted not in inline


def test_names_in_two_pictures_on_a_page_do_not_meet(found):
    first = theme.as_svg(drawn(found), inline=True)
    second = theme.as_svg(drawn(found, label="other"), inline=True)
    ids = [{node.get("id") for node in ET.fromstring(svg).iter()} - {None} for svg in (first, second)]
    assert ids[0]
    assert not ids[0] & ids[1]
    for name in ids[0]:
        assert first.count(f"#{name}") >= 1


HOSTILE = ["<script>alert(1)</script>", "$x^2$ and $", 'a id="b" #1b1f23', "0.123456 °C", "果物"]


@pytest.mark.parametrize("label", HOSTILE)
@pytest.mark.filterwarnings("ignore:Glyph")
def test_whatever_a_label_says_it_stays_text(found, label):
    svg = theme.as_svg(drawn(found, label=label))
    assert f"{label}: 40 rows" in words_in(svg)


def test_drawing_leaves_the_settings_of_matplotlib_alone(found):
    matplotlib = pytest.importorskip("matplotlib")
    before = dict(matplotlib.rcParams)
    theme.as_svg(drawn(found))
    assert dict(matplotlib.rcParams) == before
    assert "matplotlib.pyplot" not in sys.modules or sys.modules["matplotlib.pyplot"].get_fignums() == []


def test_a_picture_is_saved_by_its_ending(found, tmp_path):
    figure = drawn(found)
    theme.save_figure(figure, tmp_path / "a.svg")
    theme.save_figure(figure, tmp_path / "a.PNG")
    assert (tmp_path / "a.svg").read_text().startswith("<?xml")
    assert (tmp_path / "a.PNG").read_bytes() == theme.as_png(figure)
    with pytest.raises(OptionRefused, match="no kind of picture"):
        theme.save_figure(figure, tmp_path / "a.pdf")
    with pytest.raises(CandideError, match="folder does not exist"):
        theme.save_figure(figure, tmp_path / "nowhere" / "a.svg")
