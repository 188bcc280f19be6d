"""Dates are dates: read in the usual forms, shown as people write them, and told by weekday, hour and month."""

import datetime
import json
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from candide import NaiveBayes, load
from candide.api import verbs
from candide.data.errors import CandideError
from candide.data.times import as_times, shown_time
from candide.families.calendar import PARTS, Calendar, parts_of
from candide.sources import open_source
from candide.sources.dates import EXAMPLES, DateForm

ROWS = 240
DIRECTIVES = ("%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y.%m.%d")
FORMATS = dict(zip(EXAMPLES, DIRECTIVES, strict=True))


def days(seed=0, start="1950-01-01", span=36_000):
    rng = np.random.default_rng(seed)
    return [datetime.date.fromisoformat(start) + datetime.timedelta(days=int(d)) for d in rng.integers(0, span, ROWS)]


def written(path, values, labels=None):
    labels = labels or ["a", "b"] * (len(values) // 2 + 1)
    path.write_text("\n".join(["day;y", *(f"{v};{y}" for v, y in zip(values, labels, strict=False))]))
    return str(path)


def read(path, **reading):
    (batch,) = open_source(path, **reading).batches()
    return batch.columns.raw(batch.position("day")).to_pylist()


@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.parametrize("hours", ["", " %H:%M", " %H:%M:%S", ", %I:%M:%S %p"])
def test_dates_of_every_form_are_the_dates(tmp_path, example, hours):
    rng = np.random.default_rng(1)
    when = [datetime.datetime.combine(day, datetime.time()) for day in days()]
    if hours:
        minutes = [datetime.timedelta(minutes=int(m)) for m in rng.integers(0, 1440, ROWS)]
        when = [day + more for day, more in zip(when, minutes, strict=True)]
    path = written(tmp_path / "a.csv", [*(t.strftime(FORMATS[example] + hours) for t in when), "?"])
    assert read(path) == [*(when if hours else [t.date() for t in when]), None]
    assert open_source(path).read_as["day"].form == example


def test_days_and_months_without_zeros_are_read():
    form = DateForm("31.12.2024")
    assert form.iso(pa.array(["1.2.2024", "31.12.1899"])).to_pylist() == ["2024-02-01", "1899-12-31"]


def test_an_ambiguous_column_says_which_was_assumed_and_can_be_told(tmp_path):
    path = written(tmp_path / "a.csv", ["1/2/2024", "3/4/2024"])
    assert read(path) == [datetime.date(2024, 1, 2), datetime.date(2024, 3, 4)]
    said = open_source(path).read_as["day"].said
    assert "month, day, year (assumed" in said
    assert "date 31/12/2024" in said
    assert read(path, types={"day": "date 31/12/2024"}) == [datetime.date(2024, 2, 1), datetime.date(2024, 4, 3)]


def test_what_is_no_date_stays_text(tmp_path):
    for texts in (["31.2.2024", "1.1.2024"], ["13/13/2024"], ["1.2/2024"], ["32.1.2024"]):
        assert read(written(tmp_path / "a.csv", texts)) == texts


def test_a_model_reads_later_files_in_the_order_it_learned(tmp_path):
    labels = ["a", "b"] * (ROWS // 2)
    model = tmp_path / "m.candide"
    verbs.fit(written(tmp_path / "a.csv", [day.strftime("%d/%m/%Y") for day in days()], labels), "y", model)
    doubtful = written(tmp_path / "b.csv", ["1/2/2024", "3/4/2024"])
    plain = written(tmp_path / "c.csv", ["2024-02-01", "2024-04-03"])
    found, same = (verbs.predict(model, path).table["probability"] for path in (doubtful, plain))
    assert found == same
    before = verbs.load(model).trained.summary
    verbs.learn(model, doubtful)
    verbs.forget(model, plain)
    assert verbs.load(model).trained.summary == before


def early_and_late(kind):
    """Times that tell the class by when they are, before and after 1970; some missing."""
    rng = np.random.default_rng(3)
    late = np.arange(ROWS) % 2
    seconds = np.round(rng.normal(late * 4e8, 3e8))
    column = as_times(np.where(np.arange(ROWS) % 17 == 0, np.nan, seconds), kind)
    return column, np.array(["early", "late"])[late]


FRAMES = {
    "arrow": lambda column: pa.table({"when": column}),
    "pandas": lambda column: pa.table({"when": column}).to_pandas(),
    "objects": lambda column: {"when": column.to_pylist()},
    "nanoseconds": lambda column: pd.DataFrame({"when": pd.to_datetime(column.to_pandas())}),
}


@pytest.mark.parametrize("kind", ["date", "time", "instant"])
@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("family", ["auto", "gaussian", "student", "histogram", "gaussian_full"])
def test_times_are_shown_as_times(tmp_path, kind, frame, family):
    column, labels = early_and_late(kind)
    rows = FRAMES[frame](column)
    model = NaiveBayes(family).fit(rows, labels)
    model.save(tmp_path / "m.candide")
    again = load(tmp_path / "m.candide")
    (explained,) = again.explain(FRAMES[frame](column[1:2]))
    why, year = str(explained), str(column[1].as_py().year)
    assert not re.search(r"\d{7}", explained.worked())
    assert f"when = {year}-" in why
    assert "e+0" not in why
    card = verbs.inspect(tmp_path / "m.candide")["columns"][0]
    said = json.dumps([card["values"], card["parameters"]])
    assert "e+0" not in said
    assert "19" in said
    drawn = again.sample(50, seed=0)["when"].to_pylist()
    wanted = datetime.datetime if kind != "date" or frame == "nanoseconds" else datetime.date
    assert all(type(value) is wanted for value in drawn)
    assert all(1900 < value.year < 2050 for value in drawn)


def test_curves_over_times_are_told_in_times_and_days():
    days = [datetime.date(2024, 3, 1) + datetime.timedelta(days=day) for day in (-12, 12, 20, 45)]
    rows = {"when": days, "size": [1.0, 2.0, 3.0, 5.0]}
    alone, both = (NaiveBayes(f, calibrate=False).fit(rows, list("aabb")) for f in ("gaussian", "gaussian_full"))
    why = alone.explain(rows)[0]
    assert "mean 2024-03-01, deviation 12 days in a" in str(why)
    assert "(2024-02-18 - 2024-03-01)² / (2 · 12 days²)" in why.worked()
    together = both.explain(rows)[0].terms[0]
    assert together.value == "2024-02-18, 1"
    assert "mean of when 2024-03-01, mean of size 1.5 in a" in together.basis.text("ab")
    assert both.explain({**rows, "size": [None] * 4})[0].terms[0].value == "2024-02-18"


@pytest.mark.parametrize("part", PARTS)
def test_the_part_that_tells_is_found_and_said(tmp_path, part):
    rng = np.random.default_rng(4)
    seconds = np.round(rng.uniform(-3e8, 1.2e9, 600))
    half = parts_of(seconds, part) < len(PARTS[part]) / 2
    labels = np.where(half ^ (rng.random(600) < 0.1), "first", "second")
    rows = {"when": as_times(seconds, "time").to_pylist()}
    model = NaiveBayes().fit(rows, labels)
    family = model.schema_.choices[0].family
    assert isinstance(family, Calendar)
    assert family.part == part
    names = PARTS[part]
    index = int(parts_of(seconds[:1], part)[0])
    assert f"{part} of when = {names[index]}" in str(model.explain({"when": rows["when"][:1]})[0])
    assert model.score(rows, labels) > 0.8
    model.save(tmp_path / "m.candide")
    values = verbs.inspect(tmp_path / "m.candide")["columns"][0]["parameters"]["first"]
    assert set(values) <= set(names)
    drawn = load(tmp_path / "m.candide").sample(200, label="first", seed=0)["when"]
    found = parts_of(np.array([t.replace(tzinfo=datetime.UTC).timestamp() for t in drawn.to_pylist()]), part)
    assert (found < len(names) / 2).mean() > 0.8


def test_parts_agree_with_pandas():
    when = pd.date_range("1899-12-31 23:00", "2105-01-01", freq="1111h")
    seconds = (when - pd.Timestamp("1970-01-01")).total_seconds().to_numpy()
    assert parts_of(seconds, "weekday").tolist() == when.day_of_week.tolist()
    assert parts_of(seconds, "hour").tolist() == when.hour.tolist()
    assert parts_of(seconds, "month").tolist() == [month - 1 for month in when.month]


def test_times_that_no_calendar_has_are_refused_by_it_and_shown_anyway():
    with pytest.raises(CandideError, match="between the years 1 and 9999"):
        NaiveBayes("calendar").fit({"x": [1e300, 1.0]}, ["a", "b"])
    with pytest.raises(CandideError, match="weekday, hour, month"):
        Calendar(part="century")
    assert shown_time(1e300) == "1e+300 s from 1970"


def test_a_report_shows_dates(tmp_path):
    column, labels = early_and_late("date")
    for family in ("gaussian", "histogram"):
        model = NaiveBayes(family).fit({"when": column.to_pylist()}, labels)
        model.report(tmp_path / "r.html")
        page = (tmp_path / "r.html").read_text()
        assert "1970-" in page or "1975-" in page
        assert "e+08" not in page
