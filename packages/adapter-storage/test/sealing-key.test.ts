import { join } from "node:path"
import { Conflict, type RangeId, type RecordId, sealedText, type SourceId, type UserId, type Vmid } from "@rangewright/domain"
import { Machines, type NewSource, Sources, Users, VpnRecords } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { describe, expect, it, onTestFinished } from "vitest"
import { adoptSealingKey, Database, hasUsers, sealAnew, sealedTexts, sealingKey, storageLayer } from "../src/index.ts"
import { aliceWithLab, createDatabase, newUser, temporaryFolder } from "./support.ts"

const alice = "alice" as UserId
const lab = "LAB" as RangeId
const one = { keyId: "keyONE_1", sealedHashKey: "hash key by one", sealedRootKey: undefined }
const two = { keyId: "keyTWO-2", sealedHashKey: "hash key by two", sealedRootKey: "root by two" }
const by = ({ keyId }: { readonly keyId: string }, text: string): string => sealedText(keyId, text)

const source = (id: string, access: string): NewSource => ({
  id: id as SourceId,
  recordId: id.padEnd(15, "0") as RecordId,
  owner: alice,
  type: "git",
  url: "https://git.example/x.git",
  ref: "",
  path: "",
  access,
  name: id,
  schedule: undefined,
  nextSyncAt: undefined,
  createdAt: new Date(0),
})

/** Writes a text at every place that holds sealed ones; tells what became of each write. */
const writeEverywhere = (text: string) =>
  Effect.gen(function* () {
    const users = yield* Users
    const sources = yield* Sources
    const machines = yield* Machines
    const vpn = yield* VpnRecords
    const id = `s${text.length}`

    const writes: readonly Effect.Effect<unknown, Error>[] = [
      users.create({ ...newUser(`u${id}`), secrets: { apiKeyHash: undefined, sealedPassword: text, tokenKey: "" } }),
      users.setSecrets(alice, { sealedPassword: text }),
      sources.create(source(id, text)),
      sources.change("s".padEnd(15, "0") as RecordId, { access: text }),
      machines.keepLogin(lab, 100 as Vmid, { current: text, pending: undefined }),
      machines.keepLogin(lab, 101 as Vmid, { current: undefined, pending: text }),
      vpn.giveKey(alice, { publicKey: id, sealed: text }),
      vpn.replaceKey(alice, { publicKey: id, sealed: text }),
    ]
    return yield* Effect.forEach(writes, (write) => Effect.map(Effect.exit(write), String))
  })

const server = process.env["RANGEWRIGHT_TEST_POSTGRES"]

describe.each(["sqlite", "postgresql"] as const)("the key of a database of %s", (engine) => {
  const skip = engine === "postgresql" && server === undefined
  const options = async () => {
    if (engine === "sqlite") return { file: join(await temporaryFolder(), "data.db") }
    const { url, drop } = await createDatabase(server ?? "")
    onTestFinished(drop)
    return { databaseUrl: url }
  }

  it.skipIf(skip)("is the first that was adopted", async () => {
    await Effect.runPromise(
      Effect.gen(function* () {
        expect(yield* sealingKey).toBeUndefined()
        expect(yield* hasUsers).toBe(false)
        yield* Effect.all([adoptSealingKey(one), adoptSealingKey(one)], { concurrency: "unbounded" })
        yield* adoptSealingKey(two)
        yield* aliceWithLab
        expect([yield* sealingKey, yield* hasUsers]).toEqual([one, true])
      }).pipe(Effect.provide(storageLayer(await options()))),
    )
  })

  it.skipIf(skip)("changes with every sealed text, or not at all; texts of the old one are refused from then on", async () => {
    await Effect.runPromise(
      Effect.gen(function* () {
        yield* aliceWithLab
        yield* adoptSealingKey(one)
        const users = yield* Users
        yield* users.setSecrets(alice, { sealedPassword: by(one, "password") })
        yield* (yield* Sources).create(source("s", by(one, "access")))
        yield* (yield* Machines).keepLogin(lab, 100 as Vmid, { current: by(one, "login"), pending: by(one, "next") })
        yield* (yield* VpnRecords).giveKey(alice, { publicKey: "public", sealed: by(one, "tunnel") })
        const before = yield* sealedTexts
        expect(before).toHaveLength(5)

        const turned = (text: string) => text.replace(one.keyId, two.keyId)
        const stops = sealAnew(one, two, (text) => (text.endsWith("next") ? Effect.fail("no") : Effect.succeed(turned(text))))
        expect(yield* Effect.flip(stops)).toBe("no")
        expect([yield* sealingKey, yield* sealedTexts]).toEqual([one, before])

        yield* sealAnew(one, two, (text, context) =>
          Effect.succeed(text.endsWith("next") ? null : context.startsWith("access") ? undefined : turned(text)),
        )
        expect(yield* sealingKey).toEqual(two)
        expect((yield* sealedTexts).map(({ sealed }) => sealed)).toEqual([
          by(two, "password"),
          by(one, "access"),
          by(two, "tunnel"),
          by(two, "login"),
        ])
        expect(yield* Effect.flip(sealAnew(one, two, () => Effect.undefined))).toBeInstanceOf(Conflict)
      }).pipe(Effect.provide(storageLayer(await options()))),
    )
  })

  it.skipIf(skip)("refuses what another key sealed, wherever it is written", async () => {
    await Effect.runPromise(
      Effect.gen(function* () {
        const { engine: real } = yield* Database
        expect(real).toBe(engine)
        yield* aliceWithLab
        yield* (yield* Sources).create(source("s", "v1.old"))
        yield* adoptSealingKey(two)
        for (const outcome of yield* writeEverywhere(by(one, "stale")))
          expect(outcome).toContain("its key was changed to keyTWO-2 since this service started")
        expect((yield* sealedTexts).map(({ sealed }) => sealed)).toEqual(["v1.old"])
        for (const outcome of yield* writeEverywhere(by(two, "fresh"))) expect(outcome).toContain("Success")
        expect(new Set((yield* sealedTexts).map(({ sealed }) => sealed))).toEqual(new Set([by(two, "fresh")]))
      }).pipe(Effect.provide(storageLayer(await options()))),
    )
  })
})
