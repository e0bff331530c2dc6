"""The HTTP client that Stripe's library calls with. Imported with the first call, since the library is."""

import asyncio
from collections.abc import Mapping
from typing import Any

import aiohttp
import stripe
from django.conf import settings

from storefront.kit.outbound import open_session

# Otherwise each call would tell Stripe about this machine, and how long the call before it took.
stripe.enable_telemetry = False


class DeadlineClient(stripe.HTTPClient):
    """Makes a call within STRIPE_SECONDS, from the look-up of the name to the last byte. The library's own clients
    limit only the time between two bytes."""

    name = "aiohttp"

    def request(
        self, method: str, url: str, headers: Mapping[str, str] | None, post_data: Any = None, *, _usage: Any = None
    ) -> tuple[Any, int, Mapping[str, str]]:
        try:
            return asyncio.run(_ask(method, url, headers, post_data))
        except (TimeoutError, OSError, aiohttp.ClientError) as error:
            raise stripe.APIConnectionError(f"No answer from Stripe ({type(error).__name__}).") from None

    def close(self) -> None:
        """Each call closes its own connection."""


async def _ask(
    method: str, url: str, headers: Mapping[str, str] | None, body: Any
) -> tuple[bytes, int, Mapping[str, str]]:
    async with (
        asyncio.timeout(settings.STRIPE_SECONDS),
        open_session() as session,
        session.request(method, url, headers=headers, data=body, allow_redirects=False) as answer,
    ):
        return await answer.read(), answer.status, answer.headers
