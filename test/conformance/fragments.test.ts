import { Machines } from "@rangewright/ports"
import type { RangeId, Vmid } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { afterAll, beforeAll, expect, it } from "vitest"
import { password, startWholeService, type WholeService } from "./service.ts"

let service: WholeService
beforeAll(async () => {
  service = await startWholeService()
  // the router of R1 is deployed and off
  const router = {
    vmid: 20_500 as Vmid,
    node: "node1",
    name: "R1-router-debian11-x64",
    power: "stopped",
    template: false,
    pool: "R1" as RangeId,
    cpus: 2,
    memoryMiB: 2048,
    tags: ["rangewright", "router"],
  } as const
  await Effect.runPromise(Fiber.await(service.run(Machines.use((machines) => machines.record(router)))))
})
afterAll(async () => {
  expect(service.defects).toEqual([])
  await service.stop()
})

type Who = keyof WholeService["keys"]
const someBody = { name: "Some Body", userID: "SB", email: "some.body@lab.example", password }

/** Text that scripts look for in the answers; part of the interface, as the statuses are. */
const fragments: readonly (readonly [fragment: string, who: Who, status: number, request: string, json?: unknown])[] = [
  ["User with that name already exists", "admin", 400, "POST /user", { ...someBody, name: "member" }],
  ["User with that ID already exists", "admin", 400, "POST /user", { ...someBody, userID: "ME" }],
  ["You are not an admin and cannot list all users", "member", 403, "GET /user/all"],
  ["You are not an admin and cannot add users", "member", 401, "POST /user", someBody],
  ["You are not an admin and cannot delete users", "member", 403, "DELETE /user/ST"],
  ["You are not an admin and cannot impersonate other users", "member", 401, "GET /user/credentials?userID=AD"],
  ["You are not an admin and cannot impersonate other users", "member", 401, "GET /user/apikey?userID=AD"],
  [
    "cannot update the password for another user",
    "member",
    403,
    "POST /user/credentials",
    { userID: "ST", proxmoxPassword: "another long one" },
  ],
  ["You are not a manager of this group", "stranger", 403, "POST /groups/G2/users", { userIDs: ["ME"] }],
  ["You are not a manager of this group", "stranger", 403, "DELETE /groups/G1/ranges", { rangeIDs: ["R1"] }],
  ["You do not have access to range R2 and cannot add it", "member", 200, "POST /groups/G1/ranges", { rangeIDs: ["R2"] }],
  ["do not have access to range R2", "member", 403, "GET /range?rangeID=R2"],
  ["do not have access to range lab/web/1", "stranger", 403, "PUT /range/poweron?rangeID=lab%2Fweb%2F1", { machines: ["all"] }],
  ["do not have access to range R2", "member", 403, "POST /user/default-range", { defaultRangeID: "R2" }],
  ["The range router you are sharing access to must be accessible", "admin", 409, "POST /ranges/assign/ST/R1"],
  ["powered on and accessible", "admin", 409, "POST /ranges/assign/ST/R1"],
  ["The range router you are sharing access to must be accessible", "admin", 409, "DELETE /ranges/revoke/ME/R1"],
  ["The range router you are sharing access to must be accessible", "admin", 200, "POST /groups/G2/ranges", { rangeIDs: ["R1"] }],
  ["Range GONE not found for user ST.", "stranger", 404, "GET /range/config"],
  ["Range GONE not found for user ST.", "stranger", 404, "PUT /range/poweron", { machines: ["all"] }],
]

it.each(fragments.map((row) => [row[0], row[3], row] as const))("%s: of %s", async (_fragment, _request, row) => {
  const [fragment, who, status, request, json] = row
  const stranger = service.store.users.get("ST" as never)
  if (stranger !== undefined)
    service.store.users.set("ST" as never, { ...stranger, user: { ...stranger.user, defaultRangeId: "GONE" as RangeId } })
  const [method, path] = request.split(" ")
  const response = await fetch(`${service.url}/api/v2${path}`, {
    method: method ?? "",
    headers: { "x-api-key": service.keys[who], "content-type": "application/json" },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
  })
  const body = (await response.json()) as { readonly error?: string; readonly errors?: readonly { readonly reason: string }[] }
  expect(response.status).toBe(status)
  // the command line prints the error, or the reason of an item
  expect(body.error ?? body.errors?.[0]?.reason).toContain(fragment)
})

it("a user who is not there is not said to exist, though a range has the ID", async () => {
  const response = await fetch(`${service.url}/api/v2/user`, {
    method: "POST",
    headers: { "x-api-key": service.keys.admin, "content-type": "application/json" },
    body: JSON.stringify({ ...someBody, userID: "R1" }),
  })
  expect(response.status).toBe(400)
  expect(await response.text()).not.toMatch(/already exists/iu)
})
