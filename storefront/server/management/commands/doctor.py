from argparse import ArgumentParser

from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from storefront.kit.refusals import InvalidFields
from storefront.server.command import Command as Base
from storefront.server.command import Failed
from storefront.server.doctor.examining import examine
from storefront.server.doctor.findings import Finding, State


class Command(Base):
    help = (
        "Look for what the deployment lacks: hosts, certificates, mail, worker, backup, disk, clock, versions. Exits"
        " with 1 if something is missing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--mail-to", metavar="ADDRESS", help="send a test mail to this address")
        parser.add_argument("--json", action="store_true", dest="as_json", help="print a JSON object for each finding")

    def handle(self, *, mail_to, as_json, **_options) -> None:
        if mail_to:
            try:
                validate_email(mail_to)
            except ValidationError:
                raise InvalidFields(errors={"mail_to": [f"Expected an address, not {mail_to}."]}) from None
        findings = examine(mail_to=mail_to)
        for finding in findings:
            self.write_result(finding._asdict() if as_json else line_of(finding))
        if missing := sum(finding.state == State.MISSING for finding in findings):
            raise Failed(f"{missing} {'thing is' if missing == 1 else 'things are'} missing.")


def line_of(finding: Finding) -> str:
    return f"{finding.state:<8} {finding.check:<12} {finding.text} {finding.advice}".rstrip()
