// Shows in the frame what the form's values would make of the shop, shortly after each change.
{
  const start = () => {
    const frame = document.querySelector("[data-preview]");
    const form = document.getElementById("looks_form");
    if (!frame || !form) return;
    const address = frame.getAttribute("src");
    let waiting;
    const show = () => {
      const values = [...new FormData(form)].filter(([name, value]) => typeof value === "string" && !/^(csrf|links-|_)/.test(name));
      frame.src = `${address}?${new URLSearchParams(values)}`;
    };
    form.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(show, 250);
    });
  };
  document.readyState === "loading" ? addEventListener("DOMContentLoaded", start) : start();
}
