"""What can go wrong with a model file."""

from __future__ import annotations

import errno

from candide.data.errors import CandideError, Location


class ModelFileRefused(CandideError):
    """A file is not a model file, is damaged, or was written by a newer Candide."""


class OverwritingRefused(CandideError):
    """A file would be destroyed that is read, or that is of another kind."""


class ModelFileNotWritten(CandideError):
    """The disk or the folder did not take the file; what was there before is untouched."""


REASONS = {
    errno.EACCES: "its folder may not be written to",
    errno.EPERM: "its folder may not be written to",
    errno.EROFS: "its disk is read-only",
    errno.ENOENT: "its folder does not exist",
    errno.ENOTDIR: "its folder does not exist",
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "your share of the disk is full",
    errno.EFBIG: "it is larger than a file may be here",
}


def not_written(name: str, problem: OSError) -> ModelFileNotWritten:
    """What the system refused, as a sentence."""
    reason = REASONS.get(problem.errno or 0) or (problem.strerror or str(problem)).lower()
    return ModelFileNotWritten(
        f"{name} could not be saved: {reason}. What was there before is untouched.",
        advice="Make room or get access, or save somewhere else.",
        where=Location(name.strip("'")),
    )
