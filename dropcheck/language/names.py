"""What may be a name in a model: for names that come from elsewhere than a text."""

from __future__ import annotations

import keyword
import unicodedata

LONGEST = 200  # characters; a message has to quote it


def unfit(name: object) -> str | None:
    """Why something cannot be a name, as a predicate; None where it can be one.

    >>> unfit("sigma") is None, unfit("lambda")
    (True, 'is a word of the language')
    """
    if not isinstance(name, str):
        return "is no name: names are text"
    if keyword.iskeyword(name):
        return "is a word of the language"
    normal = unicodedata.normalize("NFKC", name) == name  # as Python's grammar reads names
    if not name.isidentifier() or not normal or len(name) > LONGEST:
        return "is no name: names are letters, digits and _, a letter first"
    return None
