// The admin's policy lets no page write styles or run text: the styles that htmx would write stand in admin.css.
htmx.config.includeIndicatorStyles = false;
htmx.config.allowEval = false;
htmx.config.selfRequestsOnly = true;
// What an answer brought works at once: a click within htmx's 20 ms would send its form as a page of its own.
htmx.config.defaultSettleDelay = 0;

// The theme takes every part of a page that is loaded again for rows of a formset.
addEventListener("htmx:afterSettle", (event) => {
  if (!("inlineFormset" in event.target.dataset)) event.stopPropagation();
}, true);

// Names for what the theme's scripts make without one: areas that scroll, and lists of choices with a search.
const words = () => document.getElementById("page")?.dataset ?? {};
const nameAreas = () => {
  const { menu, table } = words();
  document.querySelectorAll("[data-simplebar]").forEach((area, number) => {
    const name = area.closest("#nav-sidebar") ? menu : number > 1 ? `${table} ${number}` : table;
    area.querySelector(".simplebar-content-wrapper")?.setAttribute("aria-label", name);
  });
};
const nameLists = () => {
  for (const box of document.querySelectorAll("select + .select2 .select2-selection[role=combobox]")) {
    const [label] = box.closest(".select2").previousElementSibling.labels;
    if (!label || box.dataset.named) continue;
    box.dataset.named = "yes";
    label.id ||= `${label.htmlFor}_label`;
    box.querySelector("[role=textbox], .select2-search__field")?.setAttribute("aria-label", label.textContent.trim());
    box.setAttribute("aria-labelledby", `${label.id} ${box.getAttribute("aria-labelledby") ?? ""}`.trim());
  }
};
addEventListener("load", () => {
  nameAreas();
  document.getElementById("tabs-items")?.setAttribute("aria-label", words().tabs);
  // A link to a field, such as the stock of a product, leads into it.
  const field = document.getElementById(location.hash.slice(1));
  if (field?.matches("input, textarea, select, trix-editor")) field.focus();
  // The first field of what is added has the focus, also where the theme's scripts show it later than Django's look.
  const added = document.getElementById("django-admin-form-add-constants");
  const form = added && document.getElementById(`${added.dataset.modelName}_form`);
  if (form && document.activeElement === document.body) {
    [...form.elements].find((each) => each.matches("input:not([type=hidden]), textarea") && each.offsetParent)?.focus();
  }
  if (field?.matches("input[type=number], input[type=text]")) field.select();
  // After Django's own, which makes the lists.
  window.django?.jQuery?.(nameLists);
});
document.addEventListener("formset:added", () => setTimeout(nameLists));

// The search over everything: "/" or Ctrl+K leads to it, arrows go through what it found, Enter opens the first.
const isTyping = (element) => element.isContentEditable || /^(input|textarea|select)$/i.test(element.tagName);
addEventListener("keydown", (event) => {
  const input = document.getElementById("finder-input");
  const isAsked = event.key === "k" ? event.ctrlKey || event.metaKey : event.key === "/" && !isTyping(event.target);
  if (!input || !isAsked) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  input.focus();
}, true);
addEventListener("keydown", (event) => {
  const finder = event.target.closest?.("#finder");
  if (!finder) return;
  const stops = [finder.querySelector("input"), ...finder.querySelectorAll("a")];
  const here = stops.indexOf(document.activeElement);
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) stops[Math.min(Math.max(here + step, 0), stops.length - 1)].focus();
  else if (event.key === "Enter" && here === 0) stops[1]?.click();
  else if (event.key === "Escape") stops[0].blur();
  else return;
  event.preventDefault();
});

// The first field of a dialog that must be filled in has the focus as soon as it can be seen, or else its first field.
document.addEventListener("htmx:afterSwap", ({ detail: { target } }) => {
  if (target.id !== "modal-content") return;
  const fields = [...target.querySelectorAll("#dialog-form :is(input:not([type=hidden]), textarea, select)")];
  const field = fields.find((each) => each.required && !each.value) ?? fields[0];
  if (!field) return;
  const shown = new ResizeObserver(([{ contentRect }]) => {
    if (!contentRect.width) return;
    shown.disconnect();
    field.focus();
  });
  shown.observe(target);
});

// A dialog that asks for the person's identity first comes back afterwards as it was filled in. This tab keeps it until
// the next page but the one that asks; nothing that a field hides is kept.
const INTERRUPTED = "interrupted-dialog";
const pathOf = (url) => new URL(url, location.href).pathname;
const isConfirmation = (url) => url && pathOf(url).endsWith("/confirm/");
const keptFields = (form) => [...form.elements].filter((each) => each.name && !each.matches("[type=hidden], [type=password], [type=file], button"));
document.addEventListener("htmx:beforeOnLoad", ({ detail: { xhr, requestConfig } }) => {
  if (!isConfirmation(xhr.getResponseHeader("HX-Redirect"))) return;
  const form = requestConfig.elt.closest("#dialog form");
  const fields = form ? keptFields(form).map(({ name, value, checked }) => ({ name, value, checked })) : [];
  const kept = { page: location.pathname, dialog: pathOf(requestConfig.path), fields };
  sessionStorage.setItem(INTERRUPTED, JSON.stringify(kept));
});
addEventListener("load", () => {
  const kept = JSON.parse(sessionStorage.getItem(INTERRUPTED));
  if (!kept || isConfirmation(location.href)) return;
  sessionStorage.removeItem(INTERRUPTED);
  if (kept.page !== location.pathname || !isConfirmation(document.referrer)) return;
  const openers = [...document.querySelectorAll("[hx-get]")];
  const opener = openers.find((each) => pathOf(each.getAttribute("hx-get")) === kept.dialog);
  opener?.addEventListener("htmx:afterOnLoad", () => {
    const form = document.querySelector("#dialog form");
    if (!form) return;
    for (const field of keptFields(form)) {
      const isChoice = field.matches("[type=checkbox], [type=radio]");
      const was = kept.fields.find((each) => each.name === field.name && (!isChoice || each.value === field.value));
      if (was && isChoice) field.checked = was.checked;
      else if (was) field.value = was.value;
    }
    if (kept.fields.length) form.elements[0].dispatchEvent(new Event("input", { bubbles: true }));
  }, { once: true });
  opener?.click();
});
