import { operations } from "@rangewright/application"
import { entitlementsOf, type License, type Tier } from "@rangewright/domain"
import { afterEach, describe, expect, it } from "vitest"
import { bodyOf, pathOf, sampleOf } from "./requests.ts"
import { startWholeService, type WholeService } from "./service.ts"

const licenseOf = (tier: Tier, active = true): License => ({
  entitlements: entitlementsOf(tier),
  licensedTo: "",
  active,
  message: "",
  expiresAt: undefined,
})

const gated = operations.filter(({ tier }) => tier === "enterprise").map((operation) => [operation.id, operation] as const)

let service: WholeService
afterEach(() => service.stop())

const answer = async (operation: (typeof gated)[number][1], license: License) => {
  service = await startWholeService({ license })
  const sample = sampleOf(operation, service.runId)
  const init = bodyOf(operation, sample)
  const response = await fetch(service.url + pathOf(operation, { ...sample, query: { ...sample.query, rangeID: "R1" } }), {
    ...init,
    method: operation.route.method,
    headers: { "x-api-key": service.keys.admin, ...(init.headers as Record<string, string>) },
  })
  return { status: response.status, body: (await response.json()) as { readonly error?: string; readonly hint?: string } }
}

describe.each(gated)("%s, of the enterprise tier", (_, operation) => {
  it.each([
    ["a community licence", licenseOf("community")],
    ["a professional licence", licenseOf("professional")],
    ["an enterprise licence that is not active", licenseOf("enterprise", false)],
  ])("is refused on %s, saying where to look", async (_name, license) => {
    const { status, body } = await answer(operation, license)
    expect([status, body.error, body.hint]).toEqual([
      403,
      expect.stringContaining("ENTERPRISE_PLUGIN"),
      expect.stringContaining("/license"),
    ])
  })

  it("works with an enterprise licence", async () => {
    expect((await answer(operation, licenseOf("enterprise"))).status).toBe(200)
  })
})

it("some operations are of the enterprise tier", () => {
  expect(gated.length).toBeGreaterThan(0)
})
