import { carriesMark, type MachineRef, type Vmid } from "@rangewright/domain"
import { HypervisorFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { PveClient } from "../client/client.ts"
import { path } from "../client/form.ts"
import { type Fields, flag, recordOf, text } from "../wire/read.ts"
import { findElsewhere } from "./seek.ts"

/** A VM that was found and is ours. */
export interface Located {
  readonly node: string
  /** The VM's name when it was verified: a different name under the same id means a different VM. */
  readonly name: string | undefined
  /** The OS type in its configuration; empty when absent. */
  readonly osType: string
  /** Undefined when this process had verified the VM before and read nothing. */
  readonly config: Fields | undefined
}

/**
 * Where a VM is and whether it is ours. One silent node or a list proves nothing: a VM may have been migrated, so "gone" means that the
 * whole cluster does not know it when asked for that VM.
 */
export interface Identity {
  /** The configuration, wherever in the cluster the VM is and whoever owns it; undefined when it does not exist. */
  readonly locate: (
    ref: MachineRef,
    doing: string,
  ) => Effect.Effect<{ readonly node: string; readonly config: Fields } | undefined, HypervisorFault>
  /**
   * Reads the configuration and compares the mark; undefined when the VM does not exist. Fails with `not-ours` for templates and VMs of
   * others.
   */
  readonly verify: (ref: MachineRef, doing: string) => Effect.Effect<Located | undefined, HypervisorFault>
  /** The same, but trusts an earlier verification by this process; fails with `not-found` when the VM does not exist. */
  readonly expect: (ref: MachineRef, doing: string) => Effect.Effect<Located, HypervisorFault>
  /**
   * Runs `use` on the VM's node. When that node no longer has it, or is unreachable, asks the cluster, and runs it on the new node if the
   * VM proves to have moved: nothing has happened on the first node then.
   */
  readonly at: <A, E>(
    ref: MachineRef,
    doing: string,
    use: (found: Located) => Effect.Effect<A, E | HypervisorFault>,
  ) => Effect.Effect<A, E | HypervisorFault>
  /** Forgets what was known after contradicting evidence: the next lookup reads again. */
  readonly forget: (vmid: Vmid) => void
}

const isAbsent = (fault: HypervisorFault): boolean => fault.facts.reason === "not-found"

/** The node says that it has no such VM, or does not answer: the VM may be on another one. */
const mayBeElsewhere = (error: unknown): boolean =>
  error instanceof HypervisorFault && (isAbsent(error) || error.facts.reason === "away")

/** The VM was on the node a moment ago and no longer is: it is moving, and the next try locates it. */
export const movedAway =
  (doing: string, node: string) =>
  <A>(change: Effect.Effect<A, HypervisorFault>): Effect.Effect<A, HypervisorFault> =>
    Effect.catchIf(change, isAbsent, ({ facts }) =>
      Effect.fail(
        new HypervisorFault({ doing, reason: "locked", detail: `it has left node ${node} in the meantime (${facts.detail})` }),
      ),
    )

/**
 * The configuration including pending changes that take effect at the VM's next start, or with `inForce` as it is now. Undefined when the
 * node has no such VM.
 */
export const readConfig = (
  client: PveClient,
  node: string,
  vmid: Vmid,
  doing: string,
  view: "configured" | "inForce" = "configured",
): Effect.Effect<Fields | undefined, HypervisorFault> =>
  client.get(path`/nodes/${node}/qemu/${vmid}/config`, view === "inForce" ? { current: true } : {}, { doing }).pipe(
    Effect.map((reply): Fields | undefined => recordOf(reply.data)),
    Effect.catchIf(isAbsent, () => Effect.succeed(undefined)),
  )

/** Runs `use` on the node where a VM was last seen, or where the cluster locates it now. */
export const onItsNode = <A>(
  client: PveClient,
  { node, vmid }: Pick<MachineRef, "node" | "vmid">,
  doing: string,
  use: (node: string) => Effect.Effect<A, HypervisorFault>,
): Effect.Effect<A, HypervisorFault> =>
  use(node).pipe(
    Effect.catchIf(mayBeElsewhere, (fault) =>
      Effect.flatMap(findElsewhere(client, vmid, doing, isAbsent(fault) ? node : undefined), (found) =>
        found === undefined || found.node === node ? Effect.fail(fault) : use(found.node),
      ),
    ),
  )

export const makeIdentity = (client: PveClient): Identity => {
  const verified = new Map<Vmid, { readonly mark: string; readonly located: Located }>()
  const markOf = (ref: MachineRef): string => `${ref.mark.range}\n${ref.mark.machine}`

  const locate = Effect.fnUntraced(function* (
    ref: MachineRef,
    doing: string,
  ): Effect.fn.Return<{ readonly node: string; readonly config: Fields } | undefined, HypervisorFault> {
    const here = yield* Effect.result(readConfig(client, ref.node, ref.vmid, doing))
    if (Result.isSuccess(here) && here.success !== undefined) return { node: ref.node, config: here.success }
    if (Result.isFailure(here) && !mayBeElsewhere(here.failure)) return yield* here.failure
    const elsewhere = yield* Effect.result(findElsewhere(client, ref.vmid, doing, ref.node))
    // a silent node may have the VM, whatever the others say
    const node = Result.isSuccess(elsewhere) ? elsewhere.success?.node : undefined
    if (node === undefined) {
      if (Result.isFailure(here)) return yield* here.failure
      return Result.isFailure(elsewhere) ? yield* elsewhere.failure : undefined
    }
    const there = yield* readConfig(client, node, ref.vmid, doing)
    return there === undefined ? undefined : { node, config: there }
  })

  const verify = Effect.fnUntraced(function* (
    ref: MachineRef,
    doing: string,
  ): Effect.fn.Return<Located | undefined, HypervisorFault> {
    verified.delete(ref.vmid)
    const found = yield* locate(ref, doing)
    if (found === undefined) return undefined
    const ours = carriesMark(text(found.config, "description") ?? "", ref.mark)
    if (ours && !flag(found.config, "template")) {
      const located = { ...found, name: text(found.config, "name"), osType: text(found.config, "ostype") ?? "" }
      verified.set(ref.vmid, { mark: markOf(ref), located: { ...located, config: undefined } })
      return located
    }
    const what = flag(found.config, "template") ? "is a template" : "does not carry the mark of this machine"
    return yield* new HypervisorFault({
      doing,
      reason: "not-ours",
      detail: `VM ${ref.vmid} on node ${found.node} (${text(found.config, "name") ?? "no name"}) ${what} (${ref.mark.machine} of range ${ref.mark.range})`,
      hint: "It is left unchanged. If it was ours, restore the JSON in its description.",
    })
  })

  const expect = Effect.fnUntraced(function* (ref: MachineRef, doing: string): Effect.fn.Return<Located, HypervisorFault> {
    const known = verified.get(ref.vmid)
    if (known !== undefined && known.mark === markOf(ref)) return known.located
    const found = yield* verify(ref, doing)
    if (found !== undefined) return found
    return yield* new HypervisorFault({ doing, reason: "not-found", detail: `VM ${ref.vmid} does not exist` })
  })

  return {
    locate,
    verify,
    expect,
    at: (ref, doing, use) =>
      Effect.flatMap(expect(ref, doing), (found) =>
        use(found).pipe(
          Effect.catchIf(mayBeElsewhere, (fault) => {
            verified.delete(ref.vmid)
            return Effect.flatMap(expect(ref, doing), (now) => (now.node === found.node ? Effect.fail(fault) : use(now)))
          }),
        ),
      ),
    forget: (vmid) => void verified.delete(vmid),
  }
}
