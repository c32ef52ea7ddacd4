import { databaseClockLayer, storageLayer } from "@rangewright/adapter-storage"
import type { Fault } from "@rangewright/domain"
import type { LegacyData } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { existsSync } from "node:fs"
import { join, resolve } from "node:path"
import { DataFolderError } from "../compose/data-folder.ts"
import type { Storage } from "../compose/assemble.ts"
import type { Config } from "../config/config.ts"

/** The file of the configured database; undefined for PostgreSQL. */
export const databaseFile = (config: Config): string | undefined =>
  config.databaseUrl === undefined ? join(resolve(config.data), "rangewright.db") : undefined

/**
 * Runs an effect on the configured database, which a service may be using at the same time; fails with the fault's message. `make`: create
 * the database if it does not exist. `look`: refuse a database of an older version instead of migrating it; `fill`: unless it is empty.
 */
export const withStore = async <A>(
  config: Config,
  effect: Effect.Effect<A, Fault, Exclude<Storage, LegacyData>>,
  { make = false, look = false, fill = false } = {},
): Promise<A> => {
  const file = databaseFile(config)
  if (file !== undefined && !make && !existsSync(file))
    throw new DataFolderError(
      `Cannot open the database: ${file} does not exist. Set data (RANGEWRIGHT_DATA) to the service's data folder.`,
    )
  const place = file === undefined ? { databaseUrl: config.databaseUrl ?? "" } : { file }
  const storage = storageLayer(place, look ? "refuse" : fill ? "fill" : "upgrade")
  return Effect.runPromise(effect.pipe(Effect.provide(Layer.provideMerge(databaseClockLayer, storage))))
}
