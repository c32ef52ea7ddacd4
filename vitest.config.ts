import { availableParallelism } from "node:os"
import { configDefaults, defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"

/** Tests that measure the memory or processor time of their own process, which other files in it would change. */
const measuring = ["test/contracts/content/hostile-archives.test.ts", "test/operations/subscription-packages.test.ts"]

/** Tests of the whole system, and those that run Ansible: most of them take longer than all others. */
const isLong = (path: string, root: string): boolean =>
  path.startsWith(`${root}/test/`) || /\/test\/(?:playbook|rehearsal)\//u.test(path)

/**
 * A clean clone has no timings: Vitest would begin with the largest files, and end with suites of minutes in small files, one of them alone
 * while the other processors have nothing left to do. The other tests of single packages are short, and fill the end.
 */
class LongSuitesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ project, moduleId }: TestSpecification): number =>
      project.name === "measuring" ? 0 : isLong(moduleId, project.config.root) ? 1 : 2
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b))
  }
}

export default defineConfig({
  test: {
    globalSetup: ["test/support/built.ts"],
    setupFiles: ["test/support/property-seed.ts", "test/support/patient-waits.ts"],
    restoreMocks: true,
    sequence: { sequencer: LongSuitesFirst },
    // Node loads the modules, as it does for the service, which is faster than Vite's module runner; no test mocks modules
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // the tests of processes wait more than they work; with two more than there are processors, all of CI took as long
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
