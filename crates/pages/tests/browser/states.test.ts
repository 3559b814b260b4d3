// Every page in every state: for everybody (WCAG 2.2 AA), on a phone and a screen, light and dark, quiet and from one origin.
import axe from "axe-core";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser } from "../../../../clients/typescript/tests/support/app.js";
import { type Preview, startPreview } from "./preview.js";

/** A look at a page: size of the window, and scheme. */
interface Look {
  width: number;
  height: number;
  colorScheme: "light" | "dark";
}
const phone = (colorScheme: Look["colorScheme"]): Look => ({ width: 320, height: 640, colorScheme });
const screen = (colorScheme: Look["colorScheme"]): Look => ({ width: 1280, height: 800, colorScheme });

/** Every state is seen in all of them; from one to the next a single thing changes. */
const LOOKS = [phone("dark"), phone("light"), screen("light"), screen("dark")] as const;
const [PHONE_DARK, PHONE_LIGHT, SCREEN_LIGHT, SCREEN_DARK] = LOOKS;
/**
 * Groups of states, and the looks in which their contrast is measured. That takes three quarters of the time and has nothing to
 * do with words, so the two languages of the pages share the looks.
 */
const GROUPS = [
  ["en", [PHONE_DARK, SCREEN_LIGHT]],
  ["qps", [PHONE_LIGHT, SCREEN_DARK]],
  ["console", LOOKS],
] as const;
const RULES = { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"] } satisfies axe.RunOnly;
/** Where the page that leads back to an app sends the browser. */
const APP = "https://app.example.org/";
/** Pages under check at a time. */
const TABS = 2;

let browser: Browser;
let preview: Preview;
beforeAll(async () => {
  [browser, preview] = await Promise.all([openBrowser(), startPreview()]);
});
afterAll(() => Promise.all([browser.close(), preview.stop()]));

/** Tab that loads axe with every page, and notes what a page says or fetches elsewhere. */
async function newTab(context: BrowserContext, faults: string[]): Promise<Page> {
  const tab = await context.newPage();
  const note = (what: string): unknown => faults.push(`${new URL(tab.url()).pathname}: ${what}`);
  tab.on("console", (message) => note(`console: ${message.text()}`));
  tab.on("pageerror", (error) => note(`error: ${error.message}`));
  tab.on("request", (request) => {
    const isHome = request.url().startsWith(`${preview.origin}/`);
    const isWayBack = request.isNavigationRequest() && request.url().startsWith(APP);
    if (!isHome && !isWayBack) note(`request to ${request.url()}`);
  });
  return tab;
}

/** Opens a state. The page that leads back to an app stays, because there is nothing to show at the app. */
async function open(tab: Page, path: string): Promise<void> {
  await tab.unrouteAll();
  if (!path.includes("/continue")) return void (await tab.goto(preview.origin + path));
  // The route stays for the checks: a slow browser goes on while they run.
  await tab.route(`${APP}**`, (route) => route.fulfill({ status: 204 }));
  await tab.goto(preview.origin + path, { waitUntil: "commit" });
  await tab.locator("footer").waitFor();
}

/** Checks the page of a tab as it looks now. */
async function check(tab: Page, hasContrast: boolean): Promise<string[]> {
  // No registry has the tag of the pseudo-language.
  const isLanguage = !tab.url().includes("/qps/");
  const rules = { "html-lang-valid": { enabled: isLanguage }, "color-contrast": { enabled: hasContrast } };
  const options = { runOnly: RULES, rules, resultTypes: ["violations"], preload: false } satisfies axe.RunOptions;
  return tab.evaluate(async (options) => {
    // axe measures no contrast on gradients: those of tables that scroll.
    for (const table of document.querySelectorAll<HTMLElement>(".scroll")) table.style.backgroundImage = "none";
    const { violations } = await (globalThis as unknown as { axe: typeof axe }).axe.run(document, options);
    const found = violations.map(({ id, nodes }) => `${id} at ${nodes.map(({ target }) => target.join(" ")).join(", ")}`);
    const root = document.scrollingElement;
    return root && root.scrollWidth > root.clientWidth ? [...found, "scrolls sideways"] : found;
  }, options);
}

/** Moves the focus through the page; returns what is covered while it has the focus (2.4.12). */
function covered(tab: Page): Promise<string[]> {
  return tab.evaluate(() => {
    const all = document.querySelectorAll<HTMLElement>("a[href], button, input, select, textarea, summary, [tabindex='0']");
    const isCovered = (one: HTMLElement): boolean => {
      one.focus();
      const [box] = one.getClientRects();
      if (document.activeElement !== one || !box) return false;
      // A region that scrolls may be longer than the window.
      const [x, y] = [box.left + box.width / 2, Math.min(box.top + box.height / 2, innerHeight - 2)];
      const seen = document.elementFromPoint(x, y);
      return seen === null || !(one.contains(seen) || seen.contains(one));
    };
    return [...all].filter(isCovered).map((one) => `focus is covered at ${one.outerHTML.slice(0, 90)}`);
  });
}

/** Checks the page of a tab in a look. What covers what depends on the size alone. */
async function faultsIn(tab: Page, look: Look, hasContrast: boolean): Promise<string[]> {
  const isOtherSize = tab.viewportSize()?.width !== look.width;
  await tab.setViewportSize(look);
  await tab.emulateMedia(look);
  return [...(await check(tab, hasContrast)), ...(isOtherSize ? await covered(tab) : [])];
}

/** Checks states; returns all faults. */
async function faultsOf(paths: readonly string[], contrasts: readonly Look[]): Promise<string[]> {
  const faults: string[] = [];
  // Without transitions, a change of scheme is over at once.
  const context = await browser.newContext({ reducedMotion: "reduce" });
  await context.addInitScript(axe.source);
  const queue = [...paths];
  const work = async (): Promise<void> => {
    const tab = await newTab(context, faults);
    for (let path = queue.shift(); path; path = queue.shift()) {
      await open(tab, path);
      for (const look of LOOKS) {
        const where = `${path}, ${look.width} px, ${look.colorScheme}`;
        const found = await faultsIn(tab, look, contrasts.includes(look));
        faults.push(...found.map((fault) => `${where}: ${fault}`));
      }
    }
  };
  await Promise.all(Array.from({ length: TABS }, work));
  await context.close();
  return faults;
}

test.each(GROUPS)("states of %s are for everybody, quiet, and from one origin", async (group, contrasts) => {
  const paths = preview.states[group];
  expect(paths.length).toBeGreaterThan(100);

  expect(await faultsOf(paths, contrasts)).toEqual([]);
}, 600_000);
