// The page of a product: its categories, how search engines will show it, and what was refused.
addEventListener("DOMContentLoaded", () => {
  const product = document.querySelector("[data-product]");
  if (!product) return;

  for (const tree of document.querySelectorAll("[data-tree]")) {
    const items = [...tree.querySelectorAll("li")];
    const label = (item) => item.querySelector(":scope > label span").textContent;
    const boxes = () => [...tree.querySelectorAll("input:checked")].map((box) => label(box.closest("li")));
    tree.addEventListener("change", () => {
      tree.querySelector("[data-tree-chosen]").textContent = boxes().join(", ") || pageText("noneChosen");
    });
    tree.querySelector("[data-tree-search]")?.addEventListener("input", ({ target }) => {
      const wanted = target.value.trim().toLocaleLowerCase();
      const found = items.filter((item) => label(item).toLocaleLowerCase().includes(wanted));
      const shown = new Set(found);
      for (const item of found) for (let up = item; up; up = up.parentElement.closest("li")) shown.add(up);
      for (const item of items) item.hidden = !shown.has(item);
      tree.querySelector("[data-tree-none]").hidden = found.length > 0;
    });
    tree.querySelector("[data-tree-search]")?.addEventListener("keydown", (event) => {
      if (event.key === "Enter") event.preventDefault();
    });
  }

  const form = product.closest("form");
  const text = (name) => form.elements[name]?.value.trim() ?? "";
  const plain = (html) => new DOMParser().parseFromString(html, "text/html").body.textContent.trim();
  const cut = (words, most) => (words.length > most ? `${words.slice(0, most - 1).trimEnd()}…` : words);
  // Like the server's, for letters of Latin script; others it writes itself.
  const slug = (name) =>
    name
      .normalize("NFKD")
      .replace(/ß/g, "ss")
      .replace(/[^\w\s-]/g, "")
      .trim()
      .toLowerCase()
      .replace(/[\s-]+/g, "-");
  const preview = () => {
    const name = text("name") || pageText("name");
    const title = text("meta_title") || `${name} – ${product.dataset.shopName}`;
    const words = text("meta_description") || plain(text("short_description")) || plain(text("description"));
    product.querySelector("[data-result-title]").textContent = cut(title, 60);
    product.querySelector("[data-result-text]").textContent =
      cut(words, 160) || pageText("description");
    product.querySelector("[data-result-address]").textContent =
      `${product.dataset.shop}/products/${text("slug") || slug(text("name")) || "…"}`;
  };
  if (product.querySelector("[data-search-result]") && form.elements.name) {
    form.addEventListener("input", preview);
    form.addEventListener("trix-change", preview);
    preview();
  }

  if (form.elements.name && !form.elements.name.value) form.elements.name.focus();
  if ("refused" in product.dataset) {
    // What was entered is not saved yet. The theme listens from the load event on.
    addEventListener("load", () => setTimeout(() => touched(form)));
    const first = product.querySelector(".errors");
    for (const closed of product.querySelectorAll("details:not([open])")) {
      closed.open = closed.querySelector(".errors, .errorlist") !== null;
    }
    first?.querySelector("input:not([type=hidden]):not([hidden]), select, textarea, trix-editor")?.focus();
  }
});
