// Shows in the frame what the form would make of the home page, shortly after each change, at the chosen width.
{
  const start = () => {
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
      const scale = Math.min(1, place.clientWidth / width);
      frame.style.width = `${width}px`;
      frame.style.height = `${place.clientHeight / scale}px`;
      frame.style.transform = `scale(${scale})`;
      frame.style.marginInline = `${Math.max(0, (place.clientWidth - width) / 2)}px`;
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
