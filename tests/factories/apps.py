"""Apps, and what it takes to speak as one that is installed."""

from dataclasses import dataclass
from datetime import datetime

from storefront.apps import actions
from storefront.installations.models import App, Installation
from storefront.kit import clock
from storefront.shops.models import Shop
from storefront.shops.scopes import SCOPES
from tests.client import ApiClient


@dataclass(frozen=True)
class Installed:
    """An app in a shop, with what it keeps to itself: its token, and the secret of its webhooks."""

    installation: Installation
    token: str
    secret: str

    @property
    def api(self) -> ApiClient:
        """Calls `/api/apps`."""
        return ApiClient(self.token, prefix="/api/apps")


def make_app(slug: str | None = None, *, scopes: tuple[str, ...] = tuple(SCOPES), **given) -> App:
    """An app that asks for everything, unless told otherwise."""
    slug = slug or f"app-{App.objects.count() + 1}"
    given = {"name": slug.title(), "install_url": "https://app.example.com/install", "now": clock.now()} | given
    return actions.register_app(slug=slug, scopes=list(scopes), **given)[0]


def install(shop: Shop, *scopes: str, app: App | None = None, now: datetime | None = None) -> Installed:
    """Install an app, another one each time, with these scopes and no others; `*SCOPES` for all there are."""
    now = now or clock.now()
    installation, token = actions.install_app(shop=shop, app=app or make_app(), scopes=list(scopes), now=now)
    return Installed(installation, token, installation.signing_secrets(now)[0])
