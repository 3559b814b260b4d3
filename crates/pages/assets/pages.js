// @ts-check
// What a script adds to the pages. Without it everything works but passkeys and copying.

/** @type {(selector: string, root?: ParentNode) => HTMLElement[]} */
const all = (selector, root = document) => [...root.querySelectorAll(/** @type {any} */ (selector))];
const { lang } = document.documentElement;
/** Language of the page, with the region of the reader. */
const language = navigator.languages.find((tag) => tag.split("-")[0] === lang.split("-")[0]) ?? lang;

/** Shows what only a script can do. @param {Element} element */
const show = (element) => element.removeAttribute("hidden");

/**
 * Formats by a function that refuses unknown languages, such as the pseudo-language.
 * @template T
 * @param {(language: string | undefined) => T} format
 */
function inLanguage(format) {
  try {
    return format(language);
  } catch {
    return format(undefined);
  }
}

/** Buttons that show and hide a password. */
function reveal() {
  for (const button of all("[data-reveal]")) {
    const input = /** @type {HTMLInputElement} */ (document.getElementById(button.dataset.reveal ?? ""));
    const swap = () => {
      const { other, otherLabel } = button.dataset;
      button.dataset.other = button.textContent ?? "";
      button.dataset.otherLabel = button.getAttribute("aria-label") ?? "";
      button.textContent = other ?? "";
      button.setAttribute("aria-label", otherLabel ?? "");
    };
    button.addEventListener("click", () => {
      input.type = input.type === "password" ? "text" : "password";
      swap();
    });
    // Browsers store what was typed as text.
    input.form?.addEventListener("submit", () => {
      if (input.type === "text") swap();
      input.type = "password";
    });
    show(button);
  }
}

/** Forms are sent once, and again when the page comes back from a cache. */
function submitOnce() {
  /** @type {Set<HTMLFormElement>} */
  const sent = new Set();
  document.addEventListener("submit", (event) => {
    const form = /** @type {HTMLFormElement} */ (event.target);
    if (event.defaultPrevented || form.method !== "post" || "downloads" in form.dataset) return;
    if (sent.has(form) || form.querySelector("button[aria-disabled=true]")) return event.preventDefault();
    sent.add(form);
    for (const button of all("button:not([type=button])", form)) button.setAttribute("aria-disabled", "true");
  });
  addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    for (const form of sent) {
      for (const button of all("button[aria-disabled]", form)) button.removeAttribute("aria-disabled");
    }
    sent.clear();
  });
}

/** Counts seconds down, and holds back buttons until then. */
function countDown() {
  const start = performance.now();
  /** @param {number} seconds */
  const left = (seconds) => Math.max(0, Math.ceil(seconds - (performance.now() - start) / 1000));
  const texts = all("[data-left]").map((text) => ({ text, seconds: Number(text.dataset.left) }));
  const held = all("[data-after]").map((button) => ({ button, seconds: Number(button.dataset.after) }));
  const endings = all("[data-ends]").map((ending) => ({ ending, seconds: Number(ending.dataset.ends) }));
  for (const { button } of held) button.setAttribute("aria-disabled", "true");
  for (const ends of endings) {
    // A visit loses typed text.
    const link = ends.ending.querySelector("a");
    link?.addEventListener("click", async (event) => {
      event.preventDefault();
      const page = await fetch(link.href).catch(() => undefined);
      const found = page?.ok && !page.redirected && / data-ends="(\d+)"/.exec(await page.text());
      if (!found) return location.assign(link.href);
      ends.seconds = Number(found[1]) + (performance.now() - start) / 1000;
      ends.ending.hidden = true;
    });
  }
  const tick = () => {
    for (const { text, seconds } of texts) {
      const now = left(seconds);
      if (now < 100) {
        const unit = { style: "unit", unit: "second", unitDisplay: "long" };
        const words = inLanguage((tag) => new Intl.NumberFormat(tag, /** @type {any} */ (unit)).format(now));
        if (text.textContent !== words) text.textContent = words;
      }
    }
    for (const { button, seconds } of held) if (left(seconds) === 0) button.removeAttribute("aria-disabled");
    for (const { ending, seconds } of endings) if (left(seconds) <= 60) show(ending);
  };
  setInterval(tick, 1000);
  tick();
}

/** Shows times in the zone of the browser. */
function localTimes() {
  /** @type {Intl.DateTimeFormatOptions} */
  const style = { day: "numeric", month: "long", year: "numeric", hour: "2-digit", minute: "2-digit", timeZoneName: "short" };
  const format = inLanguage((tag) => new Intl.DateTimeFormat(tag, style));
  for (const time of all("time[datetime]")) time.textContent = format.format(new Date(time.getAttribute("datetime") ?? ""));
}

/** Counts the characters that are left in a text. */
function countLeft() {
  for (const area of all("[data-most]")) {
    const field = /** @type {HTMLTextAreaElement} */ (area);
    const hint = document.getElementById(`${field.id}-left`);
    const words = hint?.dataset.words;
    if (!hint || !words) continue;
    const count = () => {
      const left = Number(field.dataset.most) - [...field.value].length;
      hint.textContent = words.replace("{count}", inLanguage((tag) => left.toLocaleString(tag)));
    };
    field.addEventListener("input", count);
    count();
  }
}

/** Buttons that copy a text of the page, or print it. */
function copyAndPrint() {
  for (const button of all("[data-copy]")) {
    if (!navigator.clipboard) continue;
    const source = document.getElementById(button.dataset.copy ?? "");
    button.addEventListener("click", async () => {
      const lines = source ? all("li", source).map((line) => line.textContent?.trim()) : [];
      const text = lines.length ? lines.join("\n") : (source?.textContent ?? "");
      await navigator.clipboard.writeText(text);
      button.textContent = button.dataset.done ?? "";
      button.setAttribute("role", "status");
    });
    show(button);
  }
  for (const button of all("[data-print]")) {
    button.addEventListener("click", () => print());
    show(button);
  }
}

/** A passkey ceremony of a form. The authenticator's answer fills and sends it. */
class Ceremony {
  /** @param {HTMLFormElement} form */
  constructor(form) {
    this.form = form;
    this.options = JSON.parse(form.dataset.options ?? "{}");
    /** @type {AbortController | undefined} */
    this.running = undefined;
  }

  get makes() {
    return this.form.dataset.passkey === "create";
  }

  /** Runs it. `quiet`: nobody pressed the button; a sign-in waits in suggestions. @param {boolean} quiet */
  async run(quiet) {
    this.running?.abort();
    const running = new AbortController();
    this.running = running;
    const { signal } = running;
    try {
      const credential = this.makes
        ? await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(this.options), signal })
        : await navigator.credentials.get({
            publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(this.options),
            signal,
            ...(quiet && { mediation: "conditional" }),
          });
      if (credential) this.send(/** @type {PublicKeyCredential} */ (credential));
    } catch (error) {
      // An aborted one was replaced, on purpose.
      if (this.running === running && !signal.aborted && !quiet) this.fail();
    }
  }

  /** @param {PublicKeyCredential} credential */
  send(credential) {
    const field = /** @type {HTMLInputElement} */ (this.form.elements.namedItem("credential"));
    field.value = JSON.stringify(credential.toJSON());
    this.isAnswered = true;
    this.form.requestSubmit();
  }

  fail() {
    for (const text of all("[role=alert]", this.form)) show(text);
  }

  /** Gets new options: a page stays open longer than they live. */
  async renew() {
    const { renew } = this.form.dataset;
    if (!renew || this.isAnswered) return;
    const response = await fetch(renew, { headers: { accept: "application/json" } }).catch(() => undefined);
    if (!response?.ok) return;
    const { ceremonyId, options } = await response.json();
    this.options = options;
    const field = /** @type {HTMLInputElement} */ (this.form.elements.namedItem("ceremony_id"));
    field.value = ceremonyId;
    return true;
  }
}

const RENEWAL = 8 * 60 * 1000;

/** Forms of passkeys; suggestions in the field for the address. */
async function passkeys() {
  const forms = /** @type {HTMLFormElement[]} */ (all("form[data-passkey]"));
  const Credential = globalThis.PublicKeyCredential;
  const isAble = typeof Credential?.parseRequestOptionsFromJSON === "function";
  if (!isAble) return all("[data-no-passkey]").forEach(show);
  signalAccepted();
  const suggests = all("input[autocomplete~=webauthn]").length > 0 && (await Credential.isConditionalMediationAvailable?.());
  for (const form of forms) {
    const ceremony = new Ceremony(form);
    const suggest = () => {
      if (suggests && !ceremony.makes) ceremony.run(true);
    };
    form.addEventListener("submit", (event) => {
      if (ceremony.isAnswered) return;
      event.preventDefault();
      for (const text of all("[role=alert]", form)) text.hidden = true;
      ceremony.run(false);
    }, { capture: true });
    setInterval(async () => {
      if (await ceremony.renew()) suggest();
    }, RENEWAL);
    show(form);
    suggest();
    if ("auto" in form.dataset) ceremony.run(true);
  }
}

/** Tells the store of passkeys which ones the account has. */
function signalAccepted() {
  for (const list of all("[data-accepted]")) {
    const signal = /** @type {any} */ (PublicKeyCredential).signalAllAcceptedCredentials;
    signal?.call(PublicKeyCredential, JSON.parse(list.dataset.accepted ?? "{}"))?.catch(() => undefined);
  }
}

/** Goes on to the app, without an entry in the history. */
function goOn() {
  const link = document.querySelector("a[data-continue]");
  if (link instanceof HTMLAnchorElement) location.replace(link.href);
}

goOn();
reveal();
passkeys();
submitOnce();
countDown();
localTimes();
countLeft();
copyAndPrint();
