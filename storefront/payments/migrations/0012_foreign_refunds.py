from django.db import migrations


def make_rows(apps, schema_editor):
    """What providers have given back beyond the refunds that were asked for here gets a row, so that the sums of
    payments are those of their refunds. The provider is asked soon, and names them."""
    Payment, Refund = apps.get_model("payments", "Payment"), apps.get_model("payments", "Refund")
    paid = Payment.objects.filter(returned__gt=0).order_by("pk").prefetch_related("refunds")
    for payment in paid.iterator(chunk_size=2000):
        refunds = list(payment.refunds.all())
        foreign = payment.returned - sum(each.amount for each in refunds if each.status == "done")
        ours = next((each for each in refunds if each.status == "pending" and each.amount == foreign), None)
        if ours is not None:
            # Its answer was lost, and the provider has told of it: the sum has it already.
            Refund.objects.filter(pk=ours.pk).update(status="done")
            Payment.objects.filter(pk=payment.pk).update(due_at=payment.updated_at)
            continue
        if foreign <= 0:
            continue
        Refund.objects.create(
            shop_id=payment.shop_id,
            order_id=payment.order_id,
            payment=payment,
            is_foreign=True,
            status="done",
            amount=foreign,
            currency=payment.currency,
            due_at=payment.updated_at,
            created_at=payment.updated_at,
            updated_at=payment.updated_at,
        )
        standing = foreign + sum(each.amount for each in refunds if each.status != "failed")
        due = {"refunded": min(standing, payment.amount), "due_at": payment.updated_at}
        Payment.objects.filter(pk=payment.pk).update(**due)


class Migration(migrations.Migration):
    dependencies = [("payments", "0011_refunds_of_providers")]

    operations = [migrations.RunPython(make_rows, migrations.RunPython.noop)]
