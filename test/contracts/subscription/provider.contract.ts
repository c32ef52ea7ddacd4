import type { PackageId, SubscriptionRole } from "@rangewright/domain"
import { type ArtifactEntry, SubscriptionProvider as Port } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { describe, expect, test } from "vitest"
import { base, filesOf, isProgram, type RoleOnOffer, web } from "./support/roles-folder.ts"

/** A provider and the registry behind it, whose offers a test may change. */
export interface ProviderWorld {
  readonly run: <A, E>(effect: Effect.Effect<A, E, Port>) => Promise<A>
  /** Makes the registry offer exactly these. */
  readonly publish: (roles: readonly RoleOnOffer[]) => Promise<void>
}

export interface ProviderUnderTest {
  readonly name: string
  readonly make: () => Promise<ProviderWorld>
}

export const list = Port.use((port) => port.list)
export const fetchPackage = (id: PackageId) => Port.use((port) => port.fetch(id))
export const fetchRole = (name: string) =>
  Effect.flatMap(list, (roles) => fetchPackage(roles.find(({ role }) => role === name)?.packageId ?? ("" as PackageId)))

const textsOf = (entries: readonly ArtifactEntry[]) =>
  Effect.map(
    Effect.forEach(entries, (entry) =>
      entry.kind === "link"
        ? Effect.succeed([entry.path, entry.target] as const)
        : Effect.map(entry.read, (bytes) => [entry.path, new TextDecoder().decode(bytes)] as const),
    ),
    Object.fromEntries,
  )

const facts = ({ role, version, description, entitlements, fileCount }: SubscriptionRole) => ({
  role,
  version,
  description,
  entitlements,
  fileCount,
})
const factsOf = (offer: RoleOnOffer) => ({
  role: offer.role,
  version: offer.version,
  description: offer.description,
  entitlements: offer.entitlements,
  fileCount: Object.keys(filesOf(offer)).length,
})

/** The tests that every provider of subscription roles passes. */
export const providerContract = ({ name, make }: ProviderUnderTest): void => {
  describe(`${name}: subscription roles`, () => {
    test("are listed by name, each with its facts and a package of its own", async () => {
      const world = await make()
      await world.publish([web, base])
      const roles = await world.run(list)
      expect(roles.map(facts)).toEqual([factsOf(base), factsOf(web)])
      expect(new Set(roles.map(({ packageId }) => packageId)).size).toBe(2)
      for (const { lastModified } of roles) expect(lastModified.getTime() % 1000).toBe(0)
    })

    test("have packages with the exact files, sorted by path, and with executables marked", async () => {
      const world = await make()
      await world.publish([web, base])
      for (const offer of [web, base]) {
        const entries = await world.run(fetchRole(offer.role))
        const files = filesOf(offer)
        expect(await Effect.runPromise(textsOf(entries))).toEqual(files)
        expect(entries.map(({ path }) => path)).toEqual(Object.keys(files).toSorted())
        expect(entries.filter((entry) => entry.kind === "file" && entry.executable).map(({ path }) => path)).toEqual(
          Object.entries(files).flatMap(([path, text]) => (isProgram(text) ? [path] : [])),
        )
        for (const entry of entries)
          if (entry.kind === "file") expect((await Effect.runPromise(entry.read)).length).toBe(entry.size)
      }
    })

    test("are current: a new version has a new package, and a removed role cannot be fetched", async () => {
      const world = await make()
      await world.publish([web, base])
      const [, before] = await world.run(list)
      await world.publish([{ ...web, version: "2.0.0" }])
      const after = await world.run(list)
      expect(after.map(({ role, version }) => [role, version])).toEqual([["acme_web", "2.0.0"]])
      expect(after[0]?.packageId).not.toBe(before?.packageId)
      const fault = await world.run(Effect.flip(fetchPackage(before?.packageId ?? ("" as PackageId))))
      expect([fault._tag, fault.facts.reason, fault.kind]).toEqual(["SubscriptionFault", "not-found", "not-found"])
    })

    test("can be requested concurrently", async () => {
      const world = await make()
      await world.publish([web, base])
      const many = await world.run(
        Effect.all(
          Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? list : Effect.as(fetchRole("acme_web"), []))),
          { concurrency: "unbounded" },
        ),
      )
      expect(many.map((roles) => roles.length)).toEqual(Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? 2 : 0)))
    })

    test("that nobody offers are not found", async () => {
      const world = await make()
      await world.publish([web])
      for (const id of ["00000000-0000-8000-8000-000000000000", "../../etc/passwd", ""]) {
        const fault = await world.run(Effect.flip(fetchPackage(id as PackageId)))
        expect(fault.facts.reason).toBe("not-found")
      }
    })
  })
}
