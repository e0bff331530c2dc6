"""The pages that a merchant writes: in the shop, in its footer, at the pay button, and in the admin."""

import pytest
from django.test import Client
from django.urls import reverse

from storefront.content.actions import add_usual_pages
from storefront.content.models import Page
from storefront.content.starting_texts import STARTING_TEXTS
from storefront.shops.models import AuditEntry, Shop
from tests.races import run_concurrently
from tests.shops.factories import NOW
from tests.staff import Desk, admin_url, make_staff, open_desk


def make_page(shop: Shop, slug: str = "imprint", **given) -> Page:
    given = {"title": slug.capitalize(), "body": f"<p>Of {shop.name}</p>", "is_published": True} | given
    return Page.objects.create(shop=shop, slug=slug, created_at=NOW, updated_at=NOW, **given)


def read(shop: Shop, path: str):
    return Client(headers={"host": shop.domain}).get(path)


def text_of(shop: Shop, path: str) -> str:
    answer = read(shop, path)
    assert answer.status_code == 200, answer.content
    return answer.content.decode()


def test_a_page_is_shown_by_its_own_shop_only(shop, other_shop):
    make_page(shop, "imprint", body="<h2>Who we are</h2><p>Ada &amp; Co</p><script>alert(1)</script>")
    make_page(other_shop, "terms")
    text = text_of(shop, "/pages/imprint")
    assert "<h1>Imprint</h1>" in text
    assert "<h2>Who we are</h2><p>Ada &amp; Co</p></div>" in text
    assert "alert(1)" not in text
    assert read(other_shop, "/pages/imprint").status_code == read(shop, "/pages/terms").status_code == 404
    assert read(shop, "/pages/none\0").status_code == 404


def test_a_hidden_page_is_not_shown_anywhere(shop):
    make_page(shop, "imprint", is_published=False)
    assert read(shop, "/pages/imprint").status_code == 404
    assert "/pages/" not in text_of(shop, "/") + text_of(shop, "/sitemap-0.xml")


def test_the_footer_links_to_the_pages_in_order(shop, other_shop):
    make_page(shop, "terms", position=2)
    make_page(shop, "imprint", position=1)
    make_page(shop, "care", in_footer=False)
    make_page(other_shop, "theirs")
    text = text_of(shop, "/")
    assert text.index('href="/pages/imprint"') < text.index('href="/pages/terms"')
    assert "/pages/care" not in text
    assert "/pages/theirs" not in text
    assert f"<loc>{shop.base_url}/pages/care</loc>" in text_of(shop, "/sitemap-0.xml")


def test_the_usual_pages_are_added_once_and_hidden(shop, other_shop):
    own = make_page(shop, "about-our-house", kind=Page.Kind.ABOUT)
    taken = make_page(shop, "delivery")
    added = add_usual_pages(shop=shop, now=NOW)
    assert {page.kind for page in added} == set(STARTING_TEXTS) - {Page.Kind.ABOUT, Page.Kind.DELIVERY}
    assert not any(page.is_published for page in added)
    assert add_usual_pages(shop=shop, now=NOW.replace(hour=9)) == []
    assert set(Page.objects.filter(shop=shop)) == {own, taken, *added}
    assert not Page.objects.filter(shop=other_shop).exists()
    assert AuditEntry.objects.filter(shop=shop, action="page.created").count() == len(added)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_two_who_add_the_usual_pages_at_once_add_each_once(shop):
    run_concurrently(*[lambda: add_usual_pages(shop=shop, now=NOW)] * 2)
    assert Page.objects.filter(shop=shop).count() == len(STARTING_TEXTS)


def test_a_starting_text_cannot_be_published_before_it_is_edited(shop, desk):
    add_usual_pages(shop=shop, now=NOW)
    page = Page.objects.get(shop=shop, kind=Page.Kind.IMPRINT)
    assert "This is a starting text." in desk.page(page).content.decode()
    answer = desk.fill(page, is_published="on")
    assert "Write your own before publishing" in answer.content.decode() or "Fill in" in answer.content.decode()
    page.refresh_from_db()
    assert (page.is_published, page.is_starting_text) == (False, True)
    answer = desk.fill(page, is_published="on", body="<p>Ada Lovelace<br>[Street and number]</p>")
    assert "Fill in what is in brackets before publishing: [Street and number]." in answer.content.decode()
    assert desk.fill(page, is_published="on", body="<h1>Us</h1><p>Ada, Kai 1 [left side]</p>").status_code == 302
    page.refresh_from_db()
    assert (page.is_published, page.is_starting_text) == (True, False)
    assert page.body == "<h2>Us</h2><p>Ada, Kai 1 [left side]</p>"


def test_a_page_is_written_in_the_admin(shop, other_shop, desk):
    make_page(other_shop, "size-guide")
    given = {"title": "Size guide", "slug": "size-guide", "body": "<p>Small to large</p>", "is_published": "on"}
    assert desk.fill(Page, **given).status_code == 302
    assert "Small to large" in text_of(shop, "/pages/size-guide")
    assert "already has this address" in desk.fill(Page, **given).content.decode()
    assert "lowercase letters" in desk.fill(Page, **given | {"slug": "Size Guide"}).content.decode()
    assert desk.fill(Page, **given | {"slug": "terms", "kind": "terms"}).status_code == 302
    again = desk.fill(Page, **given | {"slug": "more-terms", "kind": "terms"})
    assert "This shop already has such a page." in again.content.decode()
    assert Page.objects.filter(shop=shop).count() == 2


def test_the_usual_pages_come_by_a_button(shop, desk):
    url = reverse("admin:content_page_add_usual")
    assert desk.get(url).status_code == 200
    assert not Page.objects.exists()
    answer = desk.post(url, {"_form_submitted": "on"}, follow=True)
    assert "Added, for you to edit and publish: About us" in answer.content.decode()
    assert Page.objects.filter(shop=shop).count() == len(STARTING_TEXTS)


def test_other_shops_pages_and_other_roles_are_kept_out(shop, other_shop):
    page = make_page(shop)
    assert open_desk(make_staff(other_shop, "theirs")).page(page).status_code == 404
    helper: Desk = open_desk(make_staff(shop, "ben", "fulfilment"))
    assert helper.page(page).status_code == 403
    assert helper.get(admin_url(Page, "changelist")).status_code == 403


ATTACHED = """{"contentType":"text/html5","content":"<img src=x onerror=alert(1)>"}"""
HOSTILE = (
    f"<p>Hello</p><figure data-trix-attachment='{ATTACHED}'></figure>"
    '<div x-data x-init="alert(1)" hx-get="/admin/" onclick="alert(1)">there</div><script>alert(1)</script>'
)


def test_the_editor_gets_nothing_that_could_act(shop, desk):
    """Whether it was stored before, or is sent by somebody without the editor."""
    page = make_page(shop, body=HOSTILE)
    editor = desk.page(page).content.decode().split('<div class="editor"')[1].split("</trix-editor>")[0]
    given = {"title": "Care", "slug": "care", "body": HOSTILE}
    assert desk.fill(Page, **given).status_code == 302
    stored = Page.objects.get(slug="care").body
    assert stored == "<p>Hello</p><figure></figure><div>there</div>"
    for text in (editor, stored):
        for sign in ("data-trix-attachment", "x-init", "hx-get", "alert"):
            assert sign not in text


def test_brackets_have_to_be_filled_in_whatever_the_kind(shop, desk):
    add_usual_pages(shop=shop, now=NOW)
    page = Page.objects.get(shop=shop, kind=Page.Kind.IMPRINT)
    answer = desk.fill(page, kind="other", is_published="on", body=page.body + "<p>More</p>")
    assert "Fill in what is in brackets" in answer.content.decode()
