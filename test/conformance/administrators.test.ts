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

const ask = async (method: string, path: string, headers: Record<string, string>, json?: unknown) => {
  const response = await fetch(service.url + path, {
    method,
    headers: { "content-type": "application/json", ...headers },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
  })
  return { status: response.status, body: (await response.json()) as unknown }
}
const key = (who: keyof WholeService["keys"]) => ({ "x-api-key": service.keys[who] })
const setAdmin = async (isAdmin: boolean) =>
  expect(await ask("PUT", "/api/v2/user/ST/admin", key("admin"), { isAdmin })).toEqual({
    status: 200,
    body: { result: `User ST ${isAdmin ? "is" : "is no longer"} an administrator` },
  })
/** The statuses that the stranger gets for reads of administrators, with the key and the token from before. */
const readsAll = async () => {
  const credentials = [key("stranger"), { authorization: `Bearer ${service.tokens.stranger}` }]
  return Promise.all(credentials.map(async (headers) => (await ask("GET", "/api/v2/user/all", headers)).status))
}

describe("a user who is promoted and demoted", () => {
  it("gains and loses the rights at once, with the same key and token", async () => {
    expect(await readsAll()).toEqual([403, 403])
    await setAdmin(true)
    expect(await readsAll()).toEqual([200, 200])
    expect(await ask("GET", "/api/v2/user", key("stranger"))).toMatchObject({ body: [{ userID: "ST", isAdmin: true }] })
    await setAdmin(false)
    expect(await readsAll()).toEqual([403, 403])
  })

  it("is recorded in the audit trail with the requested change", async () => {
    await setAdmin(true)
    const record = "/api/collections/users/records/record000000003"
    expect(await ask("PATCH", record, key("admin"), { isAdmin: false })).toMatchObject({ status: 200, body: { isAdmin: false } })
    expect(await ask("PUT", "/api/v2/user/ST/admin", key("member"), { isAdmin: true })).toMatchObject({ status: 403 })
    expect(service.store.audit.map(({ operation, callerId, detail, outcome }) => [operation, callerId, detail, outcome])).toEqual(
      [
        ["setUserAdmin", "AD", "userID=ST isAdmin=true", "ok"],
        ["recordUpdateUser", "AD", "id=record000000003 isAdmin=false", "ok"],
        ["setUserAdmin", "ME", "userID=ST", "Forbidden"],
      ],
    )
  })

  it("cannot be the last administrator or ROOT: the refusals use statuses that clients of each part know", async () => {
    expect(await ask("PUT", "/api/v2/user/AD/admin", key("root"), { isAdmin: false })).toMatchObject({
      status: 409,
      body: { error: expect.stringContaining("no administrator left") as string },
    })
    expect(await ask("PATCH", "/api/collections/users/records/record000000001", key("root"), { isAdmin: false })).toMatchObject({
      status: 400,
      body: { data: { isAdmin: { message: expect.stringContaining("no other administrator") as string } } },
    })
    expect((await ask("PUT", "/api/v2/user/ROOT/admin", key("admin"), { isAdmin: false })).status).toBe(400)
    expect((await ask("PUT", "/api/v2/user/AD/admin", key("admin"), { isAdmin: false })).status).toBe(400)
    expect((await ask("PUT", "/api/v2/user/NOBODY/admin", key("admin"), { isAdmin: true })).status).toBe(404)
  })
})
