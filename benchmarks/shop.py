"""Generates shops to measure with: a product file of any size, the same bytes each time.

Names, categories, makers and words of descriptions follow Zipf's law, so that a few are frequent and most are rare;
prices are log-normal around the department's typical price, and end like real prices.

    python -m benchmarks.shop 1000 products.jsonl
"""

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import Any

import orjson

from benchmarks import words

SEED = 20_26

ProductData = dict[str, Any]


class Zipf:
    """Draws items from a list with decreasing frequency: the n-th in proportion to 1 / n ** steepness."""

    def __init__(self, items: Sequence[Any], steepness: float = 1.0) -> None:
        self.items = list(items)
        self.weights = list(accumulate(1 / rank**steepness for rank in range(1, len(self.items) + 1)))

    def draw(self, random: Random) -> Any:
        return self.many(random, 1)[0]

    def many(self, random: Random, count: int) -> list[Any]:
        return random.choices(self.items, cum_weights=self.weights, k=count)


@dataclass(frozen=True)
class Leaf:
    """A category of products: its path, the noun for its products, and a typical price."""

    path: str
    noun: str
    price: float


ADJECTIVES, MATERIALS = Zipf(words.ADJECTIVES, 0.9), Zipf(words.MATERIALS, 0.9)
PROSE = Zipf(words.PROSE)


def category_count(size: int) -> int:
    """How many categories a shop of this many products has: 200 for a thousand, 1,000 for a million."""
    return round(min(1000, max(20, 200 * (size / 1000) ** 0.233)))


def categories(size: int) -> list[Leaf]:
    """The shop's leaf categories, those with most products first: by department and noun, then also by material."""
    broad = [
        Leaf(f"{department} > {noun.capitalize()}", noun, price * (0.6 + 0.1 * place))
        for place in range(10)
        for department, (price, nouns) in words.DEPARTMENTS.items()
        for noun in [nouns.split()[place]]
    ]
    wanted = category_count(size) - len(words.DEPARTMENTS)
    narrow = [
        Leaf(f"{leaf.path} > {material.capitalize()}", f"{material} {leaf.noun}", leaf.price)
        for material in words.MATERIALS
        for leaf in broad
    ]
    return [*broad, *narrow][:wanted]


def rare_words(count: int) -> list[str]:
    """Made-up words, all different: more than a list of real words would provide."""
    random = Random(SEED)
    found: dict[str, None] = {}
    while len(found) < count:
        parts = [random.choice(words.HEADS), random.choice(words.MIDDLES), random.choice(words.TAILS)]
        if random.random() < 0.7:
            parts[1:1] = [random.choice(words.MIDDLES), random.choice(words.HEADS)]
        found["".join(parts)] = None
    return list(found)


def rarities(size: int) -> Zipf:
    return Zipf(rare_words(min(20_000, max(200, size // 5))), 1.05)


def makers(size: int) -> Zipf:
    return Zipf([word.capitalize() for word in rare_words(min(1500, max(30, size // 100)))])


def products(size: int, seed: int = SEED) -> Iterator[ProductData]:
    """This number of active products, and one draft or archived product per 25 of them, in the native file format."""
    random = Random(seed)
    shop = Shop(random, Zipf(categories(size), 0.8), makers(size), rarities(size))
    for number in range(1, size + 1):
        yield shop.product(number, "active")
        if number % 25 == 0:
            yield shop.product(size + number // 25, "archived" if number % 100 == 0 else "draft")


class Shop:
    def __init__(self, random: Random, leaves: Zipf, makers: Zipf, rarities: Zipf) -> None:
        self.random, self.leaves, self.makers, self.rarities = random, leaves, makers, rarities

    def product(self, number: int, status: str) -> ProductData:
        leaf: Leaf = self.leaves.draw(self.random)
        maker, rare = self.makers.draw(self.random), self.rarities.draw(self.random)
        name = self.name(leaf, maker)
        price = self.price(leaf.price)
        code = f"{leaf.noun[:3].upper()}-{number:07}"
        product: ProductData = {
            "name": name,
            "slug": f"{name.lower().replace(' ', '-')}-{number}",
            "sku": code,
            "status": status,
            "price": price,
            "short_description": self.sentence(8),
            "description": f"<p>{self.sentence(18)}</p><p>{self.sentence(22)} {rare.capitalize()}.</p>",
            "brand": maker,
            "categories": self.categories(leaf),
            "weight": f"{self.random.lognormvariate(-1, 0.9):.3f}",
            "stock_qty": self.stock(),
        }
        product |= self.prices_and_flags(price) | self.media(number, name)
        if self.chance(0.12):
            product |= self.variants(code, price)
        if self.chance(0.04):
            product["options"] = [self.engraving()]
        return product

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def pick(self, share: float, often: Any, else_: Any) -> Any:
        return often if self.chance(share) else else_

    def name(self, leaf: Leaf, maker: str) -> str:
        parts = [ADJECTIVES.draw(self.random).capitalize(), leaf.noun]
        if " " not in leaf.noun:
            parts.insert(1, MATERIALS.draw(self.random))
        return " ".join(parts + [maker] * self.chance(0.5))

    def sentence(self, length: int) -> str:
        text = " ".join(PROSE.many(self.random, self.random.randint(length // 2, length + length // 2)))
        return f"{text[:1].upper()}{text[1:]}."

    def price(self, typical: float) -> str:
        return priced(self.random.lognormvariate(math.log(typical), 0.6), self.random.random())

    def stock(self) -> int:
        """Sometimes sold out, mostly a few dozen, rarely thousands."""
        return self.pick(0.08, 0, int(self.random.lognormvariate(3, 1.1)))

    def categories(self, leaf: Leaf) -> list[str]:
        found = [leaf.path]
        if self.chance(0.5):
            found.append(leaf.path.rpartition(" > ")[0])
        if self.chance(0.15):
            found.append(self.leaves.draw(self.random).path)
        return list(dict.fromkeys(found))

    def prices_and_flags(self, price: str) -> ProductData:
        values: ProductData = {"cost_price": f"{float(price) * self.random.uniform(0.35, 0.7):.2f}"}
        if self.chance(0.15):
            values["compare_price"] = priced(float(price) * self.random.uniform(1.1, 1.6), self.random.random())
        for name, share in (("is_featured", 0.02), ("is_pinned", 0.001), ("is_new", 0.05), ("allow_backorders", 0.02)):
            if self.chance(share):
                values[name] = True
        if self.chance(0.03):
            values["track_inventory"] = False
        return values

    def media(self, number: int, name: str) -> ProductData:
        count = self.pick(0.05, 0, self.random.choice((1, 1, 1, 2, 2, 3, 4)))
        address = f"https://pictures.example.com/{number % 1000:03}/{number}"
        return {"media": [{"url": f"{address}-{place}.webp", "alt": name} for place in range(1, count + 1)]}

    def variants(self, code: str, price: str) -> ProductData:
        colours = self.random.sample(words.COLOURS, self.random.randint(2, 4))
        sizes = words.SIZES[: self.random.randint(2, 4)] if self.chance(0.3) else [""]
        choices = [{"Colour": colour} | ({"Size": size} if size else {}) for colour in colours for size in sizes]
        return {
            "variants": [
                {"option_values": chosen, "sku": f"{code}-{place}", "price": price, "stock_qty": self.stock()}
                for place, chosen in enumerate(choices, 1)
            ]
        }

    def engraving(self) -> ProductData:
        values = [{"label": "None", "price": "0.00"}, {"label": "Initials", "price": "6.50"}]
        return {"name": "Engraving", "type": "select", "required": self.chance(0.3), "values": values}


def priced(amount: float, which: float) -> str:
    """The amount rounded like shops do: mostly to x.99, otherwise to x.50 or a whole number."""
    whole = max(1, int(amount))
    return f"{whole - 1}.99" if which < 0.6 else f"{whole}.50" if which < 0.85 else f"{whole}.00"


def search_words(size: int, count: int = 200) -> list[str]:
    """Words of three or more letters to search for: frequent, medium, rare, and some without any match."""
    everyday = [word for word in [*words.ADJECTIVES, *words.MATERIALS, *words.PROSE] if len(word) >= 3]
    nouns = [leaf.noun.split()[-1] for leaf in categories(size)[:200]]
    seldom = [*makers(size).items, *rarities(size).items]
    random = Random(SEED)
    kinds = [(everyday, 0.3), (nouns, 0.3), (seldom, 0.35), (["zzyzx", "qwertz", "xylograph"], 0.05)]
    found = [random.choice(kind).lower() for kind, share in kinds for _ in range(round(count * share))]
    random.shuffle(found)
    return found


def write(path: Path, size: int, seed: int = SEED) -> None:
    """Write the shop as a product file, under its name only when complete."""
    draft = path.with_suffix(".draft")
    with draft.open("wb") as file:
        for product in products(size, seed):
            file.write(orjson.dumps(product, option=orjson.OPT_APPEND_NEWLINE))
    draft.replace(path)


if __name__ == "__main__":
    write(Path(sys.argv[2]), int(sys.argv[1]))
