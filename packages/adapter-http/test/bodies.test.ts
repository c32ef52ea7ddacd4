import * as fc from "fast-check"
import { connect } from "node:net"
import { once } from "node:events"
import { gzipSync } from "node:zlib"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { samples } from "./sample-operations.ts"
import { startService, type Service } from "./support.ts"

let service: Service
beforeAll(async () => {
  service = await startService({ operations: samples })
})
afterAll(async () => {
  expect(service.defects).toEqual([])
  await service.stop()
})

type Sent = Exclude<RequestInit["body"], undefined>
const send = async (method: string, path: string, body: Sent, headers: Record<string, string> = {}) => {
  const response = await fetch(service.url + path, {
    method,
    headers: { "x-api-key": service.keys.member, ...headers },
    body,
    ...(body instanceof ReadableStream ? { duplex: "half" } : {}),
  } as RequestInit)
  return { status: response.status, json: (await response.json()) as Record<string, unknown> & { error: string } }
}
const json = { "content-type": "application/json" }
const echo = (body: Sent, headers: Record<string, string> = json) => send("PUT", "/api/v2/echo", body, headers)

/** A request written byte by byte, whose sender leaves after `body`. */
const sendRaw = async (head: string, body: string | Buffer): Promise<string> => {
  const socket = connect(service.port, "127.0.0.1")
  let text = ""
  socket.on("data", (chunk: Buffer) => (text += chunk.toString()))
  socket.on("error", () => undefined)
  socket.write(`PUT ${head}\r\nHost: x\r\nX-API-KEY: ${service.keys.member}\r\n`)
  socket.write(body)
  socket.end()
  return new Promise((resolve) => socket.on("close", () => resolve(text)))
}

describe("bodies that are JSON or a form", () => {
  const sendForm = (parts: Readonly<Record<string, string | Blob>>) => {
    const form = new FormData()
    for (const [name, part] of Object.entries(parts)) form.append(name, part)
    return send("PATCH", "/api/v2/describes", form)
  }
  const sendJson = (body: Sent, headers = json) => send("PATCH", "/api/v2/describes", body, headers)

  it("mean the same in both formats, and only a form carries a file", async () => {
    const body = { name: "5", tags: ["a", "b"], count: 3 }
    expect(await sendJson(JSON.stringify({ ...body, other: 1 }))).toEqual({ status: 200, json: { body, file: null } })
    const said = { NAME: "5", tags: '["a","b"]', count: "3", other: "x" }
    expect(await sendForm(said)).toEqual({ status: 200, json: { body, file: null } })
    expect(await sendForm({ name: "[1]", picture: new File(["1234"], "a.png") })).toEqual({
      status: 200,
      json: { body: { name: "[1]" }, file: { name: "a.png", size: 4 } },
    })
  })

  it("may leave texts of a form empty, where the operation clears them by that; of other types an empty one is not sent", async () => {
    expect(await sendForm({ name: "", tags: "", count: "" })).toEqual({ status: 200, json: { body: { name: "" }, file: null } })
  })

  it("say booleans in a form as other forms and queries do, and in JSON as JSON does", async () => {
    for (const [text, shown] of [
      ["true", true],
      ["True", true],
      ["1", true],
      ["false", false],
      ["False", false],
      ["0", false],
    ] as const)
      expect(await sendForm({ shown: text })).toEqual({ status: 200, json: { body: { shown }, file: null } })
    expect(await sendForm({ shown: "" })).toEqual({ status: 200, json: { body: {}, file: null } })
    for (const text of ["yes", "2", '"true"']) expect((await sendForm({ shown: text })).status).toBe(400)
    expect((await sendJson('{"shown":"true"}')).status).toBe(400)
  })

  it("take one file, whatever the parts are called", async () => {
    const many = new FormData()
    for (const name of ["a.png", "b.png"]) many.append("picture", new File(["1"], name))
    expect(await send("PATCH", "/api/v2/describes", many)).toMatchObject({
      status: 400,
      json: { error: expect.stringContaining("more parts than the operation accepts") },
    })
  })

  it("are refused where a member is of another type, the file is too large, or it is neither", async () => {
    const wrong: Record<string, string>[] = [
      { tags: "a" },
      { tags: "[1]" },
      { tags: '{"a":1}' },
      { count: "x" },
      { count: '"3"' },
    ]
    for (const parts of wrong) {
      const { status, json: told } = await sendForm(parts)
      expect([status, told.error]).toEqual([400, expect.stringContaining(Object.keys(parts)[0] ?? "")])
    }
    expect((await sendForm({ picture: new File(["x".repeat(1001)], "a.png") })).status).toBe(413)
    expect((await sendJson('{"name":5}')).status).toBe(400)
    expect((await sendJson("", json)).status).toBe(400)
    expect((await sendJson("name=5", { "content-type": "application/x-www-form-urlencoded" })).status).toBe(400)
    expect((await sendJson("x", { "content-type": "multipart/form-data" })).status).toBe(400)
  })
})

describe("JSON bodies", () => {
  it.each([
    ['{"vmIDs":[104]}', { vmids: [104] }],
    ['{"VMIDS":[104]}', { vmids: [104] }],
    ['{"vmids":[1],"VmIds":[2]}', { vmids: [2] }],
    ['{"vmids":[1],"vmids":[2]}', { vmids: [2] }],
    ['{"vmids":[1],"VMIDS":null}', {}],
    ['{"Options":{"ONLYROLES":["a"]}}', { options: { onlyRoles: ["a"] } }],
    ['{"variables":{"Some_Key":{"Deep":1}}}', { variables: { Some_Key: { Deep: 1 } } }],
    ['{"machines":null,"unknown":{"a":[1]}}', {}],
    ['{"machines":["a"]} trailing {"machines":["b"]}', { machines: ["a"] }],
    ['{"machines":["}{\\"]["]}]', { machines: ['}{"]['] }],
    ["\uFEFF{}", {}],
    ["null", null],
    ["  ", null],
    ["", null],
  ])("%s are read as clients mean them", async (body, expected) => {
    expect(await echo(body)).toEqual({ status: 200, json: { body: expected } })
  })

  it.each([
    ["{", "not valid JSON"],
    ["{'a':1}", "not valid JSON"],
    ['{"machines":["a"}', "not valid JSON"],
    ["nonsense", "not valid JSON"],
    ['""', "Expected object"],
    ["[]", "Expected object"],
    ["5", "Expected object"],
    ['{"vmids":"all"}', "vmids"],
    ['{"vmids":[1,"two"]}', "vmids[1]"],
    ['{"VMIDS":[1.5]}', "vmids[0]"],
    ['{"machines":{"0":"a"}}', "machines"],
    ['{"options":[]}', "options"],
    ['{"machines":["a\\u0000b"]}', "NUL"],
    ['{"machines":["\\ud800"]}', "surrogate"],
    [`${"[".repeat(3000)}`, "not valid JSON"],
    [`{"variables":{"a":${"[".repeat(1000)}${"]".repeat(1000)}}}`, "deeper"],
  ])("%.40s are refused with 400 and the place", async (body, told) => {
    const { status, json: answer } = await echo(body)
    expect(status).toBe(400)
    expect(answer.error).toContain(told)
  })

  it("name all that is wrong at once, without repeating values", async () => {
    const { json: answer } = await echo('{"vmids":["hunter2",2,"x"],"machines":5}')
    expect(answer["issues"]).toEqual([
      { path: "machines", message: "Expected array" },
      { path: "vmids[0]", message: "Expected number" },
      { path: "vmids[2]", message: "Expected number" },
    ])
    expect(JSON.stringify(answer)).not.toContain("hunter2")
  })

  it("cannot reach a prototype", async () => {
    const { status, json: answer } = await echo(
      '{"__proto__":{"vmids":[1]},"variables":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}}',
    )
    expect(status).toBe(200)
    expect(answer).toEqual({ body: { variables: { constructor: { prototype: { polluted: 1 } } } } })
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined()
  })

  it.each([
    "application/json; charset=utf-8",
    "application/problem+json",
    // what curl says of -d where it is told nothing
    "application/x-www-form-urlencoded",
    "text/plain;charset=UTF-8",
    "application/octet-stream",
    "json",
    "nonsense; =",
    "",
  ])("are objects whatever their content type says, also %s", async (type) => {
    const headers = { "content-type": type }
    expect(await echo('{"vmids":[1]}', headers)).toEqual({ status: 200, json: { body: { vmids: [1] } } })
    expect(await echo(" {}\n", headers)).toEqual({ status: 200, json: { body: {} } })
    expect((await echo('{"vmids":"all"}', headers)).status).toBe(400)
    expect((await echo('{"vmids":[1]', headers)).status).toBe(400)
    expect((await echo(`{"machines":["${"x".repeat(10_000)}"]}`, headers)).status).toBe(413)
  })

  it("are objects without a content type, and compressed ones", async () => {
    const bare = await sendRaw("/api/v2/echo HTTP/1.1", 'Connection: close\r\nContent-Length: 13\r\n\r\n{"vmids":[1]}')
    expect(bare).toContain('{"body":{"vmids":[1]}}')
    const packed = new Uint8Array(gzipSync('{"vmids":[8]}'))
    const headers = { "content-type": "application/x-www-form-urlencoded", "content-encoding": "gzip" }
    expect(await echo(packed, headers)).toEqual({ status: 200, json: { body: { vmids: [8] } } })
  })

  it.each([
    ["application/x-www-form-urlencoded", "vmids=1"],
    ["application/x-www-form-urlencoded", "%7B%22vmids%22%3A%5B1%5D%7D"],
    ["application/x-www-form-urlencoded", "null"],
    ["application/x-www-form-urlencoded", "[]"],
    ["text/plain", "vmids: [1]"],
    ["multipart/form-data; boundary=abc", '--abc\r\nContent-Disposition: form-data; name="vmids"\r\n\r\n1\r\n--abc--\r\n'],
  ])("are not forms or other texts: %s with %s", async (type, body) => {
    const { status, json: answer } = await echo(body, { "content-type": type })
    expect([status, answer["hint"]]).toEqual([400, "Send a JSON object, with Content-Type: application/json."])
    expect(await echo(null, {})).toEqual({ status: 200, json: { body: null } })
  })

  it("may come in chunks or compressed", async () => {
    const chunks = new Blob(['{"vmids":', "[7]}"]).stream()
    expect(await echo(chunks)).toEqual({ status: 200, json: { body: { vmids: [7] } } })
    const packed = new Uint8Array(gzipSync('{"vmids":[8]}'))
    expect(await echo(packed, { ...json, "content-encoding": "gzip" })).toEqual({ status: 200, json: { body: { vmids: [8] } } })
    expect((await echo(packed, { ...json, "content-encoding": "nonsense" })).status).toBe(400)
    expect((await echo("not gzip", { ...json, "content-encoding": "gzip" })).status).toBe(400)
  })

  it("larger than the operation takes are 413, packed or not, and the connection goes on", async () => {
    const large = JSON.stringify({ machines: ["x".repeat(10_000)] })
    expect((await echo(large)).status).toBe(413)
    expect((await echo(new Blob([large]).stream())).status).toBe(413)
    const bomb = new Uint8Array(gzipSync(JSON.stringify({ machines: ["x".repeat(20_000_000)] })))
    expect((await echo(bomb, { ...json, "content-encoding": "gzip" })).status).toBe(413)
    expect((await echo("{}")).status).toBe(200)
  })

  it("are short where no credentials are needed: anybody can send them, and the service holds them until their end", async () => {
    const login = (identity: string) =>
      send("POST", "/api/collections/users/auth-with-password", JSON.stringify({ identity }), json)
    expect((await login("x".repeat(10_000))).status).toBe(200)
    expect((await login("x".repeat(20_000))).status).toBe(413)
  })

  it("come on DELETE too, and may be required", async () => {
    const name = (body: string) => send("DELETE", "/api/v2/echo", body, json)
    expect(await name('{"NAME":"x"}')).toEqual({ status: 200, json: { result: "x" } })
    for (const empty of ["", "null", "{}", '{"name":null}']) expect((await name(empty)).status).toBe(400)
  })

  it.each([
    ["text/nonsense", "{{{"],
    ["application/x-www-form-urlencoded", "{}"],
    ["application/x-www-form-urlencoded", "{{{"],
    ["application/x-www-form-urlencoded", '""'],
    ["application/x-www-form-urlencoded", "comment=x&reason="],
    ["application/x-www-form-urlencoded", "%"],
    ["application/json", '""'],
    ["application/octet-stream", "\u0000\u0001"],
    ["multipart/form-data; boundary=abc", '--abc\r\nContent-Disposition: form-data; name="x"\r\n\r\n1\r\n--abc--\r\n'],
  ])("are ignored where none is declared: %s with %s", async (type, body) => {
    for (const [method, path] of [
      ["DELETE", "/api/v2/range"],
      ["POST", "/api/v2/ranges/R1/own"],
    ] as const)
      expect((await send(method, path, body, { "content-type": type })).status).toBe(method === "POST" ? 201 : 200)
  })

  it.each([
    ["application/json", '{"rangeID":"R2"}'],
    ["application/x-www-form-urlencoded", '{"rangeID":"R2"}'],
    ["text/plain", ' {"range_id":"R2"}'],
    ["application/x-www-form-urlencoded", "rangeID=R2"],
    ["application/x-www-form-urlencoded", "x=1&Range%5FID=R2"],
    ["multipart/form-data; boundary=abc", '--abc\r\nContent-Disposition: form-data; name="rangeID"\r\n\r\nR2\r\n--abc--\r\n'],
  ])("that name another range are refused where none is declared: %s with %s", async (type, body) => {
    for (const path of ["/api/v2/range", "/api/v2/plain-range"]) {
      const { status, json: answer } = await send("DELETE", path, body, { "content-type": type })
      expect([status, answer["hint"]]).toEqual([400, "Use ?rangeID= in the URL."])
    }
  })

  it("are not read when the caller is refused", async () => {
    const head = "/api/v2/echo HTTP/1.1\r\nHost: x\r\nX-API-KEY: ME.wrong"
    const socket = connect(service.port, "127.0.0.1")
    socket.write(`PUT ${head}\r\nContent-Type: application/json\r\nContent-Length: 5000000\r\n\r\n{`)
    const [answer] = (await once(socket, "data")) as [Buffer]
    expect(String(answer)).toMatch(/^HTTP\/1\.1 401 /u)
    socket.destroy()
  })

  it("of a refused request are taken to their end before its connection closes, so that the sender reads why", async () => {
    const socket = connect(service.port, "127.0.0.1")
    const errors: Error[] = []
    socket.on("error", (error) => errors.push(error))
    const size = 1_000_000
    socket.write(
      `PUT /api/v2/upload HTTP/1.1\r\nHost: x\r\nX-API-KEY: ME.wrong\r\nConnection: close\r\nContent-Length: ${size}\r\n\r\n`,
    )
    socket.write(Buffer.alloc(size / 2))
    let answer = ""
    while (!answer.endsWith("}")) answer += String(((await once(socket, "data")) as [Buffer])[0])
    expect(answer).toMatch(/^HTTP\/1\.1 401 .*\r\nConnection: close\r\n/su)
    let ended = false
    socket.once("end", () => (ended = true))
    // another request is answered meanwhile, so an end would have come
    expect((await echo("{}")).status).toBe(200)
    expect(ended).toBe(false)
    socket.write(Buffer.alloc(size / 2))
    await once(socket, "close")
    expect(errors).toEqual([])
  })

  it("that end early change nothing", async () => {
    const entries = service.store.audit.length
    await sendRaw("/api/v2/echo HTTP/1.1", 'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"vmids":[1]}')
    await expect.poll(() => service.store.audit.slice(entries)).toMatchObject([{ operation: "echo", outcome: "InvalidInput" }])
  })

  it("of any shape never break the service", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.json(),
          fc.string(),
          fc.json().map((text) => `{"VMids":${text}}`),
        ),
        async (body) => {
          expect([200, 400]).toContain((await echo(body)).status)
        },
      ),
      { numRuns: 150 },
    )
  })
})

describe("uploads", () => {
  const form = (file: Blob | string | undefined, fields: Record<string, string> = {}, part = "file") => {
    const data = new FormData()
    for (const [name, value] of Object.entries(fields)) data.append(name, value)
    if (typeof file === "string") data.append(part, file)
    else if (file !== undefined) data.append(part, file, "range.yml")
    return data
  }
  const upload = (body: Sent, headers?: Record<string, string>) => send("PUT", "/api/v2/upload", body, headers)

  it("carry one file and text fields", async () => {
    expect(await upload(form(new Blob(["ludus: []"]), { force: "true", other: "x" }))).toEqual({
      status: 200,
      json: { name: "range.yml", size: 9, force: "true" },
    })
    expect(await upload(form(new Blob([]), { FORCE: "" }))).toEqual({
      status: 200,
      json: { name: "range.yml", size: 0, force: "unset" },
    })
  })

  it("keep every byte", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 3000 }), async (bytes) => {
        expect((await upload(form(new Blob([new Uint8Array(bytes)])))).json["size"]).toBe(bytes.length)
      }),
      { numRuns: 30 },
    )
  })

  it.each([
    ["no file part", form(undefined, { force: "true" }), "part named file"],
    ["a file under another name", form(new Blob(["x"]), {}, "upload"), "part named file"],
    ["text instead of a file", form("ludus: []"), "part named file"],
    ["a wrong field", form(new Blob(["x"]), { force: "perhaps" }), "force"],
    ["a field that is too large", form(new Blob(["x"]), { force: "x".repeat(70_000) }), "larger than"],
    [
      "too many fields",
      form(new Blob(["x"]), Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`f${i}`, "x"]))),
      "more parts",
    ],
  ])("with %s are refused with 400", async (_what, body, told) => {
    const { status, json: answer } = await upload(body)
    expect(status).toBe(400)
    expect(answer.error).toContain(told)
  })

  it.each([
    ["another content type", "{}", "application/json"],
    ["no boundary", "x", "multipart/form-data"],
    ["a boundary that never comes", "x", "multipart/form-data; boundary=abc"],
    [
      "a part that never ends",
      '--abc\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nhalf',
      "multipart/form-data; boundary=abc",
    ],
    ["nothing", "", "multipart/form-data; boundary=abc"],
  ])("with %s are refused with 400", async (_what, body, type) => {
    expect((await upload(body, { "content-type": type })).status).toBe(400)
  })

  it("larger than the operation takes are 413, however they come", async () => {
    expect((await upload(form(new Blob([new Uint8Array(100_001)])))).status).toBe(413)
    expect((await upload(form(new Blob([new Uint8Array(5_000_000)])))).status).toBe(413)
    expect((await upload(form(new Blob([new Uint8Array(100_000)])))).status).toBe(200)
  })

  it("wait for others of the same user when many are coming in, and small ones and other users' do not", async () => {
    const few = await startService({ operations: samples, http: { uploadsOfUser: 2 } })
    /** Its last byte never comes. */
    const standing = async () => {
      const socket = connect(few.port, "127.0.0.1")
      const head = `PUT /api/v2/upload HTTP/1.1\r\nHost: x\r\nX-API-KEY: ${few.keys.member}\r\nContent-Length: 90000`
      socket.write(`${head}\r\nContent-Type: multipart/form-data; boundary=abc\r\nExpect: 100-continue\r\n\r\n--abc\r\n`)
      await once(socket, "data")
      return socket
    }
    const sent = async (key: string, bytes: number) => {
      const body = form(new Blob([new Uint8Array(bytes)]))
      return (await fetch(`${few.url}/api/v2/upload`, { method: "PUT", headers: { "x-api-key": key }, body })).status
    }
    const [first, second] = [await standing(), await standing()]
    let answered = false
    const third = sent(few.keys.member, 90_000).finally(() => (answered = true))
    const gone = await standing()
    expect(await sent(few.keys.admin, 90_000)).toBe(200)
    expect(await sent(few.keys.member, 10)).toBe(200)
    expect(answered).toBe(false)
    gone.destroy()
    first.destroy()
    expect(await third).toBe(200)
    second.destroy()
    expect(few.defects).toEqual([])
    await few.stop()
  })

  it("cut off in the middle change nothing", async () => {
    const entries = service.store.audit.length
    const head = "Content-Type: multipart/form-data; boundary=abc\r\nContent-Length: 9999\r\n\r\n"
    await sendRaw(
      "/api/v2/upload HTTP/1.1",
      `${head}--abc\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nhalf`,
    )
    await expect.poll(() => service.store.audit.slice(entries)).toMatchObject([{ operation: "upload", outcome: "InvalidInput" }])
  })
})
