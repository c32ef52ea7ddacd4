import { chmodSync, copyFileSync, existsSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { beforeEach, describe, expect, test } from "vitest"
import { loadConfig } from "../src/config/config.ts"
import { checkDataFolder } from "../src/doctor/local-checks.ts"
import { addUser, makeFolder, newKeyText, passwordOf, statusOf } from "./support.ts"

let folder: ReturnType<typeof makeFolder>
beforeEach(() => void (folder = makeFolder()))

/** What must not change by a start that is refused. */
const held = () => {
  const database = new DatabaseSync(folder.path("rangewright.db"), { readOnly: true })
  const rows = ["users", "sealing_key"].map((table) => database.prepare(`select * from ${table}`).all())
  database.close()
  const files = ["secret-key", "root-api-key", "instance"].map((name) => existsSync(folder.path(name)) && folder.text(name))
  return { rows, files }
}

const inDatabase = (...statements: readonly string[]): void => {
  const database = new DatabaseSync(folder.path("rangewright.db"))
  for (const statement of statements) database.exec(statement)
  database.close()
}
/** As a version left it that did not write down which key it used. */
const makeOlder = (): void => {
  inDatabase("delete from sealing_key", "update users set sealed_password = 'v1.' || substr(sealed_password, 13)")
  rmSync(folder.path("has-database"))
}

describe("a start with the wrong key", () => {
  const refusals: readonly (readonly [string, () => Record<string, string>, RegExp])[] = [
    [
      "the key file is missing",
      () => (rmSync(folder.path("secret-key")), {}),
      /there is no .*secret-key.*Restore the key.*rotate-key --lost/su,
    ],
    [
      "the key file holds another key",
      () => (writeFileSync(folder.path("secret-key"), newKeyText()), {}),
      /Cannot use the key in .*secret-key: it does not belong to the database: its id is .{8}, and the database was encrypted with .{8}/u,
    ],
    ["another key is configured", () => ({ RANGEWRIGHT_SECRET_KEY: newKeyText() }), /Cannot use the key of secret_key/u],
  ]
  test.each(refusals)("is refused when %s, and writes nothing", async (_what, spoil, reason) => {
    await addUser(await folder.start())
    await folder.stop()
    copyFileSync(folder.path("secret-key"), folder.path("copy"))
    const more = spoil()
    const before = held()
    expect(await folder.tried(more)).toMatch(reason)
    expect(held()).toEqual(before)
    copyFileSync(folder.path("copy"), folder.path("secret-key"))
    chmodSync(folder.path("secret-key"), 0o600)
    expect(await statusOf(await folder.start())).toBe(200)
  })

  test("the configured key may be that of the file", async () => {
    await folder.start()
    await folder.stop()
    const RANGEWRIGHT_SECRET_KEY = folder.text("secret-key")
    rmSync(folder.path("secret-key"))
    expect(await statusOf(await folder.start({ RANGEWRIGHT_SECRET_KEY }))).toBe(200)
    expect(existsSync(folder.path("secret-key"))).toBe(false)
  })
})

describe("a database of a version that did not record its key", () => {
  test("takes the key that opens its secrets, and keeps it", async () => {
    const key = await addUser(await folder.start())
    await folder.stop()
    makeOlder()
    const again = await folder.start()
    expect([await statusOf(again, key), await statusOf(again)]).toEqual([200, 200])
    expect(await passwordOf(again)).toMatch(/^.{15}$/u)
    await folder.stop()
    writeFileSync(folder.path("secret-key"), newKeyText())
    expect(await folder.tried()).toContain("the database was encrypted with")
  })

  test.each([
    ["that opens none of its secrets", true],
    ["that ROOT's key was not hashed with", false],
  ])("refuses a key %s", async (_what, withUser) => {
    const service = await folder.start()
    if (withUser) await addUser(service)
    await folder.stop()
    makeOlder()
    if (withUser) rmSync(folder.path("root-api-key"))
    const right = folder.text("secret-key")
    writeFileSync(folder.path("secret-key"), newKeyText())
    const before = held()
    expect(await folder.tried()).toContain("it does not belong to the database")
    rmSync(folder.path("secret-key"))
    expect(await folder.tried()).toContain("there is no")
    writeFileSync(folder.path("secret-key"), right, { mode: 0o600 })
    expect(held().rows).toEqual(before.rows)
    expect(await folder.tried()).toBe("started")
  })
})

describe("a used data folder", () => {
  const losses: readonly (readonly [string, () => void, string])[] = [
    ["is gone", () => undefined, "there is no such file"],
    ["is an empty file", () => writeFileSync(folder.path("rangewright.db"), ""), "the file is empty"],
    ["is something else", () => writeFileSync(folder.path("rangewright.db"), "Dear grandmother"), "the file is not a database"],
  ]
  test.each(losses)("is refused when its database %s, and no new one is made", async (_what, leave, because) => {
    await folder.start()
    await folder.stop()
    const files = () => readdirSync(folder.data).filter((name) => !name.startsWith("rangewright.db"))
    const [before, key] = [files(), folder.text("root-api-key")]
    for (const name of readdirSync(folder.data)) if (name.startsWith("rangewright.db")) rmSync(folder.path(name))
    leave()
    const bytes = () => readdirSync(folder.data).filter((name) => name.startsWith("rangewright.db"))
    const left = bytes()
    expect(await folder.tried()).toMatch(
      new RegExp(`rangewright.db: ${because}, but the data folder .* was in use.*begin-anew`, "u"),
    )
    expect([files(), bytes(), folder.text("root-api-key")]).toEqual([before, left, key])
    const config = loadConfig({ file: undefined, environment: { RANGEWRIGHT_DATA: folder.data } })
    expect(checkDataFolder(config).filter(({ level }) => level === "fail")).toMatchObject([{ what: "database" }])
  })

  test.each([
    ["marked", () => undefined],
    ["of a version that made no mark", () => rmSync(folder.path("has-database"))],
  ])("(%s) is refused when another database lies in it that holds nothing", async (_what, spoil) => {
    await folder.start()
    await folder.stop()
    spoil()
    inDatabase("delete from users", "delete from sealing_key")
    const before = held()
    expect(await folder.tried()).toMatch(/rangewright.db: it holds nothing, but the data folder .* was in use/u)
    expect(held()).toEqual(before)
  })

  test("may contain only the key, so that a lost host can be recovered", async () => {
    const key = newKeyText()
    writeFileSync(folder.path("secret-key"), key, { mode: 0o600 })
    expect(await folder.tried()).toBe("started")
    expect(folder.text("secret-key")).toBe(key)
  })
})
