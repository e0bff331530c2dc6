import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from storefront.kit.schema_changes import DropIndexes, LeaveRoom, RelaxField


class Migration(migrations.Migration):

    dependencies = [
        ('shops', '0003_senders_and_quotas'),
    ]

    operations = [
        RelaxField(
            model_name='allowedorigin',
            name='shop',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='allowed_origins', to='shops.shop'),
        ),
        RelaxField(
            model_name='apitoken',
            name='shop',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='api_tokens', to='shops.shop'),
        ),
        RelaxField(
            model_name='idempotentanswer',
            name='shop',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to='shops.shop'),
        ),
        RelaxField(
            model_name='recoverycode',
            name='user',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='recovery_codes', to=settings.AUTH_USER_MODEL),
        ),
        RelaxField(
            model_name='staffinvitation',
            name='shop',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='staff_invitations', to='shops.shop'),
        ),
        RelaxField(
            model_name='staffmember',
            name='shop',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='staff', to='shops.shop'),
        ),
        LeaveRoom(tables=["shops_idempotentanswer", "shops_quotause"], percent=70),
        DropIndexes(
            names=[
                "shops_allowedorigin_origin_d0af04b8_like",
                "shops_apitoken_digest_2e2d06e9_like",
                "shops_handovercode_digest_cde748e7_like",
                "shops_shop_domain_13d87e7c_like",
                "shops_staffinvitation_digest_f833c9da_like",
                "shops_staffsession_digest_ba2df20e_like",
                "shops_user_email_6e3dfbab_like",
                "shops_user_groups_user_id_0b76fe3f",
                "shops_user_user_permissions_user_id_8755d56a",
                "shops_user_username_0bab2986_like",
            ]
        ),
    ]
