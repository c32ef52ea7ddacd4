import { openApiDocument } from "@rangewright/adapter-http"
import { operations, type Operation } from "@rangewright/application"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import type { Who } from "../../packages/adapter-http/test/support.ts"
import { type Answer, send } from "./ask.ts"
import { inContract, readContracts, successSchema } from "./contract.ts"
import { violations, type Schema } from "./json-schema.ts"
import { bodyOf, needsOf, pathOf, refusalOf, sampleOf } from "./requests.ts"
import { password, startWholeService, type WholeService } from "./service.ts"

const contracts = readContracts()
const ours = openApiDocument(operations, { version: "0.0.0" }) as {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly responses: Readonly<
              Record<string, { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }>
            >
          }
        >
      >
    >
  >
}

let service: WholeService

const call = (operation: Operation, who: Who, query: Record<string, string> = {}) => {
  const sample = sampleOf(operation, service.runId)
  const init = bodyOf(operation, sample)
  return send(operation, service.url + pathOf(operation, { ...sample, query: { ...sample.query, ...query } }), {
    ...init,
    headers: { "x-api-key": service.keys[who], ...(init.headers as Record<string, string>) },
  })
}

/** Callers that fail too often on these have to wait. */
const signsIn = new Set(["recordLogin", "recordOAuth2Login", "startSession", "beginSingleSignOn", "linkIdentity"])

const successOf = (operation: Operation): number =>
  operation.output.type === "socket" ? 101 : operation.statuses[201] === undefined ? 200 : 201

const expectShape = (operation: Operation, status: number, body: unknown) => {
  const described = ours.paths[operation.route.path]?.[operation.route.method.toLowerCase()]?.responses[String(status)]?.content
  const own = described?.["application/json"]?.schema
  if (own !== undefined) expect(violations(ours, own, body)).toEqual([])
  const found = contracts === undefined ? undefined : inContract(contracts, operation)
  const theirs = found === undefined ? undefined : successSchema(found.operation, status)
  if (found !== undefined && theirs !== undefined) expect(violations(found.contract, theirs, body)).toEqual([])
}

/** Private answers must not stay in caches; cacheable ones contain nothing private. */
const expectPrivate = (operation: Operation, response: Answer, text: string) => {
  // an open WebSocket is no answer that could be cached
  if (operation.output.type === "socket") return
  const mayStay = operation.access === "anonymous" && !operation.mutates && !operation.wholeKeyOnly
  expect(response.headers.get("cache-control") ?? "").toMatch(mayStay ? /^$/u : /^no-store\b/u)
  const secrets = [password, ...Object.values(service.keys), ...Object.values(service.tokens)]
  if (mayStay) expect(secrets.filter((secret) => text.includes(secret))).toEqual([])
}

const expectSuccess = async (operation: Operation, response: Answer) => {
  const text = await response.text()
  const refusal = refusalOf(operation)
  if (refusal !== undefined)
    return expect([response.status, JSON.parse(text)]).toEqual([
      refusal,
      expect.objectContaining({ error: expect.stringMatching(/^Cannot /u), hint: expect.stringMatching(/\S/u) }),
    ])
  expect([response.status, text]).toEqual([successOf(operation), text])
  expectPrivate(operation, response, text)
  const type = response.headers.get("content-type") ?? ""
  switch (operation.output.type) {
    case "json":
    case "prepared-json":
    case "session":
    case "json-or-download":
    case "marked-json":
    case "json-or-file":
      expect(type).toBe("application/json")
      return expectShape(operation, response.status, JSON.parse(text))
    case "text":
      return expect([type, text]).toEqual([operation.output.contentType, expect.stringMatching(/\S/u)])
    case "binary":
      return expect([type.split("/")[0], text.length > 0]).toEqual(["image", true])
    case "json-or-zip":
    case "zip":
      return expect([type, text.slice(0, 2)]).toEqual(["application/zip", "PK"])
    case "download":
      return expect([type, text.length > 0]).toEqual([operation.output.contentType, true])
    case "socket":
      return expect(text).toBe("")
    case "events":
      return expect([type.split(";")[0], text.slice(0, 6)]).toEqual(["text/event-stream", "retry:"])
  }
}

const each = operations.map((operation) => [operation.id, operation] as const)

describe.each(each)("%s", (_id, operation) => {
  beforeEach(async () => {
    service = await startWholeService({ ...needsOf(operation) })
  })
  afterEach(async () => {
    expect(service.defects).toEqual([])
    await service.stop()
  })

  it.skipIf(operation.access === "admin" && operation.alsoFor === undefined)(
    "answers a member as the contract says",
    async () => {
      await expectSuccess(operation, await call(operation, "member"))
    },
  )

  it("answers an administrator as the contract says", async () => {
    const { adminActsAs } = sampleOf(operation, service.runId)
    await expectSuccess(
      operation,
      await call(operation, "admin", {
        ...(operation.target === "range" ? { rangeID: "R1" } : {}),
        ...(adminActsAs === undefined ? {} : { userID: adminActsAs }),
      }),
    )
  })
})

describe.each(each)("%s", (_id, operation) => {
  it("declares every status that it may answer, and only ones that clients understand", () => {
    const statuses = Object.keys(operation.statuses).map(Number)
    expect(statuses[0]).toBe(successOf(operation))
    const understood = [
      ...(operation.output.type === "socket" ? [101] : []),
      200,
      201,
      400,
      401,
      403,
      404,
      409,
      413,
      500,
      502,
      ...(signsIn.has(operation.id) ? [429] : []),
    ]
    expect(statuses.filter((status) => !understood.includes(status))).toEqual([])
    if (operation.access !== "anonymous") expect(statuses).toContain(401)
  })
})
