"""WooCommerce's CSV files: reading and writing."""
