import uuid

from django.db import migrations

STATES = {"pending": "promised", "authorised": "authorised", "paid": "paid", "voided": "cancelled"}


def fill_in(apps, schema_editor):
    """Existing payments get their state, their sums, and an entry of the log that these add up to."""
    Payment, Entry = apps.get_model("payments", "Payment"), apps.get_model("payments", "PaymentEntry")
    Refund = apps.get_model("payments", "Refund")
    for payment in Payment.objects.filter(key=None).iterator():
        returned = sum(refund.amount for refund in Refund.objects.filter(payment=payment, status="done"))
        payment.public_id, payment.key = uuid.uuid4(), uuid.uuid4()
        payment.state = STATES[payment.status]
        payment.captured = payment.amount if payment.status == "paid" else 0
        payment.returned = returned
        # The worker captures or releases what is held.
        payment.due_at = payment.updated_at if payment.status == "authorised" else None
        payment.save()
        Entry.objects.create(
            shop_id=payment.shop_id,
            payment=payment,
            at=payment.updated_at,
            kind="captured" if payment.captured else "state",
            amount=payment.captured - payment.returned,
            from_state="",
            to_state=payment.state,
            source="upgrade",
        )


class Migration(migrations.Migration):
    dependencies = [("payments", "0002_payments_of_drafts")]

    operations = [migrations.RunPython(fill_in, migrations.RunPython.noop)]
