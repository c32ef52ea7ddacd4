import {
  allowedEntriesProblem,
  CannotPlan,
  Conflict,
  type DeployInput,
  type DeployTag,
  type Fault,
  machinesInTesting,
  noTesting,
  planChangeTesting,
  planDeploy,
  type PlanIssue,
  planStartTesting,
  planStopTesting,
  planUpdateWindows,
  type Range,
  type RangeConfig,
  testingSnapshot,
  type TestingState,
} from "@rangewright/domain"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { Settings } from "../settings.ts"
import { planned } from "./planned.ts"
import { cardsWithMemory, incapableOf, snapshotsOf, withTemplates } from "./read-world.ts"
import type { TestingRequest } from "./request.ts"

/** The input for planning the router part of the last deploy, with a testing mode other than the stored one. */
export interface RouterInput {
  readonly config: RangeConfig
  readonly input: DeployInput
  readonly router: string
  /** Undefined: there is no router. */
  readonly power: string | undefined
}

const conflict = (range: Range, doing: string, because: string, hint: string) =>
  Effect.fail(new Conflict({ what: `Cannot ${doing} of range ${range.id}: ${because}`, hint }))

const nothingInside: PlanIssue = {
  code: "nothing-runs-inside",
  message: "this service is configured to do nothing inside machines, so it cannot change the router's rules",
}

/** Fails if the mode of the range does not allow the request. */
export const requireMode = (range: Range, kind: TestingRequest["kind"]): Effect.Effect<void, Conflict> => {
  const { mode } = range.testing
  switch (kind) {
    case "testing-start":
      if (mode === "on") return conflict(range, "start testing", "testing is on already", "Stop it first.")
      if (mode === "leaving") return conflict(range, "start testing", "stopping it did not finish", "Stop it again.")
      return Effect.void
    case "testing-stop":
      return mode === "off"
        ? conflict(
            range,
            "stop testing",
            "testing is not on",
            "Start it first. If a stop failed before it had opened the router, deploy the range.",
          )
        : Effect.void
    case "testing-change":
      if (mode === "on") return Effect.void
      return mode === "off"
        ? conflict(range, "change what is allowed while testing", "testing is not on", "Start it first.")
        : conflict(
            range,
            "change what is allowed while testing",
            mode === "entering"
              ? "starting it, or an earlier change, did not finish, so the router may let through more than is listed as allowed"
              : "stopping it did not finish",
            mode === "entering" ? "Start testing again, or stop it." : "Stop it again.",
          )
    case "testing-update":
      return mode === "off"
        ? Effect.void
        : conflict(range, "update machines", "testing is on, and machines cannot download anything", "Stop testing first.")
  }
}

const without = (entries: readonly string[], gone: readonly string[]): readonly string[] =>
  entries.filter((entry) => !gone.includes(entry))

const doings: Readonly<Record<TestingRequest["kind"], string>> = {
  "testing-start": "start testing",
  "testing-stop": "stop testing",
  "testing-change": "change what is allowed while testing",
  "testing-update": "update machines",
}

/** Fails if an address may not be allowed: which ones are protected may have changed since the run was started that is resumed. */
const requireAllowable = Effect.fnUntraced(function* (
  range: Range,
  { kind, allow }: Extract<TestingRequest, { readonly kind: "testing-change" }>,
) {
  const { protectedAddresses } = yield* Settings
  const problem = allowedEntriesProblem(allow, protectedAddresses)
  if (problem !== undefined)
    return yield* conflict(range, doings[kind], problem, "Allow the others with a new request (POST /testing/allow).")
})

/** The allowed entries after the request. */
const changed = (
  { mode, allowedDomains, allowedIps }: TestingState,
  { allow, deny }: Extract<TestingRequest, { readonly kind: "testing-change" }>,
): TestingState => ({
  mode,
  allowedDomains: [...new Set([...without(allowedDomains, deny.domains), ...allow.domains])],
  allowedIps: [...new Set([...without(allowedIps, deny.ips), ...allow.ips])],
})

/** The testing mode that the router's rules should implement. */
const wanted = ({ testing }: Range, request: TestingRequest): TestingState => {
  switch (request.kind) {
    case "testing-start":
      return { ...testing, mode: "on" }
    case "testing-stop":
    case "testing-update":
      return noTesting
    case "testing-change":
      return changed(testing, request)
  }
}

/** The steps that load rules and names on the router, whatever it has now. */
const routerPlan = (doing: string, { input, router, power }: RouterInput) =>
  Effect.gen(function* () {
    if (power === undefined)
      return yield* new Conflict({
        what: `Cannot ${doing}: its router ${router} does not exist`,
        hint: "Deploy the range, with force where testing is on: the router is created with the current rules.",
      })
    const whole = yield* withTemplates(input)
    const plan = yield* planned(doing, () => planDeploy(whole))
    const isThere = (stage: string) => plan.steps.some(({ action }) => action.kind === "guest" && action.stage === stage)
    return isThere("firewall") && isThere("dns") ? plan : yield* new CannotPlan({ doing, issues: [nothingInside] })
  })

/** `inputWith`: the input for planning the last deploy as if the range had this testing mode. */
export const testingPlan = <E extends Fault, R>(
  range: Range,
  request: TestingRequest,
  inputWith: (testing: TestingState, tags: readonly DeployTag[]) => Effect.Effect<RouterInput, E, R>,
) =>
  Effect.gen(function* () {
    yield* requireMode(range, request.kind)
    if (request.kind === "testing-change") yield* requireAllowable(range, request)
    const testing = wanted(range, request)
    const of = yield* inputWith(testing, ["access-control", "dns-rewrites"])
    const doing = `${doings[request.kind]} of range ${range.id}`
    const { config } = of
    if (request.kind === "testing-update")
      return yield* planned(doing, () =>
        planUpdateWindows({
          range,
          config,
          world: of.input.world,
          machines: request.machines,
          guestsLeftOut: of.input.settings.guestsLeftOut,
        }),
      )
    const router = yield* routerPlan(doing, of)
    if (request.kind === "testing-change") return planChangeTesting({ range, router, testing })
    const { world } = of.input
    const vmids = machinesInTesting(range.id, config, world).map(({ observed }) => observed.vmid)
    const trees = yield* snapshotsOf(world, vmids)
    if (request.kind === "testing-start") {
      const at = new Date(yield* Clock.currentTimeMillis)
      const incapable = yield* incapableOf(world, vmids)
      const { description } = request
      return yield* planned(doing, () =>
        planStartTesting({ range, config, world: { ...world, trees, incapable }, router, description, at }),
      )
    }
    const cards = yield* cardsWithMemory(world, trees, testingSnapshot)
    return yield* planned(doing, () =>
      planStopTesting({ range, config, world: { ...world, trees, cards }, router, force: request.force }),
    )
  })
