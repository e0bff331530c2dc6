DROP FUNCTION IF EXISTS
  catalogue_products_made(), catalogue_products_gone(), catalogue_products_changed(),
  catalogue_links_made(), catalogue_links_gone(), catalogue_links_moved(),
  catalogue_categories_changed(), catalogue_search_changed(), catalogue_search_listed(),
  catalogue_note(bigint, bigint, bigint)
CASCADE
