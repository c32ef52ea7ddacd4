import { storageLayer } from "@rangewright/adapter-storage"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { copyFile, rm } from "node:fs/promises"
import { join } from "node:path"
import { folderInMemory } from "./folder-in-memory.ts"

/** Empty SQLite databases in a folder of their own; migrating one is done once. */
export const emptyDatabases = async () => {
  const folder = await folderInMemory()
  const empty = join(folder, "empty.db")
  await Effect.runPromise(Effect.scoped(Layer.build(storageLayer({ file: empty }))))
  let count = 0
  return {
    /** The file of an unused one, or of a copy of one that nobody has open. */
    next: async (of = empty): Promise<string> => {
      const file = join(folder, `${count++}.db`)
      await copyFile(of, file)
      return file
    },
    remove: () => rm(folder, { recursive: true }),
  }
}
