// Shows in the frame what the form's words would make of the mail, shortly after each change.
{
  // Pixels that the preview pretends to have; the text takes those that there are.
  const WIDTHS = { wide: 680, phone: 390 };
  const start = () => {
    const preview = document.querySelector("[data-mail-preview]");
    const words = document.getElementById("mailtext_form");
    if (!preview || !words) return;
    const place = preview.querySelector("[data-place]");
    const sent = preview.querySelector("form");
    const buttons = [...preview.querySelectorAll("[data-form]")];
    let chosen = "wide";
    let number = 0;
    let waiting;

    const fit = () => {
      const width = WIDTHS[chosen] ?? place.clientWidth;
      const scale = Math.min(1, place.clientWidth / width);
      for (const frame of place.children) {
        frame.style.width = `${width}px`;
        frame.style.height = `${place.clientHeight / scale}px`;
        frame.style.transform = `scale(${scale})`;
      }
    };
    // A new frame each time, since a frame that is loaded again would add a step to the browser's history.
    const show = () => {
      const old = [...place.children];
      const frame = old[0].cloneNode();
      frame.removeAttribute("src");
      frame.name = sent.target = `mail-preview-${(number += 1)}`;
      frame.classList.add("mail-preview__next");
      for (const name of ["subject", "opening", "closing"]) {
        const field = words.elements[name];
        sent.elements[name].disabled = !field || field.disabled;
        sent.elements[name].value = field ? field.value : "";
      }
      sent.elements.form.value = chosen;
      place.append(frame);
      fit();
      sent.submit();
      frame.addEventListener("load", () => {
        frame.classList.remove("mail-preview__next");
        old.forEach((each) => each.remove());
      });
    };

    words.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(show, 250);
    });
    for (const button of buttons) {
      button.addEventListener("click", () => {
        chosen = button.dataset.form;
        buttons.forEach((each) => each.setAttribute("aria-pressed", each === button));
        show();
      });
    }
    addEventListener("resize", fit);
    show();
  };
  document.readyState === "loading" ? addEventListener("DOMContentLoaded", start) : start();
}
