import { sealingKeyOf, type UserId } from "@rangewright/domain"
import { SealBroken } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  credentialHasher,
  cryptoLayer,
  firstHashKey,
  keyId,
  newKey,
  openHashKey,
  sealHashKey,
  secretStore,
  tokenSigner,
} from "@rangewright/adapter-crypto"

const key = newKey()

describe("hashes of API keys", () => {
  const hasher = credentialHasher(firstHashKey(key))

  it("verify the key they were made of and no other text", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        expect(hasher.verify(a, hasher.hash(a))).toBe(true)
        if (a !== b) expect(hasher.verify(b, hasher.hash(a))).toBe(false)
      }),
    )
  })

  it("are the same the first time, again, and after thousands of others", () => {
    const texts = Array.from({ length: 2500 }, (_, i) => `AB.${i}`)
    const fresh = texts.map((text) => credentialHasher(firstHashKey(key)).hash(text))
    expect(texts.map(hasher.hash)).toEqual(fresh)
    expect(texts.map(hasher.hash)).toEqual(fresh)
    expect(hasher.hash("AB.0")).toBe(hasher.hash("AB.0"))
  })

  it("are worth nothing under another installation's key", () => {
    expect(credentialHasher(firstHashKey(newKey())).verify("AB.x", hasher.hash("AB.x"))).toBe(false)
  })

  it.each(["", "zz", "0".repeat(63), "g".repeat(64), "$2a$04$abc"])("refuse a damaged stored hash (%j)", (stored) => {
    expect(hasher.verify("AB.x", stored)).toBe(false)
  })

  it("compare texts of any length", () => {
    expect(hasher.equal("one", "one")).toBe(true)
    expect(hasher.equal("one", "one more")).toBe(false)
  })

  it("make random text of exactly the asked length and alphabet", () => {
    expect(hasher.randomText(40)).toMatch(/^[A-Za-z0-9]{40}$/u)
    expect(hasher.randomText(15, "ab")).toMatch(/^[ab]{15}$/u)
    expect(new Set(Array.from({ length: 50 }, () => hasher.randomText(20))).size).toBe(50)
  })
})

describe("sealed secrets", () => {
  const store = secretStore(key)
  const prefix = `v2.${keyId(key)}.`
  const open = (sealed: string, context: string) => Effect.runSync(Effect.result(store.open(sealed, context)))

  it("open to what was sealed, in the place they were sealed for only", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string(), fc.string(), (plain, context, other) => {
        const sealed = store.seal(plain, context)
        expect(open(sealed, context)).toMatchObject({ _tag: "Success", success: Buffer.from(plain, "utf8").toString("utf8") })
        if (other !== context) expect(open(sealed, other)._tag).toBe("Failure")
      }),
    )
  })

  it("never look alike, and do not show the secret", () => {
    const sealed = store.seal("hunter2-hunter2", "user AB")
    expect(sealed).toMatch(/^v2\.[\w-]{8}\.[\w-]+$/u)
    expect(sealingKeyOf(sealed)).toBe(keyId(key))
    expect(sealed).not.toBe(store.seal("hunter2-hunter2", "user AB"))
    expect(Buffer.from(sealed.slice(prefix.length), "base64url").includes("hunter2")).toBe(false)
  })

  it("open also when they were sealed before they named their key", () => {
    const older = { bytes: Buffer.alloc(32, 7) }
    expect(Effect.runSync(secretStore(older).open("v1.CQkJCQkJCQkJCQkJcSm0q-TGVE7JtIdyw84Gz6MVV6uiBNo", "password of AB"))).toBe(
      "hunter2",
    )
    expect(
      Effect.runSync(Effect.flip(store.open("v1.CQkJCQkJCQkJCQkJcSm0q-TGVE7JtIdyw84Gz6MVV6uiBNo", "password of AB"))),
    ).toBeInstanceOf(SealBroken)
  })

  it("cannot be opened after any change, nor with another key", () => {
    const sealed = store.seal("secret", "user AB")
    const bytes = Buffer.from(sealed.slice(prefix.length), "base64url")
    for (let i = 0; i < bytes.length; i++) {
      const changed = Buffer.from(bytes)
      changed[i] = (changed[i] ?? 0) ^ 1
      expect(open(`${prefix}${changed.toString("base64url")}`, "user AB")._tag).toBe("Failure")
    }
    for (const broken of ["", "v1.", "v2.abc", "v1.AAAA", prefix, `${prefix}AAAA`, `v3${sealed.slice(2)}`, sealed.slice(0, -4)]) {
      expect(open(broken, "user AB")).toMatchObject({ _tag: "Failure", failure: { _tag: "SealBroken" } })
    }
    const fault = Effect.runSync(Effect.flip(secretStore(newKey()).open(sealed, "user AB")))
    expect(fault).toBeInstanceOf(SealBroken)
    expect(fault.message).toContain("user AB")
  })
})

describe("what API keys are hashed with", () => {
  it("opens with the key that sealed it, and with no other", () => {
    const hashKey = firstHashKey(key)
    const sealed = sealHashKey(key, hashKey)
    expect(Effect.runSync(openHashKey(key, sealed))).toEqual(hashKey)
    expect(Effect.runSync(Effect.flip(openHashKey(newKey(), sealed)))).toBeInstanceOf(SealBroken)
  })

  it("is the same for a key at any time, because stored hashes were made with it", () => {
    const hasher = credentialHasher(firstHashKey({ bytes: Buffer.alloc(32, 1) }))
    expect(hasher.hash("AB.x")).toBe("700ad436e13fa9523b093a11c5a83fdc7c79dfae4c5139f2a7b02fc2be282126")
  })
})

it("an installation's key is all of its 32 bytes: nothing is made from a shorter one, such as a variable that is not set", () => {
  for (const bytes of [new Uint8Array(0), Buffer.from("secret"), new Uint8Array(33)]) {
    const words = `A master key has 32 bytes, but this one has ${bytes.length}`
    expect(() => cryptoLayer({ bytes })).toThrow(words)
    expect(() => secretStore({ bytes })).toThrow(words)
  }
})

describe("tokens", () => {
  const signer = tokenSigner(key)
  const subject = { userId: "AB" as UserId, recordId: "abcdefghij12345", tokenKey: "own-key" }
  const now = new Date("2026-01-02T03:04:05Z")
  const later = (days: number) => new Date(now.getTime() + days * 86_400_000)
  const verify = (token: string, tokenKey: string, at: Date) => Effect.runPromise(signer.verify(token, tokenKey, "auth", at))
  const claims = (token: string) => JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as object

  it("carry the claims clients read and hold for seven days", async () => {
    const token = await Effect.runPromise(signer.sign(subject, "auth", now))
    expect(claims(token)).toEqual({
      id: subject.recordId,
      type: "auth",
      collectionId: "_pb_users_auth_",
      refreshable: true,
      exp: now.getTime() / 1000 + 604_800,
    })
    expect(signer.subject(token)).toBe(subject.recordId)
    expect(await verify(token, "own-key", later(6.9))).toBe(true)
    expect(await verify(token, "own-key", later(7.1))).toBe(false)
    // clocks are not exact, but this one was set back since
    expect(await verify(token, "own-key", later(-0.03))).toBe(true)
    expect(await verify(token, "own-key", later(-0.1))).toBe(false)
  })

  it("end when the user's own key or the service's changes", async () => {
    const token = await Effect.runPromise(signer.sign(subject, "auth", now))
    expect(await verify(token, "new-key", now)).toBe(false)
    expect(await Effect.runPromise(tokenSigner(newKey()).verify(token, "own-key", "auth", now))).toBe(false)
  })

  it("of one use are none of another", async () => {
    const [auth, invite] = [
      await Effect.runPromise(signer.sign(subject, "auth", now)),
      await Effect.runPromise(signer.sign(subject, "invite", now)),
    ]
    expect(await verify(invite, "own-key", now)).toBe(false)
    expect(await Effect.runPromise(signer.verify(auth, "own-key", "invite", now))).toBe(false)
    expect(await Effect.runPromise(signer.verify(invite, "own-key", "invite", now))).toBe(true)
  })

  it("are refused when unsigned, altered or of another kind", async () => {
    const token = await Effect.runPromise(signer.sign(subject, "auth", now))
    const [, payload = "", signature = ""] = token.split(".")
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url")
    const unsigned = `${encode({ alg: "none", typ: "JWT" })}.${payload}.`
    const altered = `${token.split(".")[0]}.${encode({ ...claims(token), id: "zzzzzzzzzzzzzzz" })}.${signature}`
    expect(await verify(unsigned, "own-key", now)).toBe(false)
    expect(await verify(altered, "own-key", now)).toBe(false)
    expect(await verify("not a token", "own-key", now)).toBe(false)
    expect(signer.subject("not a token")).toBeUndefined()
    expect(signer.subject(`${encode({ alg: "HS256" })}.${encode({ id: "../etc" })}.x`)).toBeUndefined()
    expect(signer.subject("a".repeat(10_000))).toBeUndefined()
  })
})
