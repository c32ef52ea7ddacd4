import { operations, type Operation } from "@rangewright/application"
import { howTo, knownCalls } from "@rangewright/domain"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { Headers } from "./ask.ts"
import { bodyOf, pathOf, sampleOf } from "./requests.ts"
import { startWholeService, type WholeService } from "./service.ts"

let service: WholeService
beforeAll(async () => {
  service = await startWholeService()
})
afterAll(() => service.stop())

/** The error that a failed request returns; empty when it succeeds. */
const said = async (operation: Operation, headers: Headers, query: string, body?: string): Promise<string> => {
  const sample = sampleOf(operation, service.runId)
  const init = body === undefined ? bodyOf(operation, sample) : { body }
  const path = pathOf(operation, sample)
  const response = await fetch(`${service.url}${path}${path.includes("?") ? "&" : "?"}${query}`, {
    ...init,
    method: operation.route.method,
    headers: { ...(init.headers as Headers | undefined), ...headers },
  })
  if (response.ok) {
    await response.body?.cancel()
    return ""
  }
  const problem = (await response.json()) as Readonly<Record<string, unknown>>
  return String(problem["error"] ?? problem["message"])
}

/** IDs that are not English words: names for programs, which mean nothing to a person. */
const programNames = operations.map(({ id }) => id).filter((id) => /[a-z][A-Z]/u.test(id))
const isGuarded = ({ access }: Operation): boolean => access !== "anonymous"
const isForAdmins = ({ access, alsoFor }: Operation): boolean => access === "admin" && alsoFor === undefined
const named = (test: (operation: Operation) => boolean) => operations.filter(test).map((one) => [one.id, one] as const)

describe("refusals", () => {
  it.each(named(() => true))("describe %s in a short phrase", (_id, { does }) => {
    expect(does).toMatch(/^[a-z]+ [^.]{3,60}[^. ]$|^log in$/u)
    expect(programNames.filter((id) => does.includes(id))).toEqual([])
  })

  it.each(named(isGuarded))(
    "never name %s by its operation ID, and never ask a caller with a valid key for one",
    async (_id, asked) => {
      const withBody = { "content-type": "application/json" }
      for (const who of ["stranger", "member"] as const)
        for (const [query, body, more] of [
          [""],
          ["userID=AD"],
          ["rangeID=NONE"],
          ["rangeID=R2"],
          ["user_id=AD"],
          ...(asked.route.method === "GET"
            ? []
            : ([
                ["", "[[", withBody],
                ["", "[7]", withBody],
                ["", "x", { "content-type": "text/x" }],
              ] as const)),
        ] as const) {
          if (query === "" && body === undefined && !isForAdmins(asked)) continue
          const text = await said(asked, { "x-api-key": service.keys[who], ...more }, query, body)
          expect(programNames.filter((id) => text.includes(id))).toEqual([])
          expect(text).not.toMatch(/X-API-KEY|Bearer/iu)
        }
    },
  )

  it.each(named(isForAdmins))("say that %s is for administrators, and what it would do", async (_id, asked) => {
    for (const who of ["stranger", "member"] as const)
      expect(await said(asked, { "x-api-key": service.keys[who] }, "")).toBe(
        asked.route.base === "/"
          ? `You are not an admin and cannot ${asked.does}`
          : `You are not an admin and cannot ${asked.does}\nAsk an administrator.`,
      )
  })

  it.each(knownCalls)("send people to %s, which exists, and say what to type", (call) => {
    expect(operations.map(({ route }) => `${route.method} ${route.path}`)).toContain(call)
    expect(howTo(call)).toMatch(/^`ludus [a-z].*` \([A-Z]+ \/.*\)$/u)
    expect(howTo(call, {}, "LAB/web")).toContain(" -r LAB/web` (")
  })

  it("tell a caller without a key how to give one, on the command line and elsewhere", async () => {
    const index = operations.find(({ id }) => id === "index")!
    for (const headers of [{}, { "x-api-key": `NOBODY.${"x".repeat(40)}` }, { "x-api-key": "no key" }]) {
      const text = await said(index, headers as Headers, "")
      expect(text).toContain("X-API-KEY: <userID>.<secret>")
      expect(text).toContain("LUDUS_API_KEY")
    }
  })
})
