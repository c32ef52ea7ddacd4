import { howTo } from "./calls.ts"
import { type RunSubject, subjectText } from "../run/subject.ts"
import { defineFault, type FaultIssue } from "./fault.ts"

/** Input that cannot be accepted; `issues` holds every finding. */
export class InvalidInput extends defineFault(
  "InvalidInput",
  "invalid",
  (f: { readonly what: string; readonly issues?: readonly FaultIssue[]; readonly hint?: string }) => ({
    message: f.what,
    ...(f.issues === undefined ? {} : { issues: f.issues }),
    ...(f.hint === undefined ? {} : { hint: f.hint }),
  }),
) {}

export class Unauthenticated extends defineFault(
  "Unauthenticated",
  "unauthenticated",
  (f: { readonly reason: string; readonly hint: string }) => ({
    message: f.reason,
    hint: f.hint,
  }),
) {}

/** After too many wrong passwords, or failed sign-ins with an identity provider. */
export class TooManyAttempts extends defineFault(
  "TooManyAttempts",
  "throttled",
  (f: { readonly seconds: number; readonly of: "passwords" | "codes" }) => ({
    message: `Too many ${f.of === "passwords" ? "wrong passwords" : "failed sign-ins"}: the next attempt is accepted in ${f.seconds} s`,
    hint: f.of === "passwords" ? "Wait, or ask an administrator for a new password." : "Wait, and sign in again.",
    retryAfter: f.seconds,
  }),
) {}

export class Forbidden extends defineFault(
  "Forbidden",
  "forbidden",
  (f: { readonly reason: string; readonly hint?: string }) => ({
    message: f.reason,
    ...(f.hint === undefined ? {} : { hint: f.hint }),
  }),
) {}

export class UserNotFound extends defineFault("UserNotFound", "not-found", (f: { readonly userId: string }) => ({
  message: `User ${f.userId} not found`,
})) {}

const fieldNames = { userID: "ID", name: "name", email: "email address" } as const

/** Scripts match "User with that … already exists", and take "already exists" in any refusal of POST /user to mean that the user is there. */
export class UserExists extends defineFault(
  "UserExists",
  "invalid",
  (f: { readonly field: "userID" | "name" | "email"; readonly value: string }) => ({
    message: `Cannot create user ${f.value}. User with that ${fieldNames[f.field]} already exists`,
  }),
) {}

/** A range named by the caller is unknown. */
export class RangeNotFound extends defineFault("RangeNotFound", "not-found", (f: { readonly rangeId: string }) => ({
  message: `Range ${f.rangeId} not found: not in database`,
  hint: `List the ranges you may use: ${howTo("GET /ranges/accessible")}.`,
})) {}

/** The user's default range is missing. Scripts match the first sentence, with its full stop. */
export class DefaultRangeNotFound extends defineFault(
  "DefaultRangeNotFound",
  "not-found",
  (f: { readonly rangeId: string | undefined; readonly userId: string }) => ({
    message:
      f.rangeId === undefined
        ? `Range (none) not found for user ${f.userId}. They have no default range`
        : `Range ${f.rangeId} not found for user ${f.userId}. It is their default range, and there is no range with this ID`,
    hint: `Set a default range: ${howTo("POST /user/default-range")}; or name a range: -r on the command line (?rangeID=).`,
  }),
) {}

export class RangeExists extends defineFault(
  "RangeExists",
  "conflict",
  ({ what, hint = "Choose another range ID." }: { readonly what: string; readonly hint?: string }) => ({ message: what, hint }),
) {}

export class GroupNotFound extends defineFault("GroupNotFound", "not-found", (f: { readonly group: string }) => ({
  message: `Group ${f.group} not found`,
  hint: `List the groups: ${howTo("GET /groups")}.`,
})) {}

export class GroupExists extends defineFault("GroupExists", "conflict", (f: { readonly group: string }) => ({
  message: `Cannot create group ${f.group}: a group with this name already exists`,
})) {}

/** The change would leave a group without a manager, and the caller could not appoint a new one. */
export class LastManager extends defineFault("LastManager", "conflict", (f: { readonly group: string }) => ({
  message: `Group ${f.group} would have no manager left`,
  hint: "Make somebody else a manager first, or ask an administrator.",
})) {}

/** The change would leave nobody but ROOT, which manages users only. */
export class LastAdministrator extends defineFault("LastAdministrator", "conflict", (f: { readonly userId: string }) => ({
  message: `Cannot revoke the administrator rights of user ${f.userId}: there would be no administrator left`,
  hint: "Make another user an administrator first.",
})) {}

/** How an unfinished run blocks its subject. */
const holds = ({ cancelled }: { readonly cancelled?: boolean }, ended: string): string =>
  cancelled === true ? `was ${ended}, but steps that it had started are still running` : "is changing it"

/** A run is changing the range. */
export class RangeBusy extends defineFault(
  "RangeBusy",
  "conflict",
  (f: {
    readonly rangeId: string
    readonly runId: string
    readonly doing: string
    /** It was aborted, and its started steps are still settling. */
    readonly cancelled?: boolean
  }) => ({
    message: `Cannot change range ${f.rangeId}: run ${f.runId} (${f.doing}) ${holds(f, "aborted")}`,
    hint: `Wait for it: \`ludus range logs -f -r ${f.rangeId}\` (GET /runs/${f.runId}/events)${f.cancelled === true ? "" : `; or abort it: ${howTo("POST /range/abort", {}, f.rangeId)}`}.`,
  }),
) {}

/** A run is changing a subject other than a range: a source, a blueprint, the installation. */
export class SubjectBusy extends defineFault(
  "SubjectBusy",
  "conflict",
  (f: {
    readonly subject: RunSubject
    readonly runId: string
    readonly doing: string
    /** It was cancelled, and its started steps are still settling. */
    readonly cancelled?: boolean
  }) => ({
    message: `Cannot change ${subjectText(f.subject)}: run ${f.runId} (${f.doing}) ${holds(f, "cancelled")}`,
    hint: `Wait for it (GET /runs/${f.runId}/events)${f.cancelled === true ? "" : ` or cancel it (POST /runs/${f.runId}/cancel)`}.`,
  }),
) {}

/**
 * A run is changing the whole installation, during which ranges must not change, and waiting for its end is not possible: the service is
 * stopping, or the caller has disconnected. `doing` completes "Cannot …".
 */
export class InstallationBusy extends defineFault(
  "InstallationBusy",
  "conflict",
  (f: { readonly doing: string; readonly runId: string; readonly by: string }) => ({
    message: `Cannot ${f.doing}: run ${f.runId} (${f.by}) is changing the whole installation, and waiting for it was interrupted`,
    hint: `Nothing was changed. Try again: the call waits for the run, and GET /runs/${f.runId} shows its progress.`,
  }),
) {}

export class RunNotFound extends defineFault("RunNotFound", "not-found", (f: { readonly runId: string }) => ({
  message: `Run ${f.runId} not found`,
})) {}

/** A state of the world or of the range forbids the change. */
export class Conflict extends defineFault("Conflict", "conflict", (f: { readonly what: string; readonly hint?: string }) => ({
  message: f.what,
  ...(f.hint === undefined ? {} : { hint: f.hint }),
})) {}

/** Any other named thing that does not exist. */
export class NotFound extends defineFault("NotFound", "not-found", (f: { readonly what: string; readonly hint?: string }) => ({
  message: f.what,
  ...(f.hint === undefined ? {} : { hint: f.hint }),
})) {}

/** No number, id or address is left to assign. */
export class Exhausted extends defineFault("Exhausted", "exhausted", (f: { readonly what: string; readonly hint?: string }) => ({
  message: f.what,
  ...(f.hint === undefined ? {} : { hint: f.hint }),
})) {}

/** The work was tried and failed, or its object was never made (a log before the first deploy). */
export class Failed extends defineFault("Failed", "failed", (f: { readonly what: string; readonly hint?: string }) => ({
  message: f.what,
  ...(f.hint === undefined ? {} : { hint: f.hint }),
})) {}

export class EntitlementMissing extends defineFault(
  "EntitlementMissing",
  "forbidden",
  (f: { readonly doing: string; readonly entitlement: string }) => ({
    message: `Cannot ${f.doing}: the licence in force does not include ${f.entitlement}`,
    hint: "GET /license shows the licence in force.",
  }),
) {}
