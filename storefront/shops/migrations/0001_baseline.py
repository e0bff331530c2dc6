import django.contrib.auth.models
import django.contrib.auth.validators
import django.core.validators
import django.db.models.deletion
import django.db.models.functions.text
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        migrations.CreateModel(
            name='User',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('password', models.CharField(max_length=128, verbose_name='password')),
                ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                ('is_superuser', models.BooleanField(default=False, help_text='Designates that this user has all permissions without explicitly assigning them.', verbose_name='superuser status')),
                ('username', models.CharField(error_messages={'unique': 'A user with that username already exists.'}, help_text='Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.', max_length=150, unique=True, validators=[django.contrib.auth.validators.UnicodeUsernameValidator()], verbose_name='username')),
                ('first_name', models.CharField(blank=True, max_length=150, verbose_name='first name')),
                ('last_name', models.CharField(blank=True, max_length=150, verbose_name='last name')),
                ('is_staff', models.BooleanField(default=False, help_text='Designates whether the user can log into this admin site.', verbose_name='staff status')),
                ('is_active', models.BooleanField(default=True, help_text='Designates whether this user should be treated as active. Unselect this instead of deleting accounts.', verbose_name='active')),
                ('date_joined', models.DateTimeField(default=django.utils.timezone.now, verbose_name='date joined')),
                ('email', models.EmailField(max_length=254, unique=True, verbose_name='email address')),
                ('groups', models.ManyToManyField(blank=True, help_text='The groups this user belongs to. A user will get all permissions granted to each of their groups.', related_name='user_set', related_query_name='user', to='auth.group', verbose_name='groups')),
                ('user_permissions', models.ManyToManyField(blank=True, help_text='Specific permissions for this user.', related_name='user_set', related_query_name='user', to='auth.permission', verbose_name='user permissions')),
            ],
            options={
                'verbose_name': 'user',
                'verbose_name_plural': 'users',
                'abstract': False,
            },
            managers=[
                ('objects', django.contrib.auth.models.UserManager()),
            ],
        ),
        migrations.CreateModel(
            name='Authenticator',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='authenticators', to=settings.AUTH_USER_MODEL)),
                ('name', models.CharField(help_text='Name given by its owner.', max_length=64)),
                ('sealed_key', models.BinaryField()),
                ('last_step', models.BigIntegerField(default=-1, help_text='Time step of the last used code. Codes up to it cannot be used again.')),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'verbose_name': 'authenticator app',
            },
        ),
        migrations.CreateModel(
            name='Passkey',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='passkeys', to=settings.AUTH_USER_MODEL)),
                ('name', models.CharField(help_text='Name given by its owner.', max_length=64)),
                ('host', models.CharField(help_text='The host that the passkey was created for. It works on no other host.', max_length=253)),
                ('credential_id', models.CharField(help_text='base64url, as browsers send it.', max_length=1400)),
                ('digest', models.CharField(help_text='SHA-256 of the credential id.', max_length=64)),
                ('credential', models.BinaryField(help_text='The attested credential data, with the public key.')),
                ('sign_count', models.BigIntegerField(default=0)),
                ('created_at', models.DateTimeField()),
                ('last_used_at', models.DateTimeField(null=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('digest',), name='passkey_once')],
            },
        ),
        migrations.CreateModel(
            name='RecoveryCode',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='recovery_codes', to=settings.AUTH_USER_MODEL)),
                ('digest', models.CharField(max_length=64)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('user', 'digest'), name='recovery_code_once')],
            },
        ),
        migrations.CreateModel(
            name='StaffSession',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='staff_sessions', to=settings.AUTH_USER_MODEL)),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('has_second_factor', models.BooleanField(default=False)),
                ('place', models.CharField(help_text='An IPv4 address, or an IPv6 network.', max_length=50)),
                ('browser', models.CharField(help_text="The browser's user agent.", max_length=300)),
                ('created_at', models.DateTimeField()),
                ('seen_at', models.DateTimeField(help_text='Updated at most once every few minutes.')),
                ('confirmed_at', models.DateTimeField(help_text='When the person last confirmed their identity.')),
                ('ends_at', models.DateTimeField(db_index=True)),
            ],
        ),
        migrations.CreateModel(
            name='Shop',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=200)),
                ('domain', models.CharField(help_text="The shop's host name, in lowercase.", max_length=253, unique=True)),
                ('base_url', models.URLField(help_text="The shop's base URL, without a slash at the end. Used in links and in the API.", max_length=500)),
                ('email', models.EmailField(blank=True, help_text='Contact address for shoppers.', max_length=254, null=True)),
                ('currency', models.CharField(default='EUR', help_text='ISO 4217 code, such as EUR.', max_length=3)),
                ('timezone', models.CharField(default='Europe/Berlin', help_text='Such as Europe/Berlin.', max_length=64)),
                ('language', models.CharField(choices=[('ar', 'Arabic'), ('hy', 'Armenian'), ('eu', 'Basque'), ('ca', 'Catalan'), ('cs', 'Czech'), ('da', 'Danish'), ('nl', 'Dutch'), ('en', 'English'), ('et', 'Estonian'), ('fi', 'Finnish'), ('fr', 'French'), ('de', 'German'), ('el', 'Greek'), ('hi', 'Hindi'), ('hu', 'Hungarian'), ('id', 'Indonesian'), ('ga', 'Irish'), ('it', 'Italian'), ('lt', 'Lithuanian'), ('no', 'Norwegian'), ('fa', 'Persian'), ('pl', 'Polish'), ('pt', 'Portuguese'), ('ro', 'Romanian'), ('ru', 'Russian'), ('sr', 'Serbian'), ('es', 'Spanish'), ('sv', 'Swedish'), ('ta', 'Tamil'), ('tr', 'Turkish'), ('other', 'Another language')], default='en', help_text='The language of the products. The search uses it to find singular and plural.', max_length=5)),
                ('country', models.CharField(default='DE', help_text='ISO 3166 code of the country that the shop sells from.', max_length=2)),
                ('prices_include_tax', models.BooleanField(default=True, help_text='Whether prices of products and delivery are entered with tax.')),
                ('tax_rounding', models.CharField(choices=[('order', 'once per rate and order'), ('line', 'on every line')], db_default='order', default='order', max_length=5, verbose_name='tax is rounded')),
                ('eu_tax', models.CharField(choices=[('destination', "of the country of delivery (OSS), else of the shop's own"), ('origin', "of the shop's own country"), ('listed', 'only where a rate is listed, elsewhere none')], db_default='listed', default='destination', help_text='For shops in the EU. Up to 10,000 euros a year to other EU countries, a shop may charge its own tax; beyond that, it reports through the one-stop shop (OSS).', max_length=11, verbose_name='tax in other EU countries')),
                ('delivery_tax', models.CharField(choices=[('goods', 'as the delivered goods, in proportion'), ('class', 'a tax class of its own')], db_default='goods', default='goods', max_length=5, verbose_name='tax of delivery')),
                ('exports_at_net_price', models.BooleanField(db_default=False, default=True, help_text='For orders that leave the EU and are free of tax. Otherwise these shoppers pay the same price.', verbose_name='take tax off prices of exports')),
                ('asks_vat_id', models.BooleanField(db_default=False, default=False, help_text='A business in another EU country with a valid VAT ID then pays no tax to the shop (reverse charge).', verbose_name='ask businesses for their VAT ID')),
                ('vat_id', models.CharField(blank=True, db_default='', default='', help_text="Named in each check of a customer's VAT ID. Only then do the authorities give a consultation number, which proves the check.", max_length=20, verbose_name="the shop's VAT ID")),
                ('payment_methods', models.JSONField(blank=True, default=list, help_text='Gateways offered at checkout, such as ["manual"].')),
                ('manual_payment_instructions', models.TextField(blank=True, help_text='Shown after an order paid by invoice or cash: bank account, due date, and so on.')),
                ('gift_card_expiry_days', models.PositiveIntegerField(db_default=0, default=0, help_text='Counted from the day on which a card is sent; 0: never. Cards that exist keep their date.', validators=[django.core.validators.MaxValueValidator(36500)], verbose_name='days until gift cards expire')),
                ('tells_of_orders', models.BooleanField(db_default=True, default=True, help_text='It links to the order in the admin.', verbose_name='send an email about each new order')),
                ('order_emails', models.JSONField(blank=True, db_default=[], default=list, help_text="Separated by commas. Without any, the shop's own address, or else its owners are told.", verbose_name='addresses for new orders')),
                ('door_password', models.CharField(blank=True, db_default='', default='', editable=False, help_text='Hash of the password of its doors; empty: they are open.', max_length=200)),
                ('steps_hidden_at', models.DateTimeField(editable=False, help_text="When the start page's first steps were hidden.", null=True)),
                ('is_demo', models.BooleanField(db_default=False, default=False, editable=False, help_text="Whether it is for trying out: only then it has the demo's payment method, which takes no money.")),
                ('is_active', models.BooleanField(default=True)),
                ('created_at', models.DateTimeField()),
                ('updated_at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('domain', django.db.models.functions.text.Lower('domain'))), name='shop_domain_lower'), models.CheckConstraint(condition=models.Q(('base_url__endswith', '/'), _negated=True), name='shop_base_url_no_slash')],
            },
        ),
        migrations.CreateModel(
            name='AuditEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='shops.shop')),
                ('at', models.DateTimeField()),
                ('keep_until', models.DateField(help_text='Last day, in UTC, on which the entry cannot be deleted.')),
                ('actor_kind', models.CharField(choices=[('staff', 'Staff'), ('token', 'API token'), ('app', 'App'), ('command', 'Command'), ('customer', 'Customer'), ('worker', 'Worker'), ('system', 'System')], max_length=10)),
                ('actor_id', models.BigIntegerField(help_text='Empty for guests and commands.', null=True)),
                ('actor_name', models.CharField(blank=True, help_text='Name at that time.', max_length=254)),
                ('place', models.CharField(blank=True, help_text='IP address or network, or the machine that ran a command.', max_length=255)),
                ('request_id', models.CharField(blank=True, help_text="The request's id in the log.", max_length=64)),
                ('action', models.CharField(max_length=60)),
                ('object_type', models.CharField(blank=True, max_length=40)),
                ('object_id', models.BigIntegerField(null=True)),
                ('object_name', models.CharField(blank=True, help_text='Name at that time.', max_length=255)),
                ('before', models.JSONField(help_text='Only changed values.', null=True)),
                ('after', models.JSONField(help_text='Only changed values.', null=True)),
                ('erased_at', models.DateTimeField(help_text='When a person was erased from the entry.', null=True)),
            ],
            options={
                'verbose_name_plural': 'audit entries',
                'ordering': ['-at', '-id'],
                'indexes': [models.Index(fields=['shop', 'at', 'id'], name='audit_newest'), models.Index(fields=['shop', 'action', 'at', 'id'], name='audit_of_action'), models.Index(fields=['shop', 'object_type', 'object_id', 'at', 'id'], name='audit_of_object'), models.Index(fields=['shop', 'actor_kind', 'actor_id', 'at', 'id'], name='audit_of_actor'), models.Index(fields=['keep_until'], name='audit_keep_until')],
            },
        ),
        migrations.CreateModel(
            name='ShopDomain',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='further_domains', to='shops.shop')),
                ('domain', models.CharField(help_text='Such as www.example.com', max_length=253)),
                ('created_at', models.DateTimeField()),
                ('confirmed_at', models.DateTimeField(help_text='When the operator of the deployment gave it to the shop.', null=True)),
                ('checked_at', models.DateTimeField(help_text='When somebody last checked where it leads.', null=True)),
                ('problem', models.CharField(blank=True, help_text='What that check found; empty: nothing wrong.', max_length=300)),
            ],
            options={
                'verbose_name': 'further domain',
                'constraints': [models.UniqueConstraint(fields=('shop', 'domain'), name='shop_domain_asked_once'), models.UniqueConstraint(condition=models.Q(('confirmed_at__isnull', False)), fields=('domain',), name='shop_domain_of_one'), models.CheckConstraint(condition=models.Q(('domain', django.db.models.functions.text.Lower('domain'))), name='further_domain_lower')],
            },
        ),
        migrations.CreateModel(
            name='SavedView',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='saved_views', to='shops.shop')),
                ('list', models.CharField(help_text="The list's model, such as orders.order.", max_length=60)),
                ('name', models.CharField(max_length=40)),
                ('query', models.CharField(help_text="The query string of the list's address; columns that it is sorted by stand there by name.", max_length=1000, verbose_name='search, filters and sorting')),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(models.F('shop'), models.F('list'), django.db.models.functions.text.Lower('name'), name='saved_view_once')],
            },
        ),
        migrations.CreateModel(
            name='StaffMember',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='staff', to='shops.shop')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to=settings.AUTH_USER_MODEL)),
                ('role', models.CharField(choices=[('owner', 'Owner'), ('manager', 'Manager'), ('fulfilment', 'Fulfilment'), ('read_only', 'Read Only')], max_length=10)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('shop', 'user'), name='staff_member_once'), models.CheckConstraint(condition=models.Q(('role__in', ['owner', 'manager', 'fulfilment', 'read_only'])), name='staff_member_role')],
            },
        ),
        migrations.CreateModel(
            name='StaffInvitation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='staff_invitations', to='shops.shop')),
                ('email', models.EmailField(max_length=150, verbose_name='email address')),
                ('role', models.CharField(choices=[('owner', 'Owner'), ('manager', 'Manager'), ('fulfilment', 'Fulfilment'), ('read_only', 'Read Only')], max_length=10)),
                ('digest', models.CharField(editable=False, max_length=64, null=True, unique=True)),
                ('invited_by', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField()),
                ('expires_at', models.DateTimeField()),
                ('accepted_at', models.DateTimeField(editable=False, null=True)),
                ('revoked_at', models.DateTimeField(editable=False, null=True)),
            ],
            options={
                'verbose_name': 'invitation',
                'indexes': [models.Index(fields=['shop', 'created_at'], name='staff_invitation_created')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('accepted_at', None), ('revoked_at', None)), fields=('shop', 'email'), name='staff_invitation_once'), models.CheckConstraint(condition=models.Q(('email', django.db.models.functions.text.Lower('email'))), name='staff_invitation_email_lower'), models.CheckConstraint(condition=models.Q(('role__in', ['owner', 'manager', 'fulfilment', 'read_only'])), name='staff_invitation_role'), models.CheckConstraint(condition=models.Q(('accepted_at', None), ('revoked_at', None), _connector='OR'), name='staff_invitation_ended_once')],
            },
        ),
        migrations.CreateModel(
            name='AllowedOrigin',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='allowed_origins', to='shops.shop')),
                ('origin', models.CharField(db_index=True, help_text='Such as https://www.example.com', max_length=300)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('shop', 'origin'), name='allowed_origin_once')],
            },
        ),
        migrations.CreateModel(
            name='ApiToken',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='api_tokens', to='shops.shop')),
                ('name', models.CharField(help_text='Name of the token, such as what it is used for.', max_length=100)),
                ('digest', models.CharField(editable=False, max_length=64, unique=True)),
                ('ending', models.CharField(editable=False, help_text="The token's last four characters.", max_length=4)),
                ('scopes', models.JSONField(default=list)),
                ('requests_per_minute', models.PositiveIntegerField(blank=True, help_text='Leave empty for no limit.', null=True)),
                ('installation_id', models.BigIntegerField(db_index=True, editable=False, help_text="The app installation that the token belongs to. Empty for the shop's own tokens.", null=True)),
                ('created_at', models.DateTimeField()),
                ('expires_at', models.DateTimeField(blank=True, null=True)),
                ('revoked_at', models.DateTimeField(blank=True, null=True)),
                ('last_used_at', models.DateTimeField(editable=False, help_text='Accurate to about a minute (token_use.py).', null=True)),
            ],
            options={
                'verbose_name': 'API token',
                'indexes': [models.Index(fields=['shop', 'created_at'], name='shops_apito_shop_id_f55d72_idx')],
            },
        ),
        migrations.CreateModel(
            name='IdempotentAnswer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='shops.shop')),
                ('caller', models.CharField(help_text='Identifies the credential that sent the request.', max_length=64)),
                ('key', models.CharField(max_length=255)),
                ('request_digest', models.CharField(max_length=64)),
                ('claim', models.UUIDField(help_text='The attempt that holds the key.')),
                ('claimed_at', models.DateTimeField()),
                ('status', models.PositiveSmallIntegerField(help_text='Null while the request is in progress.', null=True)),
                ('body', models.BinaryField(null=True)),
                ('expires_at', models.DateTimeField(db_index=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('shop', 'caller', 'key'), name='idempotent_answer_once')],
            },
        ),
        migrations.CreateModel(
            name='HandoverCode',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='shops.shop')),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('purpose', models.CharField(choices=[('to_secure', 'To Secure'), ('to_shop', 'To Shop'), ('link', 'Link')], max_length=10)),
                ('payload', models.JSONField(help_text='What is handed over. Nothing secret.')),
                ('state_digest', models.CharField(blank=True, help_text="Digest of the state that the destination's session waits for; empty if none.", max_length=64)),
                ('expires_at', models.DateTimeField(db_index=True)),
            ],
        ),
        migrations.CreateModel(
            name='Change',
            fields=[
                ('shop_id', models.BigIntegerField(primary_key=True, serialize=False)),
                ('number', models.BigIntegerField(unique=True)),
            ],
        ),
    ]
