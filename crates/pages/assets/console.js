
// What the console adds to the script of the pages, in the same module. Without it everything works by forms and links.

/** Stored choices of this browser: `off` turns a feature off. */
const choices = {
  /** @param {string} name */
  isOn(name) {
    try {
      return localStorage.getItem(`console.${name}`) !== "off";
    } catch {
      return true;
    }
  },
  /** @param {string} name @param {boolean} isOn */
  set(name, isOn) {
    try {
      localStorage.setItem(`console.${name}`, isOn ? "on" : "off");
    } catch {
      // Without storage the choice holds for this page alone.
    }
  },
};
/** A device of touch alone, such as a phone. Shortcuts are off there, and so is their switch. */
const isTouched = matchMedia("(any-hover: none) and (any-pointer: coarse)").matches;
/** @type {Record<string, boolean>} */
const on = { shortcuts: !isTouched && choices.isOn("shortcuts"), live: choices.isOn("live") };

/** Shows the times of tables shortly, in the zone of the browser. @param {ParentNode} [root] */
function shortTimes(root) {
  const short = inLanguage((tag) => new Intl.DateTimeFormat(tag, { dateStyle: "medium", timeStyle: "short" }));
  const full = inLanguage((tag) => new Intl.DateTimeFormat(tag, { dateStyle: "full", timeStyle: "long" }));
  for (const time of all("time[data-short]", root)) {
    const at = new Date(time.getAttribute("datetime") ?? "");
    if (Number.isNaN(at.getTime())) continue;
    time.textContent = short.format(at);
    time.title = full.format(at);
  }
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  for (const text of all("[data-zone]")) text.textContent = (text.dataset.zone ?? "").replace("{zone}", timeZone);
}

/**
 * Loads a page of the console. `XMLHttpRequest` parses it without running scripts, and needs no sink of trusted types.
 * @param {string} url
 * @param {AbortSignal} signal
 * @returns {Promise<Document | undefined>}
 */
function load(url, signal) {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open("GET", url);
    request.responseType = "document";
    request.timeout = 10_000;
    request.onloadend = () => resolve((request.status === 200 && request.responseXML) || undefined);
    signal.addEventListener("abort", () => request.abort());
    request.send();
  });
}

/** Replaces a region of the page by that of another page. @param {string} id @param {Document} from */
function replace(id, from) {
  const [present, next] = [document.getElementById(id), from.getElementById(id)];
  if (!present || !next) return false;
  const texts = new Map(all("[role=status][id]", present).map((text) => [text.id, text]));
  const fresh = /** @type {HTMLElement} */ (document.importNode(next, true));
  // A status that stays in the page is announced when its text changes.
  for (const [textId, text] of texts) {
    const other = [...fresh.querySelectorAll("[role=status]")].find((one) => one.id === textId);
    if (!other) continue;
    const words = other.textContent;
    other.replaceWith(text);
    if (text.textContent !== words) text.textContent = words;
  }
  present.replaceChildren(...fresh.childNodes);
  all(".pick [hidden]", present).forEach(show);
  localTimes();
  shortTimes();
  return true;
}

/** Forms that show their result while one types: search, filters, testers. */
function liveForms() {
  for (const element of all("form[data-live]")) {
    const form = /** @type {HTMLFormElement} */ (element);
    let running = new AbortController();
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    const run = async () => {
      running.abort();
      running = new AbortController();
      const { signal } = running;
      const url = new URL(form.action);
      for (const [name, value] of new FormData(form)) if (value !== "") url.searchParams.set(name, String(value));
      const page = await load(url.href, signal);
      if (signal.aborted || !page) return;
      if (replace(form.dataset.live ?? "", page)) history.replaceState(null, "", url.href);
    };
    form.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(run, 250);
    });
  }
}

/** Regions with numbers, loaded again while the page is in sight: every 15 seconds, or as often as they say. */
function liveNumbers() {
  const regions = all("[data-numbers]");
  if (regions.length === 0) return;
  const period = 1000 * Math.min(...regions.map((region) => Number(region.dataset.numbers) || 15));
  const timer = setInterval(async () => {
    if (!on.live || document.hidden) return;
    const page = await load(location.href, AbortSignal.timeout(15_000));
    if (!page) return;
    // A region in which somebody works stays as it is.
    for (const { id } of regions) if (!document.getElementById(id)?.contains(document.activeElement)) replace(id, page);
    if (all("[data-numbers]", page).length === 0) clearInterval(timer);
  }, period);
}

/** Says at once that a file is too large for an upload, and holds it back. */
function fileSizes() {
  for (const element of all("input[data-largest]")) {
    const field = /** @type {HTMLInputElement} */ (element);
    const button = field.form?.querySelector("button:not([type=button])");
    const check = () => {
      const isLarge = [...(field.files ?? [])].some((file) => file.size > Number(field.dataset.largest));
      document.getElementById(`${field.id}-large`)?.toggleAttribute("hidden", !isLarge);
      if (isLarge) button?.setAttribute("aria-disabled", "true");
      else button?.removeAttribute("aria-disabled");
    };
    field.addEventListener("change", check);
    check();
  }
}

/** The key `/` leads to the search field. */
function shortcuts() {
  const field = document.getElementById("q") ?? document.getElementById("find");
  const sign = () => all("[data-key]").forEach((key) => (key.hidden = !on.shortcuts));
  document.addEventListener("keydown", (event) => {
    const { target } = event;
    const isTyping = target instanceof HTMLElement && target.matches("input, textarea, select, [contenteditable]");
    if (!on.shortcuts || !field || isTyping || event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    field.focus();
  });
  sign();
  return sign;
}

/** Buttons that turn shortcuts and live numbers off and on, for this browser. @param {() => void} changed */
function switches(changed) {
  for (const button of all("[data-switch]")) {
    const name = button.dataset.switch ?? "";
    if (name === "live" ? all("[data-numbers]").length === 0 : isTouched) continue;
    const words = [button.dataset.other ?? "", button.textContent ?? ""];
    const say = () => (button.textContent = words[Number(on[name])] ?? "");
    button.addEventListener("click", () => {
      on[name] = !on[name];
      choices.set(name, on[name]);
      say();
      changed();
    });
    say();
    show(button);
  }
}

/** Counts chosen rows, and lets all of the page be chosen. */
function choosing() {
  all(".pick [hidden]").forEach(show);
  const count = () => {
    for (const hint of all("[data-chosen]")) {
      hint.dataset.none ??= hint.textContent ?? "";
      const chosen = all(".pick input[name]:checked").length;
      const words = (hint.dataset.chosen ?? "").replace("{count}", String(chosen));
      hint.textContent = chosen === 0 ? hint.dataset.none : words;
    }
  };
  document.addEventListener("change", (event) => {
    const box = event.target;
    if (!(box instanceof HTMLInputElement) || !box.closest(".pick")) return;
    if (box.dataset.all !== undefined) {
      for (const one of all(".pick input[name]")) /** @type {HTMLInputElement} */ (one).checked = box.checked;
    }
    count();
  });
}

/** Holds an irreversible act back until the name that it asks for is typed. */
function confirmTyped() {
  for (const element of all("input[data-confirm]")) {
    const field = /** @type {HTMLInputElement} */ (element);
    const button = field.form?.querySelector("button:not([type=button])");
    const check = () => {
      if (field.value.trim() === field.dataset.confirm) button?.removeAttribute("aria-disabled");
      else button?.setAttribute("aria-disabled", "true");
    };
    field.addEventListener("input", check);
    check();
  }
}

liveForms();
liveNumbers();
switches(shortcuts());
choosing();
confirmTyped();
fileSizes();
shortTimes();
