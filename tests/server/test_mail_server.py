"""A mail server that does not answer."""

import socket
from smtplib import SMTPServerDisconnected

import pytest
from django.conf import settings
from django.core.mail.backends.smtp import EmailBackend
from django.core.mail.message import EmailMessage


def test_a_silent_mail_server_is_given_up(monkeypatch):
    assert 0 < EmailBackend().timeout <= 30
    monkeypatch.setattr(settings, "EMAIL_TIMEOUT", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        backend = EmailBackend(host="127.0.0.1", port=silent.getsockname()[1])
        with pytest.raises(SMTPServerDisconnected, match="timed out"):
            backend.send_messages([EmailMessage("Hello", "", "a@example.com", ["b@example.com"])])
