// The list of sections: added, moved, removed and sorted by dragging without a new page; pictures are stored once chosen.
{
  const start = () => {
    const blocks = document.querySelector("[data-blocks]");
    const form = document.getElementById("looks_form");
    if (!blocks || !form) return;
    const list = blocks.querySelector("[data-list]");
    const order = blocks.querySelector("[data-order]");
    const status = blocks.querySelector("[data-status]");
    const tell = (name, values = {}) => {
      status.textContent = Object.entries(values).reduce((text, [key, value]) => text.replace(`%(${key})s`, value), status.dataset[name]);
    };
    const changed = () => {
      order.value = [...list.children].map((block) => block.dataset.block).join(",");
      form.dispatchEvent(new Event("input", { bubbles: true }));
    };

    const move = (block, button) => {
      const by = Number(button.dataset.move);
      const other = by < 0 ? block.previousElementSibling : block.nextElementSibling;
      if (other) by < 0 ? other.before(block) : other.after(block);
      button.focus();
      const places = [...list.children];
      tell("moved", { place: places.indexOf(block) + 1, count: places.length });
      changed();
    };
    const remove = (block) => {
      const next = block.nextElementSibling ?? block.previousElementSibling;
      block.remove();
      (next?.querySelector("summary") ?? blocks.querySelector("[data-new]")).focus();
      tell("removed");
      changed();
    };
    const add = () => {
      const kind = blocks.querySelector("[data-new]").value;
      const id = `s${crypto.getRandomValues(new Uint32Array(1))[0].toString(36)}`;
      const template = blocks.querySelector(`template[data-kind="${kind}"]`);
      list.insertAdjacentHTML("beforeend", template.innerHTML.replaceAll(blocks.dataset.newId, id));
      const block = list.lastElementChild;
      block.scrollIntoView({ block: "nearest" });
      (block.querySelector("input[type=text], textarea, select") ?? block.querySelector("summary")).focus();
      tell("added");
      changed();
    };
    blocks.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (!button) return;
      event.preventDefault();
      const block = button.closest("[data-block]");
      if (button.dataset.move) move(block, button);
      else if ("remove" in button.dataset) remove(block);
      else add();
    });

    let dragged;
    list.addEventListener("dragstart", (event) => {
      dragged = event.target.closest("[data-handle]") && event.target.closest("[data-block]");
      if (!dragged) return;
      event.dataTransfer.effectAllowed = "move";
      event.dataTransfer.setData("text/plain", "");
      event.dataTransfer.setDragImage(dragged, 0, 0);
      dragged.classList.add("block--dragged");
    });
    list.addEventListener("dragover", (event) => {
      const block = dragged && event.target.closest("[data-block]");
      if (!block) return;
      event.preventDefault();
      if (block === dragged) return;
      const { top, height } = block.getBoundingClientRect();
      event.clientY < top + height / 2 ? block.before(dragged) : block.after(dragged);
    });
    list.addEventListener("drop", (event) => event.preventDefault());
    list.addEventListener("dragend", () => {
      dragged?.classList.remove("block--dragged");
      dragged = undefined;
      changed();
    });

    form.addEventListener("change", async ({ target }) => {
      const field = target.closest("[data-picture]");
      const isLogo = target.name === "logo" && target.type === "file";
      if (target.type !== "file" || !target.files.length || !(field || isLogo)) return;
      const stored = field ? field.querySelector("[data-stored]") : form.elements.logo_stored;
      const shown = field ? field.querySelector("[data-picture-status]") : statusBelow(target);
      const body = new FormData();
      body.append("file", target.files[0]);
      shown.textContent = "…";
      try {
        const answer = await fetch(field ? target.dataset.upload : stored.dataset.upload, {
          method: "POST",
          headers: { "X-CSRFToken": form.elements.csrfmiddlewaretoken.value },
          body,
        });
        const found = await answer.json();
        shown.textContent = found.problem ?? "";
        if (!found.stored) return;
        stored.value = found.stored;
        target.value = "";
        if (field) show(field, found.url);
        else shown.textContent = "✓";
        changed();
      } catch {
        // The form sends the file itself.
        shown.textContent = "";
      }
    });
    const statusBelow = (input) => {
      const found = document.getElementById("logo-status") ?? document.createElement("p");
      found.id = "logo-status";
      found.setAttribute("role", "status");
      input.parentElement.after(found);
      return found;
    };
    const show = (field, url) => {
      const image = field.querySelector("[data-shown]");
      image.src = url;
      image.hidden = false;
      field.querySelector("[data-demo]")?.remove();
      const drop = field.querySelector("[data-drop]");
      drop.hidden = false;
      drop.querySelector("input").checked = false;
    };
  };
  document.readyState === "loading" ? addEventListener("DOMContentLoaded", start) : start();
}
