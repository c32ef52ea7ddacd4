import {
  type DeployChoice,
  deployTags,
  Disguise,
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

const VmidFromJson = Schema.Int.check(Schema.makeFilter((n) => isVmid(n) || "no VMID")) as unknown as Schema.Codec<Vmid, number>
const Vmids = Schema.Array(VmidFromJson)

const orFalse = Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(false)))

const StoredDeployOptions = Schema.Struct({
  tags: Schema.Array(Schema.Literals(deployTags)),
  limit: Schema.String,
  onlyRoles: Schema.Array(Schema.String),
  force: Schema.Boolean,
  verbose: Schema.Boolean,
  roleSequence: Schema.optionalKey(Schema.Literals(roleSequences)),
  // requests that were stored before these options existed remove nothing when planned again
  prune: orFalse,
  replace: orFalse,
  /** Fingerprint of the plan that was confirmed (`planFingerprint`): the deploy does that or nothing. Absent: no plan was confirmed. */
  confirmed: Schema.optionalKey(Schema.String),
  /** ID of the run that this one resumes, which refusals name. */
  resumes: Schema.optionalKey(Schema.String),
})

/** The options of a deploy. `force` also skips the refusals for testing mode; it never overrides a running run. */
export type DeployOptions = DeployChoice & typeof StoredDeployOptions.Type

const AllowedEntries = Schema.Struct({ domains: Schema.Array(Schema.String), ips: Schema.Array(Schema.String) })
export type AllowedEntries = typeof AllowedEntries.Type

const ActivationKey = Schema.Union([
  Schema.Struct({ client_license_key: Schema.String }),
  Schema.Struct({ sealed_license_key: Schema.String }),
])

/** Requests as a run's head stores them, so that a run can be planned again after a crash, and resumed. */
const StoredRequest = Schema.Union([
  Schema.Struct({ kind: Schema.Literal("deploy"), options: StoredDeployOptions }),
  /** Stops and deletes all VMs of the range; the range stays. */
  Schema.Struct({ kind: Schema.Literal("destroy") }),
  /** Everything: VMs, network, pool, rights, then the range itself. */
  Schema.Struct({ kind: Schema.Literal("delete-range"), force: Schema.Boolean }),
  Schema.Struct({ kind: Schema.Literal("destroy-vm"), vmid: VmidFromJson }),
  Schema.Struct({ kind: Schema.Literal("auto-shutdown") }),
  /** Rebuilds the router's rules from those who have the range now. */
  Schema.Struct({ kind: Schema.Literal("access") }),
  Schema.Struct({
    kind: Schema.Literal("snapshot-create"),
    name: Schema.String,
    /** With the mark of the request (`writeSnapshotText`). */
    description: Schema.String,
    memory: Schema.Boolean,
    /** All or none: snapshots that were taken are removed again when one fails. */
    atomic: Schema.Boolean,
    /** Every machine, by VMID. */
    vmids: Vmids,
  }),
  Schema.Struct({
    kind: Schema.Literal("snapshot-rollback"),
    name: Schema.String,
    /** All or none, as far as possible: one after another, and none after a failure. */
    atomic: orFalse,
    vmids: Vmids,
  }),
  Schema.Struct({ kind: Schema.Literal("snapshot-remove"), name: Schema.String, vmids: Vmids }),
  /** `description`: of the snapshots, with the mark of the request (`writeSnapshotText`). */
  Schema.Struct({ kind: Schema.Literal("testing-start"), description: Schema.String }),
  /** `force`: opens the range even if machines could not be rolled back. */
  Schema.Struct({ kind: Schema.Literal("testing-stop"), force: Schema.Boolean }),
  /** Entries in stored form: a domain with its address. One of the two is empty. */
  Schema.Struct({ kind: Schema.Literal("testing-change"), allow: AllowedEntries, deny: AllowedEntries }),
  /** `machines`: a host pattern. */
  Schema.Struct({ kind: Schema.Literal("testing-update"), machines: Schema.String }),
  /** The key for each machine: one that Microsoft publishes for its edition, or the caller's own, sealed for the machine. */
  Schema.Struct({
    kind: Schema.Literal("kms-license"),
    host: Schema.String,
    port: Schema.Int,
    machines: Schema.Array(Schema.Struct({ vmid: VmidFromJson, key: ActivationKey })),
  }),
  /** Sets up a machine with Windows Server as a KMS host, with the key of the operator's configuration. */
  Schema.Struct({ kind: Schema.Literal("kms-install"), vmid: VmidFromJson }),
  Schema.Struct({ kind: Schema.Literal("anti-sandbox-enable"), vmids: Vmids, disguise: Disguise }),
  Schema.Struct({ kind: Schema.Literal("anti-sandbox-disable"), vmids: Vmids }),
])

const StoredPowerRequest = Schema.Union([
  Schema.Struct({
    kind: Schema.Literal("power"),
    change: Schema.Literals(powerChanges),
    vmids: Schema.optionalKey(Vmids),
    timeoutSeconds: Schema.optionalKey(Schema.Finite),
    whereOn: Schema.optionalKey(Schema.Boolean),
  }),
  // from an older version
  Schema.Struct({ kind: Schema.Literal("power"), on: Schema.Boolean, vmids: Schema.optionalKey(Vmids) }),
])

/** `vmids` undefined: all VMs of the range. The rest as in `PowerInput`. */
export type PowerRequest = { readonly kind: "power" } & Pick<PowerInput, "change" | "vmids" | "timeoutSeconds" | "whereOn">

export type RunRequest = typeof StoredRequest.Type | PowerRequest
export type SnapshotRequest = Extract<RunRequest, { readonly kind: `snapshot-${string}` }>
export type KmsRequest = Extract<RunRequest, { readonly kind: `kms-${string}` }>
export type AntiSandboxRequest = Extract<RunRequest, { readonly kind: `anti-sandbox-${string}` }>
export type TestingRequest = Extract<RunRequest, { readonly kind: `testing-${string}` }>

const decode = Schema.decodeUnknownOption(Schema.Union([StoredRequest, StoredPowerRequest]))

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

/** The request of a run that resumes an ended one. The rest of a confirmed plan is another plan, so it has no confirmation. */
export const resumedRequest = (stored: Json): Json => {
  const request = restoreRequest(stored)
  if (request?.kind !== "deploy") return stored
  const { confirmed: _seen, resumes: _earlier, ...options } = request.options
  return storeRequest({ kind: "deploy", options })
}

/** What planning a deploy with these options is for; completes "Cannot …". */
export const deployDoing = ({ id }: Pick<Range, "id">, { resumes }: { readonly resumes?: string | undefined }): string =>
  resumes === undefined ? `deploy range ${id}` : `resume run ${resumes} of range ${id}`

/** The argument of `RunEngine.start` for a run of a range. */
export const rangeRequest = (range: Pick<Range, "id">, request: RunRequest): WorkRequest => ({
  kind: request.kind,
  subject: rangeSubject(range.id),
  options: storeRequest(request),
})
