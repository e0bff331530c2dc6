"""A host of pictures on loopback, and the fetching of what waits."""

import asyncio
import io
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from aiohttp import web
from PIL import Image

from storefront.catalogue.models import Media, Product
from storefront.pictures.fetching import Fetcher
from storefront.pictures.models import PictureFetch
from storefront.pictures.requesting import PictureRequests
from storefront.pictures.taking_up import take_up
from storefront.shops.models import Shop
from tests.catalogue.factories import make_media, make_product
from tests.receiver import Answering, Receiver, receiving
from tests.shops.factories import NOW


def drawn(width: int = 60, height: int = 40, kind: str = "PNG", colour: str = "#336699") -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (width, height), colour).save(file, kind)
    return file.getvalue()


@dataclass
class Host:
    """`answers` has, by path, a body, a status, or a function of the request. `calls` counts the calls by path."""

    receiver: Receiver
    answers: dict[str, bytes | int | Answering] = field(default_factory=dict)
    calls: Counter = field(default_factory=Counter)

    def url(self, path: str) -> str:
        return self.receiver.url + path

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.calls[request.path] += 1
        found = self.answers.get(request.path, 404)
        if callable(found):
            return await found(request)
        if isinstance(found, int):
            return web.Response(status=found)
        return web.Response(body=found, content_type="image/png")


@contextmanager
def picture_host(**answers: bytes | int | Answering) -> Iterator[Host]:
    """A Host; the paths are the names of the arguments."""
    with receiving() as receiver:
        host = Host(receiver, {f"/{name}": answer for name, answer in answers.items()})
        receiver.answering = host.answer
        yield host


def asked_for(shop: Shop, *urls: str, product: Product | None = None, product_import: int | None = None) -> list[Media]:
    """Media of one product with these addresses, as an import leaves them."""
    product = product or make_product(shop)
    media = [make_media(product, url, sort_order=number) for number, url in enumerate(urls)]
    PictureRequests(shop, NOW, product_import).insert([(row.pk, row.source_url) for row in media])
    return media


def requested(shop: Shop, *urls: str, product: Product | None = None, product_import: int | None = None) -> list[Media]:
    """The same after the worker has taken them up."""
    media = asked_for(shop, *urls, product=product, product_import=product_import)
    take_up_all(shop)
    return media


def take_up_all(shop: Shop) -> None:
    """Take up all that imports into the shop asked for."""
    while take_up(shop=shop):
        pass


def fetch_waiting(shop: Shop) -> None:
    """Fetch until nothing of the shop is due."""
    asyncio.run(Fetcher(shop).run())


def state_of(media: Media) -> tuple[str, str]:
    row = PictureFetch.objects.get(pk=media.pk)
    return row.state, row.reason
