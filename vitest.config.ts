import { availableParallelism } from "node:os"
import { configDefaults, defineConfig } from "vitest/config"

/** Tests that measure the memory or processor time of their own process, which other files in it would change. */
const measuring = ["test/contracts/content/hostile-archives.test.ts", "test/operations/subscription-packages.test.ts"]

export default defineConfig({
  test: {
    globalSetup: ["test/support/built.ts"],
    setupFiles: ["test/support/property-seed.ts", "test/support/patient-waits.ts"],
    restoreMocks: true,
    // Node loads the modules, as it does for the service, which is faster than Vite's module runner; no test mocks modules
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // the tests of processes wait more than they work
    maxWorkers: availableParallelism() + 1,
    // most objects of a test die young: with room for them, suites that only compute take up to a tenth less processor time
    execArgv: ["--max-semi-space-size=32"],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    projects: [
      // files share the modules of their worker: loading them again for each file takes about a third of the time of a unit suite
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
