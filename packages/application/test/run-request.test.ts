import { deployTags, powerChanges, roleSequences, type Vmid } from "@rangewright/domain"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { restoreRequest, storeRequest } from "../src/run/request.ts"
import type { RunRequest } from "../src/run/request.ts"

const vmid = fc.integer({ min: 100, max: 999_999_999 }).map((n) => n as Vmid)
const request: fc.Arbitrary<RunRequest> = fc.oneof(
  fc.record({
    kind: fc.constant("deploy" as const),
    options: fc.record(
      {
        tags: fc.subarray([...deployTags]),
        limit: fc.string(),
        onlyRoles: fc.array(fc.string()),
        force: fc.boolean(),
        verbose: fc.boolean(),
        prune: fc.boolean(),
        replace: fc.boolean(),
        roleSequence: fc.constantFrom(...roleSequences),
      },
      { requiredKeys: ["tags", "limit", "onlyRoles", "force", "verbose", "prune", "replace"] },
    ),
  }),
  fc.constant<RunRequest>({ kind: "destroy" }),
  fc.record({ kind: fc.constant("delete-range" as const), force: fc.boolean() }),
  fc.record({ kind: fc.constant("destroy-vm" as const), vmid }),
  fc.record({
    kind: fc.constant("power" as const),
    change: fc.constantFrom(...powerChanges),
    vmids: fc.option(fc.array(vmid), { nil: undefined }),
    timeoutSeconds: fc.option(fc.integer(), { nil: undefined }),
    whereOn: fc.boolean(),
  }),
  fc.constant<RunRequest>({ kind: "auto-shutdown" }),
  fc.constant<RunRequest>({ kind: "access" }),
)

describe("a stored request", () => {
  it("comes back as it was, through JSON", () => {
    fc.assert(
      fc.property(request, (asked) => {
        expect(restoreRequest(JSON.parse(JSON.stringify(storeRequest(asked))))).toEqual(asked)
      }),
    )
  })

  it("for a deploy from before removals could be requested removes nothing", () => {
    const before = { tags: [], limit: "", onlyRoles: [], force: true, verbose: false }
    expect(restoreRequest({ kind: "deploy", options: before })).toEqual({
      kind: "deploy",
      options: { ...before, prune: false, replace: false },
    })
  })

  it("for a power change of an older version means the same", () => {
    expect(restoreRequest({ kind: "power", on: true })).toEqual({ kind: "power", change: "on", vmids: undefined })
    expect(restoreRequest({ kind: "power", on: false, vmids: [141] })).toEqual({ kind: "power", change: "off", vmids: [141] })
  })

  it("in any other form is refused", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(restoreRequest(value as never)).toBeUndefined()
      }),
    )
    expect(restoreRequest({ kind: "destroy-vm", vmid: 12 })).toBeUndefined()
  })
})
