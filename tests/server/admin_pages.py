"""Every page of the admin and what can be done there, with the letters of the roles that may: o the owner, m a manager,
f fulfilment, r read-only."""

PRODUCTS = {"view": "omfr", "add": "om", "change": "om", "delete": "om"}
PRICES = {"view": "omr", "add": "om", "change": "om", "delete": "om"}
OWNERS = {"view": "o", "add": "o", "change": "o", "delete": "o"}
SAVED_VIEWS = ["save_view", "rename_view", "remove_view"]
SHOP = ["view", "change", "open_doors", "close_doors", "hide_steps", "ask_for_proof", "check_sender"]
# Who may carry out each deed of a page; a deed that is missing is nobody's, not even the operator's.
PAGES: dict[str, dict[str, str]] = {
    "shops_shop": {**dict.fromkeys(SHOP, "o")},
    # To everybody but the operator, these are a 404.
    "deployment_deployedshop": dict.fromkeys(
        ["view", "add", "change", "enter", "close_shop", "reopen_shop", "move_shop"], ""
    ),
    "shops_shopdomain": dict.fromkeys(["view", "add", "delete", "check_domain"], "o"),
    "shops_staffmember": {**OWNERS, "end_sessions": "o"},
    "shops_staffinvitation": {"view": "o", "add": "o", "send_again": "o", "withdraw": "o"},
    "shops_allowedorigin": OWNERS,
    "shops_apitoken": {"view": "o", "add": "o", "change": "o", "revoke": "o", "revoke_chosen": "o"},
    "shops_auditentry": {"view": "om"},
    "webhooks_event": {"view": "omr"},
    "webhooks_registration": {"view": "o", "resume": "o", "resume_chosen": "o", "send_test": "o"},
    "webhooks_delivery": {"view": "o", "replay": "o", "replay_chosen": "o"},
    "apps_app": {"view": "o", "install": "o", "add": "", "change": "", "rotate_secret": ""},
    "apps_installation": {
        "view": "o",
        "change": "o",
        "rotate_token": "o",
        "end_old_tokens": "o",
        "rotate_secret": "o",
        "uninstall": "o",
    },
    "apps_extension": {"view": "o", "change": "o", "preview": "o"},
    "apps_scripttag": {"view": "o", "change": "o", "allow": "o"},
    "apps_allowedscripthost": {"view": "o", "add": "o", "delete": "o"},
    "apps_blockedscript": {"view": "o", "delete": "o", "allow": "o"},
    "content_mailtext": dict.fromkeys(["view", "change", "send_sample", "use_standard"], "o"),
    "content_looks": {"view": "om", "change": "om"},
    "content_redirect": {
        **PRICES,
        "view": "om",
        "export_redirects": "om",
        "import_redirects": "om",
    },
    "content_missingpath": {"view": "om", "delete": "om", "redirect": "om"},
    "content_page": {**PRICES, "view": "om", "add_usual": "om"},
    "catalogue_product": {
        **PRODUCTS,
        "adjust": "omf",
        "publish": "om",
        "unpublish": "om",
        "archive": "om",
        "restore": "om",
        "restore_chosen": "om",
        "edit_chosen": "om",
        **dict.fromkeys(SAVED_VIEWS, "om"),
    },
    "catalogue_variant": {"view": "omfr", "change": "om", "adjust": "omf"},
    "catalogue_category": PRODUCTS,
    "catalogue_brand": PRODUCTS,
    "catalogue_vendor": PRODUCTS,
    "catalogue_stockadjustment": {"view": "omfr"},
    "catalogue_shippingorigin": PRICES,
    "catalogue_taxclass": PRICES,
    "catalogue_productimport": {
        "view": "omr",
        "add": "om",
        "confirm": "om",
        "decline": "om",
        "undo_import": "om",
        "download_report": "omr",
        "retry_pictures": "om",
        "map_columns": "om",
        "export_native": "omr",
        "export_woocommerce": "omr",
        "export_shopify": "omr",
    },
    "customers_customer": {
        **PRICES,
        **dict.fromkeys(["send_password_reset", "export_csv", "personal_data", *SAVED_VIEWS], "om"),
    },
    "customers_customergroup": PRICES,
    "privacy_datarequest": {**dict.fromkeys(["view", "add", "make_export", "download", "erase"], "om")},
    "pricing_discount": {**PRICES, "generate": "om", "download_codes": "omr", "import_codes": "om"},
    "pricing_taxrate": {**PRICES, "load_eu_rates": "om"},
    "pricing_taxsettings": {"view": "o", "change": "o"},
    "pricing_deliveryzone": PRICES,
    "pricing_shippingrate": {**PRICES, "export_prices": "omr", "import_prices": "om"},
    "pricing_pickupplace": PRICES,
    "carts_cart": {"view": "omr"},
    "orders_order": {
        **dict.fromkeys(
            ["view", "packing_slip", "packing_slips_of_chosen", "invoices_of_chosen", "print_page"], "omfr"
        ),
        **dict.fromkeys(
            [
                *("change", "write", "fulfil", "fulfil_chosen", "close", "cancel_fulfilment", "allow_downloads"),
                *("print_waiting", "print_papers"),
            ],
            "omf",
        ),
        **dict.fromkeys(SAVED_VIEWS, "omf"),
        **dict.fromkeys(["export_csv", "mark_paid", "refund", "cancel", "issue_invoice", "correct_invoice"], "om"),
    },
    "documents_document": {"view": "omfr", "pdf": "omfr", "pdf_of_chosen": "omfr"},
    "documents_invoicesettings": {"view": "o", "change": "o"},
    "payments_payment": {"view": "omr"},
    "gift_cards_giftcard": {"view": "omr", **dict.fromkeys(["add", "resend", "expiry", "disable", "enable"], "om")},
    "payments_provideraccount": {**OWNERS, "check_connection": "o", "undo": "o"},
}
