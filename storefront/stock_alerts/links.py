"""Links in the mails: one confirms an alert, the other deletes all alerts of an address.

Links are signed (`kit.signing`) and contain the shop's address, so a link of one shop is invalid in another. Following
a link changes nothing, since mail scanners follow links too: its page has a button.
"""

from datetime import datetime
from urllib.parse import parse_qs, urlencode

from django.utils.translation import gettext_lazy

from storefront.customers.queries import normal_email
from storefront.kit.refusals import Refusal
from storefront.kit.signing import is_signed_url, sign_url
from storefront.shops.models import Shop
from storefront.shops.places import in_spoken_language, secure_base
from storefront.stock_alerts.models import StockAlert

CONFIRM, STOP = "/stock-alerts/confirm", "/stock-alerts/stop"


class AlertLinkRefused(Refusal):
    status, code = 403, "link_refused"
    message = gettext_lazy("This link is incomplete or too old, or you are no longer waiting for this product.")


def confirm_link(shop: Shop, alert: StockAlert) -> str:
    # An alert that is requested again after its mail is a new row, so an old link does not confirm it.
    return _link(shop, CONFIRM, alert=alert.pk)


def stop_link(shop: Shop, email: str) -> str:
    return _link(shop, STOP, email=normal_email(email))


def alert_of_link(*, shop: Shop, query: str, now: datetime) -> StockAlert:
    """The alert of a followed link; `query` is the query string exactly as received. Raises AlertLinkRefused."""
    given = _checked(shop, CONFIRM, query)
    alert = StockAlert.objects.select_related("product", "variant").filter(shop=shop, pk=int(given["alert"])).first()
    if alert is None or not alert.product.is_published(now):
        raise AlertLinkRefused
    return alert


def email_of_link(*, shop: Shop, query: str) -> str:
    """The address in a followed link that stops alerts. Raises AlertLinkRefused."""
    return _checked(shop, STOP, query)["email"]


def _link(shop: Shop, path: str, **parameters: str | int) -> str:
    base = secure_base(shop)
    return in_spoken_language(sign_url(f"{base}{path}?{urlencode(parameters)}"), base, shop)


def _checked(shop: Shop, path: str, query: str) -> dict[str, str]:
    if not is_signed_url(f"{secure_base(shop)}{path}?{query}"):
        raise AlertLinkRefused
    # The signature shows that `_link` made the query.
    return {name: values[0] for name, values in parse_qs(query).items()}
