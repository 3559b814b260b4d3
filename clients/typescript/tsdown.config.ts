// How the package is built: three entries, ES modules and CommonJS, each with its types.
import { defineConfig } from "tsdown";

export default defineConfig({
  entry: ["src/index.ts", "src/ssr.ts", "src/react.ts"],
  format: ["esm", "cjs"],
  platform: "neutral",
  target: "es2022",
  dts: true,
  minify: true,
  clean: true,
  outExtensions: ({ format }) =>
    format === "cjs" ? { js: ".cjs", dts: ".d.cts" } : { js: ".js", dts: ".d.ts" },
  deps: { neverBundle: ["react"] },
});
