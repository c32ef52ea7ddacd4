import { memoryStorageLayer } from "@rangewright/adapter-memory"
import { storageLayer } from "@rangewright/adapter-storage"
import * as Layer from "effect/Layer"
import type { ServiceOptions } from "../../packages/adapter-http/test/support.ts"
import { emptyDatabases } from "../support/empty-databases.ts"

/** Databases of SQLite for services. */
export const sqliteDatabases = async () => {
  const databases = await emptyDatabases()
  return {
    /** An empty one: its file, and the storage over it. What an older installation left is not in a database. */
    next: async (): Promise<{ readonly file: string; readonly storage: NonNullable<ServiceOptions["storage"]> }> => {
      const file = await databases.next()
      return { file, storage: (store) => Layer.merge(memoryStorageLayer(store), storageLayer({ file })) }
    },
    remove: databases.remove,
  }
}
