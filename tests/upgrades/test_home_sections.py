"""Home pages of the release before become lists of sections, and look as they did."""

import json

import pytest

from tests.server.programs import storefront
from tests.upgrades.databases import database_of

pytestmark = [pytest.mark.uses_database, pytest.mark.slow]

BEFORE = """
UPDATE content_looks SET hero = 'own', hero_picture = 'looks/autumn.png', hero_title = 'Autumn', hero_text = 'Leaves',
    hero_button = 'Look', hero_link = '/products', sections = '["newest", "featured"]'
"""
LOOK = """
import json
from storefront.content.models import Looks, LooksPicture
from storefront.website.home import home_context
from storefront.kit import clock
looks = Looks.objects.order_by("pk").first()
shown = home_context(looks.shop, looks, None, now=clock.now(), language="")["sections"]
print(json.dumps({
    "home": looks.home,
    "pictures": list(LooksPicture.objects.filter(shop=looks.shop).values_list("pk", "file")),
    "shown": [[each.section["id"], each.is_first, bool(each.picture)] for each in shown],
}))
"""


def test_the_top_and_what_was_below_it_are_one_list(tmp_path):
    with database_of("0.2.0", tmp_path) as database:
        database.run(BEFORE)
        assert storefront("migrate", "--verbosity=0", **database.environment).returncode == 0
        done = storefront("shell", "--no-imports", "-c", LOOK, **database.environment)
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        # Processes of the release before go on reading and adding rows.
        database.run("UPDATE content_looks SET hero_title = 'Later', hero = 'none'")
    hero, newest, featured = found["home"]
    ((picture, name),) = found["pictures"]
    assert name == "looks/autumn.png"
    assert hero == {
        "id": "hero",
        "kind": "hero",
        "hidden": False,
        "title": "Autumn",
        "text": "Leaves",
        "button": "Look",
        "link": "/products",
        "picture": picture,
        "alt": "",
        "layout": "beside",
    }
    assert [(each["kind"], each["rule"], each["count"]) for each in (newest, featured)] == [
        ("products", "newest", "8"),
        ("products", "featured", "9"),
    ]
    assert found["shown"] == [["hero", True, True], ["newest", False, False], ["featured", False, False]]
