"""Everything that a merchant writes besides products: pages such as imprint and terms, the shop's looks, menus, mail
texts."""
