/* Updates a product page when the shopper chooses: price, stock, SKU and picture follow the variant, and the button
   shows the total. Without this script the page still works; adding an unavailable combination is then refused. */
(() => {
  "use strict";
  const form = document.getElementById("buy");
  const track = document.querySelector(".gallery__track");
  const thumbs = [...document.querySelectorAll("[data-picture]")];

  function showPicture(number) {
    const picture = track.children[number];
    if (!picture) return;
    track.scrollTo({ left: picture.offsetLeft - track.offsetLeft });
    thumbs.forEach((thumb, index) => {
      if (index === number) thumb.setAttribute("aria-current", "true");
      else thumb.removeAttribute("aria-current");
    });
  }
  for (const thumb of thumbs) {
    thumb.addEventListener("click", (event) => {
      event.preventDefault();
      showPicture(Number(thumb.dataset.picture));
    });
  }
  if (!form) return;

  const data = document.getElementById("variants");
  const variants = data ? JSON.parse(data.textContent) : [];
  const button = form.querySelector("button[type=submit]");
  const label = button.textContent;
  const money = new Intl.NumberFormat("en", { style: "currency", currency: form.dataset.currency });
  const price = document.getElementById("price");
  const stock = document.getElementById("stock");
  const sku = document.getElementById("sku");
  const plainSku = sku ? sku.textContent : "";
  const axes = [...new Set([...form.elements].map((field) => field.name).filter((name) => name.startsWith("axis-")))];
  const names = axes.map((name) => nameOf(name));

  function nameOf(field) {
    const control = form.querySelector(`[name="${field}"]`);
    const title = control.closest("fieldset")?.querySelector("legend") ?? form.querySelector(`label[for="${field}"]`);
    return title.textContent;
  }

  function fits(variant, chosen) {
    return Object.entries(variant.values).every(([name, value]) => !(name in chosen) || chosen[name] === value);
  }

  function chosenValues() {
    const fields = new FormData(form);
    return Object.fromEntries(axes.map((axis, index) => [names[index], fields.get(axis)]).filter(([, value]) => value));
  }

  function chosenVariant() {
    const byId = new FormData(form).get("variant");
    if (byId) return variants.find((variant) => String(variant.id) === byId);
    const size = (variant) => Object.keys(variant.values).length;
    return variants.filter((variant) => fits(variant, chosenValues())).sort((a, b) => size(b) - size(a))[0];
  }

  function optionPrices() {
    let sum = 0;
    for (const field of form.querySelectorAll("[data-price]")) {
      const counts = field.matches("option") ? field.selected : field.matches("[type=radio], [type=checkbox]") ? field.checked : field.value.trim();
      if (counts) sum += Number(field.dataset.price);
    }
    return sum;
  }

  function markUnavailable() {
    axes.forEach((axis, index) => {
      for (const input of form.querySelectorAll(`[name="${axis}"][type=radio]`)) {
        const chosen = { ...chosenValues(), [names[index]]: input.value };
        const sells = variants.some((variant) => variant.sells && fits(variant, chosen));
        input.parentElement.classList.toggle("axis__value--gone", !sells);
      }
    });
  }

  function show(variant) {
    price.replaceChildren();
    const now = document.createElement("span");
    now.className = variant.old ? "price price--sale" : "price";
    now.textContent = variant.price;
    price.append(now);
    if (variant.old) {
      const old = document.createElement("s");
      old.className = "price__old";
      old.textContent = variant.old;
      price.append(" ", old);
    }
    const badge = document.createElement("span");
    badge.className = `badge badge--${variant.note ? variant.kind || "plain" : "good"}`;
    badge.textContent = variant.note || "In stock";
    stock.replaceChildren(badge);
    if (sku) sku.textContent = variant.sku || plainSku;
    if (variant.picture !== null) showPicture(variant.picture);
  }

  let last;
  function update() {
    let amount = Number(form.dataset.amount);
    let sells = true;
    if (variants.length) {
      const variant = chosenVariant();
      markUnavailable();
      sells = Boolean(variant && variant.sells);
      if (variant && variant !== last) show(variant);
      last = variant;
      amount = variant ? Number(variant.amount) : NaN;
    }
    if (form.custom_price) amount = Number(form.custom_price.value.replace(",", "."));
    const sum = (amount + optionPrices()) * Number(form.qty.value);
    button.disabled = !sells;
    if (!sells) button.textContent = last ? "Sold out" : "Not available";
    else button.textContent = sum > 0 ? `${label} · ${money.format(sum)}` : label;
  }
  form.addEventListener("input", update);
  update();
})();
