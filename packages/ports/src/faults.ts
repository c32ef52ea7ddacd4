import { defineFault, type Fault, type FaultKind, isOnlyDoubt } from "@rangewright/domain"

/**
 * The store failed: full disk, lost database, broken file. Acknowledged writes are never lost by it. With `damaged`, the store itself
 * works, but this version does not understand the record that `because` names; the record was left untouched. With
 * `older`, the store is of an older version, and was not to be updated.
 */
export class StorageFault extends defineFault(
  "StorageFault",
  (f: { readonly doing: string; readonly because: string; readonly damaged?: true; readonly older?: true }): FaultKind =>
    f.damaged === true ? "failed" : "unavailable",
  (f) =>
    f.damaged === true
      ? { message: `Cannot ${f.doing}: ${f.because}`, hint: "Correct the row, or restore the store from a backup." }
      : {
          message: `Cannot ${f.doing}: the store is not available (${f.because})`,
          hint: "Check /readyz and the service's log; the service recovers automatically when the store is available again.",
        },
) {}

/** A stored record cannot be understood; it was left untouched. `hint` says how to repair it. */
export class RecordDamaged extends defineFault(
  "RecordDamaged",
  "conflict",
  (f: { readonly what: string; readonly hint: string }) => ({ message: `Cannot continue: ${f.what} is damaged`, hint: f.hint }),
) {}

/**
 * A run's journal cannot be read, so the run cannot continue here. With `newer`, a newer version of the service wrote it, and an instance
 * of that version continues the run. Otherwise it is damaged.
 */
export class JournalUnreadable extends defineFault(
  "JournalUnreadable",
  "conflict",
  (f: { readonly runId: string; readonly because: string; readonly newer?: true }) => ({
    message: `Cannot read the journal of run ${f.runId}: ${f.because}`,
    hint:
      f.newer === true
        ? "An instance of that version continues the run. Start one if there is none."
        : "The effects of the run remain; start a new one.",
  }),
) {}

/** The record was saved by somebody else since it was read. */
export class StaleVersion extends defineFault("StaleVersion", "conflict", (f: { readonly what: string }) => ({
  message: `Cannot save ${f.what}: somebody else has changed it in the meantime`,
  hint: "Read it again and repeat the change.",
})) {}

/** Another generation holds the lease: this worker must stop at once. */
export class LeaseLost extends defineFault(
  "LeaseLost",
  "conflict",
  (f: { readonly what: string; readonly generation: number }) => ({
    message: `Cannot write to ${f.what}: generation ${f.generation} no longer holds its lease`,
  }),
) {}

/** Why a call to the hypervisor failed. Only the adapter that knows the hypervisor's texts derives it from a response. */
export type HypervisorReason =
  /** It cannot be reached, or a node is down. The same call may succeed later. */
  | "away"
  /** The call may or may not have taken effect; only observation tells. */
  | "unknown-effect"
  /** Our credentials were refused. */
  | "unauthenticated"
  | "forbidden"
  | "not-found"
  /** The id or name is taken. */
  | "taken"
  /** Locked, or timed out waiting for a lock: may be retried. */
  | "locked"
  /** No quorum: reads work, changes do not. */
  | "no-quorum"
  | "invalid"
  /** The object is not ours, or not the one we expected: nothing was changed. */
  | "not-ours"
  | "exhausted"
  | "failed"

/** How to retry a request that failed. */
export type Retry =
  /** As soon as the hypervisor answers and can do it, however long that takes. */
  | "wait"
  /** A few times, observing before each attempt: the effect may already have happened. */
  | "look"
  /** For some seconds: rights and logins are also refused while a node's cluster file system starts. */
  | "insist"
  /** For some minutes: somebody else is working on the object, such as a migration or a backup. */
  | "outlast"
  /** Never: the same request would fail again. */
  | "never"

const hypervisorReasons: Readonly<Record<HypervisorReason, { readonly kind: FaultKind; readonly retry: Retry }>> = {
  away: { kind: "unavailable", retry: "wait" },
  "no-quorum": { kind: "unavailable", retry: "wait" },
  "unknown-effect": { kind: "unavailable", retry: "look" },
  unauthenticated: { kind: "unavailable", retry: "insist" },
  forbidden: { kind: "unavailable", retry: "insist" },
  locked: { kind: "conflict", retry: "outlast" },
  "not-found": { kind: "not-found", retry: "never" },
  taken: { kind: "conflict", retry: "never" },
  "not-ours": { kind: "conflict", retry: "never" },
  exhausted: { kind: "exhausted", retry: "never" },
  // not the caller's mistake, hence the same kind as an unreachable hypervisor
  invalid: { kind: "unavailable", retry: "never" },
  failed: { kind: "unavailable", retry: "never" },
}

/** A call to the hypervisor failed: what was attempted, and the hypervisor's own message. */
export class HypervisorFault extends defineFault(
  "HypervisorFault",
  (f: { readonly doing: string; readonly reason: HypervisorReason; readonly detail: string; readonly hint?: string }) =>
    hypervisorReasons[f.reason].kind,
  (f) => ({ message: `Cannot ${f.doing}: ${f.detail}`, ...(f.hint === undefined ? {} : { hint: f.hint }) }),
) {}

/** A stage inside a machine failed. `detail` says why. */
export class GuestFault extends defineFault(
  "GuestFault",
  (f: {
    readonly doing: string
    readonly machine: string
    readonly reason: "away" | "failed" | "timeout" | "unsupported"
    readonly detail: string
    readonly hint?: string
  }): FaultKind => (f.reason === "timeout" ? "timeout" : "unavailable"),
  (f) => ({ message: `Cannot ${f.doing} on ${f.machine}: ${f.detail}`, ...(f.hint === undefined ? {} : { hint: f.hint }) }),
) {}

/** Whether and how to retry the request that failed with this fault. The only place that decides it, for steps, plans and tools. */
export const retryOf = (fault: Fault): Retry => {
  if (fault instanceof HypervisorFault) return hypervisorReasons[fault.facts.reason].retry
  if (fault instanceof GuestFault) return fault.facts.reason === "away" ? "look" : "never"
  if (fault instanceof StorageFault) return fault.facts.damaged === true ? "never" : "wait"
  return isOnlyDoubt(fault) ? "wait" : "never"
}

/** A command on a node failed or could not be run. */
export class ShellFault extends defineFault(
  "ShellFault",
  "unavailable",
  (f: { readonly doing: string; readonly detail: string }) => ({
    message: `Cannot ${f.doing}: ${f.detail}`,
  }),
) {}

/** A sealed text cannot be opened: the key is wrong, or the text was changed. */
export class SealBroken extends defineFault("SealBroken", "unavailable", (f: { readonly what: string }) => ({
  message: `Cannot open ${f.what}: it was encrypted with another key or was changed`,
  hint: "Restore the key file that belongs to this data folder.",
})) {}

/** Why content could not be fetched. Only the adapter that knows git's texts determines it. */
export type ContentReason =
  /** Its server cannot be reached, or the connection broke. The same fetch may succeed later. */
  | "unreachable"
  /** Its server requires credentials, or refused the given ones. */
  | "unauthenticated"
  /** No such repository, ref, archive, folder, snapshot or path. */
  | "not-found"
  /** Our rules forbid it; `rule` names the rule. Nothing was read or written outside a scratch folder. */
  | "refused"
  /** A limit was exceeded; `rule` names it. */
  | "too-large"
  | "timeout"
  /** The content is damaged: a broken archive, a corrupt repository. */
  | "broken"
  /** The service cannot fetch now: git is missing, the disk is full. */
  | "unavailable"

const contentKinds: Record<ContentReason, FaultKind> = {
  unreachable: "unavailable",
  unauthenticated: "invalid",
  "not-found": "not-found",
  refused: "invalid",
  "too-large": "too-large",
  timeout: "timeout",
  broken: "invalid",
  unavailable: "unavailable",
}

/**
 * Content of a source, or a part of it, could not be fetched or read. `item` is the file, submodule or URL at fault; no field holds a
 * secret.
 */
export class ContentFault extends defineFault(
  "ContentFault",
  (f: {
    readonly doing: string
    readonly reason: ContentReason
    readonly detail: string
    readonly rule?: string
    readonly item?: string
    readonly hint?: string
  }) => contentKinds[f.reason],
  (f) => ({
    message: `Cannot ${f.doing}: ${f.item === undefined ? "" : `${f.item}: `}${f.detail}`,
    ...(f.hint === undefined ? {} : { hint: f.hint }),
  }),
) {}

/** Why an operation on the library of installed artifacts failed. */
export type LibraryReason =
  /** The name cannot be used as a folder name. */
  | "name"
  | "missing"
  | "exists"
  /** What is to be installed, or what is installed, is malformed. */
  | "broken"
  /** Its owner has reached a limit. */
  | "limit"
  /** The disk is full, or the folder cannot be read or written. */
  | "unavailable"

const libraryKinds: Record<LibraryReason, FaultKind> = {
  name: "invalid",
  missing: "not-found",
  exists: "conflict",
  broken: "invalid",
  limit: "forbidden",
  unavailable: "unavailable",
}

/** A template, role or collection cannot be installed, read or removed. */
export class LibraryFault extends defineFault(
  "LibraryFault",
  (f: { readonly doing: string; readonly reason: LibraryReason; readonly detail: string; readonly hint?: string }) =>
    libraryKinds[f.reason],
  (f) => ({ message: `Cannot ${f.doing}: ${f.detail}`, ...(f.hint === undefined ? {} : { hint: f.hint }) }),
) {}

/** The tool that installs roles and collections does not work: it is missing, hangs, or does not understand its input. */
export class InstallerFault extends defineFault(
  "InstallerFault",
  (f: {
    readonly doing: string
    readonly reason: "missing" | "timeout" | "failed"
    readonly detail: string
    readonly hint?: string
  }) => (f.reason === "timeout" ? "timeout" : "unavailable"),
  (f) => ({ message: `Cannot ${f.doing}: ${f.detail}`, ...(f.hint === undefined ? {} : { hint: f.hint }) }),
) {}

/** A template cannot be built. `detail` says why, in the tool's words where it gave a reason; no field holds a secret. */
export class BuildFault extends defineFault(
  "BuildFault",
  (f: {
    readonly doing: string
    /** `missing`: the tool, or something it needs, is not installed · `timeout`: it took too long · `failed`: the build failed. */
    readonly reason: "missing" | "timeout" | "failed"
    readonly detail: string
    readonly hint?: string
  }) => (f.reason === "timeout" ? "timeout" : f.reason === "missing" ? "unavailable" : "failed"),
  (f) => ({ message: `Cannot ${f.doing}: ${f.detail}`, ...(f.hint === undefined ? {} : { hint: f.hint }) }),
) {}

/** Why a request to the registry of subscription roles failed. */
export type SubscriptionReason =
  /** It cannot be reached, or the connection broke. The same call may succeed later. */
  | "unreachable"
  /** It requires credentials, or refused the given ones. */
  | "unauthenticated"
  | "not-found"
  /** It is not signed by a trusted key, or is older than one seen before. */
  | "untrusted"
  /** It is signed but malformed: truncated, changed, or with files that a role may not have. */
  | "broken"
  | "too-large"
  | "timeout"
  /** The service cannot do it now, or its configuration rules it out. */
  | "unavailable"

/** The index or a package of subscription roles cannot be fetched. No field holds a secret. */
export class SubscriptionFault extends defineFault(
  "SubscriptionFault",
  // the wire contract has one status for all other registry failures
  (f: {
    readonly doing: string
    readonly reason: SubscriptionReason
    readonly detail: string
    readonly hint?: string
  }): FaultKind => (f.reason === "not-found" ? "not-found" : "failed"),
  (f) => ({ message: `Cannot ${f.doing}: ${f.detail}`, ...(f.hint === undefined ? {} : { hint: f.hint }) }),
) {}

/** Why the VPN server could not be read or changed. */
export type VpnReason =
  /** It cannot be reached, or the connection broke. The same may work later. */
  | "unreachable"
  /** Its setup does not allow it: a program, the interface or a right is missing. */
  | "refused"
  /** Its answer was not understood. */
  | "unexpected"

/** The VPN server cannot be read or changed. */
export class VpnFault extends defineFault(
  "VpnFault",
  "unavailable",
  (f: { readonly doing: string; readonly reason: VpnReason; readonly detail: string; readonly hint?: string }) => ({
    message: `Cannot ${f.doing}: ${f.detail}`,
    ...(f.hint === undefined ? {} : { hint: f.hint }),
  }),
) {}

/** Why the packages of a node could not be read or changed. */
export type PackagesReason =
  /** The node cannot be reached, or the connection broke. The same may work later. */
  | "unreachable"
  /** The node's answer was not understood. */
  | "unexpected"
  /** The node cannot do it, or must not, for the reason in `detail`. */
  | "refused"
  /** The operator's folder differs from what was signed, cannot be read, or is not signed by a trusted key. */
  | "folder"

/** The packages of a node, or the folder of patched packages, cannot be read or changed. */
export class PackagesFault extends defineFault(
  "PackagesFault",
  (f: { readonly doing: string; readonly reason: PackagesReason; readonly detail: string; readonly hint?: string }): FaultKind =>
    f.reason === "unreachable" || f.reason === "unexpected" ? "unavailable" : "failed",
  (f) => ({ message: `Cannot ${f.doing}: ${f.detail}`, ...(f.hint === undefined ? {} : { hint: f.hint }) }),
) {}
