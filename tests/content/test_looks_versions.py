"""Versions of the looks: back to each without a loss, two who save at once, and the starting themes."""

import pytest
from django.urls import reverse

from storefront.content.models import Looks, LooksPicture, LooksVersion
from storefront.shops.models import AuditEntry
from storefront.website import looks_versions
from storefront.website.themes import THEMES
from tests.content.test_looks import frame, make_looks, picture, text_of
from tests.staff import form_values, make_staff, open_desk


@pytest.fixture
def looks(shop) -> Looks:
    return make_looks(shop, footer_text="First")


def restore(desk, version: LooksVersion):
    return desk.post(reverse("admin:content_looks_versions"), {"version": version.pk})


def test_each_save_is_a_version_and_back_to_one_is_a_save(shop, desk, looks):
    desk.fill(looks, footer_text="Second")
    desk.fill(looks, footer_text="Third", accent="#7a00ff")
    third, second, first = LooksVersion.objects.filter(shop=shop)
    assert [each.state["footer_text"] for each in (first, second, third)] == ["First", "Second", "Third"]
    assert [each.saved_by and each.saved_by.username for each in (first, second, third)] == [None, "anna", "anna"]
    assert restore(desk, first).status_code == 302
    looks.refresh_from_db()
    assert (looks.footer_text, looks.accent) == ("First", "#23573f")
    assert "First" in text_of(shop)
    assert [each.state["footer_text"] for each in LooksVersion.objects.all()] == ["First", "Third", "Second", "First"]
    entry = AuditEntry.objects.filter(shop=shop, action="looks.updated").latest("id")
    assert (entry.before["footer_text"], entry.after["footer_text"]) == ("Third", "First")


def test_a_version_is_previewed_and_only_its_own_shop_has_it(shop, other_shop, desk, looks):
    desk.fill(looks, footer_text="Second")
    first = LooksVersion.objects.earliest("id")
    assert "First" in desk.get(frame(), {"version": first.pk}).content.decode()
    assert "First" not in text_of(shop)
    listed = desk.get(reverse("admin:content_looks_versions")).content.decode()
    assert listed.count('name="version"') == 1
    make_looks(other_shop, footer_text="Theirs")
    theirs = open_desk(make_staff(other_shop, "theirs"))
    assert restore(theirs, first).status_code == 404
    assert "First" not in theirs.get(frame(), {"version": first.pk}).content.decode()
    assert "no earlier versions" in theirs.get(reverse("admin:content_looks_versions")).content.decode()
    for odd in ("", "x", "99999999999999999999"):
        assert desk.post(reverse("admin:content_looks_versions"), {"version": odd}).status_code == 404


def test_the_second_of_two_is_told_and_replaces_on_purpose(shop, desk, looks):
    ben = open_desk(make_staff(shop, "ben", "manager"))
    mine, bens = form_values(desk.page(looks)), form_values(ben.page(looks))
    url = f"/admin/content/looks/{looks.pk}/change/"
    assert ben.post(url, bens | {"footer_text": "Ben's"}).status_code == 302
    refused = desk.post(url, mine | {"footer_text": "Mine"})
    text = refused.content.decode()
    assert "ben saved other looks at" in text
    assert ">Mine</textarea>" in text
    assert "Ben&#x27;s" in text_of(shop)
    newest = LooksVersion.objects.latest("id")
    assert f'name="seen" value="{newest.pk}"' in text
    assert desk.post(url, mine | {"footer_text": "Mine", "seen": newest.pk}).status_code == 302
    assert "Mine" in text_of(shop)
    assert newest.state["footer_text"] == "Ben's"


def test_old_versions_go_with_the_pictures_that_nothing_shows(
    shop, desk, looks, monkeypatch, django_capture_on_commit_callbacks
):
    monkeypatch.setattr(looks_versions, "MAX_VERSIONS", 3)
    desk.fill(looks, logo=picture("old.png"))
    old = LooksPicture.objects.get()
    storage, name = old.file.storage, old.file.name
    desk.fill(looks, logo=picture("new.png"))
    desk.fill(looks, footer_text="Second")
    assert storage.exists(name)
    with django_capture_on_commit_callbacks(execute=True):
        desk.fill(looks, footer_text="Third")
    assert LooksVersion.objects.filter(shop=shop).count() == 3
    assert not storage.exists(name)
    assert storage.exists(Looks.objects.get(pk=looks.pk).logo.name)


@pytest.mark.parametrize("key", THEMES)
def test_a_theme_is_a_version_and_its_pictures_are_marked(shop, desk, looks, key):
    desk.fill(looks, logo=picture())
    url = reverse("admin:content_looks_themes")
    assert desk.post(url, {"theme": key}).status_code == 302
    changed = Looks.objects.get(pk=looks.pk)
    assert (changed.accent, changed.footer_text, bool(changed.logo)) == (THEMES[key].accent, "First", True)
    text = text_of(shop)
    assert f"/static/website/looks/{key}-" in text
    assert "shows demo pictures" in desk.page(looks).content.decode()
    before = LooksVersion.objects.filter(shop=shop)[1]
    restore(desk, before)
    assert f"/static/website/looks/{key}-" not in text_of(shop)
    assert "shows demo pictures" not in desk.page(looks).content.decode()
    # Colours that can be read, as the form would ask for.
    chosen = {"accent": changed.accent, "background": changed.background}
    assert desk.fill(Looks.objects.get(pk=looks.pk), **chosen).status_code == 302


def test_nobody_without_the_right_restores_or_chooses(shop, desk, looks):
    desk.fill(looks, footer_text="Second")
    helper = open_desk(make_staff(shop, "helper", "fulfilment"))
    assert restore(helper, LooksVersion.objects.earliest("id")).status_code == 403
    assert helper.post(reverse("admin:content_looks_themes"), {"theme": "linen"}).status_code == 403
    assert Looks.objects.get(pk=looks.pk).footer_text == "Second"
