"""Explains the YAML parser's errors, and says what to change.

For a title with a colon, libyaml says "mapping values are not allowed in this context". Each branch
recognizes an error by words of its message, and finds the likely cause in the line.
"""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Any

from dropcheck.claims.source import LineColumn, Source
from dropcheck.claims.values import TOO_DEEP, shortened
from dropcheck.errors import Problem

_HAS_CLAIMS = re.compile(r"^\W*(dropcheck|claims)\W*:", re.MULTILINE)
_KEY_AND_TEXT = re.compile(r"\s*(?:- )*([\w-]+): +(.+)")


def explain(error: Any, source: Source) -> Problem:
    """The YAML parser's error as a problem, at the place to change.

    `error` is a `yaml.MarkedYAMLError`.
    """
    ending = PurePath(source.name).suffix.lower()
    if ending not in ("", ".yaml", ".yml", ".json") and not _HAS_CLAIMS.search(source.text):
        hint = "a claims file begins with 'dropcheck: 1', and 'claims:' below"
        return source.problem((0, 0), "this is not a claims file", hint)
    problem = str(error.problem or error.context or "it breaks off")
    at = _position(error.problem_mark or error.context_mark)
    opened = _position(error.context_mark or error.problem_mark)
    mark = source.lines[opened[0]][opened[1] :][:1] if opened[0] < len(source.lines) else ""
    line = source.lines[at[0]] if at[0] < len(source.lines) else ""
    rest = line[at[1] :]
    indented = not line[: at[1]].strip()

    tab = line.find("\t", 0, len(line) - len(line.lstrip()))
    no_value = "mapping values are not allowed" in problem
    if "tab" in problem or (tab >= 0 and (indented or no_value)):
        place = (at[0], tab) if tab >= 0 else at
        return source.problem(place, "there is a tab where YAML needs spaces", "indent with spaces")
    if no_value:
        return _colon(source, at, line)
    if "cannot start any token" in problem:
        return _needs_quotes(source, at)
    if any(kind in str(error.context) for kind in ("an anchor", "an alias", "a tag")):
        return _needs_quotes(source, opened)
    if "sequence entries are not allowed" in problem:
        hint = "begin the list on the next line, or write [a, b]"
        return source.problem(at, "a list of '- …' cannot begin on this line", hint)
    if "unexpected end of stream" in problem or "unexpected document indicator" in problem:
        message = f"the quote {mark} that opens here is never closed"
        return source.problem(opened, message, f"close it with {mark} where the text ends")
    if "',' or ']'" in problem or "',' or '}'" in problem:
        kind, closing = ("list", "]") if "]" in problem else ("mapping", "}")
        ended = not "".join(source.lines[at[0] :])[at[1] :].strip()
        where = "by the end of the file" if ended else f"by line {at[0] + 1}, column {at[1] + 1}"
        message = f"the {kind} that '{mark}' opens here is not closed: "
        message += f"',' or '{closing}' is expected {where}"
        quotes = ", or put a text that has brackets in quotes" if rest[:1] in ("[", "{") else ""
        return source.problem(opened, message, f"close it with '{closing}'{quotes}")
    if "could not find expected ':'" in problem:
        hint = "write 'key: value'; text that goes on is indented deeper than its key"
        return source.problem(opened, "a key with ': ' after it is expected here", hint)
    if "did not find expected key" in problem and rest[:1] in ("]", "}"):
        return source.problem(at, f"'{rest[0]}' closes no bracket", "take it out")
    if "did not find expected key" in problem and indented:
        hint = f"indent it like the keys that it belongs with, such as column {opened[1] + 1}"
        message = "a key is expected here, and the indentation matches no other key"
        return source.problem(at, message, hint)
    if "did not find expected key" in problem:
        hint = "a quote within quoted text is doubled: 'it''s'"
        message = "a line break is expected here: the value has ended before"
        return source.problem(at, message, hint)
    if "expected '-' indicator" in problem:
        hint = f"indent it like the list's other items, in column {opened[1] + 1}"
        return source.problem(at, "an item of the list, '- …', is expected here", hint)
    if "unknown escape character" in problem or "escape" in str(error.context or ""):
        hint = "use single quotes, in which a backslash is an ordinary character"
        return source.problem(at, "YAML has no such escape after '\\'", hint)
    if "comment or line break" in problem:
        hint = f"after '{mark}' the text begins on the next line; or put the whole in quotes"
        return source.problem(at, f"there cannot be text on the line of '{mark}'", hint)
    if "expected node content" in problem:
        hint = f"{shortened(rest)!r} is not one" if rest else "the file ends too soon"
        return source.problem(at, "a value is expected here", hint)
    if "<document start>" in problem:
        hint = "every key of the file's top level begins in the first column"
        return source.problem(at, "the file's mapping has ended before this", hint)
    if "maximum nesting depth" in problem:  # the place is beyond the excess, since libyaml reads on
        return source.problem(at, *TOO_DEEP)
    return source.problem(at, f"this is not YAML: {problem}")


def _position(mark: Any) -> LineColumn:
    return (mark.line, mark.column)


def _needs_quotes(source: Source, at: LineColumn) -> Problem:
    text = source.lines[at[0]][at[1] :]
    message = f"a text cannot begin with {text[:1]!r} unless it is quoted"
    return source.problem(at, message, f"write it in quotes: '{shortened(text)}'")


def _colon(source: Source, at: LineColumn, line: str) -> Problem:
    found = _KEY_AND_TEXT.match(line)
    if found is not None and at[1] > found.end(1) and (": " in found[2] or found[2][-1] == ":"):
        key, text = found.groups()
        whose = "a title" if key == "title" else "a text"
        quoted = '"' + shortened(text).replace("\\", "\\\\").replace('"', '\\"') + '"'
        return source.problem(at, f"{whose} that holds ': ' needs quotes", f"write {key}: {quoted}")
    message = "a key cannot be here: what is above already has a value"
    hint = "indent it like the keys it belongs with; a text that holds ': ' needs quotes"
    return source.problem(at, message, hint)
