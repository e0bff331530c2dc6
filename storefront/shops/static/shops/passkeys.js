// A form with `data-passkey` asks the browser for a passkey: to make one (`create`) or to sign with one (`get`), as
// `data-options` says. The answer goes back in the form's field `passkey`.
(() => {
  const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
  const text = (buffer) =>
    btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

  const withBytes = (options) => {
    const known = (list) => (list || []).map((each) => ({ ...each, id: bytes(each.id) }));
    const ready = { ...options, challenge: bytes(options.challenge) };
    if (options.user) ready.user = { ...options.user, id: bytes(options.user.id) };
    if (options.excludeCredentials) ready.excludeCredentials = known(options.excludeCredentials);
    if (options.allowCredentials) ready.allowCredentials = known(options.allowCredentials);
    return ready;
  };

  const asJson = (made) => {
    const response = {};
    for (const name of ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"]) {
      if (made.response[name]) response[name] = text(made.response[name]);
    }
    return JSON.stringify({
      id: made.id,
      rawId: text(made.rawId),
      type: made.type,
      response,
      clientExtensionResults: {},
    });
  };

  const prepare = (form) => {
    const button = form.querySelector("button[type=submit]");
    const said = form.querySelector("[role=status]");
    if (!window.PublicKeyCredential) {
      button.disabled = true;
      said.textContent = form.dataset.unavailable;
      return;
    }
    form.addEventListener("submit", async (event) => {
      if (form.elements.passkey.value) return;
      event.preventDefault();
      said.textContent = "";
      try {
        const publicKey = withBytes(JSON.parse(form.dataset.options));
        const made = await navigator.credentials[form.dataset.passkey]({ publicKey });
        form.elements.passkey.value = asJson(made);
        form.submit();
      } catch (error) {
        said.textContent = `${form.dataset.failed} (${error.name}).`;
      }
    });
  };

  document.querySelectorAll("form[data-passkey]").forEach(prepare);
})();
