import { randomUUID } from "node:crypto"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { RangeId, RecordId, UserId } from "@rangewright/domain"
import { type NewRange, type NewUser, Ranges, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { onTestFinished } from "vitest"
import { postgresOrm } from "../src/engine/postgres.ts"
import { storageLayer } from "../src/index.ts"

/** A folder that goes when the test ends. */
export const temporaryFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), "rangewright-storage-"))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

type Ports = Layer.Success<ReturnType<typeof storageLayer>>

/** Runs a program on a database file, as a process that starts, works and stops. */
export const onFile = <A, E>(file: string, program: Effect.Effect<A, E, Ports>): Promise<A> =>
  Effect.runPromise(Effect.provide(program, storageLayer({ file }), { local: true }))

const at = new Date("2026-03-01T08:00:00.000Z")

export const newUser = (id: string): NewUser => ({
  id: id as UserId,
  recordId: `user${id}`.padEnd(15, "0") as RecordId,
  name: id,
  email: `${id}@example.test`,
  isAdmin: false,
  hypervisorUsername: id,
  hypervisorRealm: "pve",
  secrets: { apiKeyHash: undefined, sealedPassword: undefined, tokenKey: "key" },
  createdAt: at,
})

export const newRange = (id: string, config = "ludus: []\n"): NewRange => ({
  id: id as RangeId,
  recordId: `range${id}`.toLowerCase().padEnd(15, "0") as RecordId,
  number: undefined,
  reservedNumbers: [],
  name: id,
  description: "",
  purpose: "",
  config,
  createdBy: "alice" as UserId,
  owners: ["alice" as UserId],
  createdAt: at,
})

/** One user who owns one range. */
export const aliceWithLab = Effect.gen(function* () {
  yield* (yield* Users).create(newUser("alice"))
  return yield* (yield* Ranges).create(newRange("LAB"))
})

export const rangeNames = Effect.gen(function* () {
  return (yield* (yield* Ranges).list()).map((range) => range.name)
})

/** A new database on a PostgreSQL server. */
export const createDatabase = async (server: string): Promise<{ readonly url: string; readonly drop: () => Promise<void> }> => {
  const name = `test_${randomUUID().replaceAll("-", "")}`
  const run = async (statement: string): Promise<void> => {
    const orm = await postgresOrm(server)
    await orm.em.getConnection().execute(statement)
    await orm.close()
  }
  await run(`create database ${name}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => run(`drop database ${name} with (force)`) }
}
