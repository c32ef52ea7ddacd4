import { Ranges, StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { type Finding, fail, ok } from "./finding.ts"

/** Whether the database can be read. Changes nothing in it. */
export const checkDatabase = Effect.as(
  Ranges.use((ranges) => ranges.list()),
  ok("database", "it can be read"),
)

/** The finding about a database that was not opened. */
export const notOpened = (fault: Error): Finding =>
  fault instanceof StorageFault && fault.facts.older === true
    ? ok("database", "it is of an older version, and the service updates it when it starts")
    : fail(
        "database",
        fault instanceof StorageFault ? fault.facts.because : fault.message,
        "The service does not start while its database cannot be opened.",
      )
