import { availableParallelism } from "node:os"
import { configDefaults, defineConfig } from "vitest/config"

/** What measures its own process, which other files in it would disturb. */
const measuring = ["test/contracts/content/hostile-archives.test.ts"]

export default defineConfig({
  test: {
    globalSetup: ["test/support/built.ts"],
    setupFiles: ["test/support/property-seed.ts", "test/support/patient-waits.ts"],
    restoreMocks: true,
    // the tests of processes wait more than they work
    maxWorkers: availableParallelism() + 1,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    projects: [
      // files share the modules of their worker: to load them anew for each costs a third of a run
      {
        extends: true,
        test: {
          name: "all",
          include: ["packages/*/test/**/*.test.ts", "test/**/*.test.ts"],
          exclude: [...configDefaults.exclude, ...measuring],
          isolate: false,
        },
      },
      { extends: true, test: { name: "measuring", include: measuring } },
    ],
  },
})
