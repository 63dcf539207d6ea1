"""Exceptions. Each has the code and the text of the project's diagnostics: `qmc explain QM0512` prints the long text."""

import linecache
import re

from .places import here


class Error(Exception):
    """What everything here raises where the fault is not a plain Python mistake (TypeError, ValueError).

    `code` is "QM0512" or "" where there is none; str() has the code, the message and the way out.
    """

    def __init__(self, text, code=""):
        super().__init__(text)
        self.code = code

    @classmethod
    def from_text(cls, text):
        """Of a text that holds its code, as libqimeng.so and qmc write them."""
        found = re.search(r"\bQM\d{4}\b", text)
        return cls(text.rstrip(), found.group(0) if found else "")


class SpecError(Error):
    """A mistake in a spec that tracing finds: `place` is where in the user's source, as "file:line". The text shows the line."""

    def __init__(self, code, message, help_text, place):
        line = linecache.getline(place.file, place.line).strip()
        shown = f"\n    {line}" if line else ""
        super().__init__(f"{place}: {code}: {message}{shown}\nhelp: {help_text}", code)
        self.place = str(place)


class TraceError(SpecError, TypeError):
    """A traced function does what has no meaning for symbolic values; `place` is its line that is running, where none is given."""

    def __init__(self, message, help_text, code="QM0207", place=None):
        super().__init__(code, message, help_text, place or here())


class TraceAttributeError(TraceError, AttributeError):
    """The same, of an attribute: for hasattr it is not there."""


class CompileError(Error):
    """qmc refused a spec; the text is qmc's, with the user's line."""


class CompileWarning(UserWarning):
    """qmc has something to say about a spec that it compiled; the text is qmc's."""


class CompilerNotFound(Error):
    """A kernel has to be compiled and there is no qmc."""


class LaunchError(Error):
    """The runtime refused a library or a call; nothing was launched and no output was written."""
