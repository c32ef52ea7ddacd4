import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import type { BlueprintId, RecordId, UserId } from "@rangewright/domain"
import { Blueprints } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { KyselyPlugin } from "kysely"
import { expect, it } from "vitest"
import { Database } from "../src/engine/database.ts"
import { storageLayer } from "../src/index.ts"
import { copyRows, tablesInOrder } from "../src/maintenance/rows.ts"
import { aliceWithLab, onFile, temporaryFolder } from "./support.ts"

const newBlueprint = (n: number) => ({
  id: `b${n}` as BlueprintId,
  recordId: `blueprint${String(n).padStart(6, "0")}` as RecordId,
  owner: "alice" as UserId,
  name: "",
  description: "",
  version: "1.0.0",
  tags: [],
  minVersion: "",
  config: "",
  requirements: undefined,
  bundle: undefined,
  thumbnail: { name: "picture.png", type: "image/png", bytes: new Uint8Array([n]) } as const,
  createdAt: new Date(0),
})

/** Counts the pictures that each statement carries, and each answer. */
const counting = (counts: number[]): KyselyPlugin => {
  const ofPictures = new WeakSet<object>()
  return {
    transformQuery: ({ node, queryId }) => {
      if (JSON.stringify(node).includes("blueprint_thumbnails")) ofPictures.add(queryId)
      if (node.kind === "InsertQueryNode" && ofPictures.has(queryId) && node.values?.kind === "ValuesNode")
        counts.push((node.values as unknown as { readonly values: readonly unknown[] }).values.length)
      return node
    },
    transformResult: async ({ result, queryId }) => {
      if (ofPictures.has(queryId)) counts.push(result.rows.length)
      return result
    },
  }
}

it("copies a few pictures at a time: each may be as large as ten thousand other rows", async () => {
  const folder = await temporaryFolder()
  const [source, target] = [join(folder, "source.db"), join(folder, "target.db")]
  const all = 25
  await onFile(
    source,
    Effect.gen(function* () {
      yield* aliceWithLab
      const blueprints = yield* Blueprints
      for (let n = 0; n < all; n++) yield* blueprints.create(newBlueprint(n))
    }),
  )
  const counts: number[] = []
  await onFile(
    source,
    Effect.gen(function* () {
      const from = yield* (yield* Database).read("copy", (db) => Promise.resolve(db.withPlugin(counting(counts))))
      const into = Database.use((database) =>
        database.write("copy", (tx) => tx((to) => copyRows(from, to.withPlugin(counting(counts)), tablesInOrder(source)))),
      )
      yield* Effect.provide(into, storageLayer({ file: target }), { local: true })
    }),
  )
  expect(Math.max(...counts)).toBeLessThanOrEqual(10)
  const copied = new DatabaseSync(target, { readOnly: true }).prepare("select content from blueprint_thumbnails").all()
  expect(copied.map(({ content }) => (content as Uint8Array)[0]).toSorted((a, b) => Number(a) - Number(b))).toEqual(
    Array.from({ length: all }, (_, n) => n),
  )
})
