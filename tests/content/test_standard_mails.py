"""A shop that has changed no words sends the mails that it has always sent, to the byte."""

from pathlib import Path

import pytest

from storefront.content.models import MailText
from tests.content.every_mail import mails_of, text_of
from tests.shops.factories import NOW


@pytest.mark.parametrize("has_address", [True, False])
def test_mails_are_as_they_were(shop, other_shop, has_address):
    shop.email, shop.name = ("hello@example.com" if has_address else None), "Elsewhere" if has_address else "Lighthouse"
    shop.save()
    # Another shop's words, and a row that changes nothing, as the first visit of the settings makes it.
    for kind in ("order_confirmation", "order_sent", "account_reset"):
        MailText.objects.create(shop=other_shop, kind=kind, opening="{amount} Theirs {order_number}", updated_at=NOW)
        MailText.objects.create(shop=shop, kind=kind, updated_at=NOW)
    name = "with" if has_address else "without"
    kept = (Path(__file__).parent / f"standard_mails_{name}_address.txt").read_bytes().decode()
    written = {name: text_of(message) for name, message in mails_of(shop)}
    assert "\n".join(f"=== {name}\n{written[name]}" for name in sorted(written)) == kept
