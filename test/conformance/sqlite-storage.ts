import { memoryStorageLayer } from "@rangewright/adapter-memory"
import { storageLayer } from "@rangewright/adapter-storage"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { copyFile, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { ServiceOptions } from "../../packages/adapter-http/test/support.ts"

/** Databases of SQLite for services, in a folder of their own: bringing one up to date is done once. */
export const sqliteDatabases = async () => {
  const folder = await mkdtemp(join(tmpdir(), "rangewright-conformance-"))
  const empty = join(folder, "empty.db")
  await Effect.runPromise(Effect.scoped(Layer.build(storageLayer({ file: empty }))))
  let count = 0
  return {
    /** An empty one: its file, and the storage over it. What an older installation left is not in a database. */
    next: async (): Promise<{ readonly file: string; readonly storage: NonNullable<ServiceOptions["storage"]> }> => {
      const file = join(folder, `${count++}.db`)
      await copyFile(empty, file)
      return { file, storage: (store) => Layer.merge(memoryStorageLayer(store), storageLayer({ file })) }
    },
    remove: () => rm(folder, { recursive: true }),
  }
}
