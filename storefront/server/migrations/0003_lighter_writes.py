"""Tables of other packages: indexes that repeat another's beginning or find by nothing that differs, and room on the pages
of sessions and tasks."""

from django.db import migrations

from storefront.kit.schema_changes import DropIndexes, LeaveRoom


class Migration(migrations.Migration):
    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        ("django_tasks_database", "0021_conditional_partial_index_ordering"),
        ("easy_thumbnails", "0002_thumbnaildimensions"),
        ("server", "0002_shops_of_tasks"),
        ("sessions", "0001_initial"),
    ]

    operations = [
        LeaveRoom(tables=["django_session", "django_tasks_database_dbtaskresult"], percent=60),
        DropIndexes(
            names=[
                "auth_group_name_a6ea08ec_like",
                "auth_group_permissions_group_id_b120cbf9",
                "auth_permission_content_type_id_2f476e4b",
                "django_session_session_key_c0390e0f_like",
                "easy_thumbnails_source_name_5fe0edc6_like",
                "easy_thumbnails_source_storage_hash_946cbcc9",
                "easy_thumbnails_source_storage_hash_946cbcc9_like",
                "easy_thumbnails_thumbnail_name_b5882c31_like",
                "easy_thumbnails_thumbnail_storage_hash_f1435f49",
                "easy_thumbnails_thumbnail_storage_hash_f1435f49_like",
                # Every task has the same backend, and one of three queues.
                "django_task_backend_071754_idx",
                "django_task_queue_n_99c321_idx",
            ]
        ),
    ]
