"""Which shops other pods serve. `storefront podmap` writes these rows; a deployment with one pod has none.

A request for a shop that is elsewhere is misdirected (421, R-ERR-15); a header has the number of the right pod for the
proxy. Hosts and shops that are in no row are unknown, as ever: 404 and 401.
"""

from django.conf import settings

from storefront.kit.refusals import Refusal
from storefront.pods.models import HostElsewhere, TokenElsewhere

# Header of a 421. The proxy sends the request there, and removes the header (`nginx.py`, `caddy.py`).
POD_HEADER = "X-Storefront-Pod"
SENTENCE = "This shop is served by another part of this deployment. Please send the request again in a moment."


class Misdirected(Refusal):
    """The request is for a shop that this other pod serves."""

    status, code, message = 421, "misdirected", SENTENCE

    def __init__(self, pod: int) -> None:
        super().__init__()
        self.pod = pod

    @property
    def headers(self) -> dict[str, str]:
        return {POD_HEADER: str(self.pod)}


def is_elsewhere(host: str) -> bool:
    """Returns True if another pod serves a shop with this domain or further domain."""
    return HostElsewhere.objects.filter(host=host).exists()


def is_alone() -> bool:
    """Returns True if no other pod is known to have shops."""
    return settings.POD == 0 and not HostElsewhere.objects.exists()


def other_pods() -> list[int]:
    """Numbers of the other pods that are known to have shops."""
    return sorted(HostElsewhere.objects.values_list("pod", flat=True).distinct())


def require_host_here(host: str) -> None:
    """Raises Misdirected if another pod serves the shop with this domain or further domain."""
    # PostgreSQL refuses NUL characters in texts.
    if "\0" not in host:
        _require_here(host=host)


def require_shop_here(shop_id: int) -> None:
    """Raises Misdirected if another pod serves the shop with this id."""
    _require_here(shop_id=shop_id)


def require_token_here(digest: str) -> None:
    """Raises Misdirected if the token with this digest is that of a shop that has moved away."""
    shop = TokenElsewhere.objects.filter(digest=digest).values_list("shop_id", flat=True).first()
    if shop is not None:
        require_shop_here(shop)


def _require_here(**wanted: str | int) -> None:
    pod = HostElsewhere.objects.filter(**wanted).values_list("pod", flat=True).first()
    if pod is not None:
        raise Misdirected(pod)
