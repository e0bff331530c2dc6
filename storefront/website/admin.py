"""The admin pages of the shop's looks and of its mails."""

from storefront.website.admin_looks import LooksAdmin
from storefront.website.admin_mails import MailTextAdmin

__all__ = ["LooksAdmin", "MailTextAdmin"]
