import { fileURLToPath } from "node:url";

/** Only needed in this repository, whose packages are in one workspace two folders up. */
const root = fileURLToPath(new URL("../..", import.meta.url));

export default { turbopack: { root }, outputFileTracingRoot: root };
