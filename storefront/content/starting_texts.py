"""Starting texts for a shop's pages. The merchant fills in the parts in square brackets."""

import re
from dataclasses import dataclass

from storefront.content.models import Page

_GAP = re.compile(r"\[[^\[\]<>]+\]")


@dataclass(frozen=True)
class StartingText:
    """The starting text of a page: its title, the last part of its address, and its text as HTML."""

    title: str
    slug: str
    body: str

    @property
    def gaps(self) -> frozenset[str]:
        """The parts that the merchant has to fill in, with their brackets."""
        return frozenset(_GAP.findall(self.body))


STARTING_TEXTS = {
    Page.Kind.ABOUT: StartingText(
        "About us",
        "about",
        "<p>[Who you are, in two sentences]</p><p>[What you make or choose, where, and what matters to you in it]</p>",
    ),
    Page.Kind.DELIVERY: StartingText(
        "Delivery",
        "delivery",
        "<h2>Where we deliver to, and what it costs</h2>"
        "<p>[Countries, prices, and from which amount delivery is free]</p>"
        "<h2>How long it takes</h2>"
        "<p>[Days until an order leaves you, and days on the way, by country]</p>"
        "<h2>Collecting an order</h2>"
        "<p>[Address and opening hours, or leave this part out]</p>",
    ),
    Page.Kind.RETURNS: StartingText(
        "Returns and withdrawal",
        "returns",
        "<h2>Right of withdrawal</h2>"
        "<p>If you buy as a consumer, you may withdraw from the purchase within 14 days without giving a reason. The 14"
        " days begin on the day on which you, or somebody you name, receive the goods; if an order comes in several"
        " parcels, on the day of the last one.</p>"
        "<p>To withdraw, tell us so clearly before the 14 days are over: [name, postal address, email address and"
        " telephone number]. You may use the form below, but need not.</p>"
        "<h2>What happens then</h2>"
        "<p>We pay back everything that you paid us for these goods, standard delivery included, within 14 days of"
        " hearing from you, by the means by which you paid. We may wait until the goods are back with us, or until you"
        " have shown that you sent them.</p>"
        "<p>Please send the goods within 14 days of telling us to: [address for returns]. [You pay for sending them"
        " back / We pay for sending them back.] You owe something for a loss of value only if you handled the goods"
        " more than it takes to try them out.</p>"
        "<h2>Exceptions</h2>"
        "<p>[Such as goods made to the buyer's wishes, sealed goods that cannot be returned for reasons of hygiene, and"
        " downloads that began with the buyer's consent]</p>"
        "<h2>Withdrawal form</h2>"
        "<p>(Fill in this form and send it back only if you want to withdraw.)</p>"
        "<p>To [name, postal address and email address]:<br>"
        "I hereby withdraw from my contract for the purchase of the following goods:<br>"
        "Ordered on / received on:<br>Name:<br>Address:<br>Signature (only on paper):<br>Date:</p>",
    ),
    Page.Kind.TERMS: StartingText(
        "Terms and conditions",
        "terms",
        "<h2>Who sells to you</h2><p>[Legal name and address of the seller]</p>"
        "<h2>How a contract comes about</h2>"
        "<p>The goods in this shop are an invitation to order. With the button at the end of the checkout you order"
        " what is in your basket, and have to pay for it. [When you accept the order: with its confirmation, or when"
        " the goods are sent]</p>"
        "<h2>Prices and payment</h2>"
        "<p>[Whether prices include VAT, what comes on top, and how and when one pays]</p>"
        "<h2>Delivery</h2><p>[Where you deliver to, and what applies if something is sold out]</p>"
        "<h2>Ownership</h2><p>[Until when the goods stay yours]</p>"
        "<h2>Defects</h2><p>[The buyer's rights by law, and any guarantee of yours]</p>"
        "<h2>Disputes</h2><p>[Whether you take part in the settlement of disputes before a consumer board, and which"
        " law applies]</p>",
    ),
    Page.Kind.PRIVACY: StartingText(
        "Privacy policy",
        "privacy",
        "<h2>Who is responsible</h2><p>[Name, address and email address; your data protection officer, if you have"
        " one]</p>"
        "<h2>When you visit the shop</h2>"
        "<p>The shop stores one cookie for your basket and your sign-in; it needs it to work. [Server logs: what they"
        " hold, and for how long]</p>"
        "<h2>When you order</h2>"
        "<p>We store your name, addresses, email address and your orders, in order to fulfil them and as the law"
        " requires. [For how long, and who gets them: parcel services, payment providers]</p>"
        "<h2>Other services</h2><p>[What apps and providers you use, and what they learn]</p>"
        "<h2>Your rights</h2>"
        "<p>You may ask us for a copy of your data, and have it corrected or erased; object to its use or have that use"
        " restricted; and complain to a supervisory authority: [the authority that is responsible for you].</p>",
    ),
    Page.Kind.IMPRINT: StartingText(
        "Imprint",
        "imprint",
        "<p>[Legal name]<br>[Street and number]<br>[Postal code and city]<br>[Country]</p>"
        "<p>Represented by: [Name]</p>"
        "<p>Telephone: [Number]<br>Email: [Address]</p>"
        "<p>Register: [Court and number]<br>VAT ID: [Number]</p>",
    ),
}
# The parts that the merchant has to fill in, of all texts.
GAPS = frozenset(gap for text in STARTING_TEXTS.values() for gap in text.gaps)
