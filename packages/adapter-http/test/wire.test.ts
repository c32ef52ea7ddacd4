import { unzipSync, strFromU8 } from "fflate"
import { connect } from "node:net"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { gated, samples } from "./sample-operations.ts"
import { startService, type Service } from "./support.ts"

let service: Service
beforeAll(async () => {
  service = await startService({ operations: samples })
})
afterAll(() => service.stop())

const send = (method: string, path: string, init: RequestInit & { anonymous?: true } = {}) =>
  fetch(service.url + path, {
    redirect: "manual",
    ...init,
    method,
    headers: { ...(init.anonymous ? {} : { "x-api-key": service.keys.member }), ...(init.headers as Record<string, string>) },
  })
const get = async (path: string) => {
  const response = await send("GET", path)
  return { status: response.status, text: await response.text() }
}

/** Sends bytes as they are and returns what comes back until the connection ends. */
const raw = async (bytes: string): Promise<string> => {
  const socket = connect(service.port, "127.0.0.1")
  let text = ""
  socket.on("data", (chunk: Buffer) => (text += chunk.toString()))
  socket.on("error", () => undefined)
  socket.write(bytes)
  return new Promise((resolve) => socket.on("close", () => resolve(text)))
}

describe("answers", () => {
  it.each([1, 16, 59, 60, 61, 400])("of %i times every byte arrive as they are", async (rounds) => {
    const bytes = new Uint8Array(await (await send("GET", `/api/v2/bytes/${rounds}`)).arrayBuffer())
    expect(bytes).toEqual(Uint8Array.from({ length: 256 * rounds }, (_, i) => i % 256))
  })
})

describe("paths", () => {
  it("with literal segments beat parameters", async () => {
    expect((await send("GET", "/api/v2/things/example")).headers.get("content-type")).toBe("application/zip")
    expect(await get("/api/v2/things/examples")).toEqual({ status: 200, text: "thing examples -" })
  })

  it("hold percent-encoded parameters, slashes too", async () => {
    expect(await get("/api/v2/things/a%2Fb%20c%C3%A9")).toEqual({ status: 200, text: "thing a/b cé -" })
    expect((await get("/api/v2/things/a/b")).status).toBe(404)
  })

  it.each(["/api/v2/things/%", "/api/v2/things/%E9", "/api/v2/things/a%00b", "/api/v2/things/x?n=%zz", "/api/v2/?rangeID=%00"])(
    "that cannot be decoded are refused: %s",
    async (path) => {
      expect((await get(path)).status).toBe(400)
    },
  )

  it("may repeat a parameter, but not with another value", async () => {
    expect(await get("/api/v2/things/x?n=1&n=1")).toEqual({ status: 200, text: "thing x 1" })
    expect(await get("/api/v2/things/x?n=&n=2")).toEqual({ status: 200, text: "thing x 2" })
    const contradictory = await get("/api/v2/things/x?n=1&n=2")
    expect(contradictory.status).toBe(400)
    expect(contradictory.text).toContain("n is given twice, with different values")
    expect((await get("/api/v2/things/x?__proto__=1&__proto__=2")).status).toBe(400)
  })

  it("count letter case and the last slash", async () => {
    for (const path of ["/api/v2/Things/x", "/api/v2/things/x/", "/API/v2/things/x", "/api/v2/range/"])
      expect((await get(path)).status).toBe(404)
  })

  it("that are unknown are not revealed without credentials, and otherwise are 404, never 405", async () => {
    expect((await send("GET", "/api/v2/nothing", { anonymous: true })).status).toBe(401)
    const read = await send("GET", "/api/v2/nothing")
    expect(read.status).toBe(404)
    expect(((await read.json()) as { error: string }).error).toContain("not found")
    for (const path of ["/api/v2/nothing", "/api/v2/range"]) {
      const change = await send("PUT", path)
      expect(change.status).toBe(404)
      expect(await change.json()).toEqual({ status: 404, message: expect.any(String) as string, data: {} })
    }
  })

  it("around the API are where clients look for them", async () => {
    const root = await send("POST", "/", { anonymous: true })
    expect([root.status, root.headers.get("location")]).toEqual([307, "/ui/"])
    const base = await send("GET", "/api/v2?userID=ME", { anonymous: true })
    expect([base.status, base.headers.get("location")]).toEqual([301, "/api/v2/?userID=ME"])
    for (const path of ["/_/", "/admin/x", "/api/v2/user/provision-oauth2"]) {
      const gate = await send("POST", path, { anonymous: true })
      expect(gate.status).toBe(403)
      expect(await gate.json()).toHaveProperty("error")
    }
  })

  it("of monitors ask for no credentials", async () => {
    expect(await (await send("GET", "/healthz", { anonymous: true })).json()).toEqual({ status: "ok" })
    expect(await (await send("GET", "/readyz", { anonymous: true })).json()).toEqual({ status: "ready" })
    expect(await (await send("GET", "/metrics", { anonymous: true })).text()).toBe("up 1\n")
  })
})

describe("headers", () => {
  it("let any page read answers and send preflights, and protect the answers", async () => {
    const preflight = await send("OPTIONS", "/api/v2/anything", {
      anonymous: true,
      headers: { origin: "https://ui.example", "access-control-request-headers": "x-api-key,content-type" },
    })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get("access-control-allow-origin")).toBe("*")
    expect(preflight.headers.get("access-control-allow-methods")).toBe("GET, HEAD, PUT, PATCH, POST, DELETE")
    expect(preflight.headers.get("access-control-allow-headers")).toBe("x-api-key,content-type")
    expect(preflight.headers.get("access-control-allow-credentials")).toBeNull()
    const answer = await send("GET", "/api/v2/")
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff")
    expect(answer.headers.get("x-frame-options")).toBe("SAMEORIGIN")
    expect(answer.headers.get("x-xss-protection")).toBe("1; mode=block")
    expect(answer.headers.get("x-request-id")).not.toBe(preflight.headers.get("x-request-id"))
  })

  it("let only the configured pages read when some are configured", async () => {
    const strict = await startService({ operations: samples, http: { corsOrigins: ["https://ui.example"] } })
    const allowed = async (origin: string) =>
      (await fetch(strict.url, { method: "OPTIONS", headers: { origin } })).headers.get("access-control-allow-origin")
    expect(await allowed("https://ui.example")).toBe("https://ui.example")
    expect(await allowed("https://evil.example")).toBeNull()
    await strict.stop()
  })

  it("keep private answers out of caches, including refusals", async () => {
    const cacheControl = async (method: string, path: string, init = {}) =>
      (await send(method, path, init)).headers.get("cache-control")
    for (const path of ["/api/v2/", "/api/v2/range", "/api/v2/things/example", "/api/v2/nothing", "/api/v2/range?rangeID=NONE"])
      expect([path, await cacheControl("GET", path)]).toEqual([path, "no-store"])
    expect(await cacheControl("GET", "/api/v2/", { anonymous: true })).toBe("no-store")
    expect(await cacheControl("POST", "/api/collections/users/auth-with-password", { anonymous: true })).toBe("no-store")
  })

  it("of a HEAD are those of the GET, without a body and without its effect", async () => {
    const head = await send("HEAD", "/api/v2/range")
    const read = await send("GET", "/api/v2/range")
    expect(head.status).toBe(200)
    expect(await head.text()).toBe("")
    expect(head.headers.get("content-length")).toBe(read.headers.get("content-length"))
    const entries = service.store.audit.length
    expect((await send("HEAD", "/api/v2/user/rotate")).status).toBe(404)
    expect(service.store.audit).toHaveLength(entries)
  })
})

describe("answers", () => {
  it("of JSON end in a line break and carry their status and length", async () => {
    const response = await send("POST", "/api/v2/ranges/R1/own")
    expect(response.status).toBe(201)
    expect(response.headers.get("content-type")).toBe("application/json")
    expect(await response.text()).toBe('{"result":"ME R1"}\n')
  })

  it("may be an archive to download", async () => {
    const response = await send("GET", "/api/v2/things/example")
    expect(response.headers.get("content-disposition")).toBe('attachment; filename="things.zip"')
    const files = unzipSync(new Uint8Array(await response.arrayBuffer()))
    expect(strFromU8(files["a.rdp"] ?? new Uint8Array())).toBe("full address:s:10.2.10.11")
  })

  it.each([
    ["application/json", "application/json"],
    ["application/json, text/plain, */*", "application/json"],
    ["*/*", "application/zip"],
    ["text/html", "application/zip"],
    ["application/zip", "application/zip"],
  ])("may be JSON or an archive that holds it: %s", async (accept, type) => {
    const response = await send("GET", "/api/v2/packs", { headers: { accept } })
    expect(response.headers.get("content-type")).toBe(type)
    const bytes = new Uint8Array(await response.arrayBuffer())
    const text = strFromU8(type === "application/json" ? bytes : (unzipSync(bytes)["words.json"] ?? new Uint8Array()))
    expect(JSON.parse(text)).toEqual({ result: "a" })
  })

  it.each([
    ["my%20web%2Fone", "my-web-one.yml"],
    ["a%22%3B%20x%3D%0D%0Ay", "a-x-y.yml"],
    ["..%2F..%2Fetc%2Fpasswd", "etc-passwd.yml"],
    ["%D0%B2%D0%B5%D0%B1", "file.yml"],
  ])("may be a file to save, whose name can do no harm: %s", async (as, filename) => {
    const response = await send("GET", `/api/v2/saves?as=${as}`)
    expect(response.headers.get("content-type")).toBe("application/x-yaml")
    expect(response.headers.get("content-disposition")).toBe(`attachment; filename="${filename}"`)
    expect(await response.text()).toBe("a: 1\r\n")
    expect(await get("/api/v2/saves")).toEqual({ status: 200, text: '{"result":"a: 1"}\n' })
  })

  it("of a failure say what failed, why, and what to do, in members that no client misreads", async () => {
    const response = await send("GET", "/api/v2/breaks/fault")
    expect(response.status).toBe(409)
    const text = await response.text()
    expect(text.startsWith('{"error":')).toBe(true)
    expect(JSON.parse(text)).toEqual({
      error: "Cannot do it: it is done\nUndo it first.",
      type: "urn:rangewright:fault:Conflict",
      title: "Conflict",
      status: 409,
      detail: "Cannot do it: it is done",
      hint: "Undo it first.",
      requestId: response.headers.get("x-request-id"),
    })
  })

  it("of a bug name the request and nothing else; the observer is told the cause", async () => {
    for (const how of ["throw", "shape"]) {
      const response = await send("GET", `/api/v2/breaks/${how}`)
      const body = (await response.json()) as { error: string; requestId: string }
      expect(response.status).toBe(500)
      expect(JSON.stringify(body)).not.toContain("secret of the house")
      expect(body.error).toContain(body.requestId)
      expect(service.defects.at(-1)?.requestId).toBe(body.requestId)
      expect(service.defects.at(-1)?.cause).toMatch(/secret of the house|Expected string/u)
    }
  })

  it("of the record API have its own form", async () => {
    const response = await send("POST", "/api/collections/users/auth-with-password", {
      body: "{}",
      headers: { "content-type": "application/json" },
    })
    expect(response.status).toBe(400)
    expect(await response.json()).toEqual({
      status: 400,
      message: expect.stringContaining("identity") as string,
      data: { identity: { code: "validation_invalid", message: "Missing key" } },
    })
    expect(Object.keys((await (await send("GET", "/api/collections/none/records")).json()) as object)).toEqual([
      "status",
      "message",
      "data",
    ])
  })

  it("name every wrong parameter", async () => {
    expect(await get("/api/v2/things/x?n=4")).toEqual({ status: 200, text: "thing x 4" })
    expect(await get("/api/v2/things/x?n=4&other=1&=2&n=")).toEqual({ status: 200, text: "thing x 4" })
    expect(await get("/api/v2/things/x?n=")).toEqual({ status: 200, text: "thing x -" })
    const { status, text } = await get("/api/v2/things/x?n=four")
    expect(status).toBe(400)
    expect(JSON.parse(text)).toMatchObject({ issues: [{ path: "n" }] })
  })
})

describe("connections", () => {
  it("that speak no HTTP, or too much of it, get one clear 400", async () => {
    expect(await raw("GARBAGE\r\n\r\n")).toMatch(/^HTTP\/1\.1 400 .*not valid HTTP/su)
    const huge = `GET / HTTP/1.1\r\nHost: x\r\nX-Pad: ${"x".repeat(20_000)}\r\n\r\n`
    expect(await raw(huge)).toMatch(/^HTTP\/1\.1 400 .*headers are too large/su)
  })

  it.each([
    ["two hosts", "Host: a\r\nHost: b\r\nContent-Length: 0", "more than one Host"],
    ["the same host twice", "Host: a\r\nhost: a\r\nContent-Length: 0", "more than one Host"],
    ["an encoding before chunked", "Host: a\r\nTransfer-Encoding: identity, chunked", "Transfer-Encoding"],
    ["two encodings", "Host: a\r\nTransfer-Encoding: identity\r\nTransfer-Encoding: chunked", "Transfer-Encoding"],
    ["chunked twice", "Host: a\r\nTransfer-Encoding: chunked, chunked", "HTTP"],
    ["an unknown encoding", "Host: a\r\nTransfer-Encoding: xchunked", "HTTP"],
    ["an encoding and a length", "Host: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5", "HTTP"],
    ["two lengths", "Host: a\r\nContent-Length: 5\r\nContent-Length: 6", "HTTP"],
  ])(
    "that could be read in two ways are refused, and nothing on their connection is done: %s",
    async (_what, headers, reason) => {
      const entries = service.store.audit.length
      const request = `POST /api/v2/ranges/R1/own HTTP/1.1\r\nX-API-KEY: ${service.keys.member}\r\n`
      const body = headers.includes("Transfer") ? "0\r\n\r\n" : ""
      const answer = await raw(`${request}${headers}\r\n\r\n${body}${request}Host: a\r\nContent-Length: 0\r\n\r\n`)
      expect(answer).toMatch(/^HTTP\/1\.1 400 /u)
      expect(answer).toContain(reason)
      expect(answer.match(/HTTP\/1\.1 \d/gu)).toHaveLength(1)
      expect(service.store.audit).toHaveLength(entries)
    },
  )

  it("with an unknown expectation are answered, and chunked encoding in any letter case is read", async () => {
    const start = `GET /api/v2/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-API-KEY: ${service.keys.member}\r\n`
    expect(await raw(`${start}Expect: the-unexpected\r\n\r\n`)).toMatch(/^HTTP\/1\.1 200 /u)
    expect(await raw(`${start}Transfer-Encoding: Chunked\r\n\r\n0\r\n\r\n`)).toMatch(/^HTTP\/1\.1 200 /u)
  })

  it("with characters that clients do not encode are understood", async () => {
    const request = `GET /api/v2/things/x?filter=rangeID%20=%20"X" HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-API-KEY: ${service.keys.member}\r\n\r\n`
    expect(await raw(request)).toContain("thing x -")
  })
})

describe("a client that goes away", () => {
  it.each([
    ["GET", "interrupted"],
    ["POST", "finished"],
  ] as const)("during %s leaves it %s", async (method, end) => {
    const slow = gated(method)
    const waiting = await startService({ operations: [slow.operation] })
    const leave = new AbortController()
    const request = fetch(`${waiting.url}/api/v2/gated`, {
      method,
      headers: { "x-api-key": waiting.keys.member },
      signal: leave.signal,
    })
    await slow.entered
    leave.abort()
    await expect(request).rejects.toThrow("abort")
    if (method === "POST") slow.open()
    expect(await slow.ended).toBe(end)
    await waiting.stop()
    expect(waiting.defects).toEqual([])
  })
})
