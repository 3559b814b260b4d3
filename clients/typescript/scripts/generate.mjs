// Generates src/generated.ts from docs/openapi.json: the schemas that the client uses, and with `ErrorResponse` all error
// codes. Prints to standard output with --print.
import { readFile, writeFile } from "node:fs/promises";
import openapiTS, { astToString } from "openapi-typescript";

/** Schemas that src/ uses by name; referenced ones are included. */
const USED = [
  "CurrentSession",
  "EndedSessions",
  "ErrorResponse",
  "FlatProfile",
  "JwkSet",
  "MailSent",
  "Message",
  "OwnSessions",
  "ProfileRecord",
  "PublicConfig",
  "PublicProfile",
  "ResetToken",
  "Session",
  "SignUpRequest",
  "UpdateProfileRequest",
  "User",
];

const HEAD = `// Generated from docs/openapi.json by scripts/generate.mjs; do not edit.

`;

/** Schemas reachable from the used ones. */
function reachable(schemas) {
  const found = new Set();
  const visit = (name) => {
    if (found.has(name)) return;
    if (!schemas[name]) throw new Error(`docs/openapi.json has no schema ${name}; fix USED in scripts/generate.mjs`);
    found.add(name);
    for (const [, next] of JSON.stringify(schemas[name]).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) visit(next);
  };
  USED.forEach(visit);
  return Object.fromEntries([...found].sort().map((name) => [name, schemas[name]]));
}

const document = JSON.parse(await readFile(new URL("../../../docs/openapi.json", import.meta.url), "utf8"));
const small = {
  openapi: document.openapi,
  info: document.info,
  paths: {},
  components: { schemas: reachable(document.components.schemas) },
};
const types = astToString(await openapiTS(small, { exportType: true }));
const schemas = types.slice(types.indexOf("export type components"), types.indexOf("export type $defs"));
// No reference leaves the schemas, so the other sections of `components` are empty.
const text = HEAD + schemas.replace(/\n {4}(responses|parameters|requestBodies|headers|pathItems): never;/g, "");

if (process.argv.includes("--print")) {
  process.stdout.write(text);
} else {
  await writeFile(new URL("../src/generated.ts", import.meta.url), text);
}
