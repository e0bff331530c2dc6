import django.core.validators
import django.db.models.deletion
import storefront.content.models
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('shops', '0001_baseline'),
    ]

    operations = [
        migrations.CreateModel(
            name='Page',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='pages', to='shops.shop')),
                ('kind', models.CharField(choices=[('imprint', 'Imprint'), ('terms', 'Terms and conditions'), ('returns', 'Returns and withdrawal'), ('privacy', 'Privacy policy'), ('delivery', 'Delivery'), ('about', 'About us'), ('other', 'Another page')], default='other', help_text='Terms, returns and privacy are linked at the pay button.', max_length=10)),
                ('title', models.CharField(max_length=200)),
                ('slug', models.CharField(help_text="The last part of the page's address: /pages/…", max_length=100, validators=[django.core.validators.RegexValidator('\\A[a-z0-9]+(-[a-z0-9]+)*\\Z', 'Use lower-case letters, digits and single hyphens, such as size-guide.')], verbose_name='address')),
                ('body', models.TextField(blank=True, validators=[django.core.validators.MaxLengthValidator(200000)], verbose_name='text')),
                ('summary', models.CharField(blank=True, help_text='For search engines. Empty: the beginning of the text.', max_length=300)),
                ('is_published', models.BooleanField(default=False, help_text='Whether shoppers can see the page.', verbose_name='published')),
                ('in_footer', models.BooleanField(default=True, help_text='Whether every page links to it.', verbose_name='in the footer')),
                ('position', models.PositiveSmallIntegerField(default=0, help_text='Lower numbers come first in the footer.')),
                ('is_starting_text', models.BooleanField(default=False, editable=False)),
                ('created_at', models.DateTimeField(editable=False)),
                ('updated_at', models.DateTimeField(editable=False)),
            ],
            options={
                'ordering': ['position', 'id'],
                'constraints': [models.UniqueConstraint(fields=('shop', 'slug'), name='page_slug_once'), models.UniqueConstraint(condition=models.Q(('kind', 'other'), _negated=True), fields=('shop', 'kind'), name='page_kind_once'), models.CheckConstraint(condition=models.Q(('is_published', False), ('is_starting_text', False), _connector='OR'), name='page_is_edited')],
            },
        ),
        migrations.CreateModel(
            name='Looks',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='looks', to='shops.shop')),
                ('logo', models.ImageField(blank=True, help_text="Shown instead of the shop's name, 40 pixels high. Best on a transparent background.", max_length=500, upload_to='looks/')),
                ('accent', models.CharField(default='#23573f', help_text='Of buttons and links.', max_length=7, validators=[django.core.validators.RegexValidator('\\A#[0-9a-f]{6}\\Z', 'Enter a colour such as #23573f.')], verbose_name='accent colour')),
                ('background', models.CharField(default='#faf8f3', max_length=7, validators=[django.core.validators.RegexValidator('\\A#[0-9a-f]{6}\\Z', 'Enter a colour such as #23573f.')], verbose_name='background colour')),
                ('fonts', models.CharField(choices=[('fraunces', 'Fraunces and Figtree: warm'), ('lora', 'Lora and Source Sans: like a book'), ('figtree', 'Figtree: clear and modern'), ('system', "The visitor's own fonts: nothing to load")], default='fraunces', help_text='Of headings and text.', max_length=10)),
                ('corners', models.CharField(choices=[('round', 'Round'), ('soft', 'Slightly rounded'), ('square', 'Square')], default='round', max_length=6)),
                ('hero', models.CharField(choices=[('product', 'The first featured product'), ('own', 'A picture and words of your own'), ('none', 'Nothing')], default='product', max_length=7, verbose_name='top of the home page')),
                ('hero_picture', models.ImageField(blank=True, max_length=500, upload_to='looks/', verbose_name='picture')),
                ('hero_title', models.CharField(blank=True, max_length=120, verbose_name='heading')),
                ('hero_text', models.CharField(blank=True, max_length=400, verbose_name='text')),
                ('hero_button', models.CharField(blank=True, help_text='The words on it, such as “See all”.', max_length=60, verbose_name='button')),
                ('hero_link', models.CharField(blank=True, help_text='Where the button leads: /… or https://…', max_length=500, validators=[storefront.content.models.check_link], verbose_name='link')),
                ('sections', models.JSONField(blank=True, default=storefront.content.models.all_sections)),
                ('footer_text', models.TextField(blank=True, help_text='A few words at the end of every page.', validators=[django.core.validators.MaxLengthValidator(1000)])),
                ('updated_at', models.DateTimeField(editable=False)),
            ],
            options={
                'verbose_name': 'looks',
                'verbose_name_plural': 'looks',
            },
        ),
        migrations.CreateModel(
            name='MenuLink',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='menu_links', to='shops.shop')),
                ('looks', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='links', to='content.looks')),
                ('menu', models.CharField(choices=[('main', 'Menu, after the categories'), ('footer', 'Footer, after the pages')], default='main', max_length=6)),
                ('label', models.CharField(max_length=60)),
                ('link', models.CharField(help_text='/… or https://…', max_length=500, validators=[storefront.content.models.check_link])),
                ('position', models.PositiveSmallIntegerField(default=0)),
            ],
            options={
                'verbose_name': 'link',
                'ordering': ['position', 'id'],
            },
        ),
        migrations.CreateModel(
            name='MailText',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='mail_texts', to='shops.shop')),
                ('kind', models.CharField(editable=False, max_length=40)),
                ('subject', models.CharField(blank=True, max_length=200, null=True)),
                ('opening', models.TextField(blank=True, null=True, validators=[django.core.validators.MaxLengthValidator(2000)], verbose_name='opening text')),
                ('closing', models.TextField(blank=True, null=True, validators=[django.core.validators.MaxLengthValidator(2000)], verbose_name='closing text')),
                ('updated_at', models.DateTimeField(editable=False)),
            ],
            options={
                'verbose_name': 'mail',
                'ordering': ['id'],
                'constraints': [models.UniqueConstraint(fields=('shop', 'kind'), name='mail_text_once')],
            },
        ),
    ]
