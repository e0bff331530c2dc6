from collections.abc import Iterator
from contextlib import suppress
from smtplib import SMTPException, SMTPResponseException

from django.conf import settings
from django.core.mail import get_connection

from storefront.server.doctor.findings import Finding, State
from storefront.shops import mail
from storefront.shops.senders import deployment_address, domain_of

CHECK = "mail"
SMTP = "django.core.mail.backends.smtp.EmailBackend"
# Seconds that the mail server may take for each step.
STEP_SECONDS = 10
SUBJECT = "Test of your shop's mail"
TEXT = "storefront doctor sent this mail, so the shop's mail server takes its mails.\n"


def look(*, mail_to: str | None) -> Iterator[Finding]:
    """Whether the mail server takes our name and password, and a mail to `mail_to`; and whether the sender is set."""
    if not mail.is_sent():
        text = "No mail is sent: shoppers cannot create accounts, and get no confirmations."
        yield Finding(CHECK, State.MISSING, text, "Set EMAIL_URL to a mail server, smtp+tls://user:password@host:587.")
        return
    if settings.EMAIL_BACKEND != SMTP:
        text = f"Mails go to {settings.EMAIL_BACKEND.rpartition('.')[2]}, and not to a mail server."
        yield Finding(CHECK, State.WARNING, text, "Set EMAIL_URL to a mail server.")
    elif domain_of(deployment_address()) in ("", "localhost"):
        text = f"Mails come from {deployment_address()}, which receivers refuse."
        yield Finding(CHECK, State.MISSING, text, "Set STOREFRONT_EMAIL_FROM to an address of your own.")
    yield _taken(mail_to)


def _taken(mail_to: str | None) -> Finding:
    server = f"{settings.EMAIL_HOST}:{settings.EMAIL_PORT}"
    connection = get_connection(timeout=STEP_SECONDS)
    try:
        connection.open()
        if mail_to:
            connection.send_messages([mail.message(shop=None, to=mail_to, subject=SUBJECT, text=TEXT)])
    except (OSError, SMTPException) as error:
        return Finding(CHECK, State.MISSING, f"The mail server {server} {refusal_of(error)}.", "Correct EMAIL_URL.")
    finally:
        # Also after a refusal, after which it stays open.
        with suppress(OSError, SMTPException):
            connection.close()
    if mail_to:
        return Finding(CHECK, State.OK, f"The mail server took a test mail to {mail_to}. See whether it arrives.")
    return Finding(CHECK, State.OK, "The mail server answers. --mail-to ADDRESS sends a test mail.")


def refusal_of(error: OSError | SMTPException) -> str:
    """What the server did, without the texts that it may repeat a name or an address in."""
    if isinstance(error, SMTPResponseException):
        return f"refused with {error.smtp_code} ({type(error).__name__})"
    if isinstance(error, SMTPException):
        return f"did not take it ({type(error).__name__})"
    return f"does not answer ({error.strerror or error})"
