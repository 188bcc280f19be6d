"""Files in a zip archive, each an origin of its own: several are read like several files."""

from __future__ import annotations

import os
import zipfile
from typing import BinaryIO

from candide.data.cached import cached_property
from candide.data.errors import Location
from candide.sources.origins import Origin
from candide.sources.refused import SourceRefused, reason_of
from candide.sources.streams import UNREADABLE, ZIP, whole_file

OFFICE = ("[Content_Types].xml", "mimetype")
"""What tells that a zip archive is a spreadsheet or another office document."""


def unpacked(origin: Origin) -> tuple[Origin, ...]:
    """The files in a zip archive, or what is none as it is."""
    if os.path.isdir(origin.name):
        return (origin,)
    opened = origin.open()
    try:
        is_archive = opened.read(len(ZIP)) == ZIP
    except OSError as problem:
        raise SourceRefused(
            f"Cannot read '{origin.name}': {reason_of(problem)}.", where=Location(origin.name)
        ) from None
    finally:
        opened.close()
    return Archive(origin).members if is_archive else (origin,)


class Archive:
    """A zip archive that stays open; what comes in a pipe is copied to a temporary file first."""

    def __init__(self, origin: Origin):
        self.origin = origin
        self.name = origin.name

    @cached_property
    def opened(self) -> zipfile.ZipFile:
        try:
            return zipfile.ZipFile(whole_file(self.origin))
        except (*UNREADABLE, NotImplementedError, ValueError) as problem:
            raise SourceRefused(
                f"{self.name} cannot be read as a zip archive: {reason_of(problem)}.", where=Location(self.name)
            ) from None

    @property
    def members(self) -> tuple[Origin, ...]:
        """Its files, in order, without folders and what systems hide in archives."""
        found = sorted(self.opened.infolist(), key=lambda info: info.filename)
        names = [info.filename for info in found]
        if any(name in OFFICE for name in names):
            raise SourceRefused(
                f"{self.name} is a spreadsheet or another office document.",
                advice="Save its table as csv.",
                where=Location(self.name),
            )
        kept = tuple(Member(self, info) for info in found if not info.is_dir() and not _is_hidden(info.filename))
        if not kept:
            raise SourceRefused(f"{self.name} is a zip archive without files in it.", where=Location(self.name))
        return kept


class Member:
    """One file in an archive."""

    def __init__(self, archive: Archive, info: zipfile.ZipInfo):
        self._archive, self._info = archive, info
        self.name = f"{archive.name}/{info.filename}"
        self.size: int | None = info.file_size

    def open(self) -> BinaryIO:
        try:
            return self._archive.opened.open(self._info)  # type: ignore[return-value]
        except RuntimeError:
            raise SourceRefused(
                f"{self.name} needs a password.", advice="Unpack it first.", where=Location(self.name)
            ) from None
        except (*UNREADABLE, NotImplementedError) as problem:
            raise SourceRefused(
                f"{self.name} cannot be unpacked: {reason_of(problem)}.", where=Location(self.name)
            ) from None


def _is_hidden(name: str) -> bool:
    return name.startswith("__MACOSX/") or any(part.startswith(".") for part in name.split("/"))
