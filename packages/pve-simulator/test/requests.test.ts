import fc from "fast-check"
import { expect, test } from "vitest"
import type { SimRequest } from "../src/index.ts"
import { createLab, passing, type Lab } from "./support/client.ts"

const send = async (lab: Lab, request: SimRequest) =>
  await passing(
    lab.clock,
    lab.sim.handle({ ...request, headers: { authorization: `PVEAPIToken=${lab.sim.rootToken}`, ...request.headers } }),
  )

test("the caller is checked before the route, the route before rights, rights before parameters, parameters before existence", async () => {
  const lab = createLab()
  await lab.ok("POST", "/access/users", { userid: "someone@pve", password: "long enough" })
  const made = (await lab.ok("POST", "/access/users/someone@pve/token/tok", {})) as { value: string }
  const stranger = { token: `someone@pve!tok=${made.value}` }
  expect((await lab.call("GET", "/no/such/route", undefined, "nobody")).status).toBe(401)
  expect((await lab.call("GET", "/no/such/route", undefined, stranger)).status).toBe(501)
  const denied = await lab.call("POST", "/nodes/pve/qemu/999/clone", { newid: "x" }, stranger)
  expect(denied).toMatchObject({ status: 403, message: "Permission check failed (/vms/999, VM.Clone)\n" })
  expect((await lab.call("POST", "/nodes/pve/qemu/999/clone", { newid: "x" })).errors).toEqual({
    newid: "type check ('integer') failed - got 'x'",
  })
  expect((await lab.call("POST", "/nodes/pve/qemu/999/clone", { newid: 300 })).message).toBe(
    "unable to find configuration file for VM 999 on node 'pve'\n",
  )
})

test("the answer to a refused login takes three seconds, has no body and closes the connection", async () => {
  const lab = createLab()
  const before = lab.clock.now()
  const response = await passing(lab.clock, lab.sim.handle({ method: "GET", path: "/api2/json/nodes" }))
  expect(lab.clock.now() - before).toBe(3000)
  expect(response).toMatchObject({ status: 401, reason: "No ticket", body: "" })
  expect(response.headers["connection"]).toBe("close")
})

test("only four verbs exist", async () => {
  const lab = createLab()
  for (const method of ["HEAD", "PATCH", "OPTIONS", "get"]) {
    expect(await send(lab, { method, path: "/api2/json/version" })).toMatchObject({
      status: 501,
      reason: `method '${method}' not available`,
      body: "",
    })
  }
})

test("a body on GET or DELETE, a chunked body and a body above 512 KiB are refused", async () => {
  const lab = createLab()
  expect(await send(lab, { method: "DELETE", path: "/api2/json/pools", body: "poolid=x" })).toMatchObject({
    status: 501,
    reason: "Unexpected content for method 'DELETE'",
  })
  expect(
    (await send(lab, { method: "POST", path: "/api2/json/pools", headers: { "transfer-encoding": "chunked" }, body: "poolid=x" }))
      .status,
  ).toBe(501)
  expect(await send(lab, { method: "POST", path: "/api2/json/pools", body: `poolid=${"x".repeat(600_000)}` })).toMatchObject({
    status: 501,
    reason: "for data too large",
  })
})

test("broken JSON, an array and an empty JSON body are answered with 500 in plain text; other types with 506", async () => {
  const lab = createLab()
  for (const body of ["{", "[]", ""]) {
    const response = await send(lab, {
      method: "POST",
      path: "/api2/json/pools",
      headers: { "content-type": "application/json" },
      body,
    })
    expect(response.status, body).toBe(500)
    expect(response.headers["content-type"], body).toBe("text/plain")
  }
  expect(
    (await send(lab, { method: "POST", path: "/api2/json/pools", headers: { "content-type": "text/plain" }, body: "x" })).status,
  ).toBe(506)
})

test("forms are read as the server reads them", async () => {
  const lab = createLab()
  const put = async (body: string) => await send(lab, { method: "PUT", path: "/api2/json/nodes/pve/qemu/100/config", body })
  await put("description=a+b%2Bc%0A%C3%BC;tags=x")
  expect(lab.sim.guest(100)?.config).toMatchObject({ description: "a b+c\nü", tags: "x" })
  await put("description=cut=here")
  expect(lab.sim.guest(100)?.config["description"]).toBe("cut")
  expect(JSON.parse((await put("name=a&name=b")).body)).toMatchObject({
    errors: { name: "type check ('string') failed - got ARRAY" },
  })
  expect(JSON.parse((await put("description")).body)).toMatchObject({ message: "no options specified\n" })
})

test("the query wins over the body, and neither may contradict the path", async () => {
  const lab = createLab()
  await send(lab, {
    method: "PUT",
    path: "/api2/json/nodes/pve/qemu/100/config?description=query&_dc=1",
    body: "description=body",
  })
  expect(lab.sim.guest(100)?.config["description"]).toBe("query")
  const contradiction = await send(lab, { method: "PUT", path: "/api2/json/nodes/pve/qemu/100/config", body: "vmid=101&name=x" })
  expect(JSON.parse(contradiction.body)).toMatchObject({
    errors: { vmid: "duplicate parameter (already defined in URI) with conflicting values!" },
  })
})

test("extjs answers 200 and tells success or failure inside; htmljs does so in a page", async () => {
  const lab = createLab()
  const extjs = async (path: string, body?: string) => {
    const response = await send(lab, {
      method: body === undefined ? "GET" : "POST",
      path,
      ...(body === undefined ? {} : { body }),
    })
    expect(response.status).toBe(200)
    return response
  }
  expect(JSON.parse((await extjs("/api2/extjs/version")).body)).toEqual({
    success: 1,
    data: expect.objectContaining({ version: "9.2.3" }),
  })
  expect(JSON.parse((await extjs("/api2/extjs/pools", "poolid=one")).body)).toEqual({ success: 1, data: null })
  expect(JSON.parse((await extjs("/api2/extjs/nodes/pve/tasks")).body)).toEqual({ success: 1, data: [], total: 0 })
  const missing = {
    success: 0,
    status: 500,
    data: null,
    message: "Configuration file 'nodes/pve/qemu-server/999.conf' does not exist\n",
  }
  expect(JSON.parse((await extjs("/api2/extjs/nodes/pve/qemu/999/config")).body)).toEqual(missing)
  expect(JSON.parse((await extjs("/api2/extjs/nodes/pve/qemu/100/clone", "newid=x")).body)).toEqual({
    success: 0,
    status: 400,
    data: null,
    message: "Parameter verification failed.\n",
    errors: { newid: "type check ('integer') failed - got 'x'" },
  })
  const page = await extjs("/api2/htmljs/pools", "poolid=two")
  expect(page.headers["content-type"]).toBe("text/html;charset=UTF-8")
  expect(page.body).toBe("{&quot;success&quot;:1,&quot;data&quot;:null}")
})

test("doubled and trailing slashes and escapes in a path change nothing", async () => {
  const lab = createLab()
  expect((await send(lab, { method: "GET", path: "/api2/json//nodes/pve//qemu/100/config/" })).status).toBe(200)
  expect((await send(lab, { method: "GET", path: "/api2/json/nodes/p%76e/qemu/100/config" })).status).toBe(200)
})

test("every request gets an answer, however odd it is", async () => {
  const lab = createLab()
  const paths = fc.oneof(
    fc.webPath(),
    fc.constantFrom(
      "/nodes/pve/qemu/100/config",
      "/nodes/%00/qemu",
      "/nodes/pve/tasks/%ZZ/status",
      "/pools",
      "/access/acl",
      "/nodes/__proto__/qemu",
      "/cluster/resources",
    ),
  )
  const request = fc.record({
    method: fc.constantFrom("GET", "POST", "PUT", "DELETE"),
    path: paths.map((path) => `/api2/json${path}`),
    body: fc.oneof(fc.string(), fc.json(), fc.constant("")),
    type: fc.constantFrom("application/json", "application/x-www-form-urlencoded", ""),
    query: fc.oneof(
      fc.constant(""),
      fc.webQueryParameters().map((query) => `?${query}`),
    ),
  })
  await fc.assert(
    fc.asyncProperty(request, async ({ method, path, body, type, query }) => {
      const response = await send(lab, { method, path: path + query, headers: { "content-type": type }, body })
      expect(response.status).toBeGreaterThanOrEqual(200)
      expect(response.body).not.toContain("internal error")
    }),
    { numRuns: 300 },
  )
})

test("early refusals have their text in the status line and as body; the caller is checked before the body", async () => {
  const lab = createLab()
  const refused = async (request: SimRequest) => {
    const { status, reason, body, headers } = await send(lab, request)
    expect(headers["content-type"]).toBe("text/plain")
    expect(body.trimEnd()).toBe(reason)
    return [status, reason]
  }
  const post = { method: "POST", path: "/api2/json/pools", body: "poolid=x" }
  expect(await refused({ ...post, headers: { "transfer-encoding": "chunked" } })).toEqual([
    501,
    "chunked transfer encoding not supported",
  ])
  expect(await refused({ ...post, headers: { "transfer-encoding": "gzip" } })).toEqual([501, "Unknown transfer encoding 'gzip'"])
  expect(await refused({ ...post, method: "DELETE" })).toEqual([501, "Unexpected content for method 'DELETE'"])
  expect(await refused({ ...post, body: "x".repeat(600_000) })).toEqual([501, "for data too large"])
  expect(await refused({ ...post, headers: { "content-type": "text/plain" } })).toEqual([
    506,
    "upload 'Content-Type 'text/plain' not implemented",
  ])
  expect(await refused({ method: "GET", path: "/api2/xml/version" })).toEqual([501, "no formatter for uri /version, format xml"])
  for (const path of ["/api2", "/api2/"]) expect(await refused({ method: "GET", path })).toEqual([501, "no such uri"])
  expect(await refused({ method: "GET", path: "/favicon.ico?x" })).toEqual([501, "no such file '/favicon.ico'"])
  expect(await refused({ method: "POST", path: "/" })).toEqual([501, "no such file '/'"])
  const nobody = { headers: { authorization: undefined } }
  expect(await send(lab, { method: "DELETE", path: "/api2/json/pools", body: "x", ...nobody })).toMatchObject({ status: 401 })
  expect(await send(lab, { method: "GET", path: "/api2/xml/version", ...nobody })).toMatchObject({ status: 401, body: "" })
})

test("the root of each format lists what is below it, the root of all is a page, and a request line may name the server", async () => {
  const lab = createLab()
  for (const path of ["/api2/json", "/api2/json/", "/api2/extjs"]) {
    const { data } = JSON.parse((await send(lab, { method: "GET", path })).body) as { data: { subdir: string }[] }
    expect(data.map(({ subdir }) => subdir).toSorted()).toEqual(["access", "cluster", "nodes", "pools", "storage", "version"])
  }
  const page = await send(lab, { method: "GET", path: "/?console=kvm", headers: { authorization: undefined } })
  expect(page).toMatchObject({ status: 200, headers: { "content-type": "text/html; charset=utf-8" } })
  expect(page.body).toContain("<title>pve - Proxmox Virtual Environment</title>")
  for (const path of [
    "https://pve.example:8006/api2/json/cluster/resources?type=node",
    "/api2/json/cluster/resources?type=node#x",
  ])
    expect(JSON.parse((await send(lab, { method: "GET", path })).body)).toMatchObject({ data: [{ id: "node/pve" }] })
})
