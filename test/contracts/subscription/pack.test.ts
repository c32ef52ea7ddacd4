import { packRegistry, type SigningKey } from "@rangewright/adapter-subscription"
import { mkdtempSync, rmSync } from "node:fs"
import { appendFile, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { base, type RoleOnOffer, web, writeRoles } from "./support/roles-folder.ts"
import { newKey } from "./support/signed-world.ts"

const day = (n: number) => new Date(Date.UTC(2026, 0, n))

let folder = ""
let key: SigningKey
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "rangewright-pack-"))
  key = await newKey(folder)
})
afterEach(() => rmSync(folder, { recursive: true }))

const roles = () => join(folder, "roles")
const out = () => join(folder, "out")
const pack = (now = day(1), more = {}) =>
  packRegistry({ roles: roles(), out: out(), key, entitlements: ["PRO_ROLES"], now, ...more })
const packed = async (offers: readonly RoleOnOffer[], now = day(1)) => {
  await writeRoles(roles(), offers)
  return pack(now)
}
/** Every file of the registry with its content. */
const contentOf = async () => {
  const names = (await readdir(out(), { recursive: true })).filter((name) => name.includes(".")).toSorted()
  return Promise.all(names.map(async (name) => [name, (await readFile(join(out(), name))).toString("base64")]))
}
const faultOf = (packing: Promise<unknown>) =>
  packing.then(
    () => "(packed)",
    (cause: Error & { hint?: string }) => `${cause.message} ${cause.hint ?? ""}`,
  )

describe("packing", () => {
  test("takes each role's version, description and entitlements from its own files", async () => {
    const { index, changed } = await packed([web, base])
    expect(changed).toBe(true)
    expect(
      index.roles.map(({ role, version, description, entitlements }) => ({ role, version, description, entitlements })),
    ).toEqual([base, web].map(({ role, version, description, entitlements }) => ({ role, version, description, entitlements })))
  })

  test("gives a role without entitlements and description the usual ones", async () => {
    await writeRoles(roles(), [web])
    await rm(join(roles(), web.role, "meta/subscription.yml"))
    await writeFile(join(roles(), web.role, "meta/main.yml"), "galaxy_info: {}\n")
    const { index } = await pack()
    expect(index.roles[0]).toMatchObject({ entitlements: ["PRO_ROLES"], description: "acme_web" })
  })

  test("leaves every byte unchanged if nothing changed", async () => {
    await packed([web, base])
    const before = await contentOf()
    expect((await pack(day(2))).changed).toBe(false)
    expect(await contentOf()).toEqual(before)
  })

  test("renews the index after a month, and nothing else", async () => {
    const { index: before } = await packed([web, base])
    const { index, changed } = await pack(new Date(before.issuedAt.getTime() + 31 * 24 * 3600 * 1000))
    expect(changed).toBe(true)
    expect(index.serial).toBeGreaterThan(before.serial)
    expect(index.roles).toEqual(before.roles)
  })

  test("makes the same package of the same role anywhere, with its first date", async () => {
    const { index: first } = await packed([web])
    await appendFile(join(roles(), web.role, "tasks/main.yml"), "- debug: msg=more\n")
    const { index: second } = await pack(day(2))
    expect(second.serial).toBeGreaterThan(first.serial)
    expect(second.roles[0]?.packageId).not.toBe(first.roles[0]?.packageId)
    const { index: third } = await packed([web, base], day(3))
    const again = third.roles.find(({ role }) => role === web.role)
    expect([again?.packageId, again?.package]).toEqual([first.roles[0]?.packageId, first.roles[0]?.package])
  })

  test("continues the serial number if the registry was lost", async () => {
    const { index: first } = await packed([web], day(1))
    await rm(out(), { recursive: true })
    const { index: second } = await packed([web, base], day(2))
    expect(second.serial).toBeGreaterThan(first.serial)
  })

  test("keeps the packages of the previous index, for clients that still read it, and no older ones", async () => {
    const versions = ["1.0.0", "2.0.0", "3.0.0"]
    const ids: string[] = []
    for (const [n, version] of versions.entries())
      ids.push((await packed([{ ...web, version }], day(n + 1))).index.roles[0]?.packageId ?? "")
    const there = await readdir(join(out(), "packages"))
    expect(there.toSorted()).toEqual([ids[1], ids[2]].flatMap((id) => [`${id}.json`, `${id}.tar.gz`]).toSorted())
  })

  test("writes files that a web server may read, and leaves out git's own", async () => {
    await writeRoles(roles(), [web])
    await mkdir(join(roles(), web.role, ".git"))
    await writeFile(join(roles(), web.role, ".git/config"), "secret")
    const { index } = await pack()
    expect(index.roles[0]?.fileCount).toBe(6)
    expect((await stat(join(out(), "index.json"))).mode & 0o777).toBe(0o644)
  })

  test("does not touch a registry of another key", async () => {
    await packed([web])
    const before = await contentOf()
    expect(await faultOf(pack(day(2), { key: await newKey(folder) }))).toContain("did not sign")
    await writeFile(join(out(), "index.json"), "{}")
    expect(await faultOf(pack(day(2)))).toContain("did not sign")
    await writeFile(join(out(), "index.json"), Buffer.from(String(before[0]?.[1]), "base64"))
    expect(await contentOf()).toEqual(before)
  })

  const broken: readonly (readonly [string, (role: string) => Promise<unknown>, RegExp])[] = [
    ["without a version", (role) => rm(join(role, "meta/version.yml")), /no version.*meta\/version.yml/u],
    ["with a version of two numbers", (role) => writeFile(join(role, "meta/version.yml"), 'version: "1.0"'), /three numbers/u],
    [
      "with metadata that are no YAML",
      (role) => writeFile(join(role, "meta/main.yml"), "a: [\n"),
      /meta\/main.yml is not valid YAML/u,
    ],
    ["with a link", (role) => symlink("/etc/passwd", join(role, "files/passwd")), /files\/passwd is neither/u],
    [
      "with entitlements that are no list",
      (role) => writeFile(join(role, "meta/subscription.yml"), "entitlements: PRO"),
      /not a list/u,
    ],
    [
      "with an entitlement that is no name",
      (role) => writeFile(join(role, "meta/subscription.yml"), 'entitlements: ["pro,x"]'),
      /entitlement/u,
    ],
    [
      "with nothing of a role",
      async (role) => (await rm(role, { recursive: true }), await mkdir(role)),
      /neither tasks nor meta/u,
    ],
  ]
  test.each(broken)("refuses a role %s, names it, and leaves the registry unchanged", async (_, spoil, expected) => {
    await packed([base])
    const index = await readFile(join(out(), "index.json"))
    await writeRoles(roles(), [base, web])
    await spoil(join(roles(), web.role))
    expect(await faultOf(pack(day(2)))).toMatch(expected)
    expect(await readFile(join(out(), "index.json"))).toEqual(index)
  })

  test("refuses a folder without roles, a missing one, and a role with an invalid name", async () => {
    expect(await faultOf(pack())).toContain("roles")
    await mkdir(roles())
    expect(await faultOf(pack())).toContain("contains no role")
    await mkdir(join(roles(), "-rf"))
    expect(await faultOf(pack())).toContain("cannot have this name")
  })
})
