import type { RunId, Vmid } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type { HypervisorFault } from "./faults.ts"

/** The account of one build on the hypervisor, with rights in its pool only. It has both a password and a token: not every version of the tool knows tokens. */
export interface BuildAccount {
  /** `build-<id>@pve` */
  readonly username: string
  readonly password: Redacted.Redacted
  /** `build-<id>@pve!<name>` */
  readonly tokenId: string
  readonly tokenSecret: Redacted.Redacted
  readonly pool: string
}

/** A VM by number and name: a number alone may be another VM's by now. */
export interface NamedMachine {
  readonly vmid: Vmid
  readonly name: string
}

/** What a build has made so far. */
export interface MadeMachine extends NamedMachine {
  readonly node: string
  readonly template: boolean
}

/**
 * Templates on the hypervisor, and what their builds need there. The pool of a build is its mark: what is in it belongs to the build, and nothing
 * else is ever changed for it. Calls may be repeated: what is there already is success, as is what is gone already.
 */
export class HypervisorTemplates extends Context.Service<
  HypervisorTemplates,
  {
    /** Makes account and pool of a build, with secrets of their own each time: those of an earlier call no longer count. `node`: where it builds. */
    readonly open: (id: RunId, node: string) => Effect.Effect<BuildAccount, HypervisorFault>
    /** The VMs in the pool of a build; none where there is no pool. Read live. */
    readonly made: (id: RunId) => Effect.Effect<readonly MadeMachine[], HypervisorFault>
    /**
     * Moves a template from the pool of its build to the one that all may clone from. Fails with `not-ours` for what is neither there nor in the
     * build's pool, or is no template of this name, and with `taken` where all have another template of this name already.
     */
    readonly adopt: (id: RunId, template: NamedMachine) => Effect.Effect<void, HypervisorFault>
    /** Removes, by number, each VM in the pool of a build, then account and pool. Succeeds only when it was seen that all are gone. */
    readonly close: (id: RunId) => Effect.Effect<void, HypervisorFault>
    /** The builds of which a pool or an account is there, also those of other services. */
    readonly opened: Effect.Effect<readonly RunId[], HypervisorFault>
    /** The VMs whose disks need the template's. */
    readonly clones: (template: NamedMachine) => Effect.Effect<readonly NamedMachine[], HypervisorFault>
    /** Removes a template that all may clone from. Fails with `not-ours` where the VM of this number is no template of this name, and with `locked` while clones need it. */
    readonly remove: (template: NamedMachine) => Effect.Effect<void, HypervisorFault>
  }
>()("rangewright/HypervisorTemplates") {}
