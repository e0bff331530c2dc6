// Pictures of a product: sends each when it is chosen or dropped, sorts them by drag or by buttons, and removes them.
const notUploaded = (file) => pageText("notUploaded", { name: file.name });
const uploading = new Set();

addEventListener("DOMContentLoaded", () => {
  const place = document.querySelector("[data-pictures]");
  if (!place) return;
  const list = place.querySelector("[data-pictures-list]");
  const status = place.querySelector("[data-pictures-status]");
  const drop = place.querySelector("[data-drop]");
  const form = place.closest("form");
  const total = form.elements["media-TOTAL_FORMS"];
  let dragged = null;

  const shown = () => [...list.querySelectorAll("[data-picture]:not([data-removed])")];
  const changed = () => {
    shown().forEach((tile, number) => (tile.querySelector("[data-sort]").value = number));
    touched(place);
    document.dispatchEvent(new Event("pictures-changed"));
  };

  const newTile = () => {
    const tile = fromTemplate(place.querySelector("[data-picture-template]"), "__prefix__", total.value);
    total.value = Number(total.value) + 1;
    list.append(tile);
    return tile;
  };

  const discard = (tile) => {
    tile.dataset.removed = "";
    tile.querySelector("[data-delete]").checked = true;
  };

  const send = async (file) => {
    const tile = newTile();
    tile.dataset.waiting = "";
    const body = new FormData();
    body.append("file", file);
    const headers = { "X-CSRFToken": form.elements.csrfmiddlewaretoken.value };
    const url = document.querySelector("[data-product]").dataset.upload;
    try {
      const answer = await fetch(url, { method: "POST", body, headers });
      const { stored, url: address, problem } = answer.ok ? await answer.json() : {};
      if (!stored) throw Error(problem ?? notUploaded(file));
      tile.querySelector("[data-stored]").value = stored;
      const image = new Image();
      image.alt = "";
      image.src = address;
      tile.querySelector("[data-picture-frame]").append(image);
      delete tile.dataset.waiting;
      changed();
      return "";
    } catch (error) {
      discard(tile);
      return error instanceof TypeError ? notUploaded(file) : error.message;
    }
  };

  const sendAll = async (files) => {
    status.textContent = pageText(files.length === 1 ? "uploadingOne" : "uploadingMany", { count: files.length });
    const sent = Promise.all([...files].map(send));
    uploading.add(sent);
    const problems = (await sent).filter(Boolean);
    uploading.delete(sent);
    status.textContent = problems.join(" ") || pageText(files.length === 1 ? "uploadedOne" : "uploadedMany", { count: files.length });
  };

  place.querySelector("[data-choose]").addEventListener("change", ({ target }) => {
    const files = [...target.files];
    target.value = "";
    if (files.length) sendAll(files);
  });
  const hasFiles = (event) => event.dataTransfer?.types.includes("Files");
  for (const kind of ["dragenter", "dragover"]) {
    place.addEventListener(kind, (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      drop.dataset.over = "";
    });
  }
  place.addEventListener("dragleave", () => delete drop.dataset.over);
  place.addEventListener("drop", (event) => {
    delete drop.dataset.over;
    if (!hasFiles(event)) return;
    event.preventDefault();
    sendAll([...event.dataTransfer.files]);
  });

  // A form that is sent while a picture is on its way waits for it.
  form.addEventListener(
    "submit",
    (event) => {
      if (!uploading.size) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      Promise.allSettled([...uploading]).then(() => form.requestSubmit(event.submitter));
    },
    true,
  );

  place.querySelector("[data-add-url]").addEventListener("click", () => {
    const tile = newTile();
    const source = tile.querySelector("[data-source]");
    source.closest("label").hidden = false;
    changed();
    source.focus();
  });

  list.addEventListener("click", ({ target }) => {
    const button = target.closest("button");
    const tile = target.closest("[data-picture]");
    if (!button || !tile) return;
    const tiles = shown();
    const at = tiles.indexOf(tile);
    if (button.matches("[data-earlier]") && at > 0) tiles[at - 1].before(tile);
    else if (button.matches("[data-later]") && at < tiles.length - 1) tiles[at + 1].after(tile);
    else if (button.matches("[data-remove]")) {
      discard(tile);
      status.textContent = pageText("pictureRemoved");
      (tiles[at + 1] ?? tiles[at - 1])?.querySelector("[data-remove]").focus();
    }
    changed();
    if (!button.matches("[data-remove]")) button.focus();
  });

  for (const tile of shown()) tile.querySelector("[data-picture-frame]").draggable = true;
  list.addEventListener("dragstart", ({ target }) => (dragged = target.closest("[data-picture]")));
  list.addEventListener("dragend", () => {
    if (dragged) changed();
    dragged = null;
  });
  list.addEventListener("dragover", (event) => {
    const over = event.target.closest("[data-picture]");
    if (!dragged || !over) return;
    event.preventDefault();
    if (over === dragged) return;
    const { left, width } = over.getBoundingClientRect();
    if (event.clientX < left + width / 2) over.before(dragged);
    else over.after(dragged);
  });
});
