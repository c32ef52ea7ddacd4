import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { foldName, isRoleName } from "../source/names.ts"
import { dateOf, Entitlement, lineOf, readJsonText, Sha256, ThreeNumbers, UnixSeconds, Uuid } from "./read-json.ts"
import type { PackageId, SubscriptionRole } from "./role.ts"

/** A registry's offer, as a single signed text. */
export interface SubscriptionIndex {
  /** Increases with every index of a registry, so that an older index in place of a newer one is detected. */
  readonly serial: number
  readonly issuedAt: Date
  /** Sorted by name; names and packages are unique. */
  readonly roles: readonly SubscriptionRole[]
}

/** Limits of an index; one that exceeds them is rejected. */
export const indexLimits = { bytes: 8 * 1024 * 1024, roles: 10_000, packageBytes: 1024 * 1024 * 1024 } as const

const dayMs = 24 * 3600 * 1000
/** Days after which a registry's publisher creates a new index even without changes, and after which services warn about an old one. */
export const indexAge = { renewed: 30, old: 60 } as const

/** A warning about an index so old that somebody may be withholding a newer one; undefined if it is recent. */
export const ageProblem = (issuedAt: Date, now: Date): string | undefined => {
  const days = Math.floor((now.getTime() - issuedAt.getTime()) / dayMs)
  return days < indexAge.old
    ? undefined
    : `its index was made ${days} days ago; somebody may be withholding a newer one: ask its publisher whether there is one`
}

const Role = Schema.String.check(
  Schema.makeFilter((text: string) => (isRoleName(text) ? undefined : "it must be a valid role name")),
)
const Count = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000 }))

const Package = Schema.Struct({
  bytes: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: indexLimits.packageBytes })),
  sha256: Sha256,
})

const WireRole = Schema.Struct({
  role: Role,
  version: ThreeNumbers,
  description: lineOf(2000),
  file_count: Count,
  last_modified_unix: UnixSeconds,
  package_uuid: Uuid,
  entitlements: Schema.Array(Entitlement).check(Schema.isMinLength(1), Schema.isMaxLength(16)),
  package: Package,
})

const WireIndex = Schema.Struct({
  serial: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
  issued_unix: UnixSeconds,
  roles: Schema.Array(WireRole).check(Schema.isMaxLength(indexLimits.roles)),
})

/** The signed statement about a package: the version of a role that the file is. */
export interface PackageStatement {
  readonly role: string
  readonly version: string
  readonly packageId: PackageId
  readonly package: SubscriptionRole["package"]
}

const WireStatement = Schema.Struct({ role: Role, version: ThreeNumbers, package_uuid: Uuid, package: Package })

const roleOf = (wire: typeof WireRole.Type): SubscriptionRole => ({
  role: wire.role,
  version: wire.version,
  description: wire.description,
  fileCount: wire.file_count,
  lastModified: dateOf(wire.last_modified_unix),
  packageId: wire.package_uuid as PackageId,
  entitlements: wire.entitlements,
  package: wire.package,
})

const twice = (texts: readonly string[]): string | undefined => {
  const seen = new Set<string>()
  return texts.find((text) => seen.size === seen.add(text).size)
}

const byName = (a: SubscriptionRole, b: SubscriptionRole): number => (a.role < b.role ? -1 : a.role > b.role ? 1 : 0)

/**
 * Parses the text of an index; fails with the problem. The text is untrusted until its signature was checked, and may be malicious even
 * after that.
 */
export const readSubscriptionIndex = (text: string): Result.Result<SubscriptionIndex, string> =>
  Result.flatMap(readJsonText(WireIndex, text), ({ serial, issued_unix, roles }) => {
    const twin = twice(roles.map(({ role }) => foldName(role))) ?? twice(roles.map(({ package_uuid }) => package_uuid))
    if (twin !== undefined) return Result.fail(`it lists ${twin} twice`)
    return Result.succeed({ serial, issuedAt: dateOf(issued_unix), roles: roles.map(roleOf).toSorted(byName) })
  })

const seconds = (at: Date): number => Math.floor(at.getTime() / 1000)

/** Writes the text of an index; reading it gives the same index. */
export const writeSubscriptionIndex = ({ serial, issuedAt, roles }: SubscriptionIndex): string =>
  JSON.stringify({
    serial,
    issued_unix: seconds(issuedAt),
    roles: roles.map((role): typeof WireRole.Type => ({
      role: role.role,
      version: role.version,
      description: role.description,
      file_count: role.fileCount,
      last_modified_unix: seconds(role.lastModified),
      package_uuid: role.packageId,
      entitlements: role.entitlements,
      package: role.package,
    })),
  })

export const readPackageStatement = (text: string): Result.Result<PackageStatement, string> =>
  Result.map(readJsonText(WireStatement, text), ({ package_uuid, ...rest }) => ({
    ...rest,
    packageId: package_uuid as PackageId,
  }))

export const writePackageStatement = ({ packageId, ...rest }: PackageStatement): string =>
  JSON.stringify({
    role: rest.role,
    version: rest.version,
    package_uuid: packageId,
    package: rest.package,
  } satisfies typeof WireStatement.Type)

/** Whether a statement is about exactly this package of the index. */
export const states = (statement: PackageStatement, role: SubscriptionRole): boolean =>
  statement.role === role.role &&
  statement.version === role.version &&
  statement.packageId === role.packageId &&
  statement.package.bytes === role.package.bytes &&
  statement.package.sha256 === role.package.sha256
