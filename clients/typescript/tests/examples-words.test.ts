// The words of the examples: every text has its German.
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { EVENTS, GERMAN, languageOf, wordsOf } from "../../../examples/shared/words.mjs";

const root = fileURLToPath(new URL("../../../examples/", import.meta.url));
const read = (path: string): string => readFileSync(root + path, "utf8");

/** Texts of a program: the first argument of `t`, and the table of kinds of answers. */
const textsOf = (program: string): string[] =>
  [...program.matchAll(/\bt\(\s*"([^"]+)"|\b(?:label|link|totp|recovery_code|password|email_code): "([^"]+)"/g)].map(([, text, label]) => text ?? label ?? "");

/** Texts of a page: between its tags, and of the attributes that a person reads or hears. */
const textsOfPage = (page: string): string[] =>
  [...page.replace(/<head>.*<\/head>/s, "").matchAll(/>([^<>]*[a-z]{2}[^<>]*)<|(?:aria-label|placeholder)="([^"]+)"/gi)].map(([, text, label]) =>
    (text ?? label ?? "").trim().replace(/\s+/g, " "),
  );

test("every text of the examples has its German", () => {
  const folders = ["browser/src", "nextjs/app", "sveltekit/src/lib", "sveltekit/src/routes", "server-rendered"];
  const all = folders.flatMap((folder) => readdirSync(root + folder).map((name) => `${folder}/${name}`));
  const files = all.filter((name) => /\.(ts|tsx|svelte|mjs)$/.test(name));
  const texts = [...files.flatMap((file) => textsOf(read(file))), ...textsOfPage(read("browser/index.html")), ...Object.values(EVENTS)];

  expect(files.length).toBeGreaterThan(15);
  expect(texts.length).toBeGreaterThan(150);
  expect([...new Set(texts)].filter((text) => !GERMAN[text])).toEqual([]);
});

test("placeholders of the German are those of the English", () => {
  const placeholders = (text: string): string[] => (text.match(/\{\w+\}/g) ?? []).sort();

  for (const [english, german] of Object.entries(GERMAN)) expect(placeholders(german)).toEqual(placeholders(english));
});

test("the first known language is taken, and an error without German stays English", () => {
  expect(languageOf("fr;q=0.9, de-AT;q=0.8, en")).toBe("de");
  expect(languageOf([null, "ja"])).toBe("en");
  const { problem } = wordsOf("de");
  expect(problem({ error: "INVALID_CODE", message: "The code is wrong." })).toMatch(/^Der Code/);
  expect(problem({ error: "NEW", message: "It is new.", nextActions: "Wait.", retryAfter: 7 })).toBe("It is new. Wait. (7 s)");
});
