// How the package is built: four entries, ES modules and CommonJS, each with its types.
import { defineConfig } from "tsdown";

export default defineConfig({
  entry: ["src/index.ts", "src/ssr.ts", "src/react.ts", "src/testing.ts"],
  format: ["esm", "cjs"],
  platform: "neutral",
  target: "es2022",
  dts: true,
  minify: true,
  // With the sources inside, so that stack traces of an app lead to them.
  sourcemap: true,
  clean: true,
  outExtensions: ({ format }) =>
    format === "cjs" ? { js: ".cjs", dts: ".d.cts" } : { js: ".js", dts: ".d.ts" },
  deps: { neverBundle: ["react"] },
});
