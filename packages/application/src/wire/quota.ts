import { type Amounts, highestLimit, InvalidInput, quotaResources } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

const limitFields = { limitRAM: Schema.Int, limitCPU: Schema.Int, limitVMs: Schema.Int, limitRanges: Schema.Int }
const usedFields = { usedRAM: Schema.Int, usedCPU: Schema.Int, usedVMs: Schema.Int, usedRanges: Schema.Int }

const keptOnHost = "blueprints, sources, roles, collections and templates on the service's host"
const limitDisk = {
  limitDiskBytes: Schema.Int.annotate({ description: `The most that may be kept as ${keptOnHost}; 0: no limit` }),
}
const diskFields = {
  ...limitDisk,
  usedDiskBytes: Schema.optionalKey(
    Schema.Int.annotate({
      description: `What is kept as ${keptOnHost}, as the limit counts it: each file counts its bytes and a share of its folders. Absent: it could not be counted. Uploads and fetches in progress are not included. With several instances, it is what lies on the host of the one that answers`,
    }),
  ),
}

/** A user's quota, memory in GB, and use; 0: no limit. */
export const QuotaLimits = Schema.Struct({ ...limitFields, ...limitDisk }).annotate({ identifier: "QuotaLimits" })
export const QuotaStatus = Schema.Struct({ ...limitFields, ...usedFields, ...diskFields }).annotate({ identifier: "QuotaStatus" })

const Source = Schema.Literals(["U", "G", "S", ""])
export const QuotaStatusOfUser = Schema.Struct({
  userID: Schema.String,
  name: Schema.String,
  ...limitFields,
  ...usedFields,
  ...diskFields,
  sourceRAM: Source,
  sourceCPU: Source,
  sourceVMs: Source,
  sourceRanges: Source,
}).annotate({ identifier: "QuotaStatusOfUser" })

export const GroupQuota = Schema.Struct({
  name: Schema.String,
  defaultQuotaRAM: Schema.Int,
  defaultQuotaCPU: Schema.Int,
  defaultQuotaVMs: Schema.Int,
  defaultQuotaRanges: Schema.Int,
  memberCount: Schema.Int,
}).annotate({ identifier: "GroupQuota" })

export const limitMembers = ({ ram, cpus, vms, ranges }: Amounts) => ({
  limitRAM: ram,
  limitCPU: cpus,
  limitVMs: vms,
  limitRanges: ranges,
})
export const usedMembers = ({ ram, cpus, vms, ranges }: Amounts) => ({
  usedRAM: ram,
  usedCPU: cpus,
  usedVMs: vms,
  usedRanges: ranges,
})

/** The limits that a request sets; fails for an invalid one. `doing` completes "Cannot …", `prefix` the names of the members. */
export const requestedLimits = (
  doing: string,
  prefix: "quota" | "defaultQuota",
  asked: Readonly<Record<keyof Amounts, number | undefined>>,
): Effect.Effect<Partial<Amounts>, InvalidInput> => {
  const members = { ram: "RAM", cpus: "CPU", vms: "VMs", ranges: "Ranges" } as const
  const set = quotaResources.flatMap((resource) => {
    const value = asked[resource]
    return value === undefined ? [] : [{ resource, value }]
  })
  if (set.length === 0)
    return Effect.fail(
      new InvalidInput({
        what: `Cannot ${doing}: no limit is given`,
        hint: `Send one or more of ${quotaResources.map((resource) => `${prefix}${members[resource]}`).join(", ")}; 0 removes a limit.`,
      }),
    )
  const issues = set
    .filter(({ value }) => value < 0 || value > highestLimit)
    .map(({ resource }) => ({
      path: `${prefix}${members[resource]}`,
      message: `a limit must be a whole number from 0 (no limit) to ${highestLimit}`,
    }))
  const [first] = issues
  return first === undefined
    ? Effect.succeed(Object.fromEntries(set.map(({ resource, value }) => [resource, value])))
    : Effect.fail(new InvalidInput({ what: `Cannot ${doing}: ${first.path}: ${first.message}`, issues }))
}
