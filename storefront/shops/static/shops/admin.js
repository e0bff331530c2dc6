// The admin's policy lets no page write styles or run text: the styles that htmx would write stand in admin.css.
htmx.config.includeIndicatorStyles = false;
htmx.config.allowEval = false;
htmx.config.selfRequestsOnly = true;
