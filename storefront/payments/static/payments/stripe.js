"use strict";

// The payment step of Stripe: mounts its form, and confirms the payment. What is typed there goes to Stripe alone.
(() => {
  const form = document.getElementById("stripe");
  const loading = document.getElementById("stripe-loading");
  const message = document.getElementById("stripe-message");
  const button = form.querySelector("button");
  const { key, secret, returnUrl, savedMethod, failed, unanswered } = form.dataset;
  const SHOWN_AS_TOLD = ["card_error", "validation_error"];
  // The payment has an outcome already, as after a second press: the shop knows which.
  const DECIDED = ["succeeded", "processing", "requires_capture", "canceled"];

  const show = (text) => {
    message.textContent = text;
    message.hidden = !text;
  };

  const start = () => {
    loading.hidden = true;
    button.disabled = false;
  };

  const fail = () => {
    form.hidden = loading.hidden = true;
    document.getElementById("stripe-missing").hidden = false;
  };

  if (!window.Stripe) {
    fail();
    return;
  }

  const stripe = window.Stripe(key, { locale: document.documentElement.lang });
  const confirmParams = { return_url: returnUrl };
  let elements = null;
  form.hidden = false;
  if (savedMethod) {
    confirmParams.payment_method = savedMethod;
    start();
  } else {
    const isDark = window.matchMedia("(prefers-color-scheme: dark)").matches;
    elements = stripe.elements({ clientSecret: secret, appearance: { theme: isDark ? "night" : "stripe" } });
    const fields = elements.create("payment");
    fields.on("ready", start);
    fields.on("loaderror", fail);
    fields.mount("#stripe-fields");
  }

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    button.setAttribute("aria-busy", "true");
    show("");
    try {
      // Leaves this page, unless the payment fails.
      const subject = elements ? { elements } : { clientSecret: secret };
      const { error } = await stripe.confirmPayment({ ...subject, confirmParams });
      if (error.payment_intent && DECIDED.includes(error.payment_intent.status)) {
        window.location.assign(returnUrl);
        return;
      }
      const known = SHOWN_AS_TOLD.includes(error.type) && error.message;
      show(known || failed);
    } catch {
      show(unanswered);
    }
    button.disabled = false;
    button.removeAttribute("aria-busy");
  });
})();
