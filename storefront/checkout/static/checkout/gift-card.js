/* The code of a gift card that its QR code or its mail brings behind `#` goes into the form, and out of the address. */
{
  const fill = () => {
    const code = decodeURIComponent(location.hash.slice(1));
    const field = document.querySelector("[data-gift-card] [name=gift_card]");
    if (!/^[A-Za-z0-9-]{4,40}$/.test(code) || !field) return;
    field.value = code;
    history.replaceState(null, "", location.pathname + location.search);
    field.form.querySelector("button").focus();
  };
  addEventListener("hashchange", fill);
  fill();
}
