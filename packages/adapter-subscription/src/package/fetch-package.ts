import { readPackageStatement, states, type SubscriptionRole } from "@rangewright/domain"
import type { ArtifactEntry, ContentFetcher, SubscriptionFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { createHash } from "node:crypto"
import { asFault, type Doing, fault } from "../faults.ts"
import type { Settings } from "../options.ts"
import { packagePath, type Registry, statementPath } from "../registry/registry.ts"
import { open } from "../trust/envelope.ts"
import type { PublicKey } from "../trust/keys.ts"
import { unpack } from "./unpack.ts"

const statementBytes = 64 * 1024

const read = async (registry: Registry, doing: Doing, path: string, most: number, seconds: number, signal: AbortSignal) => {
  const found = await registry.read({ doing, path, most, timeoutSeconds: seconds }, signal)
  if (found === "unchanged") throw fault(doing, "broken", "the registry says that a file is unchanged that it never sent")
  return found.bytes
}

/** Checks that a trusted key signed this package as this version of this role. */
const checkStatement = (doing: Doing, envelope: string, role: SubscriptionRole, keys: readonly PublicKey[]): void => {
  const opened = open(envelope, "application/vnd.rangewright.subscription-package+json", keys)
  if (Result.isFailure(opened)) throw fault(doing, opened.failure.reason, `its signature: ${opened.failure.detail}`)
  const statement = readPackageStatement(opened.success)
  if (Result.isFailure(statement)) throw fault(doing, "broken", `its signature is not valid: ${statement.failure}`)
  if (!states(statement.success, role)) throw fault(doing, "untrusted", "its signature is about another package")
}

/** A role's package, verified in full against its signature. Rejects with a `SubscriptionFault`. */
const signedPackage = async (
  doing: Doing,
  registry: Registry,
  role: SubscriptionRole,
  keys: readonly PublicKey[],
  settings: Settings,
  signal: AbortSignal,
): Promise<Buffer> => {
  const { bytes: size, sha256 } = role.package
  if (size > settings.packageBytes)
    throw fault(doing, "too-large", `the package has ${size} bytes, but only ${settings.packageBytes} are allowed`)
  const statement = await read(registry, doing, statementPath(role.packageId), statementBytes, settings.indexSeconds, signal)
  checkStatement(doing, statement.toString("utf8"), role, keys)
  const packed = await read(registry, doing, packagePath(role.packageId), size, settings.packageSeconds, signal)
  if (packed.length !== size) throw fault(doing, "broken", `the package is truncated: it has ${packed.length} of ${size} bytes`)
  if (createHash("sha256").update(packed).digest("hex") !== sha256)
    throw fault(doing, "untrusted", "the package is not the one that was signed")
  return packed
}

/** The files of a role's package. Nothing is unpacked before every byte is verified. */
export const fetchPackage = (
  registry: Registry,
  role: SubscriptionRole,
  keys: readonly PublicKey[],
  settings: Settings,
): Effect.Effect<readonly ArtifactEntry[], SubscriptionFault, ContentFetcher> =>
  Effect.gen(function* () {
    const doing = `fetch ${role.role} ${role.version} (package ${role.packageId})`
    const packed = yield* Effect.tryPromise({
      try: (signal) => signedPackage(doing, registry, role, keys, settings, signal),
      catch: asFault(doing),
    })
    const entries = yield* unpack(doing, packed, settings.tree)
    if (entries.length === role.fileCount) return entries
    return yield* fault(doing, "broken", `the package contains ${entries.length} files, but its registry says ${role.fileCount}`)
  })
