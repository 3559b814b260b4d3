// The tests run against the real binary, which tests/support/services.ts starts.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["tests/**/*.test.ts"],
    globalSetup: ["tests/support/services.ts"],
    // Browsers mostly wait; one worker would wait with them.
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // The default of a second is short while two browsers share the cores.
    expect: { poll: { timeout: 8_000 } },
  },
});
