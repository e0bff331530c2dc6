"""Checks of a person's name: any name that people have, but no link and no invisible characters.

A name is shown in mails, on parcels and on other people's screens. Threat: an attacker's web or email address in it,
which mail programs turn into a link, and characters that are invisible or reverse the text.
"""

import re
import unicodedata

# Invisible characters that some scripts need.
_JOINERS = "\u200c\u200d"
_UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
_LINK = re.compile(r"@|://|\b(?:https?|ftp|mailto|tel|javascript):|\bwww\.", re.IGNORECASE)
# Labels with dots between them and no space, as a host is written.
_HOST = re.compile(r"(?<![\w.-])[^\W_][\w-]*(?:\.[^\W_][\w-]*)+")
# Titles that people write without a space after the dot: Dr.med., Ph.D., St.John.
_TITLE_WORDS = (
    "a b bsc ba ca dipl dr drs eng fr h hc herr hr ing iur jr jur kfm lic lt ltd m ma mag med mme mr mrs ms msc nat "
    "oec ph phd phil pol prof rer sc sir sr st ste theol vet"
)
_TITLES = frozenset(_TITLE_WORDS.split())
# Top-level domains of more than two letters that links use. Any two letters can be a country's.
_ENDING_WORDS = (
    "app arpa asia biz cat click cloud club com dev edu email example gov icu info int invalid link live local "
    "localhost mil mobi museum name net online onion org page pro shop site space store test top vip web win world "
    "xyz zip"
)
_ENDINGS = frozenset(_ENDING_WORDS.split())


def has_invisible_characters(text: str) -> bool:
    """Returns True if the text has control characters, line breaks, or characters that change the direction of text."""
    return any(unicodedata.category(character) in _UNSEEN and character not in _JOINERS for character in text)


def has_address(text: str) -> bool:
    """Returns True if the text contains an email or web address, or text that mail programs turn into a link."""
    plain = unicodedata.normalize("NFKC", text).replace("\u3002", ".")
    return bool(_LINK.search(plain)) or any(_is_host(found.group()) for found in _HOST.finditer(plain))


def _is_host(word: str) -> bool:
    """Returns True for a host name; False for initials, titles or names without a space: J.R.R., Dr.med., St.John."""
    *labels, last = word.split(".")
    is_abbreviated = all(label.isalpha() and (len(label) == 1 or label.lower() in _TITLES) for label in labels)
    if not is_abbreviated:
        return True
    if len(last) == 1 or last.lower() in _TITLES:
        return False
    return len(last) == 2 or last.lower() in _ENDINGS or not last[0].isupper()
