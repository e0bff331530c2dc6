"""What a merchant writes and shows beside the goods: pages such as imprint and terms."""
