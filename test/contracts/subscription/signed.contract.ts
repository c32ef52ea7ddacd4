import type { SubscriptionRole } from "@rangewright/domain"
import type { SubscriptionFault, SubscriptionProvider } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { mkdir, unlink } from "node:fs/promises"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { fetchRole, list } from "./provider.contract.ts"
import { base, web } from "./support/roles-folder.ts"
import { newKey, type SignedWorld } from "./support/signed-world.ts"

const envelopeOf = async (world: SignedWorld, path: string) =>
  JSON.parse((await world.read(path)).toString("utf8")) as {
    payloadType: string
    payload: string
    signatures: { keyid: string; sig: string }[]
  }

const webIn = (roles: readonly SubscriptionRole[]): SubscriptionRole => {
  const found = roles.find(({ role }) => role === web.role)
  if (found === undefined) throw new Error("the registry does not offer the role")
  return found
}

/** The additional tests that every provider of a signed registry passes: nothing wrong gets through. */
export const signedContract = (name: string, make: () => Promise<SignedWorld>): void => {
  const published = async () => {
    const world = await make()
    await world.publish([web, base])
    const role = webIn(await world.run(list))
    return { world, files: { statement: `packages/${role.packageId}.json`, tar: `packages/${role.packageId}.tar.gz` } }
  }
  const reasonOf = async (world: SignedWorld, wanted: Effect.Effect<unknown, SubscriptionFault, SubscriptionProvider> = list) => {
    const { facts, message } = await world.run(Effect.flip(wanted))
    return { reason: facts.reason, message }
  }

  describe(`${name}: an index`, () => {
    test("that another key signed is not trusted, and the trusted keys are named", async () => {
      const world = await make()
      await world.pack([web], { key: await newKey(join(world.folder, "..")) })
      const { reason, message } = await reasonOf(world)
      expect([reason, message]).toEqual(["untrusted", expect.stringContaining(world.key.public.id)])
    })

    test.each([
      ["one byte of its text is other", (e: { payload: string }) => (e.payload = `A${e.payload.slice(1)}`)],
      ["it has no signature", (e: { signatures: unknown[] }) => e.signatures.splice(0)],
      [
        "its signature is another's",
        (e: { signatures: { sig: string }[] }) => e.signatures.forEach((s) => (s.sig = btoa("x".repeat(64)))),
      ],
    ])("is not trusted if %s", async (_, change) => {
      const { world } = await published()
      const envelope = await envelopeOf(world, "index.json")
      change(envelope as never)
      await world.write("index.json", JSON.stringify(envelope))
      expect((await reasonOf(world)).reason).toBe("untrusted")
    })

    test("is not accepted if it was signed as something else", async () => {
      const { world, files } = await published()
      await world.write("index.json", await world.read(files.statement))
      expect((await reasonOf(world)).reason).toBe("untrusted")
    })

    test("may have several signatures, one of them trusted", async () => {
      const { world } = await published()
      const envelope = await envelopeOf(world, "index.json")
      envelope.signatures.unshift({ keyid: "somebody", sig: btoa("x".repeat(64)) })
      await world.write("index.json", JSON.stringify(envelope))
      expect(await world.run(list)).toHaveLength(2)
    })

    test("that is older than one seen before is a replay, even after a restart", async () => {
      const world = await make()
      await world.pack([web], { now: new Date("2026-01-01T00:00:00Z") })
      const old = await world.read("index.json")
      await world.run(list)
      await world.pack([web, base], { now: new Date("2026-01-02T00:00:00Z") })
      expect(await world.run(list)).toHaveLength(2)
      await world.write("index.json", old)
      expect(await reasonOf(world)).toMatchObject({ reason: "untrusted", message: expect.stringContaining("serial") })
      const restarted = await world.provider()(Effect.flip(list))
      expect(restarted.facts.reason).toBe("untrusted")
    })

    test("with the serial number of another one is not trusted", async () => {
      const world = await make()
      const now = new Date("2026-01-01T00:00:00Z")
      await world.pack([web], { now })
      await world.run(list)
      await unlink(join(world.folder, "index.json"))
      await world.pack([web, base], { now })
      expect(await reasonOf(world)).toMatchObject({ reason: "untrusted", message: expect.stringContaining("two different") })
    })

    test.each(["", "null", "[]", "<html>busy</html>", '{"payload":1,"signatures":[]}'])(
      "that is %j gives nothing to a provider without an index, and keeps the last one of a provider that has it",
      async (text) => {
        const { world } = await published()
        await world.write("index.json", text)
        expect(await world.run(list)).toHaveLength(2)
        const fresh = world.provider({ state: join(world.folder, "..", "other-state") })
        expect((await fresh(Effect.flip(list))).facts.reason).toBe("broken")
      },
    )

    test("that exceeds the size limit is not read to its end", async () => {
      const world = await make()
      await mkdir(world.folder, { recursive: true })
      await world.write("index.json", Buffer.alloc(17 * 1024 * 1024, 0x20))
      expect((await reasonOf(world)).reason).toBe("too-large")
    })

    test("that is unreachable for too long is not used any more", async () => {
      const { world } = await published()
      await unlink(join(world.folder, "index.json"))
      expect(await world.provider()(list)).toHaveLength(2)
      expect((await world.provider({ staleSeconds: 0 })(Effect.flip(list))).facts.reason).toBe("not-found")
    })
  })

  describe(`${name}: a package`, () => {
    test("that is truncated is refused", async () => {
      const { world, files } = await published()
      await world.write(files.tar, (await world.read(files.tar)).subarray(0, -7))
      const { reason, message } = await reasonOf(world, fetchRole(web.role))
      expect([reason, message]).toEqual(["broken", expect.stringMatching(/acme_web 1\.2\.3.*truncated/u)])
    })

    test("with one changed byte is not the signed one", async () => {
      const { world, files } = await published()
      const bytes = Buffer.from(await world.read(files.tar))
      bytes[20] = (bytes[20] ?? 0) ^ 1
      await world.write(files.tar, bytes)
      expect((await reasonOf(world, fetchRole(web.role))).reason).toBe("untrusted")
    })

    test("that continues after its end is refused without being read completely", async () => {
      const { world, files } = await published()
      await world.write(files.tar, Buffer.concat([await world.read(files.tar), Buffer.alloc(1024 * 1024)]))
      expect((await reasonOf(world, fetchRole(web.role))).reason).toBe("too-large")
    })

    test("needs a signature of its own, for itself", async () => {
      const { world, files } = await published()
      const other = (await world.run(list)).find(({ role }) => role === base.role)
      await world.write(files.statement, await world.read(`packages/${other?.packageId}.json`))
      expect((await reasonOf(world, fetchRole(web.role))).message).toContain("another package")
      await world.write(files.statement, await world.read("index.json"))
      expect((await reasonOf(world, fetchRole(web.role))).reason).toBe("untrusted")
      await unlink(join(world.folder, files.statement))
      expect((await reasonOf(world, fetchRole(web.role))).reason).toBe("not-found")
    })

    test("above the size limit of this service is not requested", async () => {
      const { world } = await published()
      const fault = await world.provider({ packageBytes: 10 })(Effect.flip(fetchRole(web.role)))
      expect(fault.facts.reason).toBe("too-large")
    })

    test("with more files or bytes than this service allows is refused", async () => {
      const { world } = await published()
      expect((await world.provider({ tree: { files: 2 } })(Effect.flip(fetchRole(web.role)))).facts.reason).toBe("too-large")
      expect((await world.provider({ tree: { totalBytes: 20 } })(Effect.flip(fetchRole(web.role)))).facts.reason).toBe(
        "too-large",
      )
    })
  })

  test(`${name}: an invalid key is refused at the start`, async () => {
    const world = await make()
    for (const keys of [[], ["ed25519:AAAA"], ["ssh-ed25519 AAAA"], [`${world.key.public.text}=`]]) {
      await expect(world.provider({ keys })(list)).rejects.toMatchObject({ _tag: "SubscriptionFault" })
    }
  })
}
