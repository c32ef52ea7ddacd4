import type { RunId, Vmid } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type { HypervisorFault } from "./faults.ts"

/**
 * The account of one build on the hypervisor, with rights in its pool only. It has both a password and a token, because not every version
 * of the tool supports tokens.
 */
export interface BuildAccount {
  /** `build-<id>@pve` */
  readonly username: string
  readonly password: Redacted.Redacted
  /** `build-<id>@pve!<name>` */
  readonly tokenId: string
  readonly tokenSecret: Redacted.Redacted
  readonly pool: string
}

/** A VM by number and name: the number alone may belong to another VM by now. */
export interface NamedMachine {
  readonly vmid: Vmid
  readonly name: string
}

/** A VM that a build has created so far. */
export interface MadeMachine extends NamedMachine {
  readonly node: string
  readonly template: boolean
}

/**
 * Templates on the hypervisor, and the account and pool that a build needs there. The pool of a build is its mark: whatever is in it
 * belongs to the build, and a build changes nothing else. Calls can be repeated: something that already exists, or is already gone, counts
 * as success.
 */
export class HypervisorTemplates extends Context.Service<
  HypervisorTemplates,
  {
    /**
     * Creates the account and pool of a build, with new secrets each time: those of an earlier call become invalid. `node`: where it
     * builds.
     */
    readonly open: (id: RunId, node: string) => Effect.Effect<BuildAccount, HypervisorFault>
    /** The VMs in the pool of a build, read live; none if there is no pool. */
    readonly made: (id: RunId) => Effect.Effect<readonly MadeMachine[], HypervisorFault>
    /**
     * Moves a template from its build's pool to the pool that everybody may clone from. Fails with `not-ours` if the VM is in neither pool
     * or is not a template of this name, and with `taken` if the shared pool already has another template of this name.
     */
    readonly adopt: (id: RunId, template: NamedMachine) => Effect.Effect<void, HypervisorFault>
    /**
     * Removes, by number, each VM in the pool of a build, then the account and the pool. Succeeds only once all of them were seen to be
     * gone.
     */
    readonly close: (id: RunId) => Effect.Effect<void, HypervisorFault>
    /** The builds whose pool or account exists, including those of other services. */
    readonly opened: Effect.Effect<readonly RunId[], HypervisorFault>
    /** The VMs whose disks depend on the template's (linked clones). */
    readonly clones: (template: NamedMachine) => Effect.Effect<readonly NamedMachine[], HypervisorFault>
    /**
     * Removes a template from the shared pool. Fails with `not-ours` if the VM with this number is not a template of this name, and with
     * `locked` while clones depend on it.
     */
    readonly remove: (template: NamedMachine) => Effect.Effect<void, HypervisorFault>
  }
>()("rangewright/HypervisorTemplates") {}
