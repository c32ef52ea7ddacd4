import { isFault, type Fault, type FaultKind } from "@rangewright/domain"
import * as Cause from "effect/Cause"
import type { HeaderList } from "./request-state.ts"

/** The statuses of failures: existing clients misread all others. 429 is only for sign-in. */
export type FailureStatus = 400 | 401 | 403 | 404 | 409 | 413 | 429 | 500 | 502

/** The only place that maps failures to statuses. */
export const statusOfKind: Readonly<Record<FaultKind, FailureStatus>> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  "not-found": 404,
  conflict: 409,
  precondition: 409,
  exhausted: 409,
  cancelled: 409,
  "too-large": 413,
  throttled: 429,
  failed: 500,
  unavailable: 502,
  timeout: 502,
}

const titles: Readonly<Record<FailureStatus, string>> = {
  400: "Bad request",
  401: "Not authenticated",
  403: "Forbidden",
  404: "Not found",
  409: "Conflict",
  413: "Too large",
  429: "Too many attempts",
  500: "Internal error",
  502: "Unavailable",
}

/** A response that reports a failure. */
export interface Problem {
  readonly status: FailureStatus
  readonly body: string
  readonly headers?: HeaderList
}

const render = (
  status: FailureStatus,
  type: string,
  detail: string,
  hint: string | undefined,
  issues: Fault["issues"],
  requestId: string,
): Problem => ({
  status,
  // clients show only `error`, so it includes the hint; no member may be called message or code
  body: JSON.stringify({
    error: hint === undefined ? detail : `${detail}\n${hint}`,
    type: `urn:rangewright:fault:${type}`,
    title: titles[status],
    status,
    detail,
    ...(hint === undefined ? {} : { hint }),
    requestId,
    ...(issues.length === 0 ? {} : { issues }),
  }),
})

/** The form of the record API: `{status, message, data}`, with an entry in `data` for each field that is wrong. */
const renderRecord = (status: FailureStatus, message: string, issues: Fault["issues"]): Problem => {
  const data = Object.create(null) as Record<string, { code: string; message: string }>
  for (const issue of issues)
    data[issue.path === "" ? "body" : issue.path] ??= { code: "validation_invalid", message: issue.message }
  return { status, body: JSON.stringify({ status, message, data }) }
}

/** Which of the two formats of failures a part of the API uses. */
export type ProblemForm = "api" | "record"

/** Everything below `/api/` except our own part is the record API. */
export const formOfPath = (path: string): ProblemForm =>
  path.startsWith("/api/") && !path.startsWith("/api/v2/") ? "record" : "api"

export const problemOf = (fault: Fault, form: ProblemForm, requestId: string): Problem => {
  const status = statusOfKind[fault.kind]
  const problem =
    form === "record"
      ? renderRecord(status, fault.message, fault.issues)
      : render(status, fault._tag, fault.message, fault.hint, fault.issues, requestId)
  return fault.retryAfter === undefined ? problem : { ...problem, headers: ["Retry-After", String(fault.retryAfter)] }
}

/** A bug is never described to the caller: the request id leads the operator to the log entry that describes it. */
export const defectProblem = (form: ProblemForm, requestId: string): Problem => {
  const text = `Something went wrong inside the service; its log has the details under request ${requestId}`
  return form === "record" ? renderRecord(500, text, []) : render(500, "Defect", text, undefined, [], requestId)
}

/** The fault that ended an effect; undefined for a defect or an interruption. */
export const faultOf = (cause: Cause.Cause<Fault>): Fault | undefined => {
  const failure = Cause.squash(cause)
  return isFault(failure) ? failure : undefined
}
