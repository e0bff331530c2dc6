"""The shopper is told of each document, with a link to it and nothing that was typed at the checkout."""

import pytest
from django.core import mail

from tests.documents.factories import issued, make_settings, paid_order, refund, work
from tests.worker import run_due_tasks


@pytest.mark.django_db(transaction=True)
def test_each_document_is_mailed_as_a_link(shop):
    make_settings(shop)
    order = paid_order(shop, billing_address={"name": "Buy now at evil.example"})
    run_due_tasks()
    mail.outbox.clear()
    refund(order, "2.00")
    work()
    run_due_tasks()
    invoice, note = issued(order)
    # Between them comes the mail about the refund.
    first, second = (message for message in mail.outbox if "refunded" not in message.subject)
    assert first.to == ["ada@example.com"]
    assert first.subject == f"Your invoice 2026-00001 for order {order.number} at Lighthouse"
    assert second.subject == f"Your credit note CN-2026-00001 for order {order.number} at Lighthouse"
    assert f"{shop.base_url}/orders/{order.public_id}/documents/{invoice.pk}\n" in first.body
    assert f"{shop.base_url}/orders/{order.public_id}/documents/{note.pk}\n" in second.body
    assert ("€9.50" in first.body, "€2.00" in second.body) == (True, True)
    for message in (first, second):
        assert "evil" not in message.body
        assert message.attachments == []
