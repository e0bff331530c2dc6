// What the text editor knows: paragraphs, two kinds of headings, lists and quotations. Enter begins a paragraph,
// Shift+Enter a line.
{
  const { blockAttributes } = Trix.config;
  const { Block, LineBreakInsertion } = Trix.models;
  const single = { terminal: true, breakOnReturn: true, group: false };
  blockAttributes.default = { tagName: "p", parse: false, breakOnReturn: true };
  blockAttributes.heading2 = { tagName: "h2", ...single };
  blockAttributes.heading3 = { tagName: "h3", ...single };

  // Trix itself never ends a block without attributes at Enter.
  Block.prototype.breaksOnReturn = function () {
    return Boolean(blockAttributes[this.getLastAttribute() || "default"]?.breakOnReturn);
  };
  LineBreakInsertion.prototype.shouldInsertBlockBreak = function () {
    const { block } = this;
    return block.hasAttributes() && block.isListItem() && !block.isEmpty()
      ? this.startLocation.offset > 0
      : !this.shouldBreakFormattedBlock() && this.breaksOnReturn;
  };

  // Not all that reads a page to people knows that a label can name an element of ours.
  addEventListener("trix-initialize", ({ target }) => {
    target.ariaLabel ??= [...target.labels].map((label) => label.textContent.trim()).join(" ");
  });

  // Files belong to the goods' pictures.
  addEventListener("trix-file-accept", (event) => event.preventDefault());

  // The editor writes HTML in its own way. A text that nobody has changed is sent as it came.
  const came = new WeakMap();
  addEventListener("trix-before-initialize", ({ target }) => came.set(target, { before: target.inputElement.value }));
  addEventListener("trix-initialize", ({ target }) => {
    const known = came.get(target);
    if (known) known.own = target.inputElement.value;
  });
  addEventListener("trix-change", ({ target }) => {
    if (came.get(target)?.own !== undefined) target.inputElement.dispatchEvent(new Event("input"));
  });
  addEventListener(
    "submit",
    ({ target }) => {
      for (const editor of target.querySelectorAll("trix-editor")) {
        const known = came.get(editor);
        if (known && editor.inputElement.value === known.own) editor.inputElement.value = known.before;
      }
    },
    true,
  );
}
