"""A value, or a row, that is less expected than those learned: in one sentence."""

from __future__ import annotations

from dataclasses import dataclass

from candide.data.written_numbers import percent


@dataclass(frozen=True)
class Strange:
    """A column with a value that few learned rows would have less expected: `share` of them; or a row as a whole."""

    feature: str = ""
    value: str = ""
    share: float = 0.0
    reason: str = ""

    @property
    def text(self) -> str:
        """In a sentence.

        >>> Strange("age", "412").text
        'unfamiliar: age = 412, less expected than in any learned row'
        >>> Strange("message", share=0.004).text
        'unfamiliar: message, less expected than in all but 0.4% of learned rows'
        """
        if self.reason:
            return f"unfamiliar: {self.reason}"
        named = f"{self.feature} = {self.value}" if self.value else self.feature
        rows = f"all but {percent(self.share)} of learned rows" if self.share else "any learned row"
        return f"unfamiliar: {named}, less expected than in {rows}"
