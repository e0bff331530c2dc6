"""Text pages at their slugs in the shop's languages."""

import pytest

from storefront.content.models import Page, Redirect
from storefront.shops.models import Shop
from tests.races import run_concurrently
from tests.shops.factories import NOW
from tests.website.test_translated_pages import speaks
from tests.website.test_translated_slugs import leads


def make_page(shop: Shop, slug: str, *, is_published: bool = True, **translations) -> Page:
    texts = {"title": slug.title(), "is_published": is_published, "translations": translations or None}
    return Page.objects.create(shop=shop, slug=slug, created_at=NOW, updated_at=NOW, **texts)


@pytest.fixture
def terms(shop, other_shop) -> Page:
    speaks(shop, "de", "fr")
    speaks(other_shop, "de")
    make_page(other_shop, "terms", de={"slug": "bedingungen"})
    return make_page(shop, "terms", de={"slug": "agb", "title": "AGB"}, nl={"slug": "voorwaarden"})


def test_a_page_is_at_its_slug_of_the_language(visitor, page, shop, terms):
    make_page(shop, "draft", de={"slug": "entwurf"}, is_published=False)
    text = page("/de/pages/agb")
    assert "<h1>AGB</h1>" in text
    assert text.count('href="/de/pages/agb"') >= 2
    for path in ('hreflang="de" href="{}/de/pages/agb"', 'hreflang="fr" href="{}/fr/pages/terms"'):
        assert path.format(shop.base_url) in text
    assert f'<link rel="canonical" href="{shop.base_url}/de/pages/agb">' in text
    # The switch of language.
    assert 'href="/pages/terms"' in text
    assert 'href="/de/pages/agb"' in page("/pages/terms")
    assert leads(visitor, "/fr/pages/terms") == "200"
    for path in ("/de/pages/terms?a=1", "/de/pages/agb?a=1"):
        assert leads(visitor, path) in ("301 /de/pages/agb?a=1", "200")
    assert leads(visitor, "/pages/agb") == "301 /pages/terms"
    assert leads(visitor, "/fr/pages/agb") == "301 /fr/pages/terms"
    # A language that the shop does not have, a hidden page, and those of another shop.
    for slug in ("voorwaarden", "entwurf", "draft", "bedingungen"):
        assert leads(visitor, f"/de/pages/{slug}") == "404"


def test_sitemap_and_redirects_have_the_slugs(visitor, page, shop, terms):
    Redirect.objects.create(shop=shop, path="/conditions", target="/pages/terms", created_at=NOW, updated_at=NOW)
    german = page("/de/sitemap-0.xml")
    assert f"<loc>{shop.base_url}/de/pages/agb</loc>" in german
    assert f'hreflang="x-default" href="{shop.base_url}/pages/terms"' in german
    assert f"<loc>{shop.base_url}/pages/terms</loc>" in page("/sitemap-0.xml")
    assert leads(visitor, "/de/conditions") == "301 /de/pages/agb"


def test_the_editor_has_it_beside_the_original_and_old_ones_lead_on(visitor, shop, terms, desk):
    assert 'name="slug_in_de" value="agb"' in desk.page(terms).content.decode()
    assert desk.fill(terms, slug="conditions", slug_in_de="bedingungen", slug_in_fr="cgv").status_code == 302
    terms.refresh_from_db()
    assert {code: terms.translations[code]["slug"] for code in ("de", "fr")} == {"de": "bedingungen", "fr": "cgv"}
    for old in ("agb", "terms"):
        assert leads(visitor, f"/de/pages/{old}") == "301 /de/pages/bedingungen"
        assert leads(visitor, f"/pages/{old}") == "301 /pages/conditions"
    # Back again: an address that it has is no old one. A page with an old address of another one has it.
    assert desk.fill(terms, slug_in_de="agb", slug_in_fr="").status_code == 302
    terms.refresh_from_db()
    assert set(terms.old_slugs) == {"terms", "bedingungen", "cgv"}
    make_page(shop, "cgv")
    assert leads(visitor, "/fr/pages/cgv") == "200"
    assert leads(visitor, "/fr/pages/bedingungen") == "301 /fr/pages/conditions"


@pytest.mark.parametrize(
    "given", [{"slug_in_de": "agb"}, {"slug_in_fr": "terms"}, {"slug_in_fr": "agb"}, {"slug": "agb"}]
)
def test_a_slug_belongs_to_one_page(shop, terms, desk, given):
    about = make_page(shop, "about", de={"slug": "ueber-uns"})
    answer = desk.fill(about, **given)
    assert "Another page of this shop already has this address." in answer.content.decode()
    about.refresh_from_db()
    assert (about.slug, about.translations, about.old_slugs) == ("about", {"de": {"slug": "ueber-uns"}}, [])


def test_a_slug_has_the_form_of_one(shop, terms, desk):
    answer = desk.fill(terms, slug_in_de="Ä G B")
    assert "Use lowercase letters, digits and single hyphens" in answer.content.decode()


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_of_two_who_give_two_pages_one_slug_one_is_refused(shop, terms, desk):
    about = make_page(shop, "about")
    delivery = make_page(shop, "delivery")
    statuses = run_concurrently(
        *[lambda each=each: desk.fill(each, slug_in_de="neu").status_code for each in (about, delivery)]
    )
    assert sorted(statuses) == [200, 302]
