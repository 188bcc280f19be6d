"""A folder of text files with one sub-folder per class: the text is a file, the label is its folder's name."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from candide.data.advice import Message, SetOption
from candide.data.errors import Location
from candide.sources.blocks import LONGEST_RECORD
from candide.sources.dialect import ENCODING_ADVICE, not_utf8
from candide.sources.originals import OriginalRows
from candide.sources.origins import File
from candide.sources.refused import SourceRefused, reason_of
from candide.sources.rejects import Place, Reject
from candide.sources.source import Piece, Size, Source
from candide.sources.streams import ByteStream

TEXT, LABEL, FILE = "text", "label", "file"


@dataclass
class FolderSource(Source):
    """Text files under folders that name their class. Files whose names start with a dot are left out.

    So are links, which may lead anywhere, unless they are to be followed; and pipes and devices always.
    """

    path: str = ""
    encoding: str | None = None
    batch_bytes: int = 2 << 20
    files: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(
        cls, path: str, labelled: bool, encoding: str | None, batch_bytes: int, follow_links: bool = False
    ) -> FolderSource:
        """List the files; only a folder to predict from may do without sub-folders."""
        listing = Listing(follow_links)
        folders, loose = listing.entries(path)
        if labelled and not folders:
            hint = f" For tables, name the files: '{os.path.join(path, '*')}'." if loose else ""
            raise SourceRefused(
                f"Folder '{path}' has no sub-folders.",
                advice=f"Put the text files of each class into a sub-folder that bears its name.{hint}",
                where=Location(path),
            )
        if labelled and loose:
            raise SourceRefused(
                f"'{os.path.join(path, loose[0])}' lies outside the sub-folders, so it has no label ({len(loose):,} "
                "such files).",
                advice="Move it into a sub-folder, or away.",
                where=Location(os.path.join(path, loose[0])),
            )
        found = [(name, os.path.join(path, name)) for name in loose]
        found += [(label, file) for label in folders for file in listing.files_in(os.path.join(path, label))]
        if not found:
            nothing = f"Folder '{path}' holds no files: there is nothing to read."
            raise SourceRefused(" ".join([nothing, *listing.notes]), where=Location(path))
        columns = (TEXT, LABEL) if labelled else (TEXT,)
        label = LABEL if labelled else None
        return cls(
            columns, label, notes=listing.notes, path=path, encoding=encoding, batch_bytes=batch_bytes,
            files=tuple(found),
        )  # fmt: skip

    @property
    def returned(self) -> tuple[str, ...]:
        return FILE, TEXT

    @property
    def size(self) -> Size:
        return Size(sum(File(path).size for _, path in self.files), "bytes")

    def pieces(self) -> Iterator[Piece]:
        found: list[tuple[str, str, bytes | Reject]] = []
        taken = 0
        for label, path in self.files:
            text, read = self._text(path)
            found.append((label, path, text))
            taken += read
            if taken >= self.batch_bytes:
                yield self._piece(found, taken)
                found, taken = [], 0
        if found:
            yield self._piece(found, taken)

    def describe(self) -> dict[str, Any]:
        return {"format": "folder", "folder": self.path, "files": len(self.files), "label": self.label}

    def _text(self, path: str) -> tuple[bytes | Reject, int]:
        """A file's text, or why it is none, and how many bytes of the file that took."""
        stream = ByteStream(File(path), self.encoding)
        try:
            text = stream.read(LONGEST_RECORD)
            if len(text) >= LONGEST_RECORD and stream.read(1):
                raise SourceRefused(
                    f"{path} is longer than {LONGEST_RECORD >> 20} MB, too long for one text.",
                    where=Location(path),
                    expected=f"at most {LONGEST_RECORD >> 20} MB",
                )
            taken = stream.taken()
        finally:
            stream.close()
        try:
            text.decode("utf-8")
        except UnicodeDecodeError as problem:
            place = Place(path, "line", text.count(b"\n", 0, problem.start) + 1)
            return Reject(place, not_utf8(text, problem.start), ENCODING_ADVICE, expected="UTF-8"), taken
        return text, taken

    def _piece(self, found: list[tuple[str, str, bytes | Reject]], taken: int) -> Piece:
        kept = [index for index, (_, _, text) in enumerate(found) if not isinstance(text, Reject)]
        labels, paths, texts = zip(*(found[index] for index in kept), strict=True) if kept else ((), (), ())
        columns: tuple[Any, ...] = (pa.array(texts, pa.binary()).cast(pa.string()),)
        if self.labelled:
            columns = (*columns, pa.array(labels, pa.string()))
        rejects = tuple(text for _, _, text in found if isinstance(text, Reject))
        original = OriginalRows(len(found), lambda: self._named(found), kept=np.array(kept, dtype=np.int64))
        return Piece(
            (TEXT, LABEL)[: len(columns)], columns, len(kept), lambda row: Place(paths[row], "line", 0), taken, rejects,
            original=original,
        )  # fmt: skip

    def _named(self, found: list[tuple[str, str, bytes | Reject]]) -> Any:
        """The files by their names within the folder, with their texts."""
        names = [os.path.relpath(path, self.path).encode("utf-8", "backslashreplace") for _, path, _ in found]
        texts = [None if isinstance(text, Reject) else text for _, _, text in found]
        columns = [pa.array(values, pa.binary()).cast(pa.string()) for values in (names, texts)]
        return pa.table(columns, [FILE, TEXT])


class Listing:
    """What lies in a folder and below it, and how much of that is left out."""

    def __init__(self, follow_links: bool):
        self.follow_links = follow_links
        self.links = self.others = 0
        self._entered: set[str] = set()

    def entries(self, path: str) -> tuple[list[str], list[str]]:
        """The names of the folders and of the files in a folder, in order; a folder is entered only once."""
        if os.path.realpath(path) in self._entered:
            return [], []
        self._entered.add(os.path.realpath(path))
        folders, files = [], []
        try:
            for entry in sorted(os.scandir(path), key=lambda entry: entry.name):
                if entry.name.startswith("."):
                    continue
                if entry.is_symlink() and not self.follow_links:
                    self.links += 1
                elif entry.is_dir():
                    folders.append(entry.name)
                elif entry.is_file():
                    files.append(entry.name)
                else:
                    self.others += 1
        except OSError as problem:
            raise SourceRefused(f"Cannot read folder '{path}': {reason_of(problem)}.", where=Location(path)) from None
        return folders, files

    def files_in(self, path: str) -> list[str]:
        """The paths of all files in a folder and below it."""
        folders, files = self.entries(path)
        found = [os.path.join(path, name) for name in files]
        return found + [file for name in folders for file in self.files_in(os.path.join(path, name))]

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out, in sentences."""
        said: list[str] = []
        if self.links:
            found = f"{self.links:,} links to other places were not followed. Follow them with "
            said.append(Message(found, SetOption("follow_links", True), "."))
        if self.others:
            said.append(f"{self.others:,} pipes or devices, or links that lead nowhere, were left out.")
        return tuple(said)
