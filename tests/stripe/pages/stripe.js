"use strict";
// Stands in for Stripe.js, as far as our page uses it. The payment form is a frame of the fake's own origin.
window.Stripe = (() => {
  const home = new URL(document.currentScript.src).origin;

  const go = (outcome, { return_url: back }) => {
    if (outcome.error) return { error: outcome.error };
    const query = new URLSearchParams({
      payment_intent: outcome.id,
      payment_intent_client_secret: outcome.client_secret,
      redirect_status: "succeeded",
    });
    const bank = outcome.next_action && outcome.next_action.redirect_to_url.url.replace("BANK", `${home}/bank`);
    window.location = bank || `${back}?${query}`;
    return new Promise(() => {});
  };

  return (key) => {
    let count = 0;
    const ask = (frame, secret, returnUrl) =>
      new Promise((resolve) => {
        const id = ++count;
        const listen = ({ data, origin }) => {
          if (origin !== home || data.stripe !== id) return;
          window.removeEventListener("message", listen);
          resolve(data.outcome);
        };
        window.addEventListener("message", listen);
        frame.contentWindow.postMessage({ id, key, secret, returnUrl }, home);
      });

    return {
      elements: ({ clientSecret }) => {
        const elements = { clientSecret, frame: null };
        elements.create = (type) => {
          const ready = [];
          return {
            on: (event, then) => { if (event === "ready") ready.push(then); },
            mount: (place) => {
              const frame = document.createElement("iframe");
              frame.src = `${home}/element?${type}`;
              frame.title = "Secure payment input frame";
              frame.allow = "payment *";
              frame.height = "260";
              frame.width = "100%";
              frame.frameBorder = "0";
              window.addEventListener("message", ({ data, origin }) => {
                if (origin === home && data.stripe === "ready") ready.forEach((then) => then());
              });
              document.querySelector(place).append(frame);
              elements.frame = frame;
            },
          };
        };
        return elements;
      },
      confirmPayment: async ({ elements, clientSecret, confirmParams }) => {
        if (elements) {
          const outcome = await ask(elements.frame, elements.clientSecret, confirmParams.return_url);
          return go(outcome, confirmParams);
        }
        const body = new URLSearchParams({ client_secret: clientSecret, ...confirmParams });
        const headers = { Authorization: `Bearer ${key}` };
        const path = `${home}/v1/payment_intents/${clientSecret.split("_secret_")[0]}/confirm`;
        const answer = await fetch(path, { method: "POST", headers, body });
        return go(await answer.json(), confirmParams);
      },
    };
  };
})();
