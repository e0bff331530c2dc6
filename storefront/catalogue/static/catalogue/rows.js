// Rows of a form (admin_rows.py): adds and removes them. A removed row is emptied and hidden, so that the others keep
// their numbers; empty rows are not saved.

// A text of the page in the language of whoever reads it (templatetags/catalogue_admin.py).
function pageText(name, values = {}) {
  const texts = JSON.parse(document.getElementById("product-texts").textContent);
  return texts[name].replace(/\{(\w+)\}/g, (_, key) => values[key]);
}

// Tells the theme that the form has changed, so that it warns who leaves the page.
function touched(inside) {
  const form = (inside ?? document).closest?.("form") ?? document.querySelector("form.warn-unsaved-form");
  form?.querySelector("input[type=hidden]")?.dispatchEvent(new Event("input"));
}

function fromTemplate(template, mark, number) {
  const holder = document.createElement("template");
  holder.innerHTML = template.innerHTML.replaceAll(mark, number);
  return holder.content.firstElementChild;
}

function addRow(rows) {
  const count = rows.querySelector("[data-rows-count]");
  const row = fromTemplate(rows.querySelector("template"), "__row__", count.value);
  count.value = Number(count.value) + 1;
  rows.querySelector("[data-rows-list]").append(row);
  rows.dispatchEvent(new CustomEvent("row-added", { bubbles: true, detail: { row, number: count.value - 1 } }));
  return row;
}

document.addEventListener("click", ({ target }) => {
  const adding = target.closest("[data-rows-add]");
  if (adding) addRow(adding.closest("[data-rows]")).querySelector("input:not([type=hidden]), select").focus();
  const removing = target.closest("[data-row-remove]");
  if (removing) {
    const row = removing.closest("[data-row]");
    const rows = row.closest("[data-rows]");
    for (const field of row.querySelectorAll("input, textarea, select")) field.value = "";
    row.hidden = true;
    touched(rows);
    rows.dispatchEvent(new CustomEvent("row-removed", { bubbles: true, detail: { row } }));
    rows.querySelector("[data-rows-add]").focus();
  }
});
