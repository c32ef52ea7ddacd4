import { communityLicense, offerRole, openLicense } from "@rangewright/adapter-memory"
import { entitlementsOf, type License, type PackageId, type User } from "@rangewright/domain"
import { ArtifactLibrary, ContentFault, type LibraryScope } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { beforeEach, describe, expect, it } from "vitest"
import { makeTestApp, type TestApp, type TestAppOptions } from "./support/app.ts"

const professional: License = {
  ...communityLicense,
  entitlements: entitlementsOf("professional"),
  message: "professional licence",
}
const expired: License = {
  ...professional,
  active: false,
  entitlements: [],
  message: "the professional licence expired on 2026-01-01: renew it",
}

const role = (name: string, entitlements: readonly string[], version = "1.2.3") => ({
  role: name,
  version,
  description: `What ${name} does`,
  entitlements,
})
const filesOf = (text: string) => ({ "meta/main.yml": "galaxy_info: {author: acme}\n", "tasks/main.yml": text })

let app: TestApp
let admin: User
let ada: User
let packageOfWeb: PackageId
const start = async (options: TestAppOptions = {}) => {
  app = makeTestApp(options)
  admin = await app.addUser("Boss", { isAdmin: true })
  ada = await app.addUser("Ada")
  offerRole(app.artifacts.registry, role("top", ["ENTERPRISE_ROLES"]), filesOf("- top\n"))
  packageOfWeb = offerRole(app.artifacts.registry, role("acme.web", ["PRO_ROLES", "ENTERPRISE_ROLES"]), filesOf("- web\n"))
}
beforeEach(() => start())

const list = (as = ada) => app.call("getSubscriptionRoles", as)
const install = (roles: readonly string[], more: { readonly global?: boolean; readonly force?: boolean } = {}, as = ada) =>
  app.call("installSubscriptionRoles", as, { body: { roles, ...more } }) as Promise<{
    readonly success: readonly string[]
    readonly errors: readonly { readonly role: string; readonly reason: string }[]
  }>
const refused = (more: { readonly global?: boolean } = {}, as = ada) =>
  app.fails("installSubscriptionRoles", as, { body: { roles: ["acme.web"], ...more } })

describe("roles of an organisation's own entitlement", () => {
  const offer = () => offerRole(app.artifacts.registry, role("acme.own", ["YOUR_OWN"]), filesOf("- own\n"))

  it.each<[string, License]>([
    ["the open licence", openLicense],
    ["a licence that names it", { ...communityLicense, entitlements: ["YOUR_OWN"] }],
  ])("are installed with %s", async (_, license) => {
    await start({ license })
    offer()
    expect(await install(["acme.own"])).toMatchObject({ success: ["acme.own"], errors: [] })
  })

  it("are not included in an enterprise licence that does not name it", async () => {
    await start({ license: { ...communityLicense, entitlements: entitlementsOf("enterprise") } })
    offer()
    expect(await install(["acme.own", "top"])).toMatchObject({
      success: ["top"],
      errors: [{ reason: expect.stringContaining("licences with YOUR_OWN") }],
    })
  })
})

const mine: LibraryScope = { type: "user", userId: "Ada" as User["id"] }
const everybodys: LibraryScope = { type: "global" }
const installed = async (scope: LibraryScope) => {
  const { roles } = await app.run(Effect.flatMap(ArtifactLibrary, (library) => library.list(scope)))
  return roles.map(({ name, version }) => `${name} ${version}`)
}
const tasksOf = (name: string, scope = mine): Promise<string> =>
  app.run(
    Effect.gen(function* () {
      const files = (yield* (yield* ArtifactLibrary).files({ scope, kind: "role", name })) ?? []
      const tasks = files.find(({ path }) => path === "tasks/main.yml")
      return tasks?.kind === "file" ? new TextDecoder().decode(yield* tasks.read) : ""
    }),
  )

describe("the roles on offer", () => {
  it("are listed with exactly the eight members of the specification, none empty", async () => {
    expect(await list()).toEqual([
      {
        role: "acme.web",
        file_count: 2,
        last_modified: "Mon Jan 5 07:00:00 2026 +0000",
        last_modified_unix: "1767596400",
        version: "1.2.3",
        description: "What acme.web does",
        package_uuid: packageOfWeb,
        entitlements: "PRO_ROLES,ENTERPRISE_ROLES",
      },
      expect.objectContaining({ role: "top", entitlements: "ENTERPRISE_ROLES" }),
    ])
  })

  it.each([
    ["community", communityLicense],
    ["expired", expired],
  ])("are the same on an %s licence", async (_, license) => {
    const all = (await list()) as readonly { readonly role: string }[]
    await start({ license })
    expect((await list()) as typeof all).toEqual(all.map(({ role: name }) => expect.objectContaining({ role: name })))
  })

  it("are none where there is no registry", async () => {
    app.artifacts.registry.offers.clear()
    expect(await list()).toEqual([])
  })

  it("are unknown while the registry is unreachable and was never read", async () => {
    app.artifacts.registry.away = true
    const fault = await app.fails("getSubscriptionRoles", ada)
    expect([fault._tag, fault.kind]).toEqual(["SubscriptionFault", "failed"])
  })
})

describe("installing roles on offer", () => {
  it("puts them among the user's own, with their version, or among everybody's", async () => {
    expect(await install(["acme.web", "top"])).toEqual({ success: ["acme.web", "top"], errors: [] })
    expect(await installed(mine)).toEqual(["acme.web 1.2.3", "top 1.2.3"])
    expect(await tasksOf("acme.web")).toBe("- web\n")
    expect(await installed(everybodys)).toEqual([])
    expect(await install(["top"], { global: true }, admin)).toEqual({ success: ["top"], errors: [] })
    expect(await installed(everybodys)).toEqual(["top 1.2.3"])
  })

  it("leaves a copy that is there, unless it is told to replace it", async () => {
    await install(["acme.web"])
    offerRole(app.artifacts.registry, role("acme.web", ["PRO_ROLES"], "2.0.0"), filesOf("- new\n"))
    expect(await install(["acme.web"])).toEqual({ success: ["acme.web"], errors: [] })
    expect([await tasksOf("acme.web"), await installed(mine)]).toEqual(["- web\n", ["acme.web 1.2.3"]])
    expect(await install(["acme.web"], { force: true })).toEqual({ success: ["acme.web"], errors: [] })
    expect([await tasksOf("acme.web"), await installed(mine)]).toEqual(["- new\n", ["acme.web 2.0.0"]])
  })

  it("reports the outcome of each role, once, in the order of the request", async () => {
    const { success, errors } = await install([" acme.web", "nobody.has", "top", "acme.web", "", "../../etc"])
    expect(success).toEqual(["acme.web", "top"])
    expect(errors.map((error) => error.role)).toEqual(["nobody.has", "../../etc"])
    expect(errors[0]?.reason).toMatch(/nobody.has.*no such role.*GET \/ansible\/subscription-roles/u)
  })

  it("places nothing for a user who was removed meanwhile: the next one with that ID would have it", async () => {
    await app.run(Effect.flatMap(ArtifactLibrary, (library) => library.removeUser(ada, Effect.void)))
    const { success, errors } = await install(["acme.web"])
    expect([success, errors.map((error) => error.role)]).toEqual([[], ["acme.web"]])
    expect(await installed(mine)).toEqual([])
  })

  it("of no role is nothing, and no failure", async () => {
    expect(await install([])).toEqual({ success: [], errors: [] })
  })

  it("gives a professional licence what names PRO_ROLES, and says which licence the rest needs", async () => {
    await start({ license: professional })
    const { success, errors } = await install(["acme.web", "top"])
    expect(success).toEqual(["acme.web"])
    expect(errors).toEqual([{ role: "top", reason: expect.stringMatching(/top.*does not include it.*ENTERPRISE_ROLES/u) }])
    expect(await installed(mine)).toEqual(["acme.web 1.2.3"])
  })

  it.each([
    ["community", communityLicense, "community licence"],
    ["expired", expired, "expired on 2026-01-01"],
  ])("is refused on an %s licence, with the way out, whoever asks", async (_, license, message) => {
    await start({ license })
    for (const who of [ada, admin]) {
      const fault = await refused({ global: who.isAdmin }, who)
      expect([fault._tag, fault.kind]).toEqual(["Forbidden", "forbidden"])
      expect(fault.message).toContain(message)
      expect(fault.hint).toMatch(/GET \/license.*Galaxy/u)
      expect(fault.message.includes("licence in force (")).toBe(license.active)
    }
    expect(await installed(mine)).toEqual([])
  })

  it("for everybody is an administrator's", async () => {
    expect((await refused({ global: true })).message).toContain("Only administrators can perform global ansible actions")
    expect(await installed(everybodys)).toEqual([])
  })

  it("is an administrator's where the operator says so", async () => {
    await start({ settings: { onlyAdminsChangeArtifacts: true } })
    expect((await refused()).message).toContain("not authorized")
    expect(await install(["acme.web"], {}, admin)).toEqual({ success: ["acme.web"], errors: [] })
  })

  it("is refused to the hypervisor's own account", async () => {
    expect((await refused({}, { ...admin, hypervisorUsername: "root" })).message).toContain("root")
  })

  it("while the registry is unreachable fails for each role, saying so", async () => {
    app.artifacts.registry.away = true
    const { success, errors } = await install(["acme.web", "top"])
    expect(success).toEqual([])
    expect(errors.map((error) => [error.role, error.reason])).toEqual([
      ["acme.web", expect.stringContaining("unreachable")],
      ["top", expect.stringContaining("unreachable")],
    ])
  })

  it("leaves nothing of a role that cannot be installed completely, and continues with the others", async () => {
    const offer = app.artifacts.registry.offers.get(packageOfWeb)
    if (offer === undefined) throw new Error("the role is not on offer")
    const lost = new ContentFault({ doing: "read it", reason: "broken", detail: "the file is cut off" })
    const files = offer.files.map((file) => (file.path === "tasks/main.yml" ? { ...file, read: Effect.fail(lost) } : file))
    app.artifacts.registry.offers.set(packageOfWeb, { ...offer, files })
    const { success, errors } = await install(["acme.web", "top"])
    expect(success).toEqual(["top"])
    expect(errors).toEqual([{ role: "acme.web", reason: expect.stringContaining("cut off") }])
    expect(await installed(mine)).toEqual(["top 1.2.3"])
  })
})
