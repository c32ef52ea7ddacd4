import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["packages/*/test/**/*.test.ts", "test/**/*.test.ts"],
    globalSetup: ["test/support/built.ts"],
    setupFiles: ["test/support/property-seed.ts", "test/support/patient-waits.ts"],
    restoreMocks: true,
    // files share the modules of their worker: to load them anew for each costs a third of a run
    isolate: false,
    // the tests of processes wait more than they work
    maxWorkers: availableParallelism() + 1,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
})
