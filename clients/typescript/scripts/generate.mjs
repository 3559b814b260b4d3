// Generates src/generated.ts from docs/openapi.json: the schemas that the client uses, and with `ErrorResponse` all error
// codes. Prints to standard output with --print.
import { readdir, readFile, writeFile } from "node:fs/promises";
import openapiTS, { astToString } from "openapi-typescript";

const SOURCE = new URL("../src/", import.meta.url);
const TARGET = new URL("generated.ts", SOURCE);

/** Schemas that src/ names: `Schemas["User"]`, `components["schemas"]["User"]`. Referenced ones are included. */
async function used() {
  const files = (await readdir(SOURCE, { recursive: true })).filter((file) => /\.tsx?$/.test(file) && file !== "generated.ts");
  const texts = await Promise.all(files.map((file) => readFile(new URL(file, SOURCE), "utf8")));
  return texts.flatMap((text) => [...text.matchAll(/\b(?:Schemas|components\["schemas"\])\["(\w+)"\]/g)].map(([, name]) => name));
}

const HEAD = `// Generated from docs/openapi.json by scripts/generate.mjs; do not edit.

`;

/** Schemas reachable from the named ones. */
function reachable(schemas, names) {
  const found = new Set();
  const visit = (name) => {
    if (found.has(name)) return;
    if (!schemas[name]) throw new Error(`docs/openapi.json has no schema ${name}; which src/ names`);
    found.add(name);
    for (const [, next] of JSON.stringify(schemas[name]).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) visit(next);
  };
  names.forEach(visit);
  return Object.fromEntries([...found].sort().map((name) => [name, schemas[name]]));
}

const document = JSON.parse(await readFile(new URL("../../../docs/openapi.json", import.meta.url), "utf8"));
const small = {
  openapi: document.openapi,
  info: document.info,
  paths: {},
  components: { schemas: reachable(document.components.schemas, await used()) },
};
const types = astToString(await openapiTS(small, { exportType: true }));
const schemas = types.slice(types.indexOf("export type components"), types.indexOf("export type $defs"));
// No reference leaves the schemas, so the other sections of `components` are empty.
const text = HEAD + schemas.replace(/\n {4}(responses|parameters|requestBodies|headers|pathItems): never;/g, "");

if (process.argv.includes("--print")) {
  process.stdout.write(text);
} else {
  await writeFile(TARGET, text);
}
