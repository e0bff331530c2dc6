DROP FUNCTION IF EXISTS
  catalogue_products_made(), catalogue_products_gone(), catalogue_products_changed(),
  catalogue_links_made(), catalogue_links_gone(), catalogue_links_moved(),
  catalogue_categories_changed(), catalogue_search_changed(), catalogue_search_listed(),
  catalogue_stock_made(), catalogue_stock_changed(), catalogue_stock_falls(), catalogue_stock_removed(), catalogue_price_changed(),
  catalogue_histories_gone(),
  catalogue_note(bigint, bigint, bigint)
CASCADE
