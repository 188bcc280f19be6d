"""Rows that come in their own time: standard input, named pipes and /dev/fd are answered as they come."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import threading

import pytest

from candide.api import verbs
from candide.data.errors import CandideError
from candide.sources import open_source
from candide.sources.pipes import Pipe, PipeReader

LONG = 600.0
"""Seconds: what a machine at its limit may take. Nothing waits as long unless it would wait for ever."""

CSV = b"x,y\n1,a\n2,b\n3,a\n"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m.candide"
    verbs.fit({"x": [1, 2, 3, 11, 12, 13] * 5, "y": ["a", "a", "a", "b", "b", "b"] * 5}, "y", path)
    return str(path)


def bounded(work):
    """What some work gives, which must end."""
    found = []

    def run():
        try:
            found.append(work())
        except BaseException as problem:
            found.append(problem)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(LONG)
    assert found, "it never ended"
    if isinstance(found[0], BaseException):
        raise found[0]
    return found[0]


def rows_of(source):
    return sum(len(batch) for batch in source.batches())


class Talk:
    """A command that is written to and read from, line by line, without waiting for ever."""

    def __init__(self, *words):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "candide", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )
        self.heard = b""

    def say(self, text):
        self.process.stdin.write(text)

    def lines(self, count):
        """So many lines of its output."""
        while self.heard.count(b"\n") < count:
            ready, _, _ = select.select([self.process.stdout], [], [], LONG)
            assert ready, f"no answer came; before: {self.heard!r}"
            part = os.read(self.process.stdout.fileno(), 1 << 16)
            assert part, f"it ended; before: {self.heard!r}"
            self.heard += part
        *lines, self.heard = self.heard.split(b"\n", count)
        return [line.decode() for line in lines]

    def end(self):
        self.process.stdin.close()
        rest = self.process.stdout.read()
        return rest, self.process.wait(LONG)

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def test_rows_of_a_live_pipe_are_answered_as_they_come(model):
    with Talk("predict", model, "-") as talk:
        talk.say(b"x,note\n1,first\n12,sec")
        header, first = talk.lines(2)
        assert header.startswith("x,note,")
        assert first.startswith("1,first,")
        talk.say(b"ond\n")
        assert talk.lines(1)[0].startswith("12,second,")
        talk.say(b"2,third\n" * 3)
        assert len(talk.lines(3)) == 3
        talk.say(b"3,no newline")
        rest, code = talk.end()
        assert rest.startswith(b"3,no newline,")
        assert rest.count(b"\n") == 1
        assert code == 0


def test_lines_of_json_are_answered_as_they_come(model):
    with Talk("predict", model, "-", "--format", "jsonl") as talk:
        talk.say(b'{"x": 1}\n')
        assert '"x": 1' in talk.lines(1)[0]
        talk.say(b'{"x": 12}\n')
        assert '"x": 12' in talk.lines(1)[0]
        assert talk.end() == (b"", 0)


def piped(data):
    """The path of a pipe in which some bytes wait, as a shell's <(...) gives."""
    read, write = os.pipe()

    def fill():
        with open(write, "wb") as file:
            file.write(data)

    threading.Thread(target=fill, daemon=True).start()
    return f"/dev/fd/{read}", read


@pytest.mark.parametrize("repeatable", [True, False])
def test_what_a_shell_substitutes_is_read_as_a_pipe(repeatable):
    data = CSV + b"4,b\n" * 100_000
    path, handle = piped(data)
    source = bounded(lambda: open_source(path, label="y", repeatable=repeatable))
    assert bounded(lambda: rows_of(source)) == 100_003
    if repeatable:
        assert bounded(lambda: rows_of(source)) == 100_003
    else:
        with pytest.raises(CandideError, match="cannot be read again"):
            rows_of(source)
    os.close(handle)


def test_fit_and_predict_take_pipes(model):
    path, handle = piped(CSV)
    assert bounded(lambda: verbs.fit(path, "y")).rows == 3
    os.close(handle)
    path, handle = piped(CSV)
    assert bounded(lambda: verbs.predict(model, path)).rows == 3
    os.close(handle)


def test_a_named_pipe_is_opened_once(tmp_path):
    path = tmp_path / "rows.csv"
    os.mkfifo(path)
    threading.Thread(target=lambda: path.write_bytes(CSV), daemon=True).start()
    assert bounded(lambda: rows_of(open_source(str(path), label="y"))) == 3


def test_a_database_in_a_pipe_is_refused():
    path, handle = piped(b"SQLite format 3\0" + b"\0" * 100)
    with pytest.raises(CandideError, match="is a pipe"):
        bounded(lambda: open_source(path))
    os.close(handle)


def test_pipes_among_files_are_left_out_with_a_word(tmp_path):
    for label in ("good", "bad"):
        (tmp_path / "texts" / label).mkdir(parents=True)
        (tmp_path / "texts" / label / "a.txt").write_text("some words")
    os.mkfifo(tmp_path / "texts" / "good" / "pipe")
    source = bounded(lambda: open_source(str(tmp_path / "texts")))
    assert bounded(lambda: rows_of(source)) == 2
    assert "1 pipes or devices" in source.notes[0]
    (tmp_path / "a.csv").write_bytes(CSV)
    os.mkfifo(tmp_path / "b.csv")
    source = bounded(lambda: open_source(str(tmp_path / "*.csv"), label="y"))
    assert bounded(lambda: rows_of(source)) == 3
    assert "b.csv' was left out" in source.notes[0]
    assert any("b.csv" in note for note in verbs.fit(str(tmp_path / "*.csv"), "y").notes)


def test_a_live_pipe_gives_what_is_there_and_says_that_it_pauses():
    read, write = os.pipe()
    pipe = Pipe("a pipe", lambda: os.fdopen(read, "rb", buffering=0), repeatable=False)
    reader = pipe.open()
    assert isinstance(reader, PipeReader)
    assert reader.pauses
    os.write(write, b"abc")
    assert not reader.pauses
    assert reader.read(10) == b"abc"
    assert reader.pauses
    os.write(write, b"defg")
    assert (reader.read(2), reader.pauses, reader.read(10)) == (b"de", False, b"fg")
    os.close(write)
    assert reader.read(10) == b""
    assert pipe.open().read(100) == b"abcdefg"
