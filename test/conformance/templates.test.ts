import type { ObservedCluster, RangeId, Vmid } from "@rangewright/domain"
import { Machines } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { startWholeService, type WholeService } from "./service.ts"

let service: WholeService
beforeEach(async () => {
  service = await startWholeService()
})
afterEach(async () => {
  expect(service.defects).toEqual([])
  await service.stop()
})

type Who = keyof WholeService["keys"]
const read = async (path: string, who: Who): Promise<unknown> => {
  const response = await fetch(`${service.url}/api/v2${path}`, { headers: { "x-api-key": service.keys[who] } })
  expect(response.status).toBe(200)
  return response.json()
}
const names = async (who: Who, query = "") =>
  ((await read(`/templates${query}`, who)) as { readonly name: string }[]).map(({ name }) => name)

const observe = async (...templates: readonly (readonly [name: string, pool: string | undefined])[]) => {
  const machine = { node: "node1", power: "stopped", template: true, cpus: 2, memoryMiB: 4096, tags: [] } as const
  const cluster: ObservedCluster = {
    at: new Date(),
    nodes: [{ name: "node1", online: true, cpus: 8, cpuLoad: 0, memoryMiB: 65_536, memoryUsedMiB: 0 }],
    storages: [],
    machines: templates.map(([name, pool], n) => ({ ...machine, vmid: (900 + n) as Vmid, name, pool })),
  }
  await Effect.runPromise(Fiber.await(service.run(Machines.use((machines) => machines.replace(cluster)))))
}

/** Installs the template of the member's source, for the member. */
const install = async () => {
  const response = await fetch(`${service.url}/api/v2/sources/labs/install`, {
    method: "POST",
    headers: { "x-api-key": service.keys.member },
    body: JSON.stringify({ selection: { templates: ["debian-12"] } }),
  })
  expect(response.status).toBe(200)
}

/** Of member and administrator. */
const drawn = {
  name: "drawn",
  built: false,
  status: "not_built",
  os: "linux",
  thumbnailUrl: "/api/v2/template/drawn/picture",
}

describe("templates", () => {
  it("on the hypervisor are available to everybody, from what is stored: web clients need them before each deploy", async () => {
    await observe(["debian-11-x64-server-template", "SHARED"], ["win2022-server-x64-template", undefined])
    for (const who of ["stranger", "admin"] as const)
      expect(await read("/templates", who)).toEqual([
        { name: "debian-11-x64-server-template", built: true, status: "built", os: "linux" },
        ...(who === "admin" ? [drawn] : []),
        { name: "win2022-server-x64-template", built: true, status: "built", os: "windows" },
      ])
    expect(await read("/templates/status", "stranger")).toEqual([])
  })

  it("that a user installed and nobody built belong to that user, and an administrator who acts as the user sees them", async () => {
    await install()
    await observe()
    const own = { built: false, status: "not_built", os: "linux" }
    expect(await read("/templates", "member")).toEqual([{ name: "debian-12", ...own }, { name: "debian-own", ...own }, drawn])
    expect([await names("stranger"), await names("admin"), await names("admin", "?userID=ME")]).toEqual([
      [],
      ["drawn"],
      ["debian-12", "debian-own", "drawn"],
    ])
    await observe(["debian-12", "SHARED"])
    expect(await read("/templates", "member")).toMatchObject([
      { name: "debian-12", built: true, status: "built" },
      { name: "debian-own" },
      { name: "drawn" },
    ])
    expect(await names("stranger")).toEqual(["debian-12"])
  })

  it("in the pool of a range are shown to users of the range", async () => {
    await observe(["made-in-r1", "R1"], ["made-in-r2", "R2" as RangeId], ["of-everybody", "SHARED"])
    expect(await names("stranger")).toEqual(["of-everybody"])
    expect(await names("member")).toEqual(["debian-own", "drawn", "made-in-r1", "of-everybody"])
    expect(await names("admin")).toEqual(["drawn", "made-in-r1", "made-in-r2", "of-everybody"])
    expect(await names("admin", "?userID=ST")).toEqual(["of-everybody"])
  })
})
