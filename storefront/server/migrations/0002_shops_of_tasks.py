"""Tasks that wait get their shop as first argument, which they had not before, so that none of them is lost."""

from typing import Any

from django.db import migrations

# The model that a task's first argument is an id of; None: the task is of no shop.
MODELS: dict[str, tuple[str, str] | None] = {
    "storefront.orders.jobs.send_order_confirmation": ("orders", "Order"),
    "storefront.orders.jobs.send_downloads_mail": ("orders", "Order"),
    "storefront.orders.jobs.send_change_mail": ("orders", "Order"),
    "storefront.orders.jobs.tell_merchant": ("orders", "Order"),
    "storefront.orders.jobs.send_fulfilment_mail": ("orders", "Fulfilment"),
    "storefront.orders.sent_mails.send_message": ("orders", "OrderMail"),
    "storefront.documents.mails.send_document_mail": ("documents", "Document"),
    "storefront.gift_cards.jobs.send_gift_card": ("gift_cards", "GiftCard"),
    "storefront.webhooks.jobs.tell_of_pause": ("webhooks", "Registration"),
    "storefront.staff.jobs.send_invitation": ("shops", "StaffInvitation"),
    "storefront.payments.jobs.find_account": ("payments", "ProviderAccount"),
    "storefront.catalogue.media.thumbnails.make_thumbnails": ("catalogue", "WantedThumbnails"),
    "storefront.product_files.jobs.run_product_import": ("catalogue", "ProductImport"),
    "storefront.exports.jobs.run_export": ("exports", "Export"),
    "storefront.privacy.jobs.run_export": ("privacy", "DataRequest"),
    "storefront.privacy.jobs.run_erasure": ("privacy", "DataRequest"),
    "storefront.staff.jobs.send_password_reset": None,
    "storefront.staff.staff_jobs.send_to_person": None,
}


# Tasks whose module has another name now, by the name before.
MOVED = {
    "storefront.orders.message_jobs.send_message": "storefront.orders.sent_mails.send_message",
    "storefront.shops.jobs.send_invitation": "storefront.staff.jobs.send_invitation",
    "storefront.shops.jobs.send_password_reset": "storefront.staff.jobs.send_password_reset",
    "storefront.catalogue.thumbnails.make_thumbnails": "storefront.catalogue.media.thumbnails.make_thumbnails",
}


def add_shops(apps: Any, _schema_editor: Any) -> None:
    tasks = apps.get_model("django_tasks_database", "DBTaskResult").objects
    for before, path in MOVED.items():
        tasks.filter(task_path=before).update(task_path=path)
    for row in tasks.filter(status__in=("READY", "RUNNING"), task_path__in=list(MODELS)).iterator():
        model, given = MODELS[row.task_path], row.args_kwargs["args"]
        if not given or (model and not isinstance(given[0], int)):
            continue
        rows = apps.get_model(*model).objects.filter(pk=given[0]).values_list("shop_id", flat=True) if model else None
        arguments = row.args_kwargs | {"args": [rows.first() if rows is not None else None, *given]}
        tasks.filter(pk=row.pk).update(args_kwargs=arguments)


class Migration(migrations.Migration):
    dependencies = [
        ("server", "0001_baseline"),
        ("catalogue", "0001_baseline"),
        ("documents", "0001_baseline"),
        ("exports", "0001_baseline"),
        ("gift_cards", "0001_baseline"),
        ("orders", "0001_baseline"),
        ("payments", "0001_baseline"),
        ("privacy", "0001_baseline"),
        ("shops", "0001_baseline"),
        ("webhooks", "0001_baseline"),
    ]
    operations = [migrations.RunPython(add_shops, migrations.RunPython.noop)]
