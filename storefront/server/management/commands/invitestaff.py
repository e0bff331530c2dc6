from argparse import ArgumentParser

from storefront.kit import clock
from storefront.server.command import Command as Base
from storefront.server.command import add_shop_argument, find_shop
from storefront.shops import mail
from storefront.shops.models import StaffMember
from storefront.staff import invitations, jobs


class Command(Base):
    help = "Invite somebody to join the staff of a shop. Prints the link to accept if no email is sent."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_shop_argument(parser)
        parser.add_argument("--email", required=True, help="email address of the person to invite")
        parser.add_argument("--role", required=True, help=f"one of {', '.join(StaffMember.Role.values)}")
        parser.add_argument("--print-link", action="store_true", help="print the link instead of sending it by email")

    def handle(self, *, shop, email, role, print_link, **_options) -> None:
        now, found = clock.now(), find_shop(shop)
        invitation = invitations.invite_staff(shop=found, email=email, role=role, invited_by=None, now=now)
        if mail.is_sent() and not print_link:
            jobs.send_invitation.enqueue(invitation.shop_id, invitation.pk)
            self.write_message(f"An email with the link to accept is on its way to {invitation.email}.")
            return
        link = invitations.new_link(shop=found, invitation_id=invitation.pk, now=now)
        assert link is not None, "the invitation was created just now"
        self.write_message(
            f"The link works once, for seven days. Role in {found.name}: {invitation.get_role_display().lower()}."
        )
        self.write_result(link)
