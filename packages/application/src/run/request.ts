import {
  type DeployChoice,
  type DeployTag,
  deployTags,
  isVmid,
  powerChanges,
  type PowerInput,
  type Json,
  type Range,
  rangeSubject,
  roleSequences,
  type Vmid,
} from "@rangewright/domain"
import type { WorkRequest } from "@rangewright/run-engine"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

/** What a deploy was asked to do. `force` also skips the refusals for testing mode; a running run is never overrun. */
export interface DeployOptions extends DeployChoice {
  readonly verbose: boolean
  /** Fingerprint of the plan that was confirmed (`planFingerprint`): the deploy does that or nothing. Absent: whatever is to be done. */
  readonly confirmed?: string
}

export type RunRequest =
  | { readonly kind: "deploy"; readonly options: DeployOptions }
  /** Stops and deletes all VMs of the range; the range stays. */
  | { readonly kind: "destroy" }
  /** Everything: VMs, network, pool, rights, then the range itself. */
  | { readonly kind: "delete-range"; readonly force: boolean }
  | { readonly kind: "destroy-vm"; readonly vmid: Vmid }
  | PowerRequest
  | { readonly kind: "auto-shutdown" }
  /** Makes the router's rules anew from those who have the range now. */
  | { readonly kind: "access" }
  | SnapshotRequest
  | TestingRequest

/** `vmids` undefined: all VMs of the range. The rest as in `PowerInput`. */
export type PowerRequest = { readonly kind: "power" } & Pick<PowerInput, "change" | "vmids" | "timeoutSeconds" | "whereOn">

/** `vmids`: each one is asked for by its number. */
export type SnapshotRequest =
  | {
      readonly kind: "snapshot-create"
      readonly name: string
      /** With the mark of the request (`writeSnapshotText`). */
      readonly description: string
      readonly memory: boolean
      /** All or none: what was taken is removed again when one could not be. */
      readonly atomic: boolean
      readonly vmids: readonly Vmid[]
    }
  | {
      readonly kind: "snapshot-rollback"
      readonly name: string
      /** All or none, as far as that can be: one after another, and none after one that failed. */
      readonly atomic: boolean
      readonly vmids: readonly Vmid[]
    }
  | { readonly kind: "snapshot-remove"; readonly name: string; readonly vmids: readonly Vmid[] }

export type TestingRequest =
  /** `description`: of its snapshots, with the mark of the request (`writeSnapshotText`). */
  | { readonly kind: "testing-start"; readonly description: string }
  /** `force`: the range is opened although machines could not be rolled back. */
  | { readonly kind: "testing-stop"; readonly force: boolean }
  /** Entries as they are kept: a domain with its address. One of the two is empty. */
  | { readonly kind: "testing-change"; readonly allow: AllowedEntries; readonly deny: AllowedEntries }
  /** `machines`: a host pattern. */
  | { readonly kind: "testing-update"; readonly machines: string }

export interface AllowedEntries {
  readonly domains: readonly string[]
  readonly ips: readonly string[]
}

const VmidFromJson = Schema.Int.check(Schema.makeFilter((n) => isVmid(n) || "no VMID")) as unknown as Schema.Codec<Vmid, number>
const Tag = Schema.Literals(deployTags) satisfies Schema.Codec<DeployTag, DeployTag>

const orFalse = Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(false)))

const Entries = Schema.Struct({ domains: Schema.Array(Schema.String), ips: Schema.Array(Schema.String) })

/** A request as a run's head keeps it, so that a run can be planned again after a crash, and resumed. */
const StoredRequest = Schema.Union([
  Schema.Struct({
    kind: Schema.Literal("deploy"),
    options: Schema.Struct({
      tags: Schema.Array(Tag),
      limit: Schema.String,
      onlyRoles: Schema.Array(Schema.String),
      force: Schema.Boolean,
      verbose: Schema.Boolean,
      roleSequence: Schema.optionalKey(Schema.Literals(roleSequences)),
      // requests that were stored before there were these removed nothing when they are planned anew
      prune: orFalse,
      replace: orFalse,
      confirmed: Schema.optionalKey(Schema.String),
    }),
  }),
  Schema.Struct({ kind: Schema.Literal("destroy") }),
  Schema.Struct({ kind: Schema.Literal("delete-range"), force: Schema.Boolean }),
  Schema.Struct({ kind: Schema.Literal("destroy-vm"), vmid: VmidFromJson }),
  Schema.Struct({
    kind: Schema.Literal("power"),
    change: Schema.Literals(powerChanges),
    vmids: Schema.optionalKey(Schema.Array(VmidFromJson)),
    timeoutSeconds: Schema.optionalKey(Schema.Finite),
    whereOn: Schema.optionalKey(Schema.Boolean),
  }),
  // of an older version
  Schema.Struct({ kind: Schema.Literal("power"), on: Schema.Boolean, vmids: Schema.optionalKey(Schema.Array(VmidFromJson)) }),
  Schema.Struct({ kind: Schema.Literal("auto-shutdown") }),
  Schema.Struct({ kind: Schema.Literal("access") }),
  Schema.Struct({
    kind: Schema.Literal("snapshot-create"),
    name: Schema.String,
    description: Schema.String,
    memory: Schema.Boolean,
    atomic: Schema.Boolean,
    vmids: Schema.Array(VmidFromJson),
  }),
  Schema.Struct({
    kind: Schema.Literal("snapshot-rollback"),
    name: Schema.String,
    atomic: orFalse,
    vmids: Schema.Array(VmidFromJson),
  }),
  Schema.Struct({ kind: Schema.Literal("snapshot-remove"), name: Schema.String, vmids: Schema.Array(VmidFromJson) }),
  Schema.Struct({ kind: Schema.Literal("testing-start"), description: Schema.String }),
  Schema.Struct({ kind: Schema.Literal("testing-stop"), force: Schema.Boolean }),
  Schema.Struct({ kind: Schema.Literal("testing-change"), allow: Entries, deny: Entries }),
  Schema.Struct({ kind: Schema.Literal("testing-update"), machines: Schema.String }),
])

const decode = Schema.decodeUnknownOption(StoredRequest)

/** The request as JSON. */
export const storeRequest = (request: RunRequest): Json =>
  Object.fromEntries(Object.entries(request).filter(([, value]) => value !== undefined)) as Json

/** The request that `storeRequest` wrote; undefined for anything else. */
export const restoreRequest = (stored: Json): RunRequest | undefined =>
  Option.match(decode(stored), {
    onNone: () => undefined,
    onSome: (request) => {
      if (request.kind !== "power") return request
      if ("change" in request) return { ...request, vmids: request.vmids }
      return { kind: request.kind, change: request.on ? "on" : "off", vmids: request.vmids }
    },
  })

/** What `RunEngine.start` takes for a run of a range. */
export const rangeRequest = (range: Pick<Range, "id">, request: RunRequest): WorkRequest => ({
  kind: request.kind,
  subject: rangeSubject(range.id),
  options: storeRequest(request),
})
