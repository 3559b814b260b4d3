// Package checks besides the tests: types are correct and fresh, both module systems load it, its size is limited, and
// unused parts are tree-shaken.
import { execFileSync } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";

/** Size limit of the core, in bytes after gzip. */
const MAX_CORE = 8_230;
/** Size limit of server code: the core with token verification, or with the cookies of an app. */
const MAX_SERVER = 11_000;
/** Size limit of passkeys, which are loaded by their first use. */
const MAX_PASSKEYS = 2_500;
/** Size limit of a helper imported alone. */
const MAX_HELPER = 1_000;
/**
 * Size limit of the fake client alone, with the errors that it shares with the core. Half of it plays two-step sign-in, passkeys
 * and the own account: no visitor loads a fake, so that its tests are worth more than its size.
 */
const MAX_FAKE = 6_500;

/** The program of an app that uses the core. */
const CORE = 'export { createClient } from "@latchkey/client"';

const folder = fileURLToPath(new URL("..", import.meta.url));
/** Programs of the npm workspace. */
const bin = fileURLToPath(new URL("../../../node_modules/.bin/", import.meta.url));

/** Runs a program of node_modules/.bin; shows its output only if it fails. */
function run(name, ...words) {
  try {
    return execFileSync(`${bin}${name}`, words, { cwd: folder, encoding: "utf8", stdio: "pipe" });
  } catch (error) {
    throw new Error(`${name} ${words.join(" ")} failed:\n${error.stdout}\n${error.stderr}`);
  }
}

async function checkFreshness() {
  const fresh = execFileSync("node", ["scripts/generate.mjs", "--print"], { cwd: folder, encoding: "utf8" });
  const present = await readFile(new URL("../src/generated.ts", import.meta.url), "utf8");
  if (fresh !== present) throw new Error("src/generated.ts is not what docs/openapi.json says; run npm run generate");
}

const sizeOf = ({ code }) => gzipSync(code, { level: 9 }).length;

/** Size after gzip of a program that imports from the package: loaded at once, and on demand with the size of each chunk. */
async function weight(program) {
  const name = "program.js";
  const given = { name: "given", resolveId: (id) => (id === name ? id : null), load: (id) => (id === name ? program : null) };
  const bundle = await rolldown({ input: name, cwd: folder, plugins: [given], external: ["react"] });
  const { output } = await bundle.generate({ format: "esm", minify: true });
  await bundle.close();
  const chunks = new Map(output.map((chunk) => [chunk.fileName, chunk]));
  const loaded = new Set();
  const load = (chunk) => {
    if (loaded.has(chunk)) return;
    loaded.add(chunk);
    for (const name of chunk.imports) if (chunks.has(name)) load(chunks.get(name));
  };
  load(output[0]);
  const sum = (some) => some.reduce((bytes, chunk) => bytes + sizeOf(chunk), 0);
  const others = output.filter((chunk) => !loaded.has(chunk));
  return { atOnce: sum([...loaded]), later: sum(others), others };
}

/** Checks the size of a chunk that the core loads on demand, and that it brings no other one along. */
async function checkChunk(name, most) {
  const { others } = await weight(CORE);
  const chunk = others.find((one) => one.name.startsWith(name));
  if (!chunk) throw new Error(`${name} is no chunk of its own`);
  const shared = chunk.imports.filter((imported) => others.some(({ fileName }) => fileName === imported));
  if (shared.length) throw new Error(`${name} loads ${shared} too`);
  console.log(`${name}, on demand: ${sizeOf(chunk)} bytes after gzip, at most ${most}`);
  if (sizeOf(chunk) > most) throw new Error(`${name} weighs ${sizeOf(chunk)} bytes after gzip, more than ${most}`);
}

async function checkWeight(what, program, most) {
  const { atOnce, later } = await weight(program);
  const onDemand = later ? `, and ${later} on demand` : "";
  console.log(`${what}: ${atOnce} bytes after gzip, at most ${most}${onDemand}`);
  if (atOnce > most) throw new Error(`${what} weighs ${atOnce} bytes after gzip, more than ${most}`);
}

async function checkModules() {
  const require = createRequire(import.meta.url);
  for (const entry of ["@latchkey/client", "@latchkey/client/ssr", "@latchkey/client/react", "@latchkey/client/testing"]) {
    const [names, cjsNames] = [Object.keys(await import(entry)), Object.keys(require(entry))];
    if (names.length === 0 || names.sort().join() !== cjsNames.sort().join()) {
      throw new Error(`${entry} exports ${names} as a module and ${cjsNames} to require`);
    }
  }
}

/** Checks that every test named in the README exists. */
async function checkTable() {
  const readme = await readFile(new URL("../README.md", import.meta.url), "utf8");
  const named = [...readme.matchAll(/`([\w/-]+\.test\.ts): ([^`]+)`/g)];
  if (named.length < 20) throw new Error("the table of README.md names fewer tests than there are operations");
  for (const [, file, name] of named) {
    const text = await readFile(new URL(`../tests/${file}`, import.meta.url), "utf8");
    const isThere = ["test", "describe"].some((kind) => text.includes(`${kind}("${name}"`));
    if (!isThere) throw new Error(`README.md names a test "${name}" that ${file} does not have`);
  }
}

/** Checks that links of the README work on the package page, which has no other files. */
async function checkLinks() {
  const readme = await readFile(new URL("../README.md", import.meta.url), "utf8");
  const relative = [...readme.matchAll(/\]\((?!https?:|#)([^)]+)\)/g)].map(([, target]) => target);
  if (relative.length) throw new Error(`README.md has relative links, which the package page cannot follow: ${relative}`);
}

/** Maximum bytes of a script that only re-exports, and so has no source map. */
const MAX_REEXPORT = 600;

/** Checks that every script of the package has a source map with embedded sources. */
async function checkSourceMaps() {
  const dist = new URL("../dist/", import.meta.url);
  for (const name of (await readdir(dist)).filter((file) => /\.c?js$/.test(file))) {
    const code = await readFile(new URL(name, dist), "utf8");
    if (code.length < MAX_REEXPORT && !code.includes("sourceMappingURL")) continue;
    const { sources, sourcesContent } = JSON.parse(await readFile(new URL(`${name}.map`, dist), "utf8"));
    if (sources.length !== sourcesContent?.length) throw new Error(`dist/${name}.map lacks sources`);
  }
}

await checkTable();
await checkLinks();
await checkFreshness();
run("tsdown"); // first: tests and examples take the types of the package from `dist`
run("tsc", "--noEmit");
// The example takes its types from what was built.
run("tsc", "-p", "../../examples/browser");
// Two copies of the package, by `import` and by `require`, are assignable to each other.
run("tsc", "-p", "tests/two-copies");
await checkSourceMaps();
run("publint", "--strict");
run("attw", "--pack", ".");
await checkModules();
await checkWeight("createClient", CORE, MAX_CORE);
await checkChunk("passkeys", MAX_PASSKEYS);
await checkWeight("everything of @latchkey/client", 'export * from "@latchkey/client"', MAX_SERVER);
await checkWeight("@latchkey/client/ssr", 'export * from "@latchkey/client/ssr"', MAX_SERVER);
await checkWeight("@latchkey/client/react alone", 'export * from "@latchkey/client/react"', MAX_HELPER);
await checkWeight("@latchkey/client/testing alone", 'export * from "@latchkey/client/testing"', MAX_FAKE);
await checkWeight("readRedirectResult alone", 'export { readRedirectResult } from "@latchkey/client"', MAX_HELPER);
