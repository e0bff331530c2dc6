"""Codes that people copy from mails and pages, such as discount codes."""

import unicodedata


def typed_code(text: str) -> str:
    """The code in capitals, without characters that are copied along with it: spaces around it, and anywhere in it
    characters that cannot be seen, such as a zero-width space, and spaces that no keyboard types, such as a no-break
    space.

    An ordinary space within the text stays, since it separates two words."""
    return "".join(each for each in text if each == " " or not _is_unseen(each)).strip().upper()


def _is_unseen(character: str) -> bool:
    return character.isspace() or unicodedata.category(character) == "Cf"
