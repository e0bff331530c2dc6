// The keys of an order's page: each presses the link or button that names it. They do nothing while somebody types or a
// dialog is open, and can be turned off in their sheet, as WCAG 2.1.4 asks for.
const OFF = "desk-keys-off";
const sheet = document.getElementById("desk-keys");
const isOn = document.getElementById("desk-keys-on");
const opener = document.querySelector("[data-keys]");
isOn.checked = localStorage.getItem(OFF) === null;
isOn.addEventListener("change", () => (isOn.checked ? localStorage.removeItem(OFF) : localStorage.setItem(OFF, "")));
opener.hidden = false;
opener.addEventListener("click", () => sheet.showModal());

const isBusy = (element) =>
  element.isContentEditable ||
  element.closest("input, textarea, select, [role=combobox], [role=dialog]") ||
  sheet.open ||
  document.querySelector("#dialog")?.checkVisibility();
addEventListener("keydown", (event) => {
  if (!isOn.checked || event.repeat || event.ctrlKey || event.metaKey || event.altKey || isBusy(event.target)) return;
  if (event.key === "?") return sheet.showModal();
  if (!/^[a-z]$/.test(event.key)) return;
  document.querySelector(`.desk [aria-keyshortcuts=${event.key}]`)?.click();
});
