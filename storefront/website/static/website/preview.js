// Shows in the frame what the form would make of the home page, shortly after each change, at the chosen width.
{
  // Shows the page as wide as `width` in the room that there is.
  const scale = (place, frame, width) => {
    const by = Math.min(1, place.clientWidth / width);
    frame.style.width = `${width}px`;
    frame.style.height = `${place.clientHeight / by}px`;
    frame.style.transform = `scale(${by})`;
    frame.style.marginInline = `${Math.max(0, (place.clientWidth - width) / 2)}px`;
  };
  const scaleAll = () => {
    for (const place of document.querySelectorAll("[data-scaled]")) scale(place, place.querySelector("iframe"), 1280);
  };
  const start = () => {
    scaleAll();
    addEventListener("resize", scaleAll);
    const preview = document.querySelector("[data-looks-preview]");
    const form = document.getElementById("looks_form");
    if (!preview || !form) return;
    const place = preview.querySelector("[data-place]");
    const frame = preview.querySelector("[data-preview]");
    const status = preview.querySelector("[data-preview-status]");
    const widths = preview.querySelector("[role=group]");
    let width = innerWidth < 640 ? 390 : 1280;
    let waiting;
    let number = 0;

    const fit = () => {
      scale(place, frame, width);
      for (const button of widths.children) button.setAttribute("aria-pressed", Number(button.dataset.width) === width);
    };
    // The frame keeps its document, so that its place on the page stays and the browser's history gets no step.
    const put = (text) => {
      const drawn = new DOMParser().parseFromString(text, "text/html");
      const shown = frame.contentDocument;
      shown.documentElement.className = `${drawn.documentElement.className} has-scripts`;
      const sheet = (page) => page.querySelector('link[rel="stylesheet"][href*="colours="]');
      const [before, after] = [sheet(shown), sheet(drawn)];
      if (after && before?.href !== after.href) {
        const next = shown.importNode(after);
        shown.head.append(next);
        next.addEventListener("load", () => before?.remove());
      }
      shown.body.replaceWith(shown.adoptNode(drawn.body));
    };
    const draw = async () => {
      const mine = (number += 1);
      const body = new FormData(form);
      for (const [name, value] of [...body]) if (typeof value !== "string") body.delete(name);
      try {
        const answer = await fetch(frame.getAttribute("src"), { method: "POST", body });
        if (!answer.ok) throw Error(answer.statusText);
        const text = await answer.text();
        if (mine !== number) return;
        put(text);
        status.textContent = "";
      } catch {
        status.textContent = status.dataset.failed;
      }
    };

    form.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(draw, 250);
    });
    widths.hidden = false;
    widths.addEventListener("click", ({ target }) => {
      const button = target.closest("button");
      if (!button) return;
      width = Number(button.dataset.width);
      fit();
    });
    addEventListener("resize", fit);
    fit();
    // What a refused form still has.
    if (form.querySelector("[aria-invalid=true], .errors, .blocks__problem")) frame.addEventListener("load", draw, { once: true });
  };
  document.readyState === "loading" ? addEventListener("DOMContentLoaded", start) : start();
}
