import { createKeyFile, packRegistry, type SigningKey } from "@rangewright/adapter-subscription"
import type { LicenseTerms } from "@rangewright/domain"
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { ApiClient, Problem } from "./support/client.ts"
import { removeFolders, temporaryFolder } from "./support/folder.ts"
import { addUser } from "./support/lab.ts"
import { writeLicense as writeTerms } from "./support/license.ts"
import { endAll } from "./support/program.ts"
import { startService } from "./support/service.ts"

interface Offer {
  readonly role: string
}
interface Installed {
  readonly success: readonly string[]
  readonly errors: readonly { readonly role: string; readonly reason: string }[]
}

let folder: string
let data: string
let key: SigningKey
let user: ApiClient
let admin: ApiClient

const writeRole = (name: string, entitlements: string): void => {
  const role = join(folder, "roles", name)
  mkdirSync(join(role, "tasks"), { recursive: true })
  mkdirSync(join(role, "meta"))
  writeFileSync(join(role, "tasks/main.yml"), `- debug: msg=${name}\n`)
  writeFileSync(join(role, "meta/version.yml"), 'version: "1.0.0"\n')
  writeFileSync(join(role, "meta/subscription.yml"), `entitlements: [${entitlements}]\n`)
}
const writeLicense = (more: Partial<LicenseTerms>): void => writeTerms(join(folder, "license.json"), key, more)
const files = (): readonly string[] => readdirSync(data, { recursive: true, encoding: "utf8" })

beforeAll(async () => {
  folder = temporaryFolder()
  data = temporaryFolder()
  key = await createKeyFile(join(folder, "key.pem"))
  writeRole("acme_web", "PRO_ROLES, ENTERPRISE_ROLES")
  writeRole("acme_forest", "ENTERPRISE_ROLES")
  await packRegistry({
    roles: join(folder, "roles"),
    out: join(folder, "registry"),
    key,
    entitlements: [],
    now: new Date(),
  })
  writeLicense({})
  const service = await startService(data, {
    RANGEWRIGHT_HYPERVISOR: "simulator",
    RANGEWRIGHT_SUBSCRIPTION_FOLDER: join(folder, "registry"),
    RANGEWRIGHT_SUBSCRIPTION_KEYS: key.public.text,
    RANGEWRIGHT_LICENSE_FILE: join(folder, "license.json"),
    RANGEWRIGHT_LICENSE_KEYS: key.public.text,
  })
  admin = service.as(await addUser(service.root, "ADA", true))
  user = service.as(await addUser(service.root, "UMA"))
}, 60_000)
afterAll(async () => {
  await endAll()
  removeFolders()
})

const install = (roles: readonly string[], as = user) =>
  as.ask<Installed & Problem>("POST", "/ansible/subscription-roles", { roles })

describe("a service with its own registry and licence", { timeout: 300_000 }, () => {
  test("shows the licence, lists all roles, and installs the included ones completely", async () => {
    expect(await user.get("/license")).toEqual({
      entitlements: ["PRO_ROLES"],
      licensed_to: "Example Training",
      active: true,
      message: "professional licence",
      expires_at: "2999-01-01T00:00:00.000Z",
    })
    expect((await user.get<readonly Offer[]>("/ansible/subscription-roles")).map(({ role }) => role)).toEqual([
      "acme_forest",
      "acme_web",
    ])
    const { status, body } = await install(["acme_web", "acme_forest"])
    expect([status, body.success]).toEqual([200, ["acme_web"]])
    expect(body.errors).toEqual([{ role: "acme_forest", reason: expect.stringContaining("licence in force") }])
    const tasks = files().filter((path) => path.endsWith("acme_web/tasks/main.yml"))
    expect(tasks.map((path) => readFileSync(join(data, path), "utf8"))).toEqual(["- debug: msg=acme_web\n"])
    expect(files().filter((path) => path.includes("acme_forest"))).toEqual([])
  })

  test("restricts operations of the enterprise tier to enterprise licences, as soon as one is present", async () => {
    expect((await admin.ask<Problem>("GET", "/range/auto-shutdown?rangeID=ADA")).status).toBe(403)
    writeLicense({ tier: "enterprise" })
    expect((await admin.ask("GET", "/range/auto-shutdown?rangeID=ADA")).status).toBe(200)
    expect((await install(["acme_forest"])).body.success).toEqual(["acme_forest"])
  })

  test.each([
    ["is for another host", { hosts: ["other.example"] }, "another host"],
    ["has expired", { expiresAt: new Date("2026-02-01T00:00:00Z") }, "expired on 2026-02-01"],
    ["was issued in what this clock takes for the future", { issuedAt: new Date("2990-01-01T00:00:00Z") }, "clock was set back"],
  ])("continues as a community service, and says what to do, on a licence that %s", async (_, terms, because) => {
    writeLicense({ tier: "enterprise", ...terms })
    expect(await user.get("/license")).toMatchObject({
      active: false,
      entitlements: [],
      message: expect.stringContaining(because),
    })
    const refused = await install(["acme_web"])
    expect([refused.status, refused.body.error, refused.body.hint]).toEqual([
      403,
      expect.stringContaining(because),
      expect.stringContaining("GET /license"),
    ])
    expect((await admin.ask<Problem>("GET", "/range/auto-shutdown?rangeID=ADA")).status).toBe(403)
    expect(await user.get("/ansible/subscription-roles")).toHaveLength(2)
  })

  test("installs nothing from a package that was changed after it was signed", async () => {
    writeLicense({ tier: "enterprise" })
    const packages = join(folder, "registry/packages")
    for (const name of readdirSync(packages).filter((file) => file.endsWith(".tar.gz"))) {
      const bytes = readFileSync(join(packages, name))
      bytes[bytes.length - 9] = (bytes[bytes.length - 9] ?? 0) ^ 1
      writeFileSync(join(packages, name), bytes)
    }
    const before = files().filter((path) => path.includes("acme_"))
    const { status, body } = await admin.ask<Installed>("POST", "/ansible/subscription-roles", {
      roles: ["acme_web"],
      global: true,
    })
    expect([status, body.success, body.errors]).toEqual([
      200,
      [],
      [{ role: "acme_web", reason: expect.stringContaining("not the one that was signed") }],
    ])
    expect(files().filter((path) => path.includes("acme_"))).toEqual(before)
  })
})
