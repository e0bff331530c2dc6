"""The home page: the sections of the shop's looks, each with what it shows, read together in a bounded number of
queries."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import F, Q, Sum
from django.urls import reverse

from storefront.catalogue.models import Category, Product, Variant
from storefront.catalogue.records import media_url
from storefront.content.models import Looks
from storefront.content.sections import Section, spoken_sections
from storefront.customers.models import Customer
from storefront.kit.lru import LruCache
from storefront.listing.queries import ProductFilters, first_products
from storefront.orders.models import Order, OrderLine
from storefront.shops.models import Shop
from storefront.shops.spoken import further_language
from storefront.website import demo_pictures, pictures, queries
from storefront.website.cards import ProductCard, product_cards
from storefront.website.looks_versions import picture_names
from storefront.website.pictures import Picture

Record = dict[str, Any]
# Featured products of a page, of which the first may stand at the top; and those that new products leave out.
FEATURED = 9
# How long this process keeps the ids of best sellers and of products with a lower price. Which of them are published,
# and at which price, is read again for each page.
KEPT_FOR = timedelta(minutes=10)
SOLD_WITHIN = timedelta(days=30)
MAX_CANDIDATES = 24

_ids: LruCache[tuple[datetime, tuple[int, ...]]] = LruCache(4096)


@dataclass(frozen=True)
class Shown:
    """A section with what its template needs. `is_first` has the page's main heading."""

    section: Section
    is_first: bool = False
    picture: Picture | None = None
    demo: str = ""
    cards: tuple[ProductCard, ...] = ()
    categories: tuple[tuple[Category, Picture | None], ...] = ()
    category: Category | None = None
    lead: Record | None = None

    @property
    def template(self) -> str:
        return f"website/sections/{self.section['kind']}.html"

    @property
    def quotes(self) -> list[tuple[str, str]]:
        pairs = [(self.section.get(f"quote_{n}", ""), self.section.get(f"name_{n}", "")) for n in (1, 2, 3)]
        return [(words, name) for words, name in pairs if words]


def home_context(
    shop: Shop, looks: Looks, customer: Customer | None, *, now: datetime, language: str, uploads: Any = None
) -> dict[str, Any]:
    """The context of the page's template. `uploads`: file names of pictures that are not saved yet, by token."""
    sections = spoken_sections(looks.sections, further_language(shop, language))
    products = _Products(shop, sections, now, language)
    lead = products.lead
    cards = {card.slug: card for card in product_cards(shop, products.all(), customer, now)}
    names = picture_names(shop, {each["picture"] for each in sections if isinstance(each.get("picture"), int)})
    categories = queries.main_categories(shop, language)
    pairs: tuple[tuple[Category, Picture | None], ...] = ()
    if any(section["kind"] == "categories" for section in sections):
        images = queries.category_pictures(shop, categories, now)
        pairs = tuple((each, pictures.picture(shop, images[each.pk], pictures.CARD)) for each in categories)
    first = next((each for each in sections if each["kind"] == "hero" or (each["kind"] == "lead" and lead)), None)
    shown = []
    for section in sections:
        name = (names | (uploads or {})).get(section.get("picture"))
        size = pictures.BANNER if section["kind"] == "video" else pictures.LARGE
        shown.append(
            Shown(
                section,
                is_first=section is first,
                picture=pictures.picture(shop, media_url(shop, name), size, section.get("alt", "")),
                demo="" if name else demo_pictures.path_of(section.get("demo")),
                cards=_cards(section, [cards[row["slug"]] for row in products.of(section)]),
                categories=pairs if section["kind"] == "categories" else (),
                category=products.category_of(section),
                lead=lead if section["kind"] == "lead" else None,
            )
        )
    listed = ", ".join(category.name for category in categories[:6])
    return {
        # The description for search engines.
        "summary": f"{shop.name}: {listed}." if listed else "",
        "sections": shown,
        "has_heading": first is not None,
        "has_products": bool(cards) or products.has_any(),
        "has_cards": bool(cards),
        "is_net": any(card.price.is_net for card in cards.values()),
        "lead_card": cards[lead["slug"]] if lead else None,
        "lead_picture": lead
        and pictures.first_picture(shop, lead, pictures.LARGE, pictures.awaited_media(shop, lead["media"][:1])),
        "canonical": shop.base_url + reverse("website:home"),
    }


def _cards(section: Section, cards: list[ProductCard]) -> tuple[ProductCard, ...]:
    """The cards of a section. Whether a price is lower than before depends on the visitor and on the moment."""
    shown = [card for card in cards if card.price.old] if section.get("rule") == "sale" else cards
    return tuple(shown[: int(section["count"])] if section["kind"] == "products" else ())


class _Products:
    """The products of the sections. Each list is read once, and one that shows new products leaves out the featured
    ones."""

    def __init__(self, shop: Shop, sections: list[Section], now: datetime, language: str) -> None:
        self._shop, self._now, self._language = shop, now, language
        showing = [each for each in sections if each["kind"] == "products"]
        rules = {each["rule"] for each in showing}
        self._featured = (
            self._read(FEATURED, featured=True)
            if rules & {"featured", "newest"} or any(each["kind"] == "lead" for each in sections)
            else []
        )
        has_lead = self._featured and any(each["kind"] == "lead" for each in sections)
        self.lead: Record | None = self._featured[0] if has_lead else None
        ids = {each["category"] for each in showing if each["rule"] == "category"}
        self._categories = _categories(shop, ids, language)
        self._rows = {each["id"]: self._rows_of(each) for each in showing}

    def all(self) -> list[Record]:
        """All products of the page, each once, so that prices and stock are read once."""
        rows = [*([self.lead] if self.lead else []), *(row for rows in self._rows.values() for row in rows)]
        return list({row["id"]: row for row in rows}.values())

    def has_any(self) -> bool:
        return bool(self._read(1, sort="newest"))

    def of(self, section: Section) -> list[Record]:
        return self._rows.get(section["id"], [])

    def category_of(self, section: Section) -> Category | None:
        return self._categories.get(section["category"]) if section.get("rule") == "category" else None

    def _rows_of(self, section: Section) -> list[Record]:
        count = int(section["count"])
        match section["rule"]:
            case "featured":
                rows = self._featured if count <= FEATURED else self._read(count + 1, featured=True)
                return [row for row in rows if self.lead is None or row["id"] != self.lead["id"]][:count]
            case "newest":
                featured = {row["id"] for row in self._featured}
                rows = self._read(count + FEATURED, sort="newest")
                return [row for row in rows if row["id"] not in featured][:count]
            case "category":
                category = self.category_of(section)
                return (
                    self._read(count, category=queries.main_slug(category), with_subcategories=True) if category else []
                )
            case "chosen":
                return self._by_ids(tuple(section["products"]))[:count]
            case "best":
                return self._by_ids(_kept_ids(self._shop, "best", self._now))[:count]
        return self._by_ids(_kept_ids(self._shop, "sale", self._now))

    def _read(self, count: int, **filters: Any) -> list[Record]:
        return first_products(
            self._shop, ProductFilters(**filters), count=count, now=self._now, language=self._language
        )

    def _by_ids(self, ids: tuple[int, ...]) -> list[Record]:
        """The products with these ids, in this order."""
        rows = self._read(len(ids), ids=ids) if ids else []
        return sorted(rows, key=lambda row: ids.index(row["id"]))


def _categories(shop: Shop, ids: set[int | None], language: str) -> dict[int, Category]:
    rows = queries.shown_categories_of(shop, {id for id in ids if id}, language) if any(ids) else []
    return {row.pk: row for row in rows}


def _kept_ids(shop: Shop, rule: str, now: datetime) -> tuple[int, ...]:
    """The ids of products that may follow this rule, from at most KEPT_FOR ago."""

    def is_current(kept: tuple[datetime, Any]) -> bool:
        return timedelta() <= now - kept[0] < KEPT_FOR

    read = _best_sellers if rule == "best" else _reduced
    return _ids.get_current((shop.pk, rule), is_current, lambda: (now, read(shop, now)))[1]


def _best_sellers(shop: Shop, now: datetime) -> tuple[int, ...]:
    placed = Order.objects.filter(shop=shop, placed_at__gte=now - SOLD_WITHIN).exclude(status=Order.Status.CANCELLED)
    lines = OrderLine.objects.filter(order__in=placed, product__isnull=False)
    sums = lines.values("product_id").annotate(pieces=Sum("qty")).order_by("-pieces", "product_id")
    return tuple(sums.values_list("product_id", flat=True)[:MAX_CANDIDATES])


def _reduced(shop: Shop, _now: datetime) -> tuple[int, ...]:
    """Products with a lower price than before, or with a sale price, also one that does not hold yet."""
    lower = Q(compare_price__gt=F("price")) | Q(sale_price__isnull=False)
    products = Product.objects.filter(lower, shop=shop, status=Product.Status.ACTIVE, deleted_at=None)
    variants = Variant.objects.filter(lower, shop=shop, is_active=True)
    found = [
        *products.order_by("-created_at").values_list("pk", flat=True)[:MAX_CANDIDATES],
        *variants.order_by("-product_id").values_list("product_id", flat=True).distinct()[:MAX_CANDIDATES],
    ]
    return tuple(dict.fromkeys(found))[:MAX_CANDIDATES]
