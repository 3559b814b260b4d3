import { fileURLToPath } from "node:url";

/** The packages of this repository are in one workspace, two folders up. An app of its own needs none of this. */
const root = fileURLToPath(new URL("../..", import.meta.url));

export default { turbopack: { root }, outputFileTracingRoot: root };
