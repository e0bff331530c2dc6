// Variants of a product: makes them from the choices above, fills a column, and offers the product's pictures.
const MAX_VARIANTS = 250;

addEventListener("DOMContentLoaded", () => {
  const place = document.querySelector("[data-variants]");
  const choices = document.querySelector('[data-rows="choices"]');
  if (!place || !choices) return;
  const list = place.querySelector("[data-variants-list]");
  if (!list) return;
  const form = place.closest("form");
  const status = place.querySelector("[data-variants-status]");
  const fill = place.querySelector("[data-fill]");
  const total = form.elements["variants-TOTAL_FORMS"];
  const template = place.querySelector("[data-variant-template]");

  const rows = () => [...list.querySelectorAll("[data-variant]:not([data-removed])")];
  const field = (row, name) => row.querySelector(`[name$="-${name}"]`);
  const named = (number, what) => form.elements[`choices-${number}-${what}`]?.value.trim() ?? "";
  const cellOf = (row, number) => row.querySelector(`[data-choice-cell="${number}"]`);

  // As the server splits them (admin_rows.py).
  const split = (text) => {
    const parts = /(?<!\\)\|/.test(text) ? text.split(/(?<!\\)\|/) : text.split(",");
    return [...new Set(parts.map((part) => part.trim().replaceAll("\\|", "|")).filter(Boolean))];
  };
  const chosen = () =>
    Array.from({ length: Number(form.elements["choices-rows"].value) }, (_, number) => ({
      number,
      name: named(number, "name"),
      values: split(named(number, "values")),
    })).filter(({ name, values }) => name && values.length);

  const ensureCell = (row, number) => {
    const values = row.querySelector("[data-values]");
    const found = cellOf(row, number);
    if (found) return found;
    const cell = document.createElement("label");
    cell.className = "choice-value";
    cell.dataset.choiceCell = number;
    const text = document.createElement("span");
    text.textContent = named(number, "name") || pageText("value");
    const input = document.createElement("input");
    Object.assign(input, { type: "text", name: `${values.dataset.values}-${number}`, className: "field", maxLength: 300 });
    input.autocomplete = "off";
    cell.append(text, input);
    values.append(cell);
    return cell;
  };
  const allRows = () => [...list.querySelectorAll("[data-variant]")];
  const showFill = () => (fill.hidden = rows().length < 2);

  choices.addEventListener("row-added", ({ detail }) => {
    for (const row of allRows()) ensureCell(row, detail.number);
  });
  choices.addEventListener("row-removed", ({ detail }) => {
    const number = detail.row.querySelector("input").name.split("-")[1];
    for (const row of allRows()) {
      const cell = cellOf(row, number);
      if (cell) {
        cell.querySelector("input").value = "";
        cell.hidden = true;
      }
    }
  });
  choices.addEventListener("input", ({ target }) => {
    const [, number, what] = target.name.split("-");
    if (what !== "name") return;
    for (const cell of list.querySelectorAll(`[data-choice-cell="${number}"] span`)) {
      cell.textContent = target.value || pageText("value");
    }
  });

  const addVariant = () => {
    const row = fromTemplate(template, "__prefix__", total.value);
    total.value = Number(total.value) + 1;
    for (let number = 0; number < Number(form.elements["choices-rows"].value); number += 1) {
      const name = named(number, "name");
      if (name) ensureCell(row, number).querySelector("span").textContent = name;
    }
    const price = field(row, "price");
    const before = rows().at(-1);
    price.value = (before && field(before, "price").value) || form.elements.price?.value || "";
    list.append(row);
    offerPictures();
    showFill();
    touched(place);
    return row;
  };

  place.querySelector("[data-add-variant]").addEventListener("click", () => {
    const row = addVariant();
    (row.querySelector("[data-values] input") ?? field(row, "price")).focus();
  });

  place.querySelector("[data-make]").addEventListener("click", () => {
    const offered = chosen();
    if (!offered.length) {
      status.textContent = pageText("addChoice");
      if (!choices.querySelector("[data-row]:not([hidden])")) addRow(choices);
      choices.querySelector("[data-row]:not([hidden]) input:not([type=hidden])").focus();
      return;
    }
    const wanted = offered.reduce((made, { values }) => made.flatMap((one) => values.map((v) => [...one, v])), [[]]);
    if (wanted.length > MAX_VARIANTS) {
      status.textContent = pageText("tooMany", { count: wanted.length, most: MAX_VARIANTS });
      return;
    }
    // A variant without a value of a choice gets its first one.
    for (const row of rows()) {
      for (const { number, values } of offered) {
        const input = ensureCell(row, number).querySelector("input");
        if (!input.value.trim()) input.value = values[0];
      }
    }
    const key = (values) => JSON.stringify(values);
    const valuesOf = (row) => offered.map(({ number }) => cellOf(row, number).querySelector("input").value.trim());
    const existing = new Set(rows().map((row) => key(valuesOf(row))));
    const made = wanted.filter((values) => !existing.has(key(values)));
    let first = null;
    for (const values of made) {
      const row = addVariant();
      first ??= row;
      offered.forEach(({ number }, at) => (ensureCell(row, number).querySelector("input").value = values[at]));
      row.setAttribute("aria-label", values.join(" / "));
    }
    status.textContent = made.length
      ? pageText(made.length === 1 ? "madeOne" : "madeMany", { count: made.length })
      : pageText("allMade");
    if (first) field(first, "price").focus();
  });

  list.addEventListener("click", ({ target }) => {
    const button = target.closest("[data-remove]");
    if (!button) return;
    const row = button.closest("[data-variant]");
    const gone = row.querySelector("[data-delete]");
    gone.checked = !gone.checked;
    row.toggleAttribute("data-removed", gone.checked);
    // What was never saved is gone at once; the others can be kept after all until the form is saved.
    if (gone.checked && !("kept" in row.dataset)) row.hidden = true;
    showRemoval(row);
    showFill();
    touched(place);
    status.textContent = pageText(gone.checked ? "variantRemoved" : "variantKept");
    if (row.hidden) place.querySelector("[data-add-variant]").focus();
  });
  // As in a spreadsheet, Enter leads down the column; it does not save.
  list.addEventListener("keydown", (event) => {
    const { column } = event.target.dataset;
    if (event.key !== "Enter" || !column) return;
    event.preventDefault();
    const shown = rows();
    const below = shown[shown.indexOf(event.target.closest("[data-variant]")) + 1];
    if (below) field(below, column).select();
  });
  const showRemoval = (row) => {
    const gone = row.querySelector("[data-delete]").checked;
    const button = row.querySelector("[data-remove]");
    button.setAttribute("aria-label", pageText(gone ? "keepVariant" : "removeVariant"));
    row.querySelector("[data-remove-icon]").textContent = gone ? "undo" : "delete";
  };

  // The product's pictures, in every list of them, with a small one beside it.
  function offerPictures() {
    const tiles = [...document.querySelectorAll("[data-picture]:not([data-removed]):not([data-waiting])")];
    const pictures = tiles.map((tile, at) => ({
      value: tile.dataset.id || `new-${tile.querySelector("[data-stored]").name.split("-")[1]}`,
      label: tile.querySelector('[name$="-alt"]').value.trim() || pageText("picture", { number: at + 1 }),
      url: tile.querySelector("img")?.src ?? "",
    }));
    for (const select of place.querySelectorAll("select[data-picture-choice]")) {
      const value = select.dataset.value ?? select.value;
      select.replaceChildren(new Option(pageText("noPicture"), ""), ...pictures.map((each) => new Option(each.label, each.value)));
      select.value = pictures.some((each) => each.value === value) ? value : "";
      select.dataset.value = select.value;
      const frame = select.closest("label").querySelector("[data-frame]");
      if (!frame) continue;
      const shown = pictures.find((each) => each.value === select.value)?.url;
      frame.replaceChildren(...(shown ? [Object.assign(new Image(), { src: shown, alt: "" })] : []));
    }
  }
  place.addEventListener("change", ({ target }) => {
    if (target.matches("[data-picture-choice]")) {
      target.dataset.value = target.value;
      offerPictures();
    }
    if (target.matches("[data-fill-column]")) {
      const isPicture = target.value === "picture";
      place.querySelector("[data-fill-text]").hidden = isPicture;
      place.querySelector("[data-fill-picture]").hidden = !isPicture;
    }
  });
  document.addEventListener("pictures-changed", offerPictures);
  document.addEventListener("input", ({ target }) => target.matches("[data-picture] [name$='-alt']") && offerPictures());

  const fillColumn = () => {
    const column = place.querySelector("[data-fill-column]").value;
    const value = place.querySelector(column === "picture" ? "[data-fill-pictures]" : "[data-fill-value]").value.trim();
    rows().forEach((row, at) => {
      const input = field(row, column);
      if (column === "picture") input.dataset.value = value;
      input.value = column === "sku" && value ? `${value}-${at + 1}` : value;
    });
    if (column === "picture") offerPictures();
    touched(place);
    status.textContent = pageText("filled", { count: rows().length });
  };
  place.querySelector("[data-fill-button]").addEventListener("click", fillColumn);
  place.querySelector("[data-fill-value]").addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    fillColumn();
  });

  // One row for the first choice, and Enter in a choice makes the variants instead of saving.
  if (!choices.querySelector("[data-row]")) addRow(choices);
  choices.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !event.target.matches("input")) return;
    event.preventDefault();
    place.querySelector("[data-make]").click();
  });
  allRows().forEach(showRemoval);
  offerPictures();
  showFill();
});
