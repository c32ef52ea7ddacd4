import { type Database, holdName } from "@rangewright/adapter-storage"
import type { StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { randomBytes } from "node:crypto"

/**
 * The name under which a service holds leases: the given one, which it had before a restart, so that it continues its runs at once. If
 * another living service on the database uses that name, because one data folder is a copy of the other, a new one: otherwise each would
 * take the other's runs for its own and continue them while the other works on them.
 */
export const ownerNamed = (name: string): Effect.Effect<string, StorageFault, Database | Scope.Scope> =>
  Effect.gen(function* () {
    if (yield* holdName(name)) return name
    yield* Effect.logWarning(
      `another service on this database has the same name, ${name}: the data folder of one is a copy of the other's. This one uses another name until its next start. Delete the file instance in one of the two folders and restart that service.`,
    )
    return `${name}-${randomBytes(4).toString("hex")}`
  })
