import { defineFault, type Fault, type FaultKind, isOnlyDoubt } from "@rangewright/domain"

/**
 * The store could not do it: full disk, lost database, broken file. Acknowledged writes are never lost by it. With `damaged`, the store works
 * but for the record that `because` names, which this version does not understand; nothing was done with it.
 */
export class StorageFault extends defineFault(
  "StorageFault",
  (f: { readonly doing: string; readonly because: string; readonly damaged?: true }): FaultKind =>
    f.damaged === true ? "failed" : "unavailable",
  (f) =>
    f.damaged === true
      ? { message: `Cannot ${f.doing}: ${f.because}`, hint: "Correct the row, or restore the store from a backup." }
      : {
          message: `Cannot ${f.doing}: the store is not available (${f.because})`,
          hint: "Check /readyz and the service's log; the service recovers automatically when the store is available again.",
        },
) {}

/** What the store keeps of something cannot be understood; nothing was done with it. `hint`: the way out. */
export class RecordDamaged extends defineFault(
  "RecordDamaged",
  "conflict",
  (f: { readonly what: string; readonly hint: string }) => ({ message: `Cannot continue: ${f.what} is damaged`, hint: f.hint }),
) {}

/**
 * A run's journal cannot be read, and the rest of the run means nothing without it. `newer`: a newer version of the service wrote it, and an
 * instance of that version continues the run. Otherwise it is damaged.
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

/** A save named an older version than the stored one: somebody else wrote in between. */
export class StaleVersion extends defineFault("StaleVersion", "conflict", (f: { readonly what: string }) => ({
  message: `Cannot save ${f.what}: somebody else has changed it in the meantime`,
  hint: "Read it again and repeat the change.",
})) {}

/** The lease is held by another generation: this worker must stop at once. */
export class LeaseLost extends defineFault(
  "LeaseLost",
  "conflict",
  (f: { readonly what: string; readonly generation: number }) => ({
    message: `Cannot write to ${f.what}: generation ${f.generation} no longer holds its lease`,
  }),
) {}

/** Why the hypervisor refused or could not; found from its answer by the one adapter that knows its texts. */
export type HypervisorReason =
  /** It cannot be reached, or a node is down. The same call may work later. */
  | "away"
  /** The call may or may not have had its effect; only observation tells. */
  | "unknown-effect"
  /** Our credentials were refused. */
  | "unauthenticated"
  | "forbidden"
  | "not-found"
  /** The id or name is taken. */
  | "taken"
  /** Locked or timed out on a lock: may be repeated. */
  | "locked"
  /** No quorum: reads work, changes do not. */
  | "no-quorum"
  | "invalid"
  /** The object is not ours or not the one we expected: nothing was done. */
  | "not-ours"
  | "exhausted"
  | "failed"

/** How a request that met a fault is made again. */
export type Retry =
  /** As soon as the hypervisor answers and can do it, however long that takes. */
  | "wait"
  /** A few times, each after a look at the world: whether the effect has happened is not known. */
  | "look"
  /** For some seconds: rights and log-ins are also refused while a node's cluster file system starts. */
  | "insist"
  /** For some minutes: somebody else works on it, such as a migration or a backup. */
  | "outlast"
  /** Not at all: the same request would fail again. */
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
  // the caller of an operation did nothing wrong: the same kind as a hypervisor that cannot be reached
  invalid: { kind: "unavailable", retry: "never" },
  failed: { kind: "unavailable", retry: "never" },
}

/** What could not be done on the hypervisor, to what, and the hypervisor's own words. */
export class HypervisorFault extends defineFault(
  "HypervisorFault",
  (f: { readonly doing: string; readonly reason: HypervisorReason; readonly detail: string; readonly hint?: string }) =>
    hypervisorReasons[f.reason].kind,
  (f) => ({ message: `Cannot ${f.doing}: ${f.detail}`, ...(f.hint === undefined ? {} : { hint: f.hint }) }),
) {}

/** A stage inside a machine failed. `output` is the tail of what it printed, secrets masked. */
export class GuestFault extends defineFault(
  "GuestFault",
  (f: {
    readonly doing: string
    readonly machine: string
    readonly reason: "away" | "failed" | "timeout" | "unsupported"
    readonly detail: string
  }): FaultKind => (f.reason === "timeout" ? "timeout" : "unavailable"),
  (f) => ({ message: `Cannot ${f.doing} on ${f.machine}: ${f.detail}` }),
) {}

/** Whether the request that met this fault is made again, and how. The only answer to that: steps, plans and tools ask here. */
export const retryOf = (fault: Fault): Retry => {
  if (fault instanceof HypervisorFault) return hypervisorReasons[fault.facts.reason].retry
  if (fault instanceof GuestFault) return fault.facts.reason === "away" ? "look" : "never"
  if (fault instanceof StorageFault) return fault.facts.damaged === true ? "never" : "wait"
  return isOnlyDoubt(fault) ? "wait" : "never"
}

/** A command on a node could not be run or failed. */
export class ShellFault extends defineFault(
  "ShellFault",
  "unavailable",
  (f: { readonly doing: string; readonly detail: string }) => ({
    message: `Cannot ${f.doing}: ${f.detail}`,
  }),
) {}

/** A sealed text cannot be opened: wrong key, or it was changed. */
export class SealBroken extends defineFault("SealBroken", "unavailable", (f: { readonly what: string }) => ({
  message: `Cannot open ${f.what}: it was encrypted with another key or was changed`,
  hint: "Restore the key file that belongs to this data folder.",
})) {}

/** Why content could not be fetched; found by the one adapter that knows git's texts. */
export type ContentReason =
  /** Its server cannot be reached, or the connection broke. The same fetch may work later. */
  | "unreachable"
  /** Its server wants credentials, or refused the given ones. */
  | "unauthenticated"
  /** No such repository, ref, archive, folder, snapshot or path. */
  | "not-found"
  /** Our rules forbid it; `rule` says which. Nothing was read or written outside a scratch folder. */
  | "refused"
  /** A limit was passed; `rule` says which. */
  | "too-large"
  | "timeout"
  /** It is not what it should be: a damaged archive, a corrupt repository. */
  | "broken"
  /** This service cannot do it now: git is missing, the disk is full. */
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

/** Content of a source, or a part of it, cannot be had. `item` is the file, submodule or URL at fault; no fact holds a secret. */
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

/** Why the library of installed artifacts could not do it. */
export type LibraryReason =
  /** The name is none that a folder may have. */
  | "name"
  | "missing"
  | "exists"
  /** What is to be installed, or what is there, is not what it should be. */
  | "broken"
  /** Its owner may keep no more. */
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

/** The tool that installs roles and collections cannot work: it is missing, hangs, or does not understand its input. */
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

/** A template cannot be built. `detail` names the fact, in the tool's words where it has some; no fact holds a secret. */
export class BuildFault extends defineFault(
  "BuildFault",
  (f: {
    readonly doing: string
    /** `missing`: the tool, or something it needs, is not here · `timeout`: it took too long · `failed`: it could not do it. */
    readonly reason: "missing" | "timeout" | "failed"
    readonly detail: string
    readonly hint?: string
  }) => (f.reason === "timeout" ? "timeout" : f.reason === "missing" ? "unavailable" : "failed"),
  (f) => ({ message: `Cannot ${f.doing}: ${f.detail}`, ...(f.hint === undefined ? {} : { hint: f.hint }) }),
) {}

/** Why the registry of subscription roles could not give what was wanted. */
export type SubscriptionReason =
  /** It cannot be reached, or the connection broke. The same call may work later. */
  | "unreachable"
  /** It wants credentials, or refused the given ones. */
  | "unauthenticated"
  | "not-found"
  /** No key that is trusted here signed it, or it is older than what was seen before. */
  | "untrusted"
  /** It is signed and not what it should be: cut off, changed, or with files that no role may have. */
  | "broken"
  | "too-large"
  | "timeout"
  /** This service cannot do it now, or is configured so that it never can. */
  | "unavailable"

/** The index or a package of subscription roles cannot be had. No fact holds a secret. */
export class SubscriptionFault extends defineFault(
  "SubscriptionFault",
  // the wire contract knows one status for a registry that does not give
  (f: {
    readonly doing: string
    readonly reason: SubscriptionReason
    readonly detail: string
    readonly hint?: string
  }): FaultKind => (f.reason === "not-found" ? "not-found" : "failed"),
  (f) => ({ message: `Cannot ${f.doing}: ${f.detail}`, ...(f.hint === undefined ? {} : { hint: f.hint }) }),
) {}

/** Why the server of the VPN could not do it. */
export type VpnReason =
  /** It cannot be reached, or the connection broke. The same may work later. */
  | "unreachable"
  /** It cannot do it as it is set up: a program, the interface or a right is missing. */
  | "refused"
  /** What it answered is not understood. */
  | "unexpected"

/** The server of the VPN cannot be looked at or changed. */
export class VpnFault extends defineFault(
  "VpnFault",
  "unavailable",
  (f: { readonly doing: string; readonly reason: VpnReason; readonly detail: string; readonly hint?: string }) => ({
    message: `Cannot ${f.doing}: ${f.detail}`,
    ...(f.hint === undefined ? {} : { hint: f.hint }),
  }),
) {}

/** Why packages of nodes could not be looked at or changed. */
export type PackagesReason =
  /** The node cannot be reached, or the connection broke. The same may work later. */
  | "unreachable"
  /** What the node answered is not understood. */
  | "unexpected"
  /** The node cannot do it, or it is not done there for a reason that `detail` names. */
  | "refused"
  /** The operator's folder is not what was signed, cannot be read, or nobody who is trusted signed it. */
  | "folder"

/** The packages of a node, or the folder of patched ones, cannot be looked at or changed. */
export class PackagesFault extends defineFault(
  "PackagesFault",
  (f: { readonly doing: string; readonly reason: PackagesReason; readonly detail: string; readonly hint?: string }): FaultKind =>
    f.reason === "unreachable" || f.reason === "unexpected" ? "unavailable" : "failed",
  (f) => ({ message: `Cannot ${f.doing}: ${f.detail}`, ...(f.hint === undefined ? {} : { hint: f.hint }) }),
) {}
