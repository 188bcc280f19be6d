"""What can go wrong between a file and its rows."""

from __future__ import annotations

from candide.data.errors import CandideError


class SourceRefused(CandideError):
    """A file, folder or database cannot be read as asked; the message says where and what to do."""


class ValueMisfit(SourceRefused):
    """A value is not what its column was decided to be from the first rows; `where` names the column."""


def reason_of(problem: BaseException) -> str:
    """What another library said, as the middle of a sentence of ours."""
    if isinstance(problem, OSError) and problem.strerror:
        return problem.strerror.lower()
    return str(problem).strip().rstrip(".").splitlines()[0] if str(problem).strip() else type(problem).__name__
