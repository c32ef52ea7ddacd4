import { memoryStorageLayer } from "@rangewright/adapter-memory"
import { storageLayer } from "@rangewright/adapter-storage"
import * as Layer from "effect/Layer"
import type { ServiceOptions } from "../../packages/adapter-http/test/support.ts"
import { emptyDatabases } from "../support/empty-databases.ts"
import { type Seeded, seedService } from "./service.ts"

export interface SqliteDatabase {
  readonly file: string
  readonly storage: NonNullable<ServiceOptions["storage"]>
  readonly seeded: Seeded
}

/** The storage over a database. What an older installation left is not in a database. */
const storageOver =
  (file: string): SqliteDatabase["storage"] =>
  (store) =>
    Layer.merge(memoryStorageLayer(store), storageLayer({ file }))

/** Databases of SQLite for services. */
export const sqliteDatabases = async () => {
  const databases = await emptyDatabases()
  const first = await databases.next()
  const seeded = await seedService({ storage: storageOver(first) })
  return {
    /** One that was seeded, and the storage over it. */
    next: async (): Promise<SqliteDatabase> => {
      const file = await databases.next(first)
      return { file, storage: storageOver(file), seeded }
    },
    remove: databases.remove,
  }
}
