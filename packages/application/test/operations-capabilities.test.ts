import { entitlementsOf, type GroupName, type GroupRole, type ScopedKey } from "@rangewright/domain"
import { Groups } from "@rangewright/ports"
import { expect, it } from "vitest"
import { makeTestApp } from "./support/app.ts"

const readKey = { id: "k".repeat(12), scope: { kind: "read" } } as ScopedKey

it("capabilities tell which features are on, what the caller may do, and that the hypervisor is the simulator", async () => {
  const license = { entitlements: entitlementsOf("community"), licensedTo: "", active: true, message: "", expiresAt: undefined }
  const app = makeTestApp({ license, settings: { simulator: true, onlyAdminsBuildTemplates: true, consolesPerUser: 3 } })
  const admin = await app.addUser("AD", { isAdmin: true })
  const member = await app.addUser("ME")
  for (const name of ["CLASS", "OTHER"]) await app.call("createGroup", admin, { body: { name } })
  const makes = (name: string, role: GroupRole) =>
    app.run(Groups.use((groups) => groups.setRoles(name as GroupName, new Map([[member.id, role]]))))
  await makes("CLASS", "manager")
  await makes("OTHER", "member")
  expect(await app.call("getCapabilities", member)).toMatchObject({
    version: "0.0.0",
    simulator: true,
    features: { vpn: false, kms: false, singleSignOn: false, autoShutdown: false, subscriptionRoles: false },
    rights: {
      administrator: false,
      manages: ["CLASS"],
      buildsTemplates: false,
      installsRoles: true,
      text: [
        "You may use your own ranges and those that were shared with you.",
        "You manage CLASS: you decide who and what belongs there, and own its ranges.",
        "Only administrators may upload and build templates.",
      ],
    },
    limits: { consoles: 3 },
  })
  const rightsOf = async (request: object, user = admin) =>
    ((await app.call("getCapabilities", user, request)) as { readonly rights: object }).rights
  expect(await rightsOf({})).toMatchObject({ administrator: true, manages: [], buildsTemplates: true })
  // administrator rights are the caller's own; content is that of the user acted as
  expect(await rightsOf({ user: member })).toMatchObject({ administrator: true, manages: ["CLASS"], buildsTemplates: false })
  expect(await rightsOf({ key: readKey }, admin)).toMatchObject({
    buildsTemplates: false,
    installsRoles: false,
    text: [expect.any(String), `Your API key ${readKey.id} is for reading only: nothing can be changed with it.`],
  })
})

it("with the enterprise licence, what it includes is on", async () => {
  const app = makeTestApp()
  expect(await app.call("getCapabilities", await app.addUser("ME"))).toMatchObject({
    simulator: false,
    features: { autoShutdown: true, antiSandbox: true, subscriptionRoles: true },
  })
})
