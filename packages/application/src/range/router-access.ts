import {
  Conflict,
  type Fault,
  type NetworkSpec,
  type Range,
  type RangeId,
  type User,
  type UserId,
  vnetName,
  howTo,
} from "@rangewright/domain"
import { type HypervisorAccount, Machines } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { RunEngine } from "../run/run-engine.ts"
import { Settings } from "../settings.ts"
import { runToEnd } from "./run-to-end.ts"

export const accountOf = (user: User): HypervisorAccount => ({ username: user.hypervisorUsername, realm: user.hypervisorRealm })

/** The range's network where rights are given on networks: a VNet. Bridges know no rights. */
export const rightsNetwork = (range: Range) =>
  Effect.gen(function* () {
    const settings = yield* Settings
    const cluster = yield* (yield* Machines).cluster
    const clusterMode = settings.clusterMode ?? (cluster?.nodes.length ?? 0) > 1
    const network: NetworkSpec | undefined = clusterMode
      ? {
          type: "vnet",
          name: vnetName(range.number),
          zone: settings.sdnZone,
          tag: settings.vxlanTagBase + range.number,
          alias: `rangewright ${range.id}`,
        }
      : undefined
    return network
  })

/**
 * Whether the range's router must be told who may come in: never deployed ranges learn it by their first deploy. Fails when the router
 * is there and off, since nobody could tell it. Scripts match the text.
 */
export const routerToTell = (doing: string, range: Range): Effect.Effect<boolean, Fault, Machines> =>
  Effect.gen(function* () {
    const router = (yield* (yield* Machines).ofRange(range.id)).find((machine) => machine.isRouter)
    if (router === undefined) return false
    if (router.power !== "running")
      return yield* Effect.fail(
        new Conflict({
          what: `Cannot ${doing}. The range router you are sharing access to must be accessible, and ${router.name ?? `VM ${router.vmid}`} is ${router.power}`,
          hint: `Repeat it when the router is powered on and accessible: ${howTo("PUT /range/poweron")}.`,
        }),
      )
    return true
  })

/** Has the router's rules made anew from the grants as they now are, and waits for it. */
const tellRouter = (doing: string, range: Range, by: UserId): Effect.Effect<void, Fault, RunEngine | Machines> =>
  Effect.flatMap(routerToTell(doing, range), (there) =>
    there ? Effect.asVoid(runToEnd(doing, range, { kind: "access" }, by)) : Effect.void,
  )

/**
 * Tells all these routers at once who may come in now, each to its end: a run that goes on could not be followed by another one. A router that
 * fails, or is off, keeps no other from being told. `doing` completes "Cannot …".
 */
export const tellRouters = ({ doing, by }: { readonly doing: string; readonly by: UserId }, ranges: readonly Range[]) =>
  Effect.map(
    Effect.forEach(ranges, (range) => Effect.map(Effect.result(tellRouter(doing, range, by)), (result) => ({ range, result })), {
      concurrency: "unbounded",
    }),
    (ends) => ({
      told: ends.flatMap(({ range, result }) => (Result.isSuccess(result) ? [range] : [])),
      failed: ends.flatMap(({ range, result }) => (Result.isFailure(result) ? [{ range, fault: result.failure }] : [])),
    }),
  )

/** What an answer says of the ranges whose routers could not be told; nothing when there are none. */
export const untoldRouters = (ranges: readonly RangeId[]): readonly string[] =>
  ranges.length === 0
    ? []
    : [
        `the routers of ${ranges.join(", ")} learn it by the next deploy of their range; until then drift shows that they are not updated yet`,
      ]
