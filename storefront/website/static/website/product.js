/* Updates a product page when the shopper chooses: price, stock, SKU and picture follow the variant, and the button
   shows the total. Without this script the choice is shown by a button, and a combination that does not exist is
   refused. */
(() => {
  "use strict";
  const form = document.getElementById("buy");
  if (!form) return;

  const data = document.getElementById("variants");
  const variants = data ? JSON.parse(data.textContent) : [];
  const texts = data ? JSON.parse(document.getElementById("texts").textContent) : {};
  const button = form.querySelector("[data-buy]");
  const label = button?.textContent;
  // The browser's own decimals are not those of ISO 4217: it has none for RSD.
  const digits = Number(form.dataset.decimals);
  // As the page writes amounts, which has no other digits in Arabic.
  const money = new Intl.NumberFormat(`${form.dataset.locale || "en"}-u-nu-latn`, {
    style: "currency",
    currency: form.dataset.currency,
    minimumFractionDigits: digits,
    maximumFractionDigits: Math.max(digits, 2),
  });
  const price = document.getElementById("price");
  const priceOfAll = document.getElementById("price-of-all");
  const lowest = document.getElementById("lowest");
  const stock = document.getElementById("stock");
  const sku = document.getElementById("sku");
  const alert = document.getElementById("stock-alert");
  const combination = document.getElementById("combination");
  // Variants without values of their own are chosen by their id, in the field `variant`.
  const axes = [...form.querySelectorAll("[data-axis]")].map((element) => ({ element, ...element.dataset }));
  const named = axes.filter(({ axis }) => axis !== "variant");
  const MAX_NAMED = 6;

  /* The text with its placeholders, such as %(name)s, filled in. */
  function filled(text, values) {
    return text.replace(/%\((\w+)\)s/g, (_, name) => values[name]);
  }

  /* Whether the variant is one with these values, whatever it has of other axes. */
  function fits(variant, chosen) {
    return Object.entries(variant.values).every(([name, value]) => !(name in chosen) || chosen[name] === value);
  }

  function without(values, name) {
    return Object.fromEntries(Object.entries(values).filter(([other]) => other !== name));
  }

  function chosenValues() {
    const fields = new FormData(form);
    return Object.fromEntries(named.map(({ axis, name }) => [name, fields.get(axis)]).filter(([, value]) => value));
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

  /* Marks each value that no variant has together with what is chosen of the other axes, or none that can be bought. */
  function markValues() {
    const values = chosenValues();
    for (const { element, name } of named) {
      const fitting = variants.filter((variant) => fits(variant, without(values, name)));
      for (const control of element.querySelectorAll("input, option")) {
        const having = fitting.filter((variant) => fits(variant, { [name]: control.value }));
        const isMade = having.length > 0, sells = having.some((variant) => variant.sells);
        const isNoted = control.matches("option") ? "noted" in control.dataset : control.parentElement.querySelector("small");
        const state = !isMade ? ` (${texts.notMade})` : sells || isNoted ? "" : ` (${texts.soldOut})`;
        if (control.matches("option")) {
          control.textContent = control.dataset.label + state;
          continue;
        }
        control.parentElement.classList.toggle("axis__value--none", !isMade);
        control.parentElement.classList.toggle("axis__value--gone", isMade && !sells);
        control.parentElement.querySelector("[data-state]").textContent = state;
      }
    }
  }

  const joined = (values) => (values.length === 2 ? filled(texts.pair, { first: values[0], last: values[1] }) : values.join(", "));
  const either = (parts) => parts.reduce((first, last) => filled(texts.either, { first, last }));

  function listed(values) {
    if (values.length > MAX_NAMED) return filled(texts.others, { values: values.slice(0, MAX_NAMED).join(", ") });
    return either([values.slice(0, -1).join(", "), values.at(-1)].filter(Boolean));
  }

  /* What is said of values that no variant has together, as `choices.problem` says it. */
  function problem(values) {
    const said = joined(Object.values(values));
    const instead = Object.entries(values).flatMap(([name, value]) => {
      const fitting = variants.filter((variant) => fits(variant, without(values, name)));
      const others = [...new Set(fitting.map((variant) => variant.values[name]))].filter((other) => other && other !== value);
      return others.length ? [filled(texts.another, { name, values: listed(others) })] : [];
    });
    if (instead.length) return filled(texts.instead, { values: said, instead: either(instead) });
    const same = (variant) => Object.entries(values).filter(([name, value]) => fits(variant, { [name]: value })).length;
    const nearest = variants.reduce((best, variant) => (same(variant) > same(best) ? variant : best));
    return filled(texts.nearest, { values: said, example: joined(Object.values(nearest.values)) });
  }

  function showPrice(variant) {
    if (!variant) return price.replaceChildren(priceOfAll.content.cloneNode(true));
    const now = document.createElement("span");
    now.className = variant.old ? "price price--sale" : "price";
    now.textContent = variant.price;
    price.replaceChildren(now);
    if (variant.old) {
      const old = document.createElement("s");
      old.className = "price__old";
      old.textContent = variant.old;
      price.append(" ", old);
    }
  }

  /* Price, stock, SKU and picture of the variant; without one, the price of all and that this is not made. */
  function show(variant) {
    showPrice(variant);
    lowest.hidden = !variant?.lowest;
    lowest.querySelector("span").textContent = variant?.lowest ?? "";
    const badge = document.createElement("span");
    const note = variant ? variant.note : texts.noCombination;
    badge.className = `badge badge--${note ? variant?.kind || "plain" : "good"}`;
    badge.textContent = note || texts.inStock;
    stock.replaceChildren(badge);
    if (sku) {
      sku.hidden = !variant?.sku;
      sku.querySelector("span").textContent = variant?.sku ?? "";
    }
    if (alert) {
      alert.hidden = !variant || variant.sells;
      alert.elements.variant.value = variant?.id ?? "";
    }
    if (variant && variant.picture !== null) document.dispatchEvent(new CustomEvent("shop:picture", { detail: variant.picture }));
    const address = new URL(location.href);
    if (variant) address.search = new URLSearchParams({ variant: variant.id });
    else address.search = new URLSearchParams(named.map(({ axis }) => [axis, new FormData(form).get(axis)]));
    // A form that was refused without scripts is no page to come back to.
    if (address.pathname.includes("/products/")) history.replaceState(history.state, "", address);
  }

  // What the page was sent with. A browser that comes back to it may have kept another choice.
  let last = variants.find((variant) => String(variant.id) === form.dataset.variant);
  function update() {
    let amount = Number(form.dataset.amount);
    let sells = true;
    if (variants.length) {
      const variant = chosenVariant();
      markValues();
      sells = Boolean(variant && variant.sells);
      if (variant !== last) show(variant);
      last = variant;
      combination.hidden = Boolean(variant);
      combination.textContent = variant ? "" : problem(chosenValues());
      amount = variant ? Number(variant.amount) : NaN;
    }
    if (!button) return;
    const damaged = form.elements.damaged;
    if (damaged && (damaged.type === "hidden" || damaged.checked)) {
      amount = Number(damaged.dataset.amount);
      sells ||= !variants.length;
    }
    if (form.custom_price) amount = Number(form.custom_price.value.replace(",", "."));
    const sum = (amount + optionPrices()) * Number(form.qty.value);
    button.disabled = !sells;
    if (!sells) button.textContent = last ? texts.gone : texts.notAvailable;
    else button.textContent = sum > 0 ? `${label} · ${money.format(sum)}` : label;
  }
  form.elements.show?.remove();
  form.addEventListener("input", update);
  addEventListener("pageshow", update);
  update();
})();
