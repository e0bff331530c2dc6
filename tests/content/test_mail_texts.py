"""A merchant changes the words of the shop's mails: what is sent then, what is refused, what of another shop stays."""

import re

import pytest
from django.urls import reverse
from django.utils.html import escape
from django_tasks_db.models import DBTaskResult
from limits import parse_many

from storefront.content import mail_words
from storefront.content.mail_kinds import KINDS, MAX_TEXT_LENGTH
from storefront.content.mail_words import PARTS, Words
from storefront.content.models import MailText
from storefront.customers.jobs import account_mail
from storefront.orders import jobs
from storefront.orders.models import Order
from storefront.shops.models import AuditEntry, Shop
from storefront.website.mail_samples import SAMPLES, make_rows, sample_mail, send_sample_mail
from tests.addresses import ADDRESS
from tests.catalogue.factories import make_product
from tests.content.every_mail import make_customer, make_order
from tests.mails import html_of, words, words_of_text
from tests.races import run_concurrently
from tests.shops.factories import NOW
from tests.staff import admin_url, form_values, make_staff, open_desk

STANDARD = "Thank you for your order at {shop_name}."


def text_of_kind(shop: Shop, kind: str = "order_confirmation") -> MailText:
    make_rows(shop=shop, now=NOW)
    return MailText.objects.get(shop=shop, kind=kind)


@pytest.fixture
def row(shop) -> MailText:
    return text_of_kind(shop)


def frame(desk, row: MailText, **given):
    url = reverse("admin:content_mailtext_frame", args=[row.pk])
    return desk.post(url, given) if given else desk.get(url)


@pytest.mark.slow
def test_the_list_has_every_mail_and_says_which_are_changed(shop, other_shop, desk):
    answer = desk.get(admin_url(MailText, "changelist"))
    text = answer.content.decode()
    assert all(str(kind.title) in text and str(kind.when) in text for kind in KINDS.values())
    assert MailText.objects.filter(shop=shop).count() == len(KINDS)
    assert not MailText.objects.filter(shop=other_shop).exists()
    assert ("Changed" in text, "Standard" in text) == (False, True)
    MailText.objects.filter(shop=shop, kind="gift_card").update(closing="Enjoy")
    assert "Changed" in desk.get(admin_url(MailText, "changelist")).content.decode()
    desk.get(admin_url(MailText, "changelist"))
    assert MailText.objects.count() == len(KINDS)
    assert reverse("admin:content_mailtext_changelist") in desk.get("/admin/settings/").content.decode()


def test_what_is_written_is_sent_in_both_forms_by_this_shop_alone(shop, other_shop, desk, row):
    Shop.objects.filter(pk=shop.pk).update(email="hello@example.com")
    shop.refresh_from_db()
    given = {
        "subject": "Order {order_number}: {order_total}",
        "opening": "Moin {first_name},\r\n\r\nschön, <b>{shop_name}</b>  \r\nfreut sich.",
        "closing": "",
    }
    assert desk.fill(row, **given).status_code == 302
    row.refresh_from_db()
    assert row.opening == "Moin {first_name},\n\nschön, <b>{shop_name}</b>\nfreut sich."
    message = jobs.confirmation_mail(make_order(shop, customer=make_customer(shop)))
    assert message.subject == "Order 1001: €28.90"
    assert message.body.startswith("Moin Ada,\n\nschön, <b>Lighthouse</b>\nfreut sich.\n\nOrder 1001, ")
    assert "2 x Mug: €20.00" in message.body
    assert "Questions?" not in message.body
    assert words(html_of(message)) == words_of_text(message)
    assert "&lt;b&gt;Lighthouse&lt;/b&gt;" in html_of(message)
    theirs = jobs.confirmation_mail(make_order(other_shop))
    assert theirs.subject == "Your order 1001 at Elsewhere"
    assert theirs.body.startswith("Thank you for your order at Elsewhere.")


def test_only_what_was_changed_is_the_shops_own(desk, row):
    shown = form_values(desk.page(row))
    assert (shown["subject"], shown["opening"]) == ("Your order {order_number} at {shop_name}", STANDARD)
    desk.fill(row, closing="See you!")
    row.refresh_from_db()
    assert (row.subject, row.opening, row.closing) == (None, None, "See you!")
    desk.fill(row, opening="Hello!", closing="")
    row.refresh_from_db()
    # Without an address of the shop, the standard mail has no closing text either.
    assert (row.opening, row.closing) == ("Hello!", None)
    # The standard words, typed, are none of the shop's own.
    desk.fill(row, opening=f"  {STANDARD} \r\n")
    row.refresh_from_db()
    assert not row.is_changed


@pytest.mark.parametrize(
    ("part", "text", "told"),
    [
        ("opening", "Hello {nmae}", "This email has no placeholder {nmae}. It has {order_number}, "),
        ("subject", "Hello {amount}", "This email has no placeholder {amount}."),
        ("opening", "Hello {}", "This email has no placeholder {}."),
        ("opening", "{shop.secret}", "This email has no placeholder {shop.secret}."),
        ("closing", "Hello {first_name", "A brace stands alone in “Hello {first_name”."),
        ("closing", "a } b", "A brace stands alone in “a } b”."),
        ("closing", "{{ shop }}", "A brace stands alone in “{}”."),
        ("subject", "", "This field is required."),
        ("opening", " \n ", "This field is required."),
        ("subject", "\u200b", "A subject cannot contain control characters or invisible ones."),
        ("subject", "Your order\x07", "A subject cannot contain control characters or invisible ones."),
        ("subject", "x" * 201, "at most 200 characters"),
        ("opening", "x" * (MAX_TEXT_LENGTH + 1), f"at most {MAX_TEXT_LENGTH} characters"),
    ],
)
def test_what_cannot_be_sent_is_refused_and_kept_on_the_page(desk, row, part, text, told):
    answer = desk.fill(row, **{part: text})
    assert (answer.status_code, told in " ".join(answer.context_data["adminform"].form.errors.get(part, []))) == (
        200,
        True,
    ), answer.context_data["adminform"].form.errors
    assert answer.context_data["adminform"].form[part].value() == text
    row.refresh_from_db()
    assert not row.is_changed


@pytest.mark.parametrize("kind", [name for name, kind in KINDS.items() if kind.required])
def test_what_a_mail_says_nowhere_else_stays(shop, desk, kind):
    row = text_of_kind(shop, kind)
    text = desk.fill(row, opening="It is done.").content.decode()
    assert f"Keep {{{KINDS[kind].required[0]}}} in this text: the email says it nowhere else." in text
    named = " ".join(f"{{{name}}}" for name in KINDS[kind].required)
    assert desk.fill(row, opening=f"It is done: {named}").status_code == 302


def test_names_are_never_read_as_placeholders_nor_as_headers(shop, row):
    MailText.objects.filter(pk=row.pk).update(subject="{first_name}, hello", opening="Hello {first_name},")
    name = "{shop_email}\r\nBcc:eve@example.com\x85{order_number} x"
    order = make_order(shop, customer=make_customer(shop), billing_address=ADDRESS | {"name": name})
    message = jobs.confirmation_mail(order)
    assert message.subject == "{shop_email} Bcc:eve@example.com {order_number}, hello"
    assert message.body.startswith("Hello {shop_email} Bcc:eve@example.com {order_number},\n")
    assert message.message()["Bcc"] is None


def test_a_stranger_is_not_called_by_a_name_that_was_typed(shop, row):
    MailText.objects.filter(pk=row.pk).update(subject="Hi {first_name}!", opening="Hello {first_name},\nthanks.")
    message = jobs.confirmation_mail(make_order(shop))
    assert message.subject == "Hi!"
    assert message.body.startswith("Hello,\nthanks.\n")


def test_a_placeholder_that_is_gone_is_left_out(shop):
    MailText.objects.create(shop=shop, kind="account_reset", opening="Hello {gone}, go on:", updated_at=NOW)
    text = account_mail(shop, "ada@example.com", "reset", link="x").body
    assert text.startswith("Hello, go on:\n\nChoose a new password: x\n")


def test_a_shop_without_an_address_has_its_web_address(shop, row):
    MailText.objects.filter(pk=row.pk).update(closing="Ask {shop_email}")
    assert jobs.confirmation_mail(make_order(shop)).body.endswith("\nAsk https://shop.example.com\n\n")


def test_writing_a_mail_takes_one_query_for_its_words_and_one_for_the_looks(shop, row, django_assert_num_queries):
    order = make_order(shop)
    order = Order.objects.select_related("shop", "customer").prefetch_related("lines").get(pk=order.pk)
    with django_assert_num_queries(2):
        jobs.confirmation_mail(order)


@pytest.mark.parametrize("kind", KINDS)
def test_each_mail_has_a_sample_and_standard_words_that_can_be_saved(shop, other_shop, kind):
    make_product(other_shop, "Their jug")
    make_product(shop, "Our mug")
    own = Words("S {shop_name}", f"Own words {named(kind)}", "Bye {shop_url}")
    message = sample_mail(kind, shop=shop, words=own, now=NOW)
    assert message.subject == "S Lighthouse"
    assert "Own words" in message.body
    assert "Bye https://shop.example.com" in message.body
    assert "Their jug" not in message.body
    assert "{" not in message.body
    assert set(own.standard) == set(PARTS)
    for part, text in own.standard.items():
        assert mail_words.problem(kind, part, text) is None
        assert mail_words.tidy(text) == text
    assert set(SAMPLES) == set(KINDS)


def named(kind: str) -> str:
    return " ".join(f"{{{name}}}" for name in KINDS[kind].meanings)


def test_the_preview_shows_the_pictures_within_a_mail(shop, desk):
    row = MailText.objects.create(shop=shop, kind="gift_card", updated_at=NOW)
    text = frame(desk, row).content.decode()
    assert "src=&quot;data:image/png;base64," in text
    assert "cid:" not in text


def test_the_preview_shows_what_is_typed_and_stores_nothing(shop, other_shop, desk, row):
    make_product(shop, "Our mug")
    make_product(other_shop, "Their jug")
    desk.page(row)
    before = AuditEntry.objects.count()
    answer = frame(desk, row, subject="Hi\r\nBcc: x", opening="Typed <b> {order_number}", closing="")
    text = answer.content.decode()
    assert "<dd>Hi Bcc: x</dd>" in text
    assert "Typed &amp;lt;b&amp;gt; 1001" in text
    assert ("Our mug" in text, "Their jug" in text) == (True, False)
    plain = frame(desk, row, form="text", opening="Typed <b>").content.decode()
    assert re.search(r"<pre>Typed &lt;b&gt;\n\nOrder 1001", plain)
    wrong = frame(desk, row, opening="Typed {nmae}").content.decode()
    assert "This email has no placeholder {nmae}." in wrong
    row.refresh_from_db()
    assert not row.is_changed
    assert AuditEntry.objects.count() == before
    assert not Order.objects.exists()
    policy = answer["Content-Security-Policy"]
    assert "frame-ancestors 'self'" in policy
    assert "script-src 'none'" in policy
    assert "frame-ancestors 'none'" in desk.page(row)["Content-Security-Policy"]


def test_the_preview_begins_with_what_is_saved(desk, row):
    MailText.objects.filter(pk=row.pk).update(opening="Saved words")
    assert "Saved words" in frame(desk, row).content.decode()


def test_the_page_says_who_sends_and_where_that_is_changed(shop, desk, row):
    Shop.objects.filter(pk=shop.pk).update(email="hello@example.com", name="Light & house")
    text = desk.page(row).content.decode()
    assert "<strong>Light &amp; house</strong>, storefront@localhost." in text
    assert "replies go to hello@example.com, which is not proved yet" in text
    Shop.objects.filter(pk=shop.pk).update(proved_sender="hello@example.com")
    text = desk.page(row).content.decode()
    assert "<strong>Light &amp; house</strong>, hello@example.com." in text
    assert reverse("admin:shops_shop_changelist") in text
    assert "Both are changed in the settings" in text
    assert "sends no mail" not in text
    to_shop = desk.page(text_of_kind(shop, "new_order")).content.decode()
    assert "The address is this deployment&#x27;s. The name is" in to_shop.replace("'", "&#x27;")
    Shop.objects.filter(pk=shop.pk).update(email=None)
    assert "until your shop has one" in desk.page(row).content.decode()


def test_other_shops_and_roles_are_kept_out(shop, other_shop, row):
    theirs = open_desk(make_staff(other_shop, "theirs"))
    assert theirs.page(row).status_code == frame(theirs, row).status_code == 404
    for name in ("send_sample", "use_standard"):
        url = reverse(f"admin:content_mailtext_{name}", args=[row.pk])
        assert theirs.post(url, {"_form_submitted": "on"}).status_code == 404
    manager = open_desk(make_staff(shop, "ben", "manager"))
    assert manager.page(row).status_code == frame(manager, row).status_code == 403
    assert manager.get(admin_url(MailText, "changelist")).status_code == 403
    assert "Emails" not in manager.get("/admin/settings/").content.decode()


def test_a_page_that_was_opened_before_undoes_nothing(desk, row):
    page = desk.page(row)
    old = form_values(page)
    assert f'name="shown" value="{escape(old["shown"])}"' in page.content.decode()
    desk.fill(row, opening="New words", closing="Bye")
    url = admin_url(row, "change")
    assert desk.post(url, old | {"subject": "Late"}).status_code == 302
    row.refresh_from_db()
    assert (row.subject, row.opening, row.closing) == ("Late", "New words", "Bye")


def test_the_standard_text_comes_back_with_one_button(shop, other_shop, desk, row):
    theirs = text_of_kind(other_shop)
    MailText.objects.update(opening="Own", closing="")
    url = reverse("admin:content_mailtext_use_standard", args=[row.pk])
    assert "Use the standard text again" in desk.page(row).content.decode()
    assert desk.post(url, {"_form_submitted": "on"}).status_code == 302
    row.refresh_from_db()
    theirs.refresh_from_db()
    assert (row.is_changed, theirs.is_changed) == (False, True)
    entry = AuditEntry.objects.filter(shop=shop).latest("id")
    assert (entry.action, entry.object_name) == ("mail_text.updated", "Order confirmation")
    assert entry.before == {"opening": "Own", "closing": ""}
    assert "Use the standard text again" not in desk.page(row).content.decode()
    desk.post(url, {"_form_submitted": "on"})
    assert AuditEntry.objects.filter(action="mail_text.updated").count() == 1


def send_sample(desk, row: MailText):
    url = reverse("admin:content_mailtext_send_sample", args=[row.pk])
    return desk.post(url, {"_form_submitted": "on", "email": "eve@example.com"}, follow=True).content.decode()


def test_a_test_mail_goes_to_ones_own_address(shop, desk, row, mailoutbox):
    MailText.objects.filter(pk=row.pk).update(subject="Saved {order_number}", opening="Saved words")
    assert "The test email is on its way to anna@example.com." in send_sample(desk, row)
    task = DBTaskResult.objects.get(task_path=send_sample_mail.module_path)
    send_sample_mail.call(*task.args_kwargs["args"])
    (sent,) = mailoutbox
    assert (sent.to, sent.subject) == (["anna@example.com"], "Test: Saved 1001")
    assert sent.body.startswith("Saved words\n")
    assert not Order.objects.exists()


def test_who_has_left_gets_no_test_mail(shop, other_shop, row, mailoutbox):
    send_sample_mail.call(shop.pk, row.kind, make_staff(other_shop, "eve").pk)
    user = make_staff(shop, "ben")
    user.is_active = False
    user.save()
    send_sample_mail.call(shop.pk, row.kind, user.pk)
    assert mailoutbox == []


def test_test_mails_are_limited_like_other_mails(desk, row, settings):
    settings.LIMITS = settings.LIMITS | {"mails_each": parse_many("2/hour")}
    for _ in range(2):
        assert "is on its way" in send_sample(desk, row)
    assert "Too many attempts." in send_sample(desk, row)
    assert AuditEntry.objects.filter(action="mail_text.tested").count() == 2


def test_a_deployment_without_mail_says_so(desk, row, settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
    assert "This deployment sends no email" in desk.page(row).content.decode()
    assert "Email is not set up here, so nothing can be sent." in send_sample(desk, row)
    assert not AuditEntry.objects.filter(action="mail_text.tested").exists()


def test_a_template_of_the_deployments_own_has_no_place_for_texts(shop, desk, row, settings, tmp_path):
    """Such a template, made for an earlier release, works as before; the page says what has no place in it."""
    own = tmp_path / "orders" / "confirmation.txt"
    own.parent.mkdir()
    own.write_text("Ours: {{ order.number }} of {{ shop.name }}")
    (templates,) = settings.TEMPLATES
    settings.TEMPLATES = [templates | {"DIRS": [str(tmp_path), *templates["DIRS"]]}]
    MailText.objects.filter(pk=row.pk).update(opening="Own")
    message = jobs.confirmation_mail(make_order(shop))
    assert (message.subject, message.body) == ("Your order 1001 at Lighthouse", "Ours: 1001 of Lighthouse")
    assert "This deployment has a template of its own for this email" in desk.page(row).content.decode()
    assert desk.fill(row, subject="Hi", opening="x", closing="y").status_code == 302
    row.refresh_from_db()
    assert (row.subject, row.opening, row.closing) == ("Hi", "Own", None)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_two_first_visits_at_once_make_each_row_once(shop):
    run_concurrently(*(lambda: make_rows(shop=shop, now=NOW) for _ in range(8)))
    assert sorted(MailText.objects.values_list("kind", flat=True)) == sorted(KINDS)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_two_who_change_different_parts_at_once_keep_both(shop, row):
    desks = [open_desk(make_staff(shop, name)) for name in ("anna", "ben")]
    shown = form_values(desks[0].page(row))
    desks[1].page(row)
    url = admin_url(row, "change")
    for _ in range(3):
        MailText.objects.update(**dict.fromkeys(PARTS))
        run_concurrently(
            lambda: desks[0].post(url, shown | {"subject": "One"}),
            lambda: desks[1].post(url, shown | {"opening": "Two"}),
        )
        row.refresh_from_db()
        assert (row.subject, row.opening) == ("One", "Two")
