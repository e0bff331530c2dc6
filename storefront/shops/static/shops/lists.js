// Lists work without this: it counts what is chosen, opens a filter's choices over the list, and a row by a click.
const list = document.querySelector("[data-list]");
const boxes = [...list.querySelectorAll("tbody .list-box")];
const choosePage = list.querySelector("[data-choose-page]");
const bar = list.querySelector(".list-bar");

const showCount = () => {
  const count = boxes.filter((box) => box.checked).length;
  const shown = bar.querySelector("[data-count]");
  shown.hidden = false;
  shown.querySelector("b").textContent = count;
  choosePage.checked = count > 0 && count === boxes.length;
  choosePage.indeterminate = count > 0 && count < boxes.length;
  // All that match are chosen with the whole page only.
  const all = bar.querySelector("[name=select_across]");
  if (all && !choosePage.checked) all.checked = false;
};
if (bar) {
  choosePage.hidden = false;
  choosePage.addEventListener("change", () => {
    for (const box of boxes) box.checked = choosePage.checked;
    showCount();
  });
  bar.querySelector("[name=select_across]")?.addEventListener("change", ({ target }) => {
    if (target.checked) for (const box of boxes) box.checked = true;
    showCount();
  });
  for (const box of boxes) box.addEventListener("change", showCount);
  // A browser that goes back has kept what was chosen.
  addEventListener("pageshow", showCount);
}

list.querySelector("tbody")?.addEventListener("click", (event) => {
  const row = event.target.closest("tr");
  if (event.target.closest("a, button, input, label, form, select") || getSelection().toString()) return;
  const link = row.querySelector("th a");
  if (!link) return;
  if (event.ctrlKey || event.metaKey) open(link.href);
  else link.click();
});
// Arrows lead from row to row, x chooses one.
list.addEventListener("keydown", (event) => {
  const row = event.target.closest("tbody tr");
  if (!row || event.target.closest("form, input:not(.list-box)")) return;
  const next = { ArrowDown: row.nextElementSibling, ArrowUp: row.previousElementSibling }[event.key];
  if (next) next.querySelector("th a")?.focus();
  else if (event.key === "x") row.querySelector(".list-box")?.click();
  else return;
  event.preventDefault();
});
list.addEventListener("keydown", (event) => {
  if (event.key === "Escape") event.target.closest(".value")?.querySelector("[data-back]")?.click();
});

// What is opened in a row is typed over at once.
list.addEventListener("htmx:afterSettle", ({ target }) => target.closest?.(".value")?.querySelector("input[type=number]")?.select());

const sheet = document.getElementById("list-sheet");
sheet.addEventListener("htmx:afterSwap", () => sheet.open || sheet.showModal());
sheet.addEventListener("click", (event) => event.target === sheet && sheet.close());
sheet.addEventListener("input", ({ target }) => {
  const words = target.value.toLowerCase();
  for (const item of sheet.querySelectorAll(".choices li")) item.hidden = !item.textContent.toLowerCase().includes(words);
});
