/* Suggests products while a shopper types into the search field: a combobox with a list, as WAI-ARIA describes it.
   Without this script the field searches when it is sent. */
(() => {
  "use strict";
  const WAIT = 200, DEADLINE = 3000, MIN_LETTERS = 2;
  const field = document.querySelector("[data-suggestions]");
  const list = document.getElementById("suggestions");
  const address = field && new URL(field.dataset.suggestions, location.href);
  // On the host of account and checkout, the policy permits no calls to the shop's.
  if (!field || address.origin !== location.origin) return;

  let waiting, call, chosen = -1;
  field.setAttribute("role", "combobox");
  field.setAttribute("aria-autocomplete", "list");
  field.setAttribute("aria-controls", list.id);
  field.autocomplete = "off";
  close();

  function close() {
    clearTimeout(waiting);
    call?.abort();
    list.hidden = true;
    field.setAttribute("aria-expanded", "false");
    choose(-1);
  }

  function choose(number) {
    chosen = number;
    [...list.children].forEach((option, index) => option.setAttribute("aria-selected", String(index === number)));
    if (number < 0) field.removeAttribute("aria-activedescendant");
    else field.setAttribute("aria-activedescendant", list.children[number].id);
  }

  function show(products) {
    list.replaceChildren(...products.map((product, number) => {
      const option = document.createElement("li");
      option.id = `suggestion-${number}`;
      option.setAttribute("role", "option");
      option.textContent = product.name;
      option.dataset.url = product.url;
      return option;
    }));
    choose(-1);
    list.hidden = !products.length;
    field.setAttribute("aria-expanded", String(Boolean(products.length)));
  }

  async function suggest(words) {
    const own = (call = new AbortController());
    const deadline = setTimeout(() => own.abort(), DEADLINE);
    address.searchParams.set("q", words);
    try {
      const answer = await fetch(address, { signal: own.signal });
      const products = answer.ok ? await answer.json() : [];
      if (own === call && !own.signal.aborted) show(products);
    } catch {
      // Too late, or replaced by the next call: the search itself still works.
    } finally {
      clearTimeout(deadline);
    }
  }

  field.addEventListener("input", () => {
    clearTimeout(waiting);
    call?.abort();
    const words = field.value.trim();
    if (words.length < MIN_LETTERS) close();
    else waiting = setTimeout(suggest, WAIT, words);
  });
  field.addEventListener("keydown", (event) => {
    if (list.hidden) return;
    const count = list.children.length;
    if (event.key === "ArrowDown") choose((chosen + 1) % count);
    else if (event.key === "ArrowUp") choose((chosen < 0 ? count : chosen) - 1);
    else if (event.key === "Enter" && chosen >= 0) location.assign(list.children[chosen].dataset.url);
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
  });
  // Before the field loses the focus, which closes the list.
  list.addEventListener("mousedown", (event) => event.preventDefault());
  list.addEventListener("click", (event) => {
    const option = event.target.closest("[role=option]");
    if (option) location.assign(option.dataset.url);
  });
  field.addEventListener("blur", close);
  field.form.addEventListener("submit", close);
})();
