// What the text editor knows: paragraphs, headings, lists and quotations. Enter begins a paragraph, Shift+Enter a line.
// Anything else, such as a table or a picture, stands in the text as a piece that is moved or removed whole.
{
  const { blockAttributes, textAttributes } = Trix.config;
  const { Block, LineBreakInsertion } = Trix.models;
  const { AttachmentView } = Trix.views;
  const single = { terminal: true, breakOnReturn: true, group: false };
  blockAttributes.default = { tagName: "p", parse: false, breakOnReturn: true };
  for (const level of [2, 3, 4, 5, 6]) blockAttributes[`heading${level}`] = { tagName: `h${level}`, ...single };
  // Without buttons, but kept where they are.
  const marks = ["code", "ins", "kbd", "mark", "q", "samp", "small", "sub", "sup", "u"];
  for (const tagName of marks) textAttributes[tagName] = { tagName, inheritable: true };

  // Trix has no setting for paragraphs: without these two functions, Enter would write a line break within one paragraph.
  // tests/browser/test_pages.py sees that.
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

  const known = "a b blockquote br del div em h2 h3 h4 h5 h6 i li ol p s span strike strong ul".split(" ");
  const editable = new Set([...known, ...marks].map((name) => name.toUpperCase()));
  const inline = new Set(["A", "ABBR", "BDI", "BDO", "CITE", "DATA", "DFN", "IMG", "RUBY", "TIME", "TT", "VAR", "WBR"]);
  const parsed = (html) => new DOMParser().parseFromString(html, "text/html");

  const asPiece = (element) => {
    const piece = document.createElement(inline.has(element.tagName) ? "span" : "figure");
    piece.dataset.trixAttachment = JSON.stringify({ content: element.outerHTML, contentType: "text/html" });
    element.replaceWith(piece);
  };

  // The HTML with pieces for what the editor does not know.
  const withPieces = (html) => {
    const { body } = parsed(html);
    const walk = (parent) => {
      for (const child of [...parent.children]) {
        // A piece within a link would lose it.
        const is = child.tagName !== "A" || [...child.querySelectorAll("*")].every(({ tagName }) => editable.has(tagName));
        editable.has(child.tagName) && is ? walk(child) : asPiece(child);
      }
    };
    walk(body);
    return body.innerHTML;
  };

  // And back. Paragraphs have another name meanwhile, since a parser ends them where a piece begins.
  const withoutPieces = (html) => {
    const { body } = parsed(html.replace(/<(\/?)p(?=[\s>])/g, "<$1x-p"));
    for (const piece of body.querySelectorAll("[data-trix-attachment]")) {
      const { content } = JSON.parse(piece.dataset.trixAttachment);
      const { body: of } = parsed(content);
      const paragraph = piece.parentElement;
      const stands = paragraph.tagName === "X-P" && !inline.has(of.firstElementChild?.tagName);
      if (stands) {
        const before = paragraph.cloneNode(false);
        while (paragraph.firstChild !== piece) before.append(paragraph.firstChild);
        if (before.hasChildNodes()) paragraph.before(before);
        paragraph.before(piece);
        if (!paragraph.hasChildNodes()) paragraph.remove();
      }
      piece.replaceWith(...of.childNodes);
    }
    return body.innerHTML.replace(/<(\/?)x-p(?=[\s>])/g, "<$1p");
  };

  // Without this function, the editor would draw pieces without most of their attributes, and all as figures, which a
  // paragraph cannot hold: tables would lose their shape and pictures their place. tests/browser/test_editor.py sees that.
  const { createNodes } = AttachmentView.prototype;
  AttachmentView.prototype.createNodes = function () {
    const nodes = createNodes.call(this);
    const [shown, meant] = [nodes[1], parsed(this.attachment.getContent())].map((of) => of.querySelectorAll("img, td, th"));
    for (const [at, element] of [...meant].entries()) {
      for (const name of ["alt", "colspan", "rowspan"]) {
        if (element.hasAttribute(name)) shown[at]?.setAttribute(name, element.getAttribute(name));
      }
    }
    if (inline.has(nodes[1].firstElementChild?.tagName)) {
      const piece = document.createElement("span");
      for (const { name, value } of nodes[1].attributes) piece.setAttribute(name, value);
      piece.append(nodes[1].firstElementChild);
      nodes[1] = piece;
    }
    return nodes;
  };

  // A piece is chosen by a click, also by one that comes from elsewhere.
  addEventListener(
    "mousedown",
    ({ target }) => target.closest?.("trix-editor [data-trix-attachment]")?.closest("trix-editor").focus(),
    true,
  );

  addEventListener("trix-before-paste", ({ paste }) => {
    if (!paste.html) return;
    const { body } = parsed(paste.html);
    for (const table of body.querySelectorAll("table")) if (!table.parentElement.closest("table")) asPiece(table);
    paste.html = body.innerHTML;
  });

  // The editor writes HTML in its own way. A text that nobody has changed is sent as it came.
  const came = new WeakMap();
  addEventListener("trix-before-initialize", ({ target: { inputElement }, target }) => {
    came.set(target, { before: inputElement.value });
    inputElement.value = withPieces(inputElement.value);
  });
  addEventListener("trix-initialize", ({ target }) => {
    const known = came.get(target);
    if (known) known.own = target.inputElement.value;
  });
  addEventListener("trix-change", ({ target }) => {
    if (came.get(target)?.own !== undefined) target.inputElement.dispatchEvent(new Event("input"));
  });
  const textOf = ({ inputElement: { value } }, known) => (value === known.own ? known.before : withoutPieces(value));

  // The same text as HTML, and back.
  addEventListener("click", ({ target }) => {
    const button = target.closest?.(".editor [data-html]");
    if (!button) return;
    const box = button.closest(".editor");
    const editor = box.querySelector("trix-editor");
    const source = box.querySelector(".editor__html");
    const isHtml = !editor.hidden;
    if (isHtml) source.value = editor.inputElement.value = textOf(editor, came.get(editor));
    editor.hidden = isHtml;
    source.hidden = !isHtml;
    if (!isHtml) editor.editor.loadHTML(withPieces(source.value));
    button.ariaPressed = isHtml;
    for (const other of box.querySelectorAll("[data-trix-attribute], [data-trix-action]")) other.hidden = isHtml;
    (isHtml ? source : editor).focus();
  });
  addEventListener("input", ({ target }) => {
    if (!target.matches?.(".editor__html")) return;
    const { inputElement } = target.closest(".editor").querySelector("trix-editor");
    inputElement.value = target.value;
    inputElement.dispatchEvent(new Event("input", { bubbles: true }));
  });

  addEventListener(
    "submit",
    ({ target }) => {
      for (const editor of target.querySelectorAll("trix-editor")) {
        const known = came.get(editor);
        if (known && !editor.hidden) editor.inputElement.value = textOf(editor, known);
      }
    },
    true,
  );
}
