"""The demo shop's own pages."""

from datetime import datetime

from storefront.content.models import Page
from storefront.demo import german
from storefront.shops.models import Shop

Kind = Page.Kind
NOT_REAL = "<p><strong>This is a demo shop. Nothing is sent, and nothing is owed.</strong></p>"
# Title, address and text by kind, in the order of the footer.
PAGES = {
    Kind.ABOUT: (
        "About us",
        "about",
        "<p>Harbour Lane is a small shop by the water in Hamburg. We sell what makes a home quiet and warm: stoneware,"
        " linen, wool, and things that last.</p>"
        "<h2>How we choose</h2><p>We know everybody who makes our goods. What we would not keep ourselves, we do not"
        " sell.</p>",
    ),
    Kind.DELIVERY: (
        "Delivery",
        "delivery",
        f"{NOT_REAL}<h2>In Germany</h2><p>By parcel in 2 to 3 days for €4.90, and free from €80.00. Express costs"
        " €12.50 and arrives on the next working day.</p>"
        "<h2>Abroad</h2><p>In 4 to 8 days; the price depends on the weight and is shown at the checkout.</p>"
        "<h2>Collect it yourself</h2><p>At Am Sandtorkai 1 in Hamburg, Monday to Saturday from 10 to 18. Ready the next"
        " working day, and free.</p>",
    ),
    Kind.RETURNS: (
        "Returns and withdrawal",
        "returns",
        f"{NOT_REAL}<p>You may withdraw from a purchase within 14 days of receiving the goods, without giving a reason."
        " Tell us by email or letter, and send the goods back within 14 days after that. We pay back the price and the"
        " standard delivery.</p><h2>Exceptions</h2><p>Custom-made goods, and downloads once they have begun.</p>",
    ),
    Kind.TERMS: (
        "Terms and conditions",
        "terms",
        f"{NOT_REAL}<h2>Who sells to you</h2><p>Harbour Lane GmbH, Am Kai 12, 20457 Hamburg, Germany.</p>"
        "<h2>How a contract comes about</h2><p>With the button at the end of the checkout you order what is in your"
        " basket. We accept the order with its confirmation by email.</p>"
        "<h2>Prices and payment</h2><p>Prices include VAT; delivery comes on top. You pay by card at once, or by bank"
        " transfer within 14 days.</p>",
    ),
    Kind.PRIVACY: (
        "Privacy policy",
        "privacy",
        "<p>This demo shop runs on your own computer, and sends nothing to anybody. It stores one cookie for basket and"
        " sign-in, and what you type at the checkout, until the demo is deleted.</p>",
    ),
    Kind.IMPRINT: (
        "Imprint",
        "imprint",
        f"{NOT_REAL}<p>Harbour Lane GmbH<br>Am Kai 12<br>20457 Hamburg<br>Germany</p><p>VAT ID: DE123456789</p>",
    ),
}


def add_pages(shop: Shop, now: datetime) -> None:
    Page.objects.bulk_create(
        Page(
            shop=shop,
            kind=kind,
            title=title,
            slug=slug,
            body=body,
            is_published=True,
            position=position,
            translations={german.CODE: dict(zip(("title", "slug", "body"), german.PAGES[kind], strict=True))},
            created_at=now,
            updated_at=now,
        )
        for position, (kind, (title, slug, body)) in enumerate(PAGES.items())
    )
