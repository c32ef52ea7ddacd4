import { operations, type Operation } from "@rangewright/application"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { ask } from "./ask.ts"
import { bodyOf, pathOf, sampleOf } from "./requests.ts"
import { startWholeService, type WholeService } from "./service.ts"

let service: WholeService
beforeAll(async () => {
  service = await startWholeService()
})
afterAll(async () => {
  expect(service.defects).toEqual([])
  await service.stop()
})

const json = { "content-type": "application/json" }

const send = async (operation: Operation, init: RequestInit, query: Record<string, string> = {}) => {
  const sample = sampleOf(operation, service.runId)
  const response = await ask(service.url + pathOf(operation, { ...sample, query: { ...sample.query, ...query } }), {
    ...init,
    method: operation.route.method,
    headers: { "x-api-key": service.keys.admin, ...sample.headers, ...(init.headers as Record<string, string>) },
  })
  return { status: response.status, text: await response.text() }
}
/** A request by an administrator on R1, so that only malformed input can cause the refusal. */
const onR1 = (operation: Operation) => (operation.target === "range" ? { rangeID: "R1" } : {})

const withJson = operations
  .filter(({ input }) => input.body.type === "json" || input.body.type === "json-or-multipart")
  .map((operation) => [operation.id, operation] as const)

describe.each(withJson)("%s", (_id, operation) => {
  const { body } = operation.input
  if (body.type !== "json" && body.type !== "json-or-multipart") throw new Error("filtered above")

  it("refuses bodies that are not JSON, no object, of another type, or too large", async () => {
    const refused = async (init: RequestInit, status: number) => {
      const { status: got, text } = await send(operation, init, onR1(operation))
      expect([got, text]).toEqual([status, expect.stringContaining(operation.route.base === "/" ? '"message"' : '"error"')])
    }
    for (const text of ["{", "nonsense", '"text"', "[]", "5", "true"]) await refused({ body: text, headers: json }, 400)
    for (const type of ["text/plain", "application/x-www-form-urlencoded"])
      for (const text of ["a=b", "{", "[]"]) await refused({ body: text, headers: { "content-type": type } }, 400)
    await refused({ body: `{"a":"${"x".repeat(5_000_000)}"}`, headers: json }, 413)
    if (body.required) for (const text of ["", "null", "{}"].slice(0, 2)) await refused({ body: text, headers: json }, 400)
  })

  const ast = AST.toEncoded(body.schema.ast)
  const members = AST.isObjects(ast) ? ast.propertySignatures : []
  it.each(members.map(({ name, type }) => [String(name), type] as const))(
    "refuses a wrong type of %s and names the place",
    async (name, type) => {
      const accepts = Schema.decodeUnknownResult(Schema.make<Schema.Codec<unknown, unknown>>(type))
      const { json: good } = sampleOf(operation, service.runId)
      for (const wrong of [5, "text", true, [], {}, [5], [{}], ["text"]].filter((value) => Result.isFailure(accepts(value)))) {
        const { status, text } = await send(
          operation,
          { body: JSON.stringify({ ...(good as object), [name.toUpperCase()]: wrong }), headers: json },
          onR1(operation),
        )
        expect([wrong, status]).toEqual([wrong, 400])
        expect(text).toContain(name)
      }
    },
  )
})

const withForm = operations
  .filter(({ input }) => input.body.type === "multipart")
  .map((operation) => [operation.id, operation] as const)

describe.each(withForm)("%s", (_id, operation) => {
  it("refuses forms that lack the file, are malformed or truncated, have another type, or are too large", async () => {
    const data = new FormData()
    data.append("other", new Blob(["x"]), "x")
    const { body } = operation.input
    if (body.type !== "multipart") throw new Error("filtered above")
    const large = new FormData()
    large.append(body.file, new Blob([new Uint8Array(body.maxBytes + 2 * 1024 * 1024)]), "x")
    const form = { "content-type": "multipart/form-data; boundary=abc" }
    const cut = '--abc\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\nhalf'
    for (const [init, status] of [
      [{ body: data }, 400],
      [{ body: "{}", headers: json }, 400],
      [{ body: "nonsense", headers: form }, 400],
      [{ body: cut, headers: form }, 400],
      [{ body: large }, 413],
    ] as const)
      expect((await send(operation, init, onR1(operation))).status).toBe(status)
  })
})

/** Lists of arbitrary strings: embedders have run kinds of their own. */
const open = new Set(["listRuns kind"])

const withQuery = operations.flatMap((operation) =>
  Object.entries(operation.input.query)
    .filter(([name, schema]) => !AST.isString((schema as Schema.Constraint).ast) && !open.has(`${operation.id} ${name}`))
    .map(([name]) => [operation.id, name, operation] as const),
)

describe.each(withQuery)("%s", (_id, name, operation) => {
  it(`refuses an unreadable ${name} and names it`, async () => {
    const { status, text } = await send(operation, bodyOf(operation, sampleOf(operation, service.runId)), {
      ...onR1(operation),
      [name]: "~nonsense~",
    })
    expect(status).toBe(400)
    expect(text).toContain(name)
  })
})

const withPath = operations
  .filter(({ input }) => Object.keys(input.path).length > 0)
  .map((operation) => [operation.id, operation] as const)

describe.each(withPath)("%s", (_id, operation) => {
  it("refuses hostile path parameters without harm", async () => {
    for (const text of [
      "%00",
      "%",
      "%2e%2e%2f%2e%2e",
      "__proto__",
      "x".repeat(3000),
      "%F0%9F%92%A9",
      "-1",
      "1e9",
      "'; DROP TABLE users; --",
    ]) {
      const path = `${operation.route.base === "/" ? "" : operation.route.base}${operation.route.path.replace(/\{\w+\}/gu, text)}`
      const init = bodyOf(operation, sampleOf(operation, service.runId))
      const response = await ask(service.url + path, {
        ...init,
        method: operation.route.method,
        headers: { "x-api-key": service.keys.admin, ...(init.headers as Record<string, string>) },
      })
      expect([text, response.status]).toEqual([text, expect.toSatisfy((status: number) => status === 400 || status === 404)])
    }
  })
})
