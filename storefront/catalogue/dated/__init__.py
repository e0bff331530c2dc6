"""What changes at a date: publication, sale prices, pre-orders."""
