/* The pictures of a product: thumbnails and arrow keys choose one, a click shows it large in a dialog, where arrow keys,
   buttons and swipes lead through all, and a further click enlarges it. Without this script, pictures are swiped, and open
   as files. */
(() => {
  "use strict";
  const track = document.querySelector(".gallery__track");
  const thumbs = [...document.querySelectorAll("[data-picture]")];
  const links = [...track.querySelectorAll(".gallery__open")];
  const dialog = document.getElementById("zoom");

  const shownIn = (row) => Math.round(Math.abs(row.scrollLeft) / Math.max(row.clientWidth, 1));
  // From right to left, browsers count to the left of 0.
  const sign = document.documentElement.dir === "rtl" ? -1 : 1;
  const scrollTo = (row, number) => row.scrollTo({ left: sign * number * row.clientWidth });

  function mark(number) {
    thumbs.forEach((thumb, index) => {
      if (index === number) thumb.setAttribute("aria-current", "true");
      else thumb.removeAttribute("aria-current");
    });
  }

  function show(number) {
    if (!track.children[number]) return;
    scrollTo(track, number);
    mark(number);
  }

  /* -1 and 1 for the arrow keys, else 0. */
  const step = ({ key }) => (key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : 0);

  for (const thumb of thumbs) {
    thumb.addEventListener("click", (event) => {
      event.preventDefault();
      show(Number(thumb.dataset.picture));
    });
  }
  track.addEventListener("keydown", (event) => {
    if (!step(event) || track.children.length < 2) return;
    event.preventDefault();
    const number = Math.min(Math.max(shownIn(track) + step(event), 0), track.children.length - 1);
    show(number);
    // From picture to picture, where one has the focus.
    if (document.activeElement !== track) track.children[number].querySelector("a")?.focus({ preventScroll: true });
  });
  track.addEventListener("scrollend", () => mark(shownIn(track)));
  // The variant that is chosen has a picture of its own.
  document.addEventListener("shop:picture", ({ detail }) => show(detail));

  if (!dialog) return;
  const row = dialog.querySelector(".zoom__track");
  const [previous, next] = dialog.querySelectorAll("[data-step]");
  const place = dialog.querySelector(".zoom__place");

  function fill() {
    row.replaceChildren(...links.map((link) => {
      const picture = document.createElement("button");
      const image = document.createElement("img");
      picture.type = "button";
      picture.className = "zoom__picture";
      image.src = link.href;
      image.alt = link.querySelector("img")?.alt ?? "";
      picture.append(image);
      picture.addEventListener("click", () => picture.classList.toggle("zoom__picture--large"));
      return picture;
    }));
  }

  function told() {
    const number = shownIn(row);
    place.textContent = links.length > 1 ? place.dataset.text.replace("{number}", number + 1).replace("{total}", links.length) : "";
    previous.hidden = next.hidden = links.length < 2;
    previous.disabled = number <= 0;
    next.disabled = number >= links.length - 1;
    [...row.children].forEach((picture, index) => {
      picture.tabIndex = index === number ? 0 : -1;
      if (index !== number) picture.classList.remove("zoom__picture--large");
    });
  }

  function turn(by) {
    scrollTo(row, Math.min(Math.max(shownIn(row) + by, 0), links.length - 1));
  }

  links.forEach((link, number) => {
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      if (!row.children.length) fill();
      dialog.showModal();
      row.scrollTo({ left: sign * number * row.clientWidth, behavior: "instant" });
      told();
    });
  });
  previous.addEventListener("click", () => turn(-1));
  next.addEventListener("click", () => turn(1));
  dialog.querySelector("[data-close]").addEventListener("click", () => dialog.close());
  dialog.addEventListener("keydown", (event) => {
    if (!step(event) || event.target.closest(".zoom__picture--large")) return;
    event.preventDefault();
    turn(step(event));
  });
  row.addEventListener("scroll", told);
})();
