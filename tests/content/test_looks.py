"""A shop's looks: colours that can be read, type, logo, menus; a preview; and what of another shop must not be seen."""

from io import BytesIO

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from PIL import Image

from storefront.content import colours
from storefront.content.models import Looks, MenuLink
from storefront.shops.models import Shop
from tests.catalogue.factories import make_product
from tests.shops.factories import NOW
from tests.staff import admin_url, form_values, make_staff, open_desk


def frame() -> str:
    return reverse("admin:content_looks_frame")


def make_looks(shop: Shop, **given) -> Looks:
    return Looks.objects.create(shop=shop, updated_at=NOW, **given)


def text_of(shop: Shop, path: str = "/") -> str:
    answer = Client(headers={"host": shop.domain}).get(path)
    assert answer.status_code == 200, answer.content
    return answer.content.decode()


def picture(name: str = "logo.png", kind: str = "PNG") -> SimpleUploadedFile:
    file = BytesIO()
    Image.new("RGB", (40, 20), "red").save(file, kind)
    return SimpleUploadedFile(name, file.getvalue(), "image/png")


@pytest.fixture
def looks(shop) -> Looks:
    return make_looks(shop)


def test_a_shop_without_choices_has_the_usual_looks(shop):
    text = text_of(shop)
    assert '<html lang="en" class="fonts-fraunces corners-round">' in text
    assert "/looks/" not in text
    assert text.count('as="font"') == 2


def test_looks_are_the_shops_own(shop, other_shop):
    make_looks(shop, accent="#7a00ff", background="#ffffff", fonts="figtree", corners="square", footer_text="By <hand>")
    text = text_of(shop)
    assert '<html lang="en" class="fonts-figtree corners-square">' in text
    assert 'href="/looks/7a00ff-ffffff.css"' in text
    assert "By &lt;hand&gt;" in text
    assert text.count('as="font"') == 1
    for sign in ("figtree corners", "7a00ff", "hand"):
        assert sign not in text_of(other_shop)


def test_colours_are_a_stylesheet_that_depends_on_its_address_alone(shop):
    visitor = Client(headers={"host": shop.domain})
    answer = visitor.get("/looks/7a00ff-ffffff.css")
    assert answer["Content-Type"] == "text/css"
    assert "immutable" in answer["Cache-Control"]
    assert "--accent:#7a00ff" in answer.content.decode()
    for odd in ("7A00FF-ffffff", "red-white", "7a00ff", "7a00ff-ffffff}body{", "7a00ff-ffffff-000000"):
        assert visitor.get(f"/looks/{odd}.css").status_code == 404


@pytest.mark.parametrize("accent", ["#23573f", "#7a00ff", "#b00020", "#000000", "#0050b0"])
def test_every_colour_that_is_made_can_be_read(accent):
    assert colours.problem_of_accent(accent, "#faf8f3") is None
    light, dark = colours.stylesheet(accent, "#faf8f3").split("@media (prefers-color-scheme:dark)")
    for css, panel in ((light, "#ffffff"), (dark, "#1d221e")):
        made = dict(each.split(":") for each in css.strip("{}").removeprefix(":root{").rstrip("}").split(";"))
        for behind in (panel, made["--paper"], made["--accent-soft"]):
            assert colours._contrast(made["--accent"], behind) >= 4.5
        for accent_shown in (made["--accent"], made["--accent-strong"]):
            assert colours._contrast(made["--accent-ink"], accent_shown) >= 4.5


@pytest.mark.slow
def test_colours_that_cannot_be_read_are_refused_with_one_that_can(shop, desk, looks):
    text = desk.fill(looks, accent="#ffcc00").content.decode()
    assert "Links and buttons are hard to read in this colour" in text
    offered = text.split(" would do.")[0][-7:]
    assert desk.fill(looks, accent=offered).status_code == 302
    assert "Choose a paler one" in desk.fill(looks, background="#999999").content.decode()
    assert "Enter a colour such as" in desk.fill(looks, accent="red;}").content.decode()
    looks.refresh_from_db()
    assert (looks.accent, looks.background) == (offered, "#faf8f3")


def test_a_logo_stands_for_the_name_and_must_be_a_picture(shop, desk, looks):
    assert desk.fill(looks, logo=SimpleUploadedFile("logo.svg", b"<svg onload=alert(1)>")).status_code == 200
    assert desk.fill(looks, logo=SimpleUploadedFile("logo.png", b"not a picture")).status_code == 200
    assert not Looks.objects.get(pk=looks.pk).logo
    assert desk.fill(looks, logo=picture()).status_code == 302
    stored = Looks.objects.get(pk=looks.pk).logo
    assert f'src="{stored.url}" alt="{shop.name}"' in text_of(shop)


def test_links_of_the_merchant_stand_in_menu_and_footer(shop, other_shop, looks):
    for number, menu in enumerate(MenuLink.Menu.values):
        MenuLink.objects.create(
            shop=shop, looks=looks, menu=menu, label=f"Our {menu}", link=f"/{menu}", position=number
        )
    text = text_of(shop)
    navigation, footer = text.split('<nav class="navigation"')[1].split("</nav>")[0], text.split("<footer")[1]
    assert ('href="/main">Our main<' in navigation, "Our footer" in navigation) == (True, False)
    assert ('href="/footer">Our footer<' in footer, "Our main" in footer) == (True, False)
    make_looks(other_shop)
    assert "Our " not in text_of(other_shop)


def test_the_preview_shows_what_is_typed_and_saves_nothing(shop, other_shop, desk, looks):
    make_product(shop, "Mug")
    make_product(other_shop, "Jug")
    given = form_values(desk.page(looks)) | {
        "accent": "#7a00ff",
        "corners": "square",
        "fonts": "papyrus",
        "home-order": "hero,newest",
        "home-hero-kind": "hero",
        "home-hero-shown": "on",
        "home-hero-title": "<b>Autumn</b>",
    }
    answer = desk.post(frame(), given)
    text = answer.content.decode()
    assert 'class="fonts-fraunces corners-square"' in text
    assert f'href="{frame()}?colours=7a00ff-faf8f3"' in text
    assert "&lt;b&gt;Autumn&lt;/b&gt;" in text
    assert ("Mug" in text, "Jug" in text) == (True, False)
    assert '<body class="" inert>' in text
    css = desk.get(frame(), {"colours": "7a00ff-faf8f3"})
    assert (css["Content-Type"], "--accent:#7a00ff" in css.content.decode()) == ("text/css", True)
    assert "frame-ancestors 'self'" in answer["Content-Security-Policy"]
    assert (answer["X-Robots-Tag"], "no-store" in answer["Cache-Control"]) == ("noindex", True)
    assert "frame-ancestors 'none'" in desk.page(looks)["Content-Security-Policy"]
    looks.refresh_from_db()
    assert (looks.accent, looks.corners, looks.home) == ("#23573f", "round", None)
    assert "Autumn" not in text_of(shop)


def test_other_shops_looks_and_other_roles_are_kept_out(shop, other_shop, looks):
    theirs = open_desk(make_staff(other_shop, "theirs"))
    assert theirs.page(looks).status_code == 404
    assert theirs.get(admin_url(Looks, "changelist")).status_code == 302
    assert Looks.objects.filter(shop=other_shop).count() == Looks.objects.filter(shop=shop).count() == 1
    helper = open_desk(make_staff(shop, "ben", "fulfilment"))
    assert helper.page(looks).status_code == helper.get(frame()).status_code == 403


def test_a_missing_page_of_the_admins_host_is_a_404_in_any_colours(apart, shop):
    make_looks(shop, accent="#7a00ff")
    desk = open_desk(make_staff(shop))
    assert desk.get("/admin/content/page/999/change/").status_code == 404


def test_texts_can_be_read_on_every_tint():
    for accent in ("#010365", "#23573f", "#7a00ff"):
        for background in ("#faf8f3", "#ffffff", "#f2f2f2"):
            if colours.problem_of_background(background) or colours.problem_of_accent(accent, background):
                continue
            soft = colours.stylesheet(accent, background).split("--accent-soft:")[1][:7]
            assert min(colours._contrast(text, soft) for text in colours._TEXTS) >= colours.MIN_CONTRAST
