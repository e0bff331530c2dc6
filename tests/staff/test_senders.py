"""Who a shop's mails come from: the deployment, until the shop's address is proved; and what its domain says in DNS."""

import re
import socket
from contextlib import contextmanager
from datetime import timedelta
from email.utils import parseaddr
from threading import Thread
from urllib.parse import urlsplit

import dns.message
import dns.resolver
import dns.rrset
import pytest
from django.core import mail
from django.core.management import call_command
from django.urls import reverse
from limits import parse_many

from storefront.kit import clock
from storefront.kit.refusals import InvalidFields
from storefront.shops import senders as rule
from storefront.shops.mail import message
from storefront.shops.models import AuditEntry, Shop
from storefront.staff import mail_records, senders
from storefront.staff.mail_records import check_records
from tests.orders.test_mail import run_due_tasks
from tests.shops.factories import NOW
from tests.staff import make_staff, open_desk

OURS = "noreply@mail.example.net"
THEIRS = "hello@lighthouse.example.com"


@pytest.fixture(autouse=True)
def deployment(settings):
    settings.DEFAULT_FROM_EMAIL = OURS


@pytest.fixture
def desk(shop):
    return open_desk(make_staff(shop))


def with_address(shop, email=THEIRS):
    shop.email = email
    shop.save()
    return shop


def press(desk, shop, button):
    url = reverse(f"admin:shops_shop_{button}", args=[shop.pk])
    return desk.post(url, {"_form_submitted": "on"}, follow=True).content.decode()


def sender_of(shop):
    """Sender and receiver of replies of a mail to a shopper."""
    written = message(shop=Shop.objects.get(pk=shop.pk), to="ada@example.com", subject="x", text="y")
    name, address = parseaddr(written.from_email)
    assert name == shop.name
    return address, written.reply_to


def link_of(shop, email=THEIRS):
    url = urlsplit(senders.new_link(shop=shop, email=email, now=clock.now()))
    return f"{url.path}?{url.query}"


def test_until_it_is_proved_the_shops_address_only_gets_the_replies(shop):
    assert sender_of(shop) == (OURS, [])
    assert sender_of(with_address(shop)) == (OURS, [THEIRS])


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_link_to_the_address_proves_it(shop, desk, client):
    desk.fill(with_address(shop), email=THEIRS)
    assert OURS in desk.page(shop).content.decode()
    press(desk, shop, "ask_for_proof")
    run_due_tasks()
    (sent,) = mail.outbox
    assert (sent.to, parseaddr(sent.from_email)[1]) == ([THEIRS], OURS)
    (link,) = re.findall(r"https://\S+", sent.body)
    path = link.removeprefix(shop.base_url)
    # Scanners follow links, and strangers may be sent them.
    assert client.post(path).status_code == 302
    assert THEIRS in desk.get(path).content.decode()
    assert sender_of(shop) == (OURS, [THEIRS])
    desk.post(path)
    assert sender_of(shop) == (THEIRS, [])
    desk.post(path)
    actions = AuditEntry.objects.filter(action__startswith="sender.").order_by("pk").values_list("action", flat=True)
    assert list(actions) == ["sender.asked", "sender.proved"]
    desk.fill(shop, email="bank@elsewhere.example.com")
    assert sender_of(shop) == (OURS, ["bank@elsewhere.example.com"])


def test_a_link_proves_no_other_shop_address_or_later_day(shop, other_shop, desk):
    with_address(shop)
    with_address(other_shop)
    old = urlsplit(senders.new_link(shop=shop, email=THEIRS, now=NOW - timedelta(days=400)))
    links = [link_of(other_shop), link_of(shop, "old@lighthouse.example.com"), f"{old.path}?{old.query}"]
    for link in [*links, f"{link_of(shop)}x", link_of(shop).partition("?")[0]]:
        assert desk.post(link).status_code == 302
    assert sender_of(shop) == sender_of(other_shop) == (OURS, [THEIRS])


@pytest.mark.parametrize("role", ["manager", "fulfilment", "read_only"])
def test_who_may_not_change_settings_proves_nothing(shop, role):
    link = link_of(with_address(shop))
    assert open_desk(make_staff(shop, role, role)).post(link).status_code == 403
    assert sender_of(shop) == (OURS, [THEIRS])


@pytest.mark.slow
@pytest.mark.parametrize(
    "email",
    [
        OURS,
        "billing@MAIL.example.net",
        "shop@below.mail.example.net",
        "ceo@example.net",
        # Mail servers read these letters as those of the deployment's domain.
        "boss@ｍail.example.net",
        "root@admin.example.org",
    ],
)
def test_an_address_of_the_deployments_own_domain_needs_the_operator(shop, desk, email, settings, capsys):
    settings.ADMIN_HOST, settings.SECURE_HOST = "admin.example.org", "secure.example.org"
    desk = open_desk(shop.staff.get().user)
    with_address(shop, email)
    assert "Its operator allows it" in press(desk, shop, "ask_for_proof")
    # Also if it was proved before the deployment got its domain.
    Shop.objects.filter(pk=shop.pk).update(proved_sender=email)
    assert sender_of(shop) == (OURS, [email])
    with pytest.raises(InvalidFields):
        call_command("senders", "allow", shop=shop.domain, email="earlier@example.net")
    assert sender_of(shop) == (OURS, [email])
    call_command("senders", "allow", shop=shop.domain, email=email)
    assert sender_of(shop) == (rule.written_address(email), [])
    call_command("senders", "withdraw", shop=shop.domain)
    assert sender_of(shop) == (OURS, [email])


def test_links_are_limited_by_shop_and_by_mailbox(shop, other_shop, desk, settings):
    settings.LIMITS = settings.LIMITS | {"mails_each": parse_many("1/hour")}
    for each, email in ((shop, THEIRS), (shop, "other@lighthouse.example.com"), (other_shop, THEIRS.upper())):
        try:
            senders.ask_for_proof(shop=with_address(each, email), now=NOW)
        except senders.RateLimited:
            continue
        assert (each, email) == (shop, THEIRS)


@contextmanager
def dns_server(monkeypatch, records):
    """A DNS server on this machine that knows these TXT records."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))

        def serve():
            while True:
                try:
                    data, asker = server.recvfrom(4096)
                except OSError:
                    return
                if not data:
                    return
                asked = dns.message.from_wire(data)
                answer = dns.message.make_response(asked)
                name = asked.question[0].name.to_text(omit_final_dot=True)
                texts = [f'"{text}"' for text in records.get(name, ())]
                if texts:
                    answer.answer = [dns.rrset.from_text(f"{name}.", 60, "IN", "TXT", *texts)]
                elif name not in records:
                    answer.set_rcode(dns.rcode.NXDOMAIN)
                server.sendto(answer.to_wire(), asker)

        thread = Thread(target=serve, daemon=True)
        thread.start()
        found = dns.resolver.Resolver(configure=False)
        found.nameservers, found.port = ["127.0.0.1"], server.getsockname()[1]
        monkeypatch.setattr(mail_records, "resolver", lambda: found)
        yield
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:
            last.sendto(b"", server.getsockname())
        thread.join(5)


def states(domain="shop.example.com"):
    return {finding.record: str(finding.state) for finding in check_records(domain)}


def test_the_check_says_what_is_missing(monkeypatch, settings):
    settings.EMAIL_SPF, settings.EMAIL_DKIM = "include:spf.example.net", "mail1"
    with dns_server(monkeypatch, {}):
        assert states() == dict.fromkeys(["SPF", "DKIM", "DMARC"], "missing")
        texts = " ".join(finding.text for finding in check_records("shop.example.com"))
        for part in ("v=spf1 include:spf.example.net ~all", "mail1._domainkey.shop.example.com", "_dmarc.shop."):
            assert part in texts
    whole = {
        "shop.example.com": ["google-site-verification=1", "V=spf1 include:spf.example.net -all"],
        "mail1._domainkey.shop.example.com": ["v=DKIM1; k=rsa; p=MIIB"],
        # That of the domain above counts where there is no other.
        "_dmarc.example.com": ["v=DMARC1; p=reject"],
    }
    with dns_server(monkeypatch, whole):
        assert states() == dict.fromkeys(["SPF", "DKIM", "DMARC"], "good")
        settings.EMAIL_SPF = settings.EMAIL_DKIM = ""
        assert states() == {"SPF": "unknown", "DKIM": "unknown", "DMARC": "good"}
    settings.EMAIL_SPF, settings.EMAIL_DKIM = "include:spf.example.net", "mail1"
    useless = {
        "shop.example.com": ["v=spf1 include:elsewhere.example -all", "v=spf1 include:spf.example.net -all"],
        # A key that was withdrawn.
        "mail1._domainkey.shop.example.com": ["v=DKIM1; p="],
        "_dmarc.shop.example.com": ["something else"],
    }
    with dns_server(monkeypatch, useless):
        assert states() == dict.fromkeys(["SPF", "DKIM", "DMARC"], "missing")


@pytest.mark.slow
def test_without_dns_the_check_says_that_it_could_not_look(shop, desk, monkeypatch, settings, capsys):
    settings.EMAIL_DKIM = "mail1"
    silent = dns.resolver.Resolver(configure=False)
    silent.nameservers, silent.port = ["127.0.0.1"], 9
    monkeypatch.setattr(mail_records, "QUESTION_SECONDS", 0.2)
    monkeypatch.setattr(mail_records, "resolver", lambda: silent)
    assert states() == dict.fromkeys(["SPF", "DKIM", "DMARC"], "unknown")
    assert press(desk, with_address(shop), "check_sender").count("could not be looked up") == 3
    call_command("senders", "check", shop=shop.domain)
    assert capsys.readouterr().out.count("could not be looked up") == 3


@pytest.mark.parametrize("host", ["admin.example.org:8443", "admin.example.org"])
def test_a_port_of_the_deployments_host_hides_no_domain(settings, host):
    settings.ADMIN_HOST = host
    assert rule.is_of_deployment("ceo@example.org")


@pytest.mark.parametrize("name", ["Storefront", "service@bank.example"])
def test_a_shops_name_passes_for_nobody_else(shop, name):
    shop.name = name
    assert message(shop=shop, to="ada@example.com", subject="Hello", text="You").from_email.startswith(
        f'"{shop.domain}"'
    )
