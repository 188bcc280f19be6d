"""A folder of text files with one sub-folder per class: the text is a file, the label is its folder's name."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from candide.sources.blocks import LONGEST_RECORD
from candide.sources.dialect import ENCODING_ADVICE, not_utf8
from candide.sources.origins import File
from candide.sources.refused import SourceRefused, reason_of
from candide.sources.rejects import Place, Reject
from candide.sources.source import Piece, Size, Source
from candide.sources.streams import Stream

TEXT, LABEL = "text", "label"


@dataclass
class FolderSource(Source):
    """Text files under folders that name their class. Files whose names start with a dot are left out."""

    path: str = ""
    encoding: str | None = None
    batch_bytes: int = 2 << 20
    files: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, path: str, labelled: bool, encoding: str | None, batch_bytes: int) -> FolderSource:
        """List the files; only a folder to predict from may do without sub-folders."""
        try:
            folders = sorted(e.name for e in os.scandir(path) if e.is_dir() and not e.name.startswith("."))
            loose = sorted(e.name for e in os.scandir(path) if e.is_file() and not e.name.startswith("."))
        except OSError as problem:
            raise SourceRefused(f"Cannot read folder '{path}': {reason_of(problem)}.") from None
        if labelled and not folders:
            hint = f" For tables, name the files: '{os.path.join(path, '*')}'." if loose else ""
            raise SourceRefused(
                f"Folder '{path}' has no sub-folders. Put the text files of each class into a sub-folder that "
                f"bears its name.{hint}"
            )
        if labelled and loose:
            raise SourceRefused(
                f"'{os.path.join(path, loose[0])}' lies outside the sub-folders, so it has no label "
                f"({len(loose):,} such files). Move it into a sub-folder, or away."
            )
        found = [(name, os.path.join(path, name)) for name in loose]
        found += [(label, file) for label in folders for file in _files_in(os.path.join(path, label))]
        if not found:
            raise SourceRefused(f"Folder '{path}' holds no files: there is nothing to read.")
        columns = (TEXT, LABEL) if labelled else (TEXT,)
        label = LABEL if labelled else None
        return cls(columns, label, path=path, encoding=encoding, batch_bytes=batch_bytes, files=tuple(found))

    @property
    def size(self) -> Size:
        return Size(sum(File(path).size for _, path in self.files), "bytes")

    def pieces(self) -> Iterator[Piece]:
        texts: list[bytes] = []
        labels: list[str] = []
        paths: list[str] = []
        rejects: list[Reject] = []
        taken = 0
        for label, path in self.files:
            text, read = self._text(path)
            taken += read
            if isinstance(text, Reject):
                rejects.append(text)
                continue
            texts.append(text)
            labels.append(label)
            paths.append(path)
            if taken >= self.batch_bytes:
                yield self._piece(texts, labels, paths, taken, rejects)
                texts, labels, paths, rejects, taken = [], [], [], [], 0
        if texts or rejects:
            yield self._piece(texts, labels, paths, taken, rejects)

    def describe(self) -> dict[str, Any]:
        return {"format": "folder", "folder": self.path, "files": len(self.files), "label": self.label}

    def _text(self, path: str) -> tuple[bytes | Reject, int]:
        """A file's text, or why it is none, and how many bytes of the file that took."""
        stream = Stream(File(path), self.encoding)
        try:
            text = stream.read(LONGEST_RECORD)
            if len(text) >= LONGEST_RECORD and stream.read(1):
                raise SourceRefused(f"{path} is longer than {LONGEST_RECORD >> 20} MB, too long for one text.")
            taken = stream.taken()
        finally:
            stream.close()
        try:
            text.decode("utf-8")
        except UnicodeDecodeError as problem:
            place = Place(path, "line", text.count(b"\n", 0, problem.start) + 1)
            return Reject(place, not_utf8(text, problem.start), ENCODING_ADVICE), taken
        return text, taken

    def _piece(
        self, texts: list[bytes], labels: list[str], paths: list[str], taken: int, rejects: list[Reject]
    ) -> Piece:
        columns: tuple[Any, ...] = (pa.array(texts, pa.binary()).cast(pa.string()),)
        if self.labelled:
            columns = (*columns, pa.array(labels, pa.string()))
        return Piece(self.columns, columns, len(texts), lambda row: Place(paths[row], "line", 0), taken, tuple(rejects))


def _files_in(folder: str) -> list[str]:
    found = []
    for path, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [os.path.join(path, name) for name in sorted(files) if not name.startswith(".")]
    return found
