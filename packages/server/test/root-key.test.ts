import { cryptoLayer, keyId, secretStore } from "@rangewright/adapter-crypto"
import { adoptSealingKey, storageLayer } from "@rangewright/adapter-storage"
import { rootUserId } from "@rangewright/domain"
import { CredentialHasher, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { randomBytes } from "node:crypto"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { ensureRootKey, keyInFile } from "../src/compose/root-key.ts"

let folder: string
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "root-key-"))))
afterEach(() => rmSync(folder, { recursive: true }))

const read = (text?: string): Promise<string> => {
  const path = join(folder, "key")
  if (text !== undefined) writeFileSync(path, text)
  return Effect.runPromise(keyInFile(path))
}

describe("a key for ROOT in a file", () => {
  test.each([`ROOT.${"k".repeat(40)}`, "ROOT._7Gx2T5kTUSD%uTWZ*lFi=Os6MpFR^OrG+yT94Xt"])("may be %s", async (key) => {
    expect(await read(`${key}\n`)).toBe(key)
  })

  test.each([
    ["nothing", ""],
    ["too short", "ROOT.short"],
    ["another user's", `JD.${"k".repeat(40)}`],
    ["with a second dot", `ROOT.${"k".repeat(20)}.${"k".repeat(19)}`],
    ["some other text", `ROOT.${"secret-word ".repeat(20)}`],
  ])("is refused when it is %s, and the refusal does not show it", async (_what, text) => {
    const refusal = await read(text).catch((error: unknown) => String(error))
    expect(refusal).toContain(`Cannot give ROOT the key in ${join(folder, "key")}`)
    expect(refusal).not.toContain("secret-word")
  })

  test("is refused when there is no such file, or it is a folder", async () => {
    await expect(read()).rejects.toThrow("Cannot give ROOT the key")
    await expect(Effect.runPromise(keyInFile(folder))).rejects.toThrow(`Cannot give ROOT the key in ${folder}`)
  })
})

test("instances that start at once on an empty database have the same key of ROOT in their files, which signs in", async () => {
  const master = { bytes: randomBytes(32) }
  const sealed = secretStore(master).seal("hash key", "test")
  const program = Effect.gen(function* () {
    const hasher = yield* CredentialHasher
    yield* adoptSealingKey({ keyId: keyId(master), sealedHashKey: sealed, sealedRootKey: undefined })
    const folders = ["one", "two", "three"].map((name) => join(folder, name))
    for (const each of folders) mkdirSync(each)
    const made = yield* Effect.all(
      folders.map((each) => ensureRootKey(each, { shared: true })),
      { concurrency: "unbounded" },
    )
    const [first = "", ...others] = folders.map((each) => readFileSync(join(each, "root-api-key"), "utf8").trim())
    const hash = (yield* (yield* Users).forAuthentication(rootUserId))?.secrets.apiKeyHash ?? ""
    return { made, isValid: hasher.verify(first, hash), differ: others.filter((one) => one !== first) }
  })
  const layer = Layer.merge(cryptoLayer(master), storageLayer({ file: join(folder, "data.db") }))
  expect(await Effect.runPromise(Effect.provide(program, layer))).toEqual({
    made: ["made", "made", "made"],
    isValid: true,
    differ: [],
  })
})
