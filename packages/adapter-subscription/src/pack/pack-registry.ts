import {
  indexAge,
  indexLimits,
  type PackageId,
  readSubscriptionIndex,
  type SubscriptionIndex,
  type SubscriptionRole,
  tarEnd,
  tarHeader,
  tarPadding,
  writePackageStatement,
  writeSubscriptionIndex,
} from "@rangewright/domain"
import * as Result from "effect/Result"
import { createHash } from "node:crypto"
import { mkdir, readdir, readFile, rm } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { gzip as gzipCallback } from "node:zlib"
import { CannotPack, reasonOf } from "../faults.ts"
import { replaceFile } from "../replace-file.ts"
import { indexPath, packagePath, statementPath } from "../registry/registry.ts"
import { open, seal } from "../trust/envelope.ts"
import type { SigningKey } from "../trust/keys.ts"
import { readRole, type RoleFolder } from "./read-role.ts"

const gzip = promisify(gzipCallback)

export interface PackOptions {
  /** One folder for each role. */
  readonly roles: string
  /** The registry: created, or updated. */
  readonly out: string
  readonly key: SigningKey
  /** For roles that name none themselves. */
  readonly entitlements: readonly string[]
  readonly now: Date
}

export interface Packed {
  readonly index: SubscriptionIndex
  /** False when the registry was already up to date. */
  readonly changed: boolean
}

const packageOf = async ({ files }: RoleFolder): Promise<Buffer> =>
  gzip(
    Buffer.concat([
      ...files.flatMap(({ path, bytes, executable }) => [
        ...tarHeader(path, bytes.length, executable),
        bytes,
        tarPadding(bytes.length),
      ]),
      tarEnd,
    ]),
    { level: 9 },
  )

/** The same bytes of the same role get the same id: a UUID of version 8, for custom formats (RFC 9562). */
const packageIdOf = (role: string, version: string, sha256: string): PackageId => {
  const digest = createHash("sha256")
    .update(JSON.stringify([role, version, sha256]))
    .digest("hex")
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(13, 16)}-8${digest.slice(17, 20)}-${digest.slice(20, 32)}` as PackageId
}

/** The existing index, if it is signed with this key; undefined when there is none. */
const indexBefore = async ({ out, key }: PackOptions): Promise<SubscriptionIndex | undefined> => {
  const envelope = await readFile(join(out, indexPath), "utf8").catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === "ENOENT") return undefined
    throw cause
  })
  if (envelope === undefined) return undefined
  const opened = open(envelope, "application/vnd.rangewright.subscription-index+json", [key.public])
  const read = Result.isSuccess(opened) ? readSubscriptionIndex(opened.success) : undefined
  if (read === undefined || Result.isFailure(read))
    throw new CannotPack({
      what: out,
      detail: "there already is an index that this key did not sign",
      hint: "Choose another folder, or use the key of this registry.",
    })
  return read.success
}

const namesOf = async (roles: string): Promise<readonly string[]> => {
  const entries = await readdir(roles, { withFileTypes: true }).catch((cause: unknown) => {
    throw new CannotPack({
      what: roles,
      detail: reasonOf(cause),
      hint: "Name the folder that contains one folder for each role.",
    })
  })
  const names = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith(".")).map(({ name }) => name)
  if (names.length === 0)
    throw new CannotPack({
      what: roles,
      detail: "it contains no role",
      hint: "The folder must contain one folder for each role.",
    })
  return names.toSorted((a, b) => (a < b ? -1 : 1))
}

interface PackedRole {
  readonly entry: SubscriptionRole
  readonly bytes: Buffer
}

const packRole = async (options: PackOptions, name: string, before: SubscriptionIndex | undefined): Promise<PackedRole> => {
  const folder = await readRole(join(options.roles, name), name)
  const bytes = await packageOf(folder)
  const sha256 = createHash("sha256").update(bytes).digest("hex")
  const packageId = packageIdOf(folder.role, folder.version, sha256)
  const known = before?.roles.find((role) => role.packageId === packageId)
  const modified = known?.lastModified ?? new Date(Math.floor(folder.lastModified.getTime() / 1000) * 1000)
  return {
    bytes,
    entry: {
      role: folder.role,
      version: folder.version,
      description: folder.description,
      fileCount: folder.files.length,
      lastModified: modified,
      packageId,
      entitlements: folder.entitlements ?? options.entitlements,
      package: { bytes: bytes.length, sha256 },
    },
  }
}

/** Removes packages that neither the previous nor the new index names: no reader will request them. */
const sweep = async (out: string, indexes: readonly (SubscriptionIndex | undefined)[]): Promise<void> => {
  const named = new Set(indexes.flatMap((index) => index?.roles ?? []).map(({ packageId }): string => packageId))
  for (const name of await readdir(join(out, "packages"))) {
    const id = /^([0-9a-f-]{36})\.(?:json|tar\.gz)$/u.exec(name)?.[1]
    if (id !== undefined && !named.has(id)) await rm(join(out, "packages", name))
  }
}

/**
 * Packs the roles of a folder into a registry that a folder adapter reads or any web server serves. The index is replaced last and
 * atomically, so readers see the old registry or the new one; packages named by the old index are kept until the next time. Unchanged roles
 * keep their package and its date. Rejects with `CannotPack`.
 */
export const packRegistry = async (options: PackOptions): Promise<Packed> => {
  const { out, key, now } = options
  const before = await indexBefore(options)
  const names = await namesOf(options.roles)
  await mkdir(join(out, "packages"), { recursive: true })
  const roles: SubscriptionRole[] = []
  for (const name of names) {
    const { entry, bytes } = await packRole(options, name, before)
    const statement = seal("application/vnd.rangewright.subscription-package+json", writePackageStatement(entry), key)
    await replaceFile(join(out, packagePath(entry.packageId)), bytes, 0o644)
    await replaceFile(join(out, statementPath(entry.packageId)), statement, 0o644)
    roles.push(entry)
  }
  const same = before !== undefined && JSON.stringify(before.roles) === JSON.stringify(roles)
  // an index that is never renewed looks like one that somebody holds back
  const isYoung = before !== undefined && now.getTime() - before.issuedAt.getTime() < indexAge.renewed * 24 * 3600 * 1000
  if (same && isYoung) return { index: before, changed: false }
  const seconds = Math.floor(now.getTime() / 1000)
  // increases even if the folder was lost and created again
  const index = { serial: Math.max((before?.serial ?? 0) + 1, seconds), issuedAt: new Date(seconds * 1000), roles }
  const text = writeSubscriptionIndex(index)
  const readable = readSubscriptionIndex(text)
  if (Result.isFailure(readable)) throw new CannotPack({ what: options.roles, detail: readable.failure })
  if (Buffer.byteLength(text) > indexLimits.bytes)
    throw new CannotPack({ what: options.roles, detail: `the index would be larger than ${indexLimits.bytes} bytes` })
  await replaceFile(join(out, indexPath), seal("application/vnd.rangewright.subscription-index+json", text, key), 0o644)
  await sweep(out, [before, index])
  return { index, changed: true }
}
