"""A merchant who uses the admin of a running server, over HTTP."""

import requests

from tests.server.test_kills import hidden

# Prints the merchant's session, for a shop at this port.
SIGN_IN = """
from tests.staff import make_staff, session_of
session = session_of(make_staff(shop))
"""


class Merchant:
    def __init__(self, port: int, session: str) -> None:
        self.url = f"http://localhost:{port}"
        self.browser = requests.Session()
        self.browser.cookies.set("storefront_session", session)

    def read(self, path: str) -> requests.Response:
        return self.browser.get(self.url + path, timeout=30)

    def send(self, path: str, files: dict | None = None, **fields: str) -> requests.Response:
        """Fill in the form at this path; the page after it."""
        given = fields | {"csrfmiddlewaretoken": hidden(self.read(path).text, "csrfmiddlewaretoken")}
        url = self.url + path
        return self.browser.post(url, given, files=files, headers={"Referer": url}, timeout=30)

    def upload_products(self, content: bytes) -> str:
        """Upload a product file; the path of its report."""
        files = {"file": ("products.jsonl", content)}
        page = self.send("/admin/catalogue/productimport/add/", files, format="auto", fetch_pictures="on")
        assert page.url.endswith("/change/"), page.text
        return page.url.removeprefix(self.url)
