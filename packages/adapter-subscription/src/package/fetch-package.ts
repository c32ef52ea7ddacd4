import { readPackageStatement, states, type SubscriptionRole } from "@rangewright/domain"
import type { ArtifactEntry } from "@rangewright/ports"
import * as Result from "effect/Result"
import { createHash } from "node:crypto"
import { type Doing, fault } from "../faults.ts"
import type { Settings } from "../options.ts"
import { packagePath, type Registry, statementPath } from "../registry/registry.ts"
import { open } from "../trust/envelope.ts"
import type { PublicKey } from "../trust/keys.ts"
import { unpack } from "./unpack.ts"

const statementBytes = 64 * 1024

const read = async (registry: Registry, doing: Doing, path: string, most: number, seconds: number, signal: AbortSignal) => {
  const found = await registry.read({ doing, path, most, timeoutSeconds: seconds }, signal)
  if (found === "unchanged") throw fault(doing, "broken", "the registry says that a file is unchanged that it never gave")
  return found.bytes
}

/** Checks that a trusted key signed this very package as this version of this role. */
const checkStatement = (doing: Doing, envelope: string, role: SubscriptionRole, keys: readonly PublicKey[]): void => {
  const opened = open(envelope, "application/vnd.rangewright.subscription-package+json", keys)
  if (Result.isFailure(opened)) throw fault(doing, opened.failure.reason, `its signature: ${opened.failure.detail}`)
  const statement = readPackageStatement(opened.success)
  if (Result.isFailure(statement)) throw fault(doing, "broken", `its signature is not what it should be: ${statement.failure}`)
  if (!states(statement.success, role)) throw fault(doing, "untrusted", "its signature is about another package")
}

/** The files of a role's package. Nothing is unpacked before every byte was found to be what was signed. Rejected with a `SubscriptionFault`. */
export const fetchPackage = async (
  registry: Registry,
  role: SubscriptionRole,
  keys: readonly PublicKey[],
  settings: Settings,
  signal: AbortSignal,
): Promise<readonly ArtifactEntry[]> => {
  const doing = `fetch ${role.role} ${role.version} (package ${role.packageId})`
  const { bytes: size, sha256 } = role.package
  if (size > settings.packageBytes)
    throw fault(doing, "too-large", `the package has ${size} bytes, and ${settings.packageBytes} are allowed`)
  const statement = await read(registry, doing, statementPath(role.packageId), statementBytes, settings.indexSeconds, signal)
  checkStatement(doing, statement.toString("utf8"), role, keys)
  const packed = await read(registry, doing, packagePath(role.packageId), size, settings.packageSeconds, signal)
  if (packed.length !== size) throw fault(doing, "broken", `the package is cut off: it has ${packed.length} of ${size} bytes`)
  if (createHash("sha256").update(packed).digest("hex") !== sha256)
    throw fault(doing, "untrusted", "the package is not the one that was signed")
  const entries = await unpack(doing, packed, settings.tree)
  if (entries.length !== role.fileCount)
    throw fault(doing, "broken", `the package holds ${entries.length} files, and its registry says ${role.fileCount}`)
  return entries
}
