"""Bytes nobody meant to be a table: each file is read, or refused by its name, and alike in blocks of any size.

The files are made from a seed: noise, and good files with quotes, NUL bytes, line ends, marks, encodings, brackets,
surrogates and values of other types put in, parts taken out, doubled or swapped. CANDIDE_THOROUGH=1 makes many more.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys

from candide.data.errors import CandideError
from candide.sources import open_source

THOROUGH = os.environ.get("CANDIDE_THOROUGH") == "1"
CASES = 1_500 if THOROUGH else 60
LONG = 3_600 if THOROUGH else 600
SIZES = (1, 7, 64, 1_000, 1 << 20)

ROWS = [{"x": index, "t": f"word {index % 7}", "deep": {"a": index / 2}, "y": "ab"[index % 2]} for index in range(15)]
CSV = "x,t,y\n" + "".join(f'{row["x"]},"{row["t"]}",{row["y"]}\n' for row in ROWS)
GOOD = {
    "csv": CSV.encode(),
    "jsonl": "".join(json.dumps(row) + "\n" for row in ROWS).encode(),
    "json": json.dumps(ROWS, indent=1).encode(),
}
ODD = [
    b'"', b'""', b"'", b"\0", b"\0" * 50, b"\r", b"\r\n", b"\n", b"\n\n\n", b"\xef\xbb\xbf", b"\xff\xfe", b"\xff",
    b"\xed\xa0\x80", b"\\ud800", b"\\udc00\\ud800", "é".encode("latin-1"), "日本".encode("utf-16"), b",", b",,,,",
    b"\t", b";",
    b"[", b"]", b"{", b"}", b"[" * 300, b'{"x":' * 300, b"{}", b"null", b"true", b"1e999", b"-", b"9" * 400, b"NaN",
    b"\\", b"a" * 70_000, b":", b"\x1b[2J", b"2026-02-31", b'{"x": [1], "y": "a"}\n', b'"x": "text", ', b"\x85", b" ",
]  # fmt: skip


def made(seed, kind):
    """A file: noise, or a good one with up to eight wounds."""
    chance = random.Random(f"{kind}{seed}")
    if seed % 6 == 0:
        letters = chance.choice([bytes(range(256)), b'"\n\r, ab1', b'[]{}",:\n 1ax\\'])
        return bytes(chance.choices(letters, k=chance.randrange(400)))
    data = bytearray(GOOD[kind])
    for _ in range(chance.randrange(1, 9)):
        index = chance.randrange(len(data) + 1)
        end = min(len(data), index + chance.choice([0, 0, 1, 5, 60]))
        put = chance.choice([chance.choice(ODD), b"", bytes(data[index:end]) * 2, chance.choice(ODD) * 3])
        data[index:end] = put
    return bytes(data)


def one_number(value):
    """1 and 1.0 are one value, and which of them a block has is its own affair."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def outcome(path, size, on_error):
    """What comes of a file: its rows and how many were left out, or why it was refused."""
    try:
        source = open_source(path, label="y", on_error=on_error, batch_bytes=size)
        found = {}
        rows = 0
        labels = []
        for batch in source.batches():
            for index, name in enumerate(batch.names):
                values = batch.columns.raw(index).to_pylist()
                found.setdefault(name, [None] * rows).extend(map(one_number, values))
            rows += len(batch)
            labels += [batch.labels.keys[code] for code in batch.labels.codes]
            for name in set(found) - set(batch.names):
                found[name] += [None] * len(batch)
        return repr((sorted(found.items()), labels, source.rejects.count))
    except CandideError as problem:
        sentence = str(problem)
    assert path in sentence, f"does not name {path}: {sentence}"
    return sentence


def look_at(folder, kind, cases):
    """Read many files in blocks of many sizes; whoever is not alike is shown."""
    read = 0
    for seed in cases:
        path = os.path.join(folder, f"{seed}.{kind}")
        with open(path, "wb") as file:
            file.write(made(seed, kind))
        for on_error in ("stop", "skip"):
            whole = outcome(path, 1 << 21, on_error)
            for size in random.Random(seed).sample(SIZES, 2):
                part = outcome(path, size, on_error)
                both_refused = path in part and path in whole
                assert part == whole or both_refused, f"{path} in blocks of {size}:\n{part[:900]}\n---\n{whole[:900]}"
        read += path not in whole
    return read


def test_files_made_of_anything_are_read_alike_or_refused(tmp_path):
    """In a process of its own: a crash is found, and a hang ends."""
    command = [sys.executable, __file__, str(tmp_path), str(CASES)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=LONG)
    assert ran.returncode == 0, ran.stderr[-3_000:]
    for kind, read in zip(GOOD, ran.stdout.split(), strict=True):
        assert int(read) > CASES // 20, f"hardly a {kind} file could be read, so little was tested"


if __name__ == "__main__":
    print(*(look_at(sys.argv[1], kind, range(int(sys.argv[2]))) for kind in GOOD))
