import { accessRun } from "./rights/access-run.ts"
import { blueprintInstall } from "./blueprint/dependency-run.ts"
import { packagesRun } from "./host/packages-run.ts"
import { migrateToSdn, returnToBridges } from "./migration/migration-runs.ts"
import { sourceFetch } from "./source/fetch-run.ts"
import { sourceInstall } from "./source/install-run.ts"
import { sourceUninstall } from "./source/uninstall-run.ts"
import { templateBuild } from "./template/build-run.ts"
import { templateRemoval } from "./template/removal-run.ts"

/** Every run kind except those of ranges, for `rangeEngineLayer`. Adding one is a file and a line here: see docs/guides/add-a-run-kind.md. */
export const runKinds = [
  accessRun,
  blueprintInstall,
  sourceFetch,
  sourceInstall,
  sourceUninstall,
  templateBuild,
  templateRemoval,
  migrateToSdn,
  returnToBridges,
  packagesRun,
] as const
