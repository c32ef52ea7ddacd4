import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { SealBroken } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { describe, expect, it, onTestFinished } from "vitest"
import {
  bearsMark,
  KeyUnusable,
  markOf,
  newKey,
  openWithPassphrase,
  passphraseFrom,
  passphraseIn,
  sealWithPassphrase,
} from "@rangewright/adapter-crypto"

const { runPromise: run } = Effect
const words = "correct horse battery staple"

describe("a text sealed with a passphrase", () => {
  it("opens with it alone, each time sealed anew", { timeout: 60_000 }, async () => {
    const [first, second] = [await run(sealWithPassphrase(words, "a key")), await run(sealWithPassphrase(words, "a key"))]
    expect(first).not.toBe(second)
    expect(await run(openWithPassphrase(words, first, "it"))).toBe("a key")
    expect(await run(Effect.flip(openWithPassphrase(`${words}.`, first, "it")))).toBeInstanceOf(SealBroken)
    const changed = `${first.slice(0, -2)}${first.endsWith("AA") ? "BB" : "AA"}`
    for (const bad of [changed, "", "p1.", "p2.x", first.slice(0, 20)])
      expect(await run(Effect.flip(openWithPassphrase(words, bad, "it")))).toBeInstanceOf(SealBroken)
  })

  it("is the same however its letters were typed", { timeout: 60_000 }, async () => {
    const sealed = await run(sealWithPassphrase("grüße aus Köln".normalize("NFD"), "a key"))
    expect(await run(openWithPassphrase("grüße aus Köln".normalize("NFC"), sealed, "it"))).toBe("a key")
  })
})

describe("a passphrase", () => {
  it("ends where its line does, and is long enough", async () => {
    expect(await run(passphraseFrom(`${words}\r\n`, "x"))).toBe(words)
    expect(await run(passphraseFrom(` ${words} \n`, "x"))).toBe(` ${words} `)
    expect(await run(Effect.flip(passphraseFrom("eleven chrs\n", "x")))).toBeInstanceOf(KeyUnusable)
  })

  it("is read from a file that nobody else may read", async () => {
    const folder = mkdtempSync(join(tmpdir(), "rangewright-passphrase-"))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, "p")
    expect((await run(Effect.flip(passphraseIn(file)))).message).toContain("no such file")
    writeFileSync(file, words, { mode: 0o640 })
    expect((await run(Effect.flip(passphraseIn(file)))).message).toContain("others on this machine may read it")
  })
})

it("a mark is of one text and one key", () => {
  const [key, other] = [newKey(), newKey()]
  const mark = markOf(key, "text")
  expect(bearsMark(key, "text", `${mark}\n`)).toBe(true)
  for (const [by, text, given] of [
    [other, "text", mark],
    [key, "text ", mark],
    [key, "text", ""],
    [key, "text", mark.slice(1)],
  ] as const)
    expect(bearsMark(by, text, given)).toBe(false)
})
