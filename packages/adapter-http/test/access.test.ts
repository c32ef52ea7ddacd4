import { communityLicense } from "@rangewright/adapter-memory"
import type { AddressNetwork } from "@rangewright/domain"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { samples } from "./sample-operations.ts"
import { startService, type Service, type Who } from "./support.ts"

let service: Service
beforeAll(async () => {
  service = await startService({ operations: samples })
})
afterAll(() => service.stop())

const call = async (who: Who | Record<string, string>, method: string, path: string) => {
  const headers = typeof who === "string" ? { "x-api-key": service.keys[who] } : who
  const response = await fetch(service.url + path, { method, headers })
  const body = (await response.json()) as { result?: string; error?: string }
  return { status: response.status, body, text: body.result ?? body.error }
}

describe("credentials", () => {
  it("are an API key, or a token with or without Bearer", async () => {
    const ok = { status: 200, text: "ME -" }
    const token = service.tokens.member
    expect(await call("member", "GET", "/api/v2/")).toMatchObject(ok)
    for (const authorization of [`Bearer ${token}`, `bearer ${token}`, token])
      expect(await call({ authorization }, "GET", "/api/v2/")).toMatchObject(ok)
  })

  it("are the key's when both are sent, and a wrong key fails even with a valid token", async () => {
    const authorization = service.tokens.member
    expect(await call({ "x-api-key": service.keys.admin, authorization }, "GET", "/api/v2/")).toMatchObject({ text: "AD -" })
    expect((await call({ "x-api-key": "ME.wrong", authorization }, "GET", "/api/v2/")).status).toBe(401)
  })

  it.each([
    ["nothing", {}],
    ["a key without a dot", { "x-api-key": "ME" }],
    ["a key with two dots", { "x-api-key": "ME.a.b" }],
    ["an empty key", { "x-api-key": "" }],
    ["an empty secret", { "x-api-key": "ME." }],
    ["a wrong secret", { "x-api-key": `ME.${"x".repeat(40)}` }],
    ["an unknown user", { "x-api-key": `XX.${"x".repeat(40)}` }],
    ["a user id in another case", { "x-api-key": `me.${"x".repeat(40)}` }],
    ["a hostile user id", { "x-api-key": "__proto__.x" }],
    ["a token of nobody", { authorization: "Bearer a.b.c" }],
  ])("are refused with 401 for %s", async (_what, headers) => {
    const { status, text } = await call(headers, "GET", "/api/v2/")
    expect(status).toBe(401)
    expect(text).toContain("X-API-KEY")
  })

  it("do not tell which users exist", async () => {
    const known = await call({ "x-api-key": `ME.${"x".repeat(40)}` }, "GET", "/api/v2/")
    const unknown = await call({ "x-api-key": `XX.${"x".repeat(40)}` }, "GET", "/api/v2/")
    expect(known.text).toBe(unknown.text)
  })

  it("that have expired do not block operations that need none", async () => {
    const response = await fetch(`${service.url}/api/collections/users/auth-with-password`, {
      method: "POST",
      headers: { "x-api-key": "ME.wrong", authorization: "Bearer x", "content-type": "application/json" },
      body: '{"identity":"me@lab.example"}',
    })
    expect(await response.json()).toEqual({ result: "me@lab.example nobody" })
  })
})

describe("impersonation", () => {
  it("is for administrators, who then have the other user's default range and no more", async () => {
    expect(await call("admin", "GET", "/api/v2/range?userID=ME")).toMatchObject({ status: 200, text: "ME R1" })
    expect((await call("admin", "GET", "/api/v2/range?userID=ST&rangeID=R1")).status).toBe(403)
    expect(await call("admin", "GET", "/api/v2/user/all?userID=ME")).toMatchObject({ status: 200, text: "ME -" })
  })

  it("of oneself or of nobody has no effect", async () => {
    for (const query of ["userID=ME", "userID="])
      expect(await call("member", "GET", `/api/v2/?${query}`)).toMatchObject({ status: 200, text: "ME -" })
  })

  it("is refused to others with 401, and of unknown users with 400", async () => {
    expect(await call("member", "GET", "/api/v2/?userID=AD")).toMatchObject({ status: 401 })
    expect((await call("member", "GET", "/api/v2/?userID=AD")).text).toContain(
      "You are not an admin and cannot impersonate other users",
    )
    expect(await call("admin", "GET", "/api/v2/?userID=NOBODY")).toMatchObject({ status: 400 })
    expect(await call("admin", "GET", "/api/v2/?userID=../etc")).toMatchObject({ status: 400 })
  })
})

describe("the range", () => {
  it("is the one named, else the default", async () => {
    expect(await call("member", "GET", "/api/v2/range")).toMatchObject({ status: 200, text: "ME R1" })
    expect(await call("member", "GET", "/api/v2/range?rangeID=lab/web/1")).toMatchObject({ text: "ME lab/web/1" })
    expect(await call("member", "GET", "/api/v2/range?rangeID=lab%2Fweb%2F1")).toMatchObject({ text: "ME lab/web/1" })
    expect(await call("admin", "GET", "/api/v2/range?rangeID=R2")).toMatchObject({ status: 200, text: "AD R2" })
  })

  it("that is unknown is 404, that is not open to the user 403, on every operation", async () => {
    for (const path of ["/api/v2/range", "/api/v2/", "/api/v2/things/x"]) {
      const unknown = await call("member", "GET", `${path}?rangeID=NONE`)
      expect(unknown.status).toBe(404)
      expect(unknown.text).toContain("Range NONE not found: not in database")
      expect((await call("member", "GET", `${path}?rangeID=R2`)).status).toBe(403)
    }
  })

  it("that is missing as default fails only operations that need one, with the text that clients know", async () => {
    expect(await call("stranger", "GET", "/api/v2/")).toMatchObject({ status: 200 })
    const { status, text } = await call("stranger", "GET", "/api/v2/range")
    expect(status).toBe(404)
    expect(text).toMatch(/^Range .+ not found for user ST/u)
    expect(text).toContain("default range")
  })

  it("that is the default is checked like any other once access was revoked", async () => {
    const { grants } = service.store
    const of = grants.get("R1" as never)
    const before = new Set(of)
    of?.clear()
    expect((await call("member", "GET", "/api/v2/range")).status).toBe(403)
    grants.set("R1" as never, before as never)
    expect((await call("member", "GET", "/api/v2/range")).status).toBe(200)
  })

  it("in the path is checked for ownership, and may hold encoded slashes", async () => {
    expect(await call("member", "POST", "/api/v2/ranges/lab%2Fweb%2F1/own")).toMatchObject({ status: 201, text: "ME lab/web/1" })
    expect((await call("stranger", "POST", "/api/v2/ranges/R1/own")).status).toBe(403)
    expect((await call("member", "POST", "/api/v2/ranges/NONE/own")).status).toBe(404)
    expect((await call("member", "POST", "/api/v2/ranges/%2e%2e%2fetc/own")).status).toBe(404)
  })

  it("is named in any letter case", async () => {
    for (const name of ["rangeid", "RANGEID", "RangeId"]) {
      expect(await call("member", "GET", `/api/v2/range?${name}=lab/web/1`)).toMatchObject({ text: "ME lab/web/1" })
      expect(await call("member", "DELETE", `/api/v2/range?${name}=lab/web/1`)).toMatchObject({ text: "ME lab/web/1 unset" })
      expect((await call("member", "DELETE", `/api/v2/range?${name}=R2`)).status).toBe(403)
      expect((await call("member", "DELETE", `/api/v2/range?rangeID=R1&${name}=lab/web/1`)).status).toBe(400)
    }
  })

  it("is never guessed for a change that names it with an unknown parameter", async () => {
    for (const name of ["range_number", "range", "id", "range_id"]) {
      const { status, text } = await call("member", "DELETE", `/api/v2/range?${name}=2&force=true`)
      expect([name, status]).toEqual([name, 400])
      expect(text).toContain("?rangeID=")
      expect(await call("member", "GET", `/api/v2/range?${name}=2`)).toMatchObject({ status: 200, text: "ME R1" })
    }
  })
})

describe("the number of a range", () => {
  const remove = (query: string) => call("member", "DELETE", `/api/v2/range?${query}`)

  it("selects it for a change, in any letter case, and only for those who may use it", async () => {
    for (const name of ["rangeNumber", "rangenumber", "RANGENUMBER"]) {
      expect(await remove(`${name}=3`)).toMatchObject({ status: 200, text: "ME lab/web/1 unset" })
      expect((await remove(`${name}=2`)).status).toBe(403)
    }
    for (const wrong of ["99", "0", "-1", "03", "R1", "1e0"])
      expect([wrong, (await remove(`rangeNumber=${wrong}`)).status]).toEqual([wrong, 404])
  })

  it("beside an ID must be of the same range", async () => {
    expect(await remove("rangeID=lab/web/1&rangeNumber=3")).toMatchObject({ status: 200, text: "ME lab/web/1 unset" })
    const { status, text } = await remove("rangeID=R1&rangeNumber=3")
    expect([status, text]).toEqual([400, expect.stringContaining("?rangeID=R1 and ?rangeNumber=3 name different ranges")])
  })

  it("is ignored by what only reads, as the wire has it", async () => {
    expect(await call("member", "GET", "/api/v2/range?rangeNumber=3")).toMatchObject({ status: 200, text: "ME R1" })
  })
})

describe("roles", () => {
  it("administrators' operations refuse others with 403, or with 401 where the operation knows no 403", async () => {
    expect((await call("admin", "GET", "/api/v2/user/all")).status).toBe(200)
    expect((await call("member", "GET", "/api/v2/user/all")).status).toBe(403)
    expect((await call("admin", "POST", "/api/v2/user")).status).toBe(200)
    expect((await call("member", "POST", "/api/v2/user")).status).toBe(401)
  })

  it("the bootstrap account may only manage users, unless it says for whom or which range", async () => {
    expect((await call("root", "GET", "/api/v2/user/all")).status).toBe(200)
    for (const path of ["/api/v2/", "/api/v2/range", "/api/v2/things/x"])
      expect((await call("root", "GET", path)).status).toBe(403)
    expect(await call("root", "GET", "/api/v2/range?rangeID=R2")).toMatchObject({ status: 200, text: "ROOT R2" })
    expect(await call("root", "GET", "/api/v2/range?userID=ME")).toMatchObject({ status: 200, text: "ME R1" })
  })

  it("an administrator who acts as the bootstrap account is told that it, not they, has no range", async () => {
    const { status, text } = await call("admin", "GET", "/api/v2/range?userID=ROOT")
    expect([status, text]).toEqual([403, expect.stringContaining("ROOT has no range and may only manage users")])
  })

  it("operations of the enterprise tier need the entitlement", async () => {
    expect((await call("member", "GET", "/api/v2/paid")).status).toBe(200)
    const community = await startService({ operations: samples, license: communityLicense })
    const response = await fetch(`${community.url}/api/v2/paid`, { headers: { "x-api-key": community.keys.admin } })
    expect(response.status).toBe(403)
    expect(await response.text()).toContain("GET /license")
    await community.stop()
  })
})

describe("traces", () => {
  it("of every change, also a refused one, say who, as whom, on what, and how it ended", async () => {
    const from = service.store.audit.length
    await call("admin", "DELETE", "/api/v2/range?userID=ME")
    await call("stranger", "POST", "/api/v2/ranges/R1/own")
    await call("member", "GET", "/api/v2/user/rotate")
    await call("member", "GET", "/api/v2/range")
    await call({}, "DELETE", "/api/v2/range")
    expect(service.store.audit.slice(from)).toMatchObject([
      { operation: "deleteRange", callerId: "AD", actingAs: "ME", rangeId: "R1", outcome: "ok" },
      { operation: "ownRange", callerId: "ST", actingAs: "ST", rangeId: undefined, detail: "rangeID=R1", outcome: "Forbidden" },
      { operation: "rotate", callerId: "ME", outcome: "ok" },
    ])
  })

  it("name who sent the request: who is connected, or whom a trusted proxy tells of", async () => {
    const sender = async (http: { readonly trustedProxies?: readonly AddressNetwork[] }) => {
      const proxied = await startService({ operations: samples, http })
      const headers = { "x-api-key": proxied.keys.admin, "x-forwarded-for": "198.51.100.1, 203.0.113.9" }
      await fetch(`${proxied.url}/api/v2/range?userID=ME`, { method: "DELETE", headers })
      await proxied.stop()
      return proxied.store.audit.at(-1)?.remote
    }
    expect(await sender({})).toBe("127.0.0.1")
    expect(await sender({ trustedProxies: [{ address: "127.0.0.1", length: 32 }] })).toBe("203.0.113.9")
  })

  it("never hold a secret", async () => {
    const from = service.answered.length
    await fetch(`${service.url}/api/v2/things/x?token=hunter2`, { headers: { "x-api-key": service.keys.member } })
    expect(service.answered.slice(from)).toMatchObject([
      { method: "GET", path: "/api/v2/things/x", operation: "getThing", status: 200 },
    ])
    const secrets = [...Object.values(service.keys), ...Object.values(service.tokens), "hunter2"]
    const told = JSON.stringify([service.answered, service.store.audit])
    expect(secrets.filter((secret) => told.includes(secret))).toEqual([])
  })
})
