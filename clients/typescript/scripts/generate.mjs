// Generates src/generated.ts, the schemas of docs/openapi.json as types. Prints to standard output with --print.
import { readFile, writeFile } from "node:fs/promises";
import openapiTS, { astToString } from "openapi-typescript";

const TARGET = new URL("../src/generated.ts", import.meta.url);

const HEAD = `// Generated from docs/openapi.json by scripts/generate.mjs; do not edit.

`;

const document = JSON.parse(await readFile(new URL("../../../docs/openapi.json", import.meta.url), "utf8"));
const { openapi, info } = document;
const { schemas } = document.components;
const names = Object.keys(schemas).sort();
const sorted = Object.fromEntries(names.map((name) => [name, schemas[name]]));
const types = astToString(await openapiTS({ openapi, info, paths: {}, components: { schemas: sorted } }, { exportType: true }));
const text = types.slice(types.indexOf("export type components"), types.indexOf("export type $defs"));
// No reference leaves the schemas, so the other sections of `components` are empty.
const generated = HEAD + text.replace(/\n {4}(responses|parameters|requestBodies|headers|pathItems): never;/g, "");

if (process.argv.includes("--print")) {
  process.stdout.write(generated);
} else {
  await writeFile(TARGET, generated);
}
