import { existsSync } from "node:fs"
import { stat } from "node:fs/promises"
import { join } from "node:path"
import { StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { expect, it } from "vitest"
import { storageLayer, type StorageOptions } from "../src/index.ts"
import { aliceWithLab, onFile, temporaryFolder } from "./support.ts"

const openingFails = (options: StorageOptions): Promise<unknown> =>
  Effect.runPromise(Effect.flip(Effect.provide(Effect.void, storageLayer(options), { local: true })))

it("makes files that only their owner can read", async () => {
  const folder = await temporaryFolder()
  const file = join(folder, "data.db")
  await onFile(
    file,
    Effect.gen(function* () {
      yield* aliceWithLab
      for (const suffix of ["", "-wal", "-shm"])
        expect((yield* Effect.promise(() => stat(`${file}${suffix}`))).mode & 0o777, `mode of ${suffix}`).toBe(0o600)
    }),
  )
})

it("says why a file cannot be opened", async () => {
  const folder = await temporaryFolder()
  const fault = await openingFails({ file: join(folder, "no", "such", "folder", "data.db") })
  expect(fault).toBeInstanceOf(StorageFault)
  expect(String(fault)).toContain("no such file or directory")
  expect(String(await openingFails({ file: folder }))).toContain("Cannot open the database")
})

it("refuses a database in memory, and makes no file of that name", async () => {
  expect(String(await openingFails({ file: ":memory:" }))).toContain("only a file is shared by its connections")
  expect(existsSync(":memory:")).toBe(false)
})

it.each(["nonsense", "mysql://lab@127.0.0.1/lab", "postgres://lab:topsecret@127.0.0.1", ""])(
  "refuses %j as the URL of a server, and says what one is",
  async (databaseUrl) => {
    const fault = await openingFails({ databaseUrl })
    expect(fault).toBeInstanceOf(StorageFault)
    expect(String(fault)).toContain("its URL is not postgres://user:password@host/database")
    expect(JSON.stringify(fault) + String(fault)).not.toContain("topsecret")
  },
)

it("says why a server cannot be reached, and never shows its password", async () => {
  const fault = await openingFails({ databaseUrl: "postgres://somebody:topsecret@127.0.0.1:1/nothing" })
  expect(fault).toBeInstanceOf(StorageFault)
  expect(String(fault)).toContain("the database server refuses connections")
  expect(JSON.stringify(fault) + String(fault)).not.toContain("topsecret")
})
