// Uploads chosen files before their form is sent, and shows how far each is. Without this script, the form sends them.
// The texts stand at the page, in its language; `%(file)s` is the name of the file.
const uploadText = (name, file = "") => document.getElementById("page").dataset[name].replace("%(file)s", file);

document.addEventListener("submit", async (event) => {
  const form = event.target;
  const chosen = [...form.querySelectorAll("input[type=file][data-upload]")].filter((input) => input.files.length);
  if (!chosen.length) return;
  event.preventDefault();
  if (form.dataset.uploading) return;
  form.dataset.uploading = "yes";
  try {
    for (const input of chosen) await store(form, input);
  } catch {
    return;
  } finally {
    delete form.dataset.uploading;
  }
  form.requestSubmit(event.submitter);
});

async function store(form, input) {
  const shown = statusOf(input);
  const bar = document.createElement("progress");
  bar.setAttribute("aria-label", uploadText("uploading", input.files[0].name));
  shown.replaceChildren(bar);
  try {
    const stored = await send(form, input, (done) => (bar.value = done));
    form.elements[input.name.replace(/upload$/, "stored")].value = stored;
    shown.textContent = uploadText("uploaded", input.files[0].name);
    input.value = "";
  } catch (error) {
    shown.textContent = error.message;
    input.focus();
    throw error;
  }
}

function statusOf(input) {
  const id = `${input.id}-status`;
  const found = document.getElementById(id) ?? document.createElement("p");
  found.id = id;
  found.setAttribute("role", "status");
  input.parentElement.after(found);
  return found;
}

function send(form, input, onProgress) {
  const request = new XMLHttpRequest();
  const body = new FormData();
  body.append("file", input.files[0]);
  request.open("POST", input.dataset.upload);
  request.responseType = "json";
  request.setRequestHeader("X-CSRFToken", form.elements.csrfmiddlewaretoken.value);
  request.upload.onprogress = ({ loaded, total }) => onProgress(loaded / total);
  return new Promise((resolve, reject) => {
    request.onload = () =>
      request.response?.stored
        ? resolve(request.response.stored)
        : reject(Error(request.response?.problem ?? uploadText("uploadFailed")));
    request.onerror = () => reject(Error(uploadText("uploadFailed")));
    request.send(body);
  });
}
