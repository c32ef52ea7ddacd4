import { operations, type Operation } from "@rangewright/application"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { stored } from "./ask.ts"
import { ask } from "./ask.ts"
import { bodyOf, pathOf, sampleOf, type Sample } from "./requests.ts"
import { startWholeService, type WholeService } from "./service.ts"

let service: WholeService
let before: string
beforeAll(async () => {
  service = await startWholeService()
  before = stored(service)
})
afterAll(async () => {
  expect(service.defects).toEqual([])
  await service.stop()
})

interface Answer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

const call = async (operation: Operation, headers: Record<string, string>, more: Sample = {}): Promise<Answer> => {
  const sample = sampleOf(operation, service.runId)
  const filled = { ...sample, ...more, path: { ...sample.path, ...more.path }, query: { ...sample.query, ...more.query } }
  const init = bodyOf(operation, filled)
  const response = await ask(service.url + pathOf(operation, filled), {
    ...init,
    method: operation.route.method,
    headers: { ...(init.headers as Record<string, string>), ...headers },
  })
  return { status: response.status, body: JSON.parse(await response.text()) as Answer["body"] }
}

const key = (who: keyof WholeService["keys"]) => ({ "x-api-key": service.keys[who] })

/** The two shapes of failures, and members that clients would misread. */
const expectProblem = (operation: Operation, { status, body }: Answer) => {
  if (operation.route.base === "/") expect(Object.keys(body)).toEqual(["status", "message", "data"])
  else {
    expect(Object.keys(body)[0]).toBe("error")
    expect(body).toMatchObject({ error: expect.any(String) as string, status, requestId: expect.any(String) as string })
    expect(body).not.toHaveProperty("message")
    expect(body).not.toHaveProperty("code")
  }
}

const refused = async (operation: Operation, headers: Record<string, string>, statuses: readonly number[], more?: Sample) => {
  const answer = await call(operation, headers, more)
  expect(statuses).toContain(answer.status)
  expectProblem(operation, answer)
  expect(stored(service)).toBe(before)
}

const guarded = operations.filter(({ access }) => access !== "anonymous").map((operation) => [operation.id, operation] as const)
const ofAccess = (test: (operation: Operation) => boolean) => guarded.filter(([, operation]) => test(operation))

describe.each(guarded)("%s", (_id, operation) => {
  it("refuses missing and wrong credentials", async () => {
    for (const headers of [
      {},
      { "x-api-key": "ME" },
      { "x-api-key": `ME.${"x".repeat(40)}` },
      { "x-api-key": `NOBODY.${"x".repeat(40)}` },
      { authorization: "Bearer x.y.z" },
      // cookies and basic authentication, which browsers send by themselves, are no credentials: another page could send them
      { authorization: `Basic ${Buffer.from(`ME:${service.keys.member}`).toString("base64")}` },
      { cookie: `pb_auth=${service.tokens.member}; token=${service.tokens.member}; x-api-key=${service.keys.member}` },
    ] as const)
      await refused(operation, headers, [401])
  })

  it("lets only administrators act as another user, and only as one that exists", async () => {
    await refused(operation, key("member"), [401], { query: { userID: "AD" } })
    await refused(operation, key("admin"), [400], { query: { userID: "NOBODY" } })
  })

  it("checks a range named in the query even when the operation needs none", async () => {
    await refused(operation, key("admin"), [404], { query: { rangeID: "NONE" } })
    // a caller who is no administrator learns that first
    await refused(operation, key("stranger"), operation.access === "admin" ? [401, 403] : [403], { query: { rangeID: "R2" } })
  })
})

describe.each(ofAccess(({ access, alsoFor }) => access === "admin" && alsoFor === undefined))("%s", (_id, operation) => {
  it("is for administrators only", async () => {
    const status = operation.statuses[403] === undefined ? 401 : 403
    await refused(operation, key("stranger"), [status])
    await refused(operation, key("member"), [status])
  })
})

describe.each(ofAccess(({ access, target }) => target === "range" && access.startsWith("range")))("%s", (_id, operation) => {
  it("refuses callers who cannot use the range", async () => {
    await refused(operation, key("stranger"), [403], { query: { rangeID: "R1" } })
    await refused(operation, key("admin"), [403], { query: { rangeID: "R1", userID: "ST" } })
  })

  it("tells a user without a default range to name one", async () => {
    const answer = await call(operation, key("stranger"))
    expect(answer.status).toBe(404)
    expect(String(answer.body["error"])).toMatch(/^Range .+ not found for user ST/u)
  })
})

describe.each(ofAccess(({ access, target }) => target === "range-in-path" && access.startsWith("range")))(
  "%s",
  (_id, operation) => {
    it("refuses callers who cannot use the range, and ranges that do not exist", async () => {
      await refused(operation, key("stranger"), [403])
      for (const rangeID of ["NONE", "../etc", "a/b/c/d", "x".repeat(200)])
        await refused(operation, key("admin"), [404], { path: { rangeID } })
    })
  },
)

describe.each(ofAccess(({ access, target }) => target === "none" && access.startsWith("range")))("%s", (_id, operation) => {
  it("finds the range from the request, and refuses callers who cannot use it", async () => {
    await refused(operation, key("stranger"), [403, 404])
  })
})

describe.each(ofAccess(({ target }) => target === "group-in-path"))("%s", (_id, operation) => {
  it("answers 404 for groups that do not exist", async () => {
    for (const groupName of ["NONE", "g1", "../etc", "G1 ", "x".repeat(200)])
      await refused(operation, key("admin"), [404], { path: { groupName } })
  })
})

describe.each(ofAccess(({ input }) => "blueprintID" in input.path))("%s", (_id, operation) => {
  it("answers 404 for blueprints that do not exist and 403 to users without access to the blueprint", async () => {
    for (const blueprintID of ["NONE", "web", "WEB/BASIC", "../etc", "web/basic ", "x".repeat(300), "blueprint000001"])
      await refused(operation, key("admin"), [404], { path: { blueprintID } })
    // a stranger without a default range may be told that first
    const { status, body } = await call(operation, key("stranger"), {})
    expect(status).toBe(403)
    expect(String(body["error"])).toMatch(/do not (have access|own)|may not use range/u)
    await refused(operation, key("admin"), [403], { query: { userID: "ST" } })
  })
})

describe.each(ofAccess(({ access, alsoFor }) => [access, alsoFor].includes("group-manager")))("%s", (_id, operation) => {
  it("is for managers of the group, not for its members or strangers", async () => {
    await refused(operation, key("stranger"), [403])
    await refused(operation, key("stranger"), [403], { path: { groupName: "G2" } })
    await refused(operation, key("member"), [403], { path: { groupName: "G2" } })
  })
})

describe.each(ofAccess(({ access }) => access === "group-manager"))("%s", (_id, operation) => {
  it("refuses administrators who act as somebody who does not manage the group", async () => {
    await refused(operation, key("admin"), [403], { query: { userID: "ST" } })
  })
})
