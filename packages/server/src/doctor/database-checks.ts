import { Ranges, StorageFault } from "@rangewright/ports"
import { type Finding, fail, ok } from "./finding.ts"
import type { InStore } from "./inspect.ts"

/** Whether the service starts on its database. Changes nothing in it. */
export const checkDatabase = (inStore: InStore): Promise<Finding> =>
  inStore(Ranges.use((ranges) => ranges.list())).then(
    () => ok("database", "it can be read"),
    (fault: Error) =>
      fault instanceof StorageFault && fault.facts.older === true
        ? ok("database", "it is of an older version, and the service updates it when it starts")
        : fail(
            "database",
            fault instanceof StorageFault ? fault.facts.because : fault.message,
            "The service does not start while its database cannot be opened.",
          ),
  )
