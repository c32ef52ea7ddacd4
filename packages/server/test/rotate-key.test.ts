import { sealedTexts } from "@rangewright/adapter-storage"
import {
  passwordContext,
  type RangeId,
  type RecordId,
  sealingKeyOf,
  sourceAccessContext,
  type SourceId,
  type UserId,
  type Vmid,
} from "@rangewright/domain"
import { Machines, SecretStore, Sources } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { copyFileSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { beforeEach, describe, expect, test } from "vitest"
import type { RunningService } from "../src/compose/service.ts"
import { addUser, makeFolder, newKeyText, passwordOf, statusOf } from "./support.ts"

let folder: ReturnType<typeof makeFolder>
beforeEach(() => void (folder = makeFolder()))

const uma = "UMA" as UserId
const range = "UMA" as RangeId
const recordId = "source000000000" as RecordId
const [login, next] = [100 as Vmid, 101 as Vmid]

/** Something sealed at every place that the database has for it. */
const fill = async (service: RunningService): Promise<string> => {
  const key = await addUser(service)
  await service.runtime.runPromise(
    Effect.gen(function* () {
      const { seal } = yield* SecretStore
      yield* (yield* Sources).create({
        recordId,
        id: "source" as SourceId,
        owner: uma,
        type: "git",
        url: "https://git.example/x.git",
        ref: "",
        path: "",
        access: seal("token", sourceAccessContext(recordId)),
        name: "source",
        schedule: undefined,
        nextSyncAt: undefined,
        createdAt: new Date(0),
      })
      const machines = yield* Machines
      yield* machines.keepLogin(range, login, { current: seal("now", passwordContext(range, login)) })
      yield* machines.keepLogin(range, next, { pending: seal("soon", passwordContext(range, next)) })
    }),
  )
  return key
}

/** What everything sealed opens to. */
const opened = (service: RunningService) =>
  service.runtime.runPromise(
    Effect.gen(function* () {
      const { open } = yield* SecretStore
      return yield* Effect.forEach(yield* sealedTexts, ({ sealed, context }) => open(sealed, context))
    }),
  )

/** The keys of everything in the database that looks sealed, wherever it is. */
const sealingKeys = (file = folder.path("rangewright.db")): ReadonlySet<string | undefined> => {
  const database = new DatabaseSync(file, { readOnly: true })
  const tables = database.prepare("select name from sqlite_master where type = 'table'").all()
  const values = tables.flatMap(({ name }) =>
    database
      .prepare(`select * from "${String(name)}"`)
      .all()
      .flatMap(Object.values),
  )
  database.close()
  return new Set(
    values
      .map(String)
      .filter((text) => /^v\d+\./u.test(text))
      .map(sealingKeyOf),
  )
}

const rotate = async (...args: readonly string[]) => folder.command(["rotate-key", ...args]).ended
const filled = async (more: Record<string, string> = {}) => {
  const service = await folder.start(more)
  const key = await fill(service)
  const secrets = await opened(service)
  expect(secrets).toHaveLength(5)
  await folder.stop()
  return { key, secrets }
}
/** A start finds all that was there, with the same keys of the API. */
const expectWhole = async ({ key, secrets }: Awaited<ReturnType<typeof filled>>, more: Record<string, string> = {}) => {
  const service = await folder.start(more)
  expect([await statusOf(service), await statusOf(service, key)]).toEqual([200, 200])
  expect(await opened(service)).toEqual(secrets)
  await folder.stop()
}

describe("a new key", () => {
  test("seals everything; API keys stay valid, and the old key stays under its id", async () => {
    const before = await filled()
    const [former] = sealingKeys()
    const formerText = folder.text("secret-key")
    const rootKey = folder.text("root-api-key")
    const said = await rotate()
    expect(said).toMatchObject({ status: 0, output: expect.stringMatching(/5 secrets encrypted with the new key/u) })
    expect(sealingKeys().size).toBe(1)
    expect(sealingKeys()).not.toContain(former)
    expect(folder.text("secret-key")).not.toBe(formerText)
    expect(folder.text(`secret-key.${former ?? ""}`)).toBe(formerText)
    expect(existsSync(folder.path("secret-key.next"))).toBe(false)
    await expectWhole(before)
    expect(folder.text("root-api-key")).toBe(rootKey)
    // the old one is worth nothing now
    writeFileSync(folder.path("secret-key"), formerText)
    expect(await folder.tried()).toContain("it does not belong to the database")
  })

  test("is refused while a service runs on the folder, and where no service has been", async () => {
    await folder.start()
    const key = folder.text("secret-key")
    expect(await rotate()).toMatchObject({ status: 1, output: expect.stringContaining("Stop it first.") })
    expect([folder.text("secret-key"), existsSync(folder.path("secret-key.next"))]).toEqual([key, false])
    const elsewhere = await folder.command(["rotate-key"], { RANGEWRIGHT_DATA: folder.path("nothing") }).ended
    expect(elsewhere).toMatchObject({ status: 1, output: expect.stringContaining("no service has used it") })
  })

  test("replaces a configured one from a file, even if repeated", async () => {
    const old = { RANGEWRIGHT_SECRET_KEY: newKeyText() }
    const before = await filled(old)
    const file = folder.path("new")
    writeFileSync(file, newKeyText(), { mode: 0o600 })
    const withoutFile = await folder.command(["rotate-key"], old).ended
    expect(withoutFile).toMatchObject({ status: 1, output: expect.stringContaining("comes from secret_key") })
    expect((await folder.command(["rotate-key", file], old).ended).output).toMatch(/5 secrets encrypted.*Set secret_key/su)
    expect((await folder.command(["rotate-key", file], old).ended).output).toMatch(/already.*Set secret_key/su)
    expect(await folder.tried(old)).toContain("Cannot use the key of secret_key")
    await expectWhole(before, { RANGEWRIGHT_SECRET_KEY: readFileSync(file, "utf8") })
    expect(readdirSync(folder.data).filter((name) => name.startsWith("secret-key"))).toEqual([])
  })

  test("tells how it is used", async () => {
    expect(await rotate("--help")).toMatchObject({ status: 0, output: expect.stringContaining("usage: npm start -- rotate-key") })
    expect(await rotate("a", "b")).toMatchObject({ status: 2, output: expect.stringContaining("does not accept b") })
  })

  test("killed after any change of a file, it leaves a working installation and can be run again", async () => {
    const before = await filled()
    for (const change of await folder.momentsOf(["rotate-key"])) {
      await folder.killedAfter(change, ["rotate-key"])
      await expectWhole(before)
      expect(sealingKeys().size).toBe(1)
      expect(existsSync(folder.path("secret-key.next"))).toBe(false)
    }
    expect(await rotate()).toMatchObject({ status: 0 })
    await expectWhole(before)
  }, 240_000)

  test("continues when the database had switched to it but its file was not in place yet", async () => {
    const before = await filled()
    copyFileSync(folder.path("secret-key"), folder.path("copy"))
    await rotate()
    renameSync(folder.path("secret-key"), folder.path("secret-key.next"))
    copyFileSync(folder.path("copy"), folder.path("secret-key"))
    const taken = folder.text("secret-key.next")
    await expectWhole(before)
    expect(folder.text("secret-key")).toBe(taken)
  })
})

describe("a key that is lost for good", () => {
  test("is given up, with what it sealed, only when asked for by name; the rest stays", async () => {
    const { key } = await filled()
    expect(await rotate("--lost")).toMatchObject({ status: 1, output: expect.stringContaining("opens the database") })
    rmSync(folder.path("secret-key"))
    expect(await rotate()).toMatchObject({ status: 1, output: expect.stringContaining("there is no") })
    const said = await rotate("--lost")
    expect(said).toMatchObject({ status: 0, output: expect.stringContaining("All other API keys have stopped working") })
    const service = await folder.start()
    expect([await statusOf(service), await statusOf(service, key)]).toEqual([200, 401])
    expect(await passwordOf(service)).toBeUndefined()
    expect(await opened(service)).toEqual([])
    const [copy = ""] = readdirSync(folder.data).filter((name) => name.startsWith("before-"))
    expect(sealingKeys(folder.path(copy)).size).toBe(1)
  })

  test("even if its file is truncated: no command advises to create another key, and the file stays", async () => {
    await filled()
    const cutOff = folder.text("secret-key").slice(0, 20)
    writeFileSync(folder.path("secret-key"), cutOff)
    const said = expect.stringMatching(
      /is not 32 bytes as base64 or hex\sRestore the key of this database: .* rotate-key --lost/u,
    )
    expect(await rotate()).toMatchObject({ status: 1, output: said })
    expect(await folder.tried()).toEqual(said)
    expect(await rotate("--lost")).toMatchObject({ status: 0 })
    expect(folder.text("secret-key.lost")).toBe(cutOff)
    expect(await statusOf(await folder.start())).toBe(200)
  })
})

test(
  "a backup of before the new key comes back sealed with the new one; where neither key is, it is refused",
  { timeout: 60_000 },
  async () => {
    const before = await filled()
    const copy = folder.path("copy.tar.gz")
    const restore = () => folder.command(["restore", copy, "--replace"]).ended
    expect(await folder.command(["backup", copy]).ended).toMatchObject({ status: 0 })
    await rotate()
    const current = sealingKeys()
    expect(await restore()).toMatchObject({
      status: 0,
      output: expect.stringMatching(/encrypted with the key .{8}; it is now encrypted with/u),
    })
    expect(sealingKeys()).toEqual(current)
    await expectWhole(before)
    for (const name of readdirSync(folder.data).filter((one) => one.startsWith("secret-key."))) rmSync(folder.path(name))
    expect(await restore()).toMatchObject({
      status: 1,
      output: expect.stringMatching(
        /was encrypted with the key .{8}, which is not here \(what is here: .{8}\).*--secret-key FILE/su,
      ),
    })
    expect(sealingKeys()).toEqual(current)
  },
)

test("begin-anew loses nothing: the folder's content is set aside", async () => {
  await filled()
  rmSync(folder.path("rangewright.db"))
  expect(await folder.tried()).toContain("begin-anew")
  const rootKey = folder.text("root-api-key")
  const certificate = folder.text("certificate.pem")
  expect(await folder.command(["begin-anew"]).ended).toMatchObject({ status: 0, output: expect.stringContaining("set-aside-") })
  const [aside = ""] = readdirSync(folder.data).filter((name) => name.startsWith("set-aside-"))
  expect(folder.text(`${aside}/root-api-key`)).toBe(rootKey)
  const service = await folder.start()
  expect([await statusOf(service), await statusOf(service, rootKey)]).toEqual([200, 401])
  expect(folder.text("certificate.pem")).toBe(certificate)
})
