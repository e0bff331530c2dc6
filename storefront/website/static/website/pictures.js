/* Shows the placeholder in place of a picture that does not load, such as one whose host is gone. Runs before the page's
   pictures are parsed, so that it hears of each failure; `error` does not bubble, and is captured on its way down. */
{
  const { placeholder } = document.currentScript.dataset;
  addEventListener(
    "error",
    ({ target }) => {
      if (!(target instanceof HTMLImageElement) || target.getAttribute("src") === placeholder) return;
      target.removeAttribute("srcset");
      target.src = placeholder;
    },
    true,
  );
}
