"use strict";
// Inside the frame: what is typed here goes to the API, and only the outcome to the page around it.
window.addEventListener("message", async ({ data, source, origin }) => {
  const { type, number } = Object.fromEntries(new FormData(document.forms[0]));
  const body = new URLSearchParams({ client_secret: data.secret, return_url: data.returnUrl });
  body.set("payment_method_data[type]", type);
  const plain = number.replaceAll(" ", "");
  if (type === "card") body.set("payment_method_data[card][number]", plain);
  if (type === "sepa_debit") body.set("payment_method_data[sepa_debit][iban]", plain);
  const headers = { Authorization: `Bearer ${data.key}` };
  const path = `/v1/payment_intents/${data.secret.split("_secret_")[0]}/confirm`;
  const answer = await fetch(path, { method: "POST", headers, body });
  source.postMessage({ stripe: data.id, outcome: await answer.json() }, origin);
});
parent.postMessage({ stripe: "ready" }, "*");
