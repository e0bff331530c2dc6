/* What every page needs from its beginning. Without scripts, everything works with buttons and whole pages. */
{
  const { placeholder, offline: offlineText, unanswered } = document.currentScript.dataset;
  const root = document.documentElement;
  root.classList.add("has-scripts");

  // The placeholder stands in for a picture that does not load, such as one whose host is gone. `error` does not bubble,
  // and is captured on its way down.
  addEventListener(
    "error",
    ({ target }) => {
      if (!(target instanceof HTMLImageElement) || target.getAttribute("src") === placeholder) return;
      target.removeAttribute("srcset");
      target.src = placeholder;
    },
    true,
  );

  // A choice in a form with `data-on-change` sends it, if a pointer made it. With the keys, one passes options on the way
  // to another, so there the button appears.
  let isByKey = false;
  addEventListener("keydown", () => (isByKey = true), true);
  addEventListener("pointerdown", () => (isByKey = false), true);
  addEventListener("change", ({ target }) => {
    const form = target.closest("form[data-on-change]");
    if (form && isByKey) form.querySelector(".without-scripts")?.classList.remove("without-scripts");
    else form?.requestSubmit();
  });

  // The button of a form that is being sent says so, until there is an answer or the visitor comes back.
  const busy = new Set();
  const show = (button) => {
    if (!button) return;
    button.setAttribute("aria-busy", "true");
    busy.add(button);
  };
  const rest = () => {
    busy.forEach((button) => button.removeAttribute("aria-busy"));
    busy.clear();
  };
  addEventListener("submit", (event) => {
    if (!event.defaultPrevented) show(event.submitter);
  });
  addEventListener("pageshow", rest);
  addEventListener("htmx:beforeRequest", ({ target }) => show(target.querySelector("button:not([type=button])")));
  addEventListener("htmx:afterRequest", rest);

  // No answer: the visitor is offline, or the shop cannot be reached.
  const offline = () => {
    const messages = document.getElementById("messages");
    const text = navigator.onLine === false ? offlineText : unanswered;
    const notice = Object.assign(document.createElement("p"), { className: "notice notice--bad", textContent: text });
    messages?.replaceChildren(notice);
    notice.scrollIntoView({ block: "center" });
  };
  addEventListener("htmx:sendError", offline);
  addEventListener("htmx:timeout", offline);

  // Where basket or listing are shown anew, focus stays at its place: on the same control, on the line that took the place
  // of a removed one, or else on what can be done next. What was opened stays open.
  let place = null;
  let opened = [];
  addEventListener("htmx:beforeSwap", ({ detail: { target } }) => {
    const active = ["basket", "listing"].includes(target.id) && target.contains(document.activeElement) && document.activeElement;
    const line = active && active.closest(".line");
    place = active && { id: active.id, name: active.name, index: line ? [...line.parentElement.children].indexOf(line) : -1 };
    opened = [...target.querySelectorAll("details[open][id]")].map(({ id }) => id);
  });
  addEventListener("htmx:afterSettle", () => {
    for (const id of opened.splice(0)) document.getElementById(id)?.setAttribute("open", "");
    if (!place || document.activeElement !== document.body) return;
    const { id, name, index } = place;
    const lines = document.querySelectorAll("#basket .line");
    const line = index < 0 ? null : lines[Math.min(index, lines.length - 1)];
    place = null;
    const inLine = line?.querySelector(name ? `input[name="${name}"]` : ".line__remove button");
    (inLine ?? (id ? document.getElementById(id) : null) ?? document.querySelector("#basket a"))?.focus();
  });
}
