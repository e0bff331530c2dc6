from argparse import ArgumentParser

from storefront.kit.refusals import InvalidFields
from storefront.server.command import Command as Base
from storefront.shops.models import User
from storefront.staff import staff_jobs
from storefront.staff.second_factor import remove_all_factors
from storefront.staff.staff_sessions import end_sessions


class Command(Base):
    help = "Remove all second factors of a staff member who lost them, and sign them out everywhere."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--email", required=True, help="email address of the staff member")

    def handle(self, *, email, **_options) -> None:
        user = User.objects.filter(email__iexact=email.strip()).first()
        if user is None:
            raise InvalidFields(errors={"email": [f"No staff member has the email address {email}."]})
        removed, ended = remove_all_factors(user=user), end_sessions(user)
        staff_jobs.send_to_person.enqueue(None, user.pk, "factors_changed", {"what": "all second factors were removed"})
        self.write_message(
            "They sign in with the password alone once, and set up a new second factor where they need one."
        )
        self.write_result({"email": user.email, "removed": removed, "signed_out": ended})
