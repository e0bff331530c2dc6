"""Fields of the admin's forms in the further languages of a shop."""

from django.utils.timezone import now

from storefront.catalogue.models import Category, Product
from storefront.content.models import Looks, MailText, MenuLink, Page
from storefront.documents.models import InvoiceSettings
from storefront.pricing.models import Discount, PickupPlace, ShippingRate, TaxRate
from storefront.shops.models import Shop
from storefront.staff.admin_translations import MISSING
from storefront.website import mail_samples
from tests.catalogue.factories import make_category, make_media, make_option, make_product, make_variant
from tests.staff import admin_url, form_values, make_staff, open_desk


def speaks(shop: Shop, *codes: str) -> None:
    Shop.objects.filter(pk=shop.pk).update(further_languages=list(codes))
    shop.further_languages = list(codes)


def form_of(page):
    return page.context_data["adminform"].form


def make_page(shop, **given):
    return Page.objects.create(
        shop=shop, created_at=now(), updated_at=now(), **{"title": "Size", "slug": "size"} | given
    )


def test_a_shop_without_further_languages_has_the_forms_of_before(desk, shop, other_shop):
    speaks(other_shop, "de")
    page = desk.page(make_product(shop, "Mug"))
    assert not [name for name in form_of(page).fields if "_in_" in name or name in ("parts", "translations")]
    assert "Translations of its parts" not in page.content.decode()
    assert "untranslated" not in desk.get(admin_url(Product, "changelist")).content.decode()


def test_a_category_has_a_field_for_each_language_below_the_original(desk, shop):
    speaks(shop, "de", "ar")
    cups = make_category(shop, "Cups", description="To drink from")
    page = desk.page(cups)
    names = [name for _, options in page.context_data["adminform"].fieldsets for name in options["fields"]]
    assert names[:3] == ["name", "name_in_de", "name_in_ar"]
    form = form_of(page)
    assert (form.fields["name_in_de"].label, form.fields["name_in_de"].help_text) == ("Name (German)", MISSING)
    assert form.fields["meta_title_in_de"].help_text == ""
    assert form.fields["name_in_ar"].widget.attrs["dir"] == "auto"
    assert desk.fill(cups, name_in_de="Tassen", slug_in_de="tassen", description_in_ar="للشرب").status_code == 302
    cups.refresh_from_db()
    assert cups.translations == {"de": {"name": "Tassen", "slug": "tassen"}, "ar": {"description": "للشرب"}}
    assert form_of(desk.page(cups)).fields["name_in_de"].help_text == ""


def test_a_text_is_bounded_and_cleaned_as_the_original_is(desk, shop):
    speaks(shop, "de")
    cups = make_category(shop, "Cups")
    for given in ({"name_in_de": "x" * 256}, {"slug_in_de": "a b"}, {"description_in_de": "<b>" * 500}):
        assert list(form_of(desk.fill(cups, **given)).errors) == list(given)
    mug, size = make_product(shop, "Mug"), make_page(shop)
    desk.fill(mug, description_in_de="<h1>Blau</h1><script>1</script>")
    desk.fill(size, body_in_de="<p onclick=1>Größe</p>")
    mug.refresh_from_db()
    size.refresh_from_db()
    assert mug.translations == {"de": {"description": "<h2>Blau</h2>"}}
    assert size.translations == {"de": {"body": "<p>Größe</p>"}}


def test_an_emptied_text_is_removed_and_a_language_that_was_given_up_stays(desk, shop):
    speaks(shop, "de")
    cups = make_category(shop, "Cups", translations={"de": {"name": "Tassen"}, "fr": {"name": "Tasses"}})
    desk.fill(cups, name_in_de="")
    cups.refresh_from_db()
    assert cups.translations == {"fr": {"name": "Tasses"}}


def test_an_old_page_undoes_no_text_that_another_saved_meanwhile(desk, shop):
    speaks(shop, "de", "fr")
    mug = make_product(shop, "Mug")
    old = desk.page(mug)
    desk.fill(mug, name_in_de="Becher")
    desk.post(admin_url(mug, "change"), {**form_values(old), "name_in_fr": "Tasse"})
    mug.refresh_from_db()
    assert mug.translations == {"de": {"name": "Becher"}, "fr": {"name": "Tasse"}}


def test_who_may_only_look_gets_no_fields(shop):
    speaks(shop, "de")
    viewer = open_desk(make_staff(shop, "vera", "read_only"), shop)
    page = viewer.page(make_product(shop, "Mug", translations={"de": {"name": "Becher"}}))
    assert page.status_code == 200
    assert "name_in_de" not in page.content.decode()


def test_the_audit_log_has_the_change(desk, shop):
    speaks(shop, "de")
    looks = Looks.objects.create(shop=shop, updated_at=now())
    link = MenuLink.objects.create(shop=shop, looks=looks, label="Blog", link="/blog")
    desk.fill(looks, footer_text_in_de="Willkommen", links__0__label_in_de="Neues")
    looks.refresh_from_db()
    link.refresh_from_db()
    assert looks.translations == {"de": {"footer_text": "Willkommen"}}
    assert link.translations == {"de": {"label": "Neues"}}
    history = desk.page(looks, "history").content.decode()
    assert "Willkommen" in history
    assert "Neues" in history


def test_every_page_of_texts_that_shoppers_read_has_the_fields(desk, shop):
    speaks(shop, "de")
    mail_samples.make_rows(shop=shop, now=now())
    InvoiceSettings.objects.create(shop=shop)
    mail = MailText.objects.get(shop=shop, kind="order_confirmation")
    wanted = {
        Discount: {"name"},
        TaxRate: {"name"},
        ShippingRate: {"name", "delivery_time"},
        PickupPlace: {"name", "hours", "ready"},
        Page: {"title", "slug", "body", "summary"},
        Category: {"name", "slug", "description", "meta_title", "meta_description"},
        Product: {"name", "slug", "description", "short_description", "meta_title", "meta_description"},
    }
    rows = {
        shop: {"manual_payment_instructions"},
        mail: {"subject", "opening", "closing"},
        InvoiceSettings.objects.get(): {"registration", "bank", "footer"},
    }
    for row, names in {**wanted, **rows}.items():
        page = desk.get(admin_url(row, "add" if isinstance(row, type) else "change"))
        found = {name.removesuffix("_in_de") for name in form_of(page).fields if name.endswith("_in_de")}
        assert found == names, row


def test_the_columns_bounds_hold_for_each_language(desk, shop):
    speaks(shop, "de")
    mail, size = MailText.objects.create(shop=shop, kind="order_paid", updated_at=now()), make_page(shop)
    for row, given in ((mail, {"opening_in_de": "x" * 2001}), (size, {"body_in_de": "x" * 200_001})):
        assert list(form_of(desk.fill(row, **given)).errors) == list(given)
        row.refresh_from_db()
        assert row.translations is None


def test_a_mails_text_needs_its_placeholders_in_each_language(desk, shop):
    speaks(shop, "de")
    mail_samples.make_rows(shop=shop, now=now())
    mail = MailText.objects.get(shop=shop, kind="order_confirmation")
    refused = desk.fill(mail, subject_in_de="Ihre {nonsense}")
    assert list(form_of(refused).errors) == ["subject_in_de"]


def test_lists_show_what_is_missing_in_a_language(desk, shop, other_shop):
    speaks(shop, "de", "fr")
    make_product(shop, "Mug", translations={"de": {"name": "Becher"}})
    make_product(shop, "Cup", description="Blue", translations={"de": {"name": "Tasse"}, "fr": {"name": "Tasse"}})
    make_product(other_shop, "Theirs")
    make_category(shop, "Cups", translations={"de": {"name": "Tassen"}})
    make_page(shop, translations={"fr": {"title": "Taille"}})

    def missing(model, code):
        page = desk.get(admin_url(model, "changelist"), {"untranslated": code})
        return {str(row) for row in page.context_data["cl"].result_list}

    assert (missing(Product, "de"), missing(Product, "fr")) == ({"Cup"}, {"Mug", "Cup"})
    assert (missing(Category, "de"), missing(Category, "fr")) == (set(), {"Cups"})
    assert (missing(Page, "de"), missing(Page, "fr")) == ({"Size"}, set())


def test_a_products_parts_have_a_row_each(desk, shop):
    speaks(shop, "de")
    attributes = [{"name": "Colour", "values": ["Blue"], "variation": True}, {"name": "Material", "values": ["Wool"]}]
    scarf = make_product(shop, "Scarf", attributes=attributes, type="variable")
    make_variant(scarf, "Blue", option_values={"Colour": "Blue"})
    make_variant(scarf, "The best", option_values={"Colour": "Blue"})
    make_option(scarf, "Wrapping", {"Paper": "1.00"})
    make_media(scarf, alt="A scarf")
    rows = form_of(desk.page(scarf)).initial["parts"]
    assert [row["key"] for row in rows] == [
        *("attribute:Colour", "attribute:Colour:Blue", "attribute:Material", "attribute:Material:Wool"),
        *("variant:The best", "option:Wrapping", "option:Wrapping:Paper", "picture:A scarf"),
    ]
    desk.fill(scarf, parts__0__de="Farbe", parts__6__de="Papier", name_in_de="Schal")
    scarf.refresh_from_db()
    stored = {"name": "Schal", "attribute:Colour": "Farbe", "option:Wrapping:Paper": "Papier"}
    assert scarf.translations == {"de": stored}
    desk.fill(scarf, parts__0__de="", parts__1__key="nonsense", parts__1__de="Blau")
    scarf.refresh_from_db()
    assert scarf.translations == {"de": {"name": "Schal", "option:Wrapping:Paper": "Papier"}}


def test_a_new_product_can_have_texts_at_once(desk, shop):
    speaks(shop, "de")
    assert desk.fill(Product, name="Mug", price="5.00", name_in_de="Becher").status_code == 302
    assert Product.objects.get().translations == {"de": {"name": "Becher"}}
