"""Decides which hosts, paths and shop codes lead to which pod: the tables that both proxies' maps are made of."""

from collections.abc import Iterable
from dataclasses import dataclass

from storefront.kit.tokens import CODE_DIGITS
from storefront.pods.deployment import Pod
from storefront.pods.ids import IDS_PER_POD, birth_pod
from storefront.pods.survey import Place

# The digits of a shop code after those that are the number of the pod in which the shop was made.
_OWN_DIGITS = (IDS_PER_POD.bit_length() - 1) // 4
# What nginx and Caddy know by these expressions, in which both agree: a token with a code, and calls of the API.
REST_OF_CODE = f"[0-9a-f]{{{_OWN_DIGITS}}}"
CODED_TOKEN = rf"(?:api|app)_([0-9a-f]{{{CODE_DIGITS}}})[A-Za-z0-9_-]{{43}}"


@dataclass(frozen=True)
class Routes:
    """Pods by host, by first segment of a path at the secure host, by code of a shop that has moved, and by the first
    digits of other codes. What is in none of them leads to pod 0."""

    hosts: dict[str, int]
    segments: dict[str, int]
    moved_codes: dict[str, int]
    code_beginnings: dict[str, int]


def routes(pods: Iterable[Pod], places: Iterable[Place]) -> Routes:
    """All routes, in an order that is the same for the same pods and places. The host of an admin comes before a
    shop's."""
    places = sorted(places, key=lambda place: place.host)
    admins = {pod.admin_host: pod.number for pod in pods if pod.admin_host}
    return Routes(
        hosts={place.host: place.pod for place in places} | admins,
        segments={place.host: place.pod for place in places if place.is_domain},
        moved_codes={
            f"{place.shop_id:0{CODE_DIGITS}x}": place.pod for place in places if birth_pod(place.shop_id) != place.pod
        },
        code_beginnings={f"{pod.number:0{CODE_DIGITS - _OWN_DIGITS}x}": pod.number for pod in pods},
    )
