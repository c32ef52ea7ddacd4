import * as Result from "effect/Result"
import fc from "fast-check"
import { mkdtempSync, rmSync } from "node:fs"
import { chmod, readFile, stat, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { open, seal } from "../src/trust/envelope.ts"
import { createKeyFile, readKeyFile } from "../src/trust/key-file.ts"
import { newSigningKey, parsePublicKey, parseSigningKey, pemOf } from "../src/trust/keys.ts"

const index = "application/vnd.rangewright.subscription-index+json"
const license = "application/vnd.rangewright.license+json"
const key = newSigningKey()
const other = newSigningKey()

describe("a signed text", () => {
  test("opens to what it was, for who trusts the key", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const plain = text.toWellFormed()
        expect(open(seal(index, plain, key), index, [other.public, key.public])).toEqual(Result.succeed(plain))
      }),
    )
  })

  test("opens to nobody else, and not as another type", () => {
    const sealed = seal(index, "text", key)
    expect(open(sealed, index, [other.public])).toMatchObject({ failure: { reason: "untrusted" } })
    expect(open(sealed, index, [])).toMatchObject({ failure: { reason: "untrusted" } })
    expect(open(sealed, license, [key.public])).toMatchObject({ failure: { reason: "untrusted" } })
    const renamed = sealed.replace(index, license)
    expect(open(renamed, license, [key.public])).toMatchObject({ failure: { reason: "untrusted" } })
  })

  test("does not open when any bit of its text or signature was changed", () => {
    const envelope = JSON.parse(seal(index, "some text", key)) as {
      payload: string
      signatures: [{ keyid: string; sig: string }]
    }
    const flip = (base64: string, bit: number) => {
      const bytes = Buffer.from(base64, "base64")
      const at = Math.floor(bit / 8) % bytes.length
      bytes[at] = (bytes[at] ?? 0) ^ (1 << (bit % 8))
      return bytes.toString("base64")
    }
    fc.assert(
      fc.property(fc.nat({ max: 511 }), (bit) => {
        const [signature] = envelope.signatures
        const changed = [
          { ...envelope, payload: flip(envelope.payload, bit) },
          { ...envelope, signatures: [{ ...signature, sig: flip(signature.sig, bit) }] },
        ]
        for (const one of changed)
          expect(Result.isFailure(open(JSON.stringify({ ...one, payloadType: index }), index, [key.public]))).toBe(true)
      }),
    )
  })

  test("of any form whatever opens or does not, never more", () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (text) => void open(text, index, [key.public])))
    expect(open(`{"__proto__":${seal(index, "x", key)}}`, index, [key.public])).toMatchObject({ failure: { reason: "broken" } })
  })
})

describe("a key", () => {
  test("is written and read as the same key, private and public", () => {
    expect(parsePublicKey(` ${key.public.text}\n`)?.id).toBe(key.public.id)
    expect(parseSigningKey(pemOf(key))?.public.text).toBe(key.public.text)
  })

  test.each(["", "ed25519:", `${key.public.text}AAAA`, key.public.text.replace("ed25519", "rsa"), "ed25519:%%%"])(
    "is not made of %j",
    (text) => {
      expect(parsePublicKey(text)).toBeUndefined()
      expect(parseSigningKey(text)).toBeUndefined()
    },
  )
})

describe("a key file", () => {
  let folder = ""
  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "rangewright-key-"))))
  afterEach(() => rmSync(folder, { recursive: true }))

  test("is made for its owner only, and reads as the key", async () => {
    const file = join(folder, "key.pem")
    const made = await createKeyFile(file)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect((await readKeyFile(file)).public.text).toBe(made.public.text)
  })

  test("that is there is never written over, also where it is a link", async () => {
    const file = join(folder, "key.pem")
    await writeFile(file, "mine")
    await expect(createKeyFile(file)).rejects.toMatchObject({ _tag: "KeyFileUnusable", hint: expect.any(String) })
    expect(await readFile(file, "utf8")).toBe("mine")
    await symlink(join(folder, "elsewhere"), join(folder, "link"))
    await expect(createKeyFile(join(folder, "link"))).rejects.toMatchObject({ _tag: "KeyFileUnusable" })
  })

  test("that others may read is refused, saying how to fix it, and never shown", async () => {
    const file = join(folder, "key.pem")
    const made = await createKeyFile(file)
    await chmod(file, 0o644)
    const fault = await readKeyFile(file).catch((cause: Error & { hint?: string }) => cause)
    expect(fault).toMatchObject({ _tag: "KeyFileUnusable", hint: expect.stringContaining(`chmod 600 ${file}`) })
    expect(JSON.stringify(fault)).not.toContain(pemOf(made).split("\n")[1])
  })

  test("that is missing, a folder, or something else is refused", async () => {
    const file = join(folder, "key.pem")
    await expect(readKeyFile(file)).rejects.toMatchObject({ _tag: "KeyFileUnusable", hint: expect.stringContaining("keygen") })
    await expect(readKeyFile(folder)).rejects.toMatchObject({ _tag: "KeyFileUnusable" })
    await writeFile(file, "no key", { mode: 0o600 })
    await expect(readKeyFile(file)).rejects.toMatchObject({ _tag: "KeyFileUnusable" })
  })
})
