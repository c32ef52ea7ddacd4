import { defineFault } from "@rangewright/domain"
import { SubscriptionFault, type SubscriptionReason } from "@rangewright/ports"

/** The operation, for the beginning of every message: `list the subscription roles of https://roles.example`. */
export type Doing = string

export const fault = (doing: Doing, reason: SubscriptionReason, detail: string, hint?: string): SubscriptionFault =>
  new SubscriptionFault({ doing, reason, detail, ...(hint === undefined ? {} : { hint }) })

/** A system error's message without the path at its end, which is internal to this host, as members read it. */
const said = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause)).replace(/, \w+ '.*$/su, "")

/** Converts a rejection into a fault: a fault as it is, a system error as a failure of this host. */
export const asFault =
  (doing: Doing) =>
  (cause: unknown): SubscriptionFault =>
    cause instanceof SubscriptionFault ? cause : fault(doing, "unavailable", said(cause).slice(0, 400))

const systemReasons: Readonly<Record<string, string>> = {
  EACCES: "this account lacks the permission",
  EISDIR: "it is a folder, not a file",
  ENOENT: "there is no such file or folder",
  ENOSPC: "the disk is full",
  ENOTDIR: "it, or a part of its path, is not a folder",
  EROFS: "the file system is read-only",
}

/** Why the system refused a file or folder that the message already names. */
export const reasonOf = (cause: unknown): string => {
  const { code = "" } = cause as NodeJS.ErrnoException
  return systemReasons[code] ?? said(cause)
}

/** A private key file cannot be created or used in its present state; nothing was changed. */
export class KeyFileUnusable extends defineFault(
  "KeyFileUnusable",
  "precondition",
  (f: { readonly doing: string; readonly detail: string; readonly hint?: string }) => ({
    message: `Cannot ${f.doing}: ${f.detail}`,
    ...(f.hint === undefined ? {} : { hint: f.hint }),
  }),
) {}

/** Roles cannot be packed, or packages signed, in their present state; existing files are untouched. */
export class CannotPack extends defineFault(
  "CannotPack",
  "invalid",
  (f: { readonly doing?: "sign"; readonly what: string; readonly detail: string; readonly hint?: string }) => ({
    message: `Cannot ${f.doing ?? "pack"} ${f.what}: ${f.detail}`,
    ...(f.hint === undefined ? {} : { hint: f.hint }),
  }),
) {}
