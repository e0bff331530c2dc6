"""Measures how many products a search still finds if a word of their names is typed in another way.

    make recall FILES=folder        # or: python -m benchmarks.recall FOLDER

Each product file of the folder becomes a shop, in a database of its own that is removed afterwards. Of the words of its
products' names, at most MAX_TRIED for each kind are typed in its way. A search finds a share of the published
products whose names have the word; one that finds nothing is tried with its nearest spelling, as the shop's pages do. A
kind's recall is the mean of these shares.

Words are runs of letters, with hyphens and apostrophes between them; for a space typed as a hyphen, two of them side by
side. Kinds that leave too little of a short word have a
least length: MIN_LETTERS.
"""

import os
import re
import sys
import tempfile
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

MAX_TRIED = 1000
# For a letter that is wrong, and for endings.
MIN_LETTERS = 5
_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
# Overlapping, so that each pair of neighbours counts.
_PHRASE = re.compile(r"(?<![\w-])(?=([^\W\d_]+ [^\W\d_]+)(?![\w-]))")
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"
_ACCENTS = str.maketrans("aeioucn", "áèîöüçñ")


def unaccented(word: str, _: Random) -> str:
    return "".join(each for each in unicodedata.normalize("NFKD", word) if not unicodedata.combining(each))


def accented(word: str, _: Random) -> str:
    return word.translate(_ACCENTS)


def plural(word: str, _: Random) -> str:
    """The plural of an English word, or the singular of one that looks like a plural."""
    if not (word.isascii() and word.isalpha() and len(word) >= MIN_LETTERS):
        return word
    if re.search("(ss|x|z|ch|sh)$", word):
        return word + "es"
    if word.endswith("ies"):
        return word[:-3] + "y"
    if re.search("(ss|x|z|ch|sh)es$", word):
        return word[:-2]
    if word.endswith("s"):
        return word[:-1] if word[-2] not in "iu" else word
    return word[:-1] + "ies" if re.search("[^aeiou]y$", word) else word + "s"


def letter_wrong(word: str, chance: Random) -> str:
    """One letter replaced, left out, doubled, or in the place of the next."""
    if not (word.isalpha() and len(word) >= MIN_LETTERS):
        return word
    at = chance.randrange(1, len(word) - 1)
    before, letter, after = word[:at], word[at], word[at + 1 :]
    ways = (before + chance.choice(_ALPHABET) + after, before + after, before + 2 * letter + after)
    return chance.choice([*ways, before + after[0] + letter + after[1:]])


def hyphen_dropped(word: str, _: Random) -> str:
    return word.replace("-", "")


def hyphen_as_space(word: str, _: Random) -> str:
    return word.replace("-", " ")


def hyphen_added(word: str, chance: Random) -> str:
    at = chance.randrange(2, len(word) - 1) if word.isalpha() and len(word) >= MIN_LETTERS else 0
    return f"{word[:at]}-{word[at:]}" if at else word


def apostrophe_added(word: str, _: Random) -> str:
    return f"{word[:-1]}’s" if word.isalpha() and word.endswith("s") and len(word) >= MIN_LETTERS else word


def apostrophe_changed(word: str, _: Random) -> str:
    return word.translate(str.maketrans("'’", "’'"))


def apostrophe_dropped(word: str, _: Random) -> str:
    return word.replace("'", "").replace("’", "")


def space_as_hyphen(phrase: str, _: Random) -> str:
    """Two words of a name that stand side by side, as `long-sleeve`."""
    return phrase.replace(" ", "-")


KINDS: tuple[Callable[[str, Random], str], ...] = (
    *(unaccented, accented, plural, letter_wrong, hyphen_dropped, hyphen_as_space, hyphen_added),
    *(apostrophe_added, apostrophe_changed, apostrophe_dropped, space_as_hyphen),
)


def main(folder: str) -> None:
    with tempfile.TemporaryDirectory() as data:
        os.environ |= {"STOREFRONT_DATA_DIR": data, "DJANGO_SETTINGS_MODULE": "storefront.server.settings"}
        # In a database of its own.
        os.environ.pop("DATABASE_URL", None)
        import django
        from django.core.management import call_command

        django.setup()
        from storefront.product_files.encodings import UnreadableFile

        call_command("migrate", verbosity=0)
        shares: dict[str, list[float]] = defaultdict(list)
        for number, path in enumerate(sorted(Path(folder).glob("*.csv"))):
            domain = f"recall-{number}.example.com"
            print(path.name, flush=True)
            base_url = f"http://{domain}"
            call_command("createshop", domain=domain, name="Recall", base_url=base_url)
            try:
                call_command("importproducts", str(path), shop=domain, no_pictures=True)
            except UnreadableFile as error:
                print(f"  left out: {error}")
            except SystemExit:
                # Some rows are refused. The others count.
                pass
            for kind, share in tried(domain):
                shares[kind].append(share)
    for make in KINDS:
        if found := shares[make.__name__]:
            print(f"{make.__name__.replace('_', ' '):20} {sum(found) / len(found):7.1%} of {len(found)} words")


def tried(domain: str) -> Iterator[tuple[str, float]]:
    """The kind and the share of each search."""
    from storefront.kit import clock
    from storefront.listing.queries import published_products
    from storefront.shops.models import Shop

    shop, now, chance = Shop.objects.get(domain=domain), clock.now(), Random(1)
    having: dict[str, set[int]] = defaultdict(set)
    listed = published_products(shop, now).filter(exclude_from_catalog=False)
    for id, name in listed.values_list("pk", "name"):
        for word in (*_WORD.findall(name.casefold()), *_PHRASE.findall(name.casefold())):
            having[word].add(id)
    words = sorted(having)
    chance.shuffle(words)
    for make in KINDS:
        of_kind = (word for word in words if (" " in word) == (make is space_as_hyphen))
        typed = ((word, make(word, chance)) for word in of_kind)
        changed = [(word, q) for word, q in typed if q != word][:MAX_TRIED]
        for word, q in changed:
            found = _found(shop, q, now)
            share = len(having[word] & found) / len(having[word])
            if os.environ.get("RECALL_MISSES") and share < 1:
                print(f"  {make.__name__}: {word} as {q}: {share:.0%} of {len(having[word])}")
            yield make.__name__, share


def _found(shop: Any, q: str, now: Any) -> set[int]:
    from storefront.listing.queries import ProductFilters, match_ids
    from storefront.listing.spelling import nearest_spelling

    found = match_ids(shop, q, for_shoppers=True, now=now)
    if not found:
        corrected = nearest_spelling(shop, ProductFilters(q=q, for_shoppers=True), now=now)
        found = match_ids(shop, corrected, for_shoppers=True, now=now) if corrected else None
    return set(found or ())


if __name__ == "__main__":
    main(sys.argv[1])
