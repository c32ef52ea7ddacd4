import type { MigrationList } from "../../engine/migrate.ts"
import { M0001Initial } from "./m0001-initial.ts"
import { M0002Groups } from "./m0002-groups.ts"
import { M0003Blueprints } from "./m0003-blueprints.ts"
import { M0004Thumbnails } from "./m0004-thumbnails.ts"
import { M0005Sources } from "./m0005-sources.ts"
import { M0006BlueprintSources } from "./m0006-blueprint-sources.ts"
import { M0007RunSubjects } from "./m0007-run-subjects.ts"
import { M0008MigrationRecords } from "./m0008-migration-records.ts"
import { M0009WaitingRuns } from "./m0009-waiting-runs.ts"
import { M0010TakenOverRanges } from "./m0010-taken-over-ranges.ts"
import { M0011RangeIdKeys } from "./m0011-range-id-keys.ts"
import { M0012ForeignAddresses } from "./m0012-foreign-addresses.ts"
import { M0013AuditIndexes } from "./m0013-audit-indexes.ts"
import { M0014MachineLogins } from "./m0014-machine-logins.ts"
import { M0015MachineSystems } from "./m0015-machine-systems.ts"
import { M0016DeployedConfigs } from "./m0016-deployed-configs.ts"
import { M0017SealingKey } from "./m0017-sealing-key.ts"
import { M0018MissingMachines } from "./m0018-missing-machines.ts"

/** An explicit list: the same from sources, from the packed library and from a bundle. */
export const postgresMigrations: MigrationList = [
  { name: "0001-initial", class: M0001Initial },
  { name: "0002-groups", class: M0002Groups },
  { name: "0003-blueprints", class: M0003Blueprints },
  { name: "0004-thumbnails", class: M0004Thumbnails },
  { name: "0005-sources", class: M0005Sources },
  { name: "0006-blueprint-sources", class: M0006BlueprintSources },
  { name: "0007-run-subjects", class: M0007RunSubjects },
  { name: "0008-migration-records", class: M0008MigrationRecords },
  { name: "0009-waiting-runs", class: M0009WaitingRuns },
  { name: "0010-taken-over-ranges", class: M0010TakenOverRanges },
  { name: "0011-range-id-keys", class: M0011RangeIdKeys },
  { name: "0012-foreign-addresses", class: M0012ForeignAddresses },
  { name: "0013-audit-indexes", class: M0013AuditIndexes },
  { name: "0014-machine-logins", class: M0014MachineLogins },
  { name: "0015-machine-systems", class: M0015MachineSystems },
  { name: "0016-deployed-configs", class: M0016DeployedConfigs },
  { name: "0017-sealing-key", class: M0017SealingKey },
  { name: "0018-missing-machines", class: M0018MissingMachines },
]
