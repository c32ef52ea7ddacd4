import { Disguises, pictureTypes, type Range, rangeStates, RouterInspection, testingModes } from "@rangewright/domain"
import {
  bytes,
  declared,
  flag,
  json,
  key,
  oneOf,
  optional,
  reference,
  short,
  text,
  texts,
  time,
  unique,
  whole,
} from "../schema/column.ts"
import { rangeId, recordId, userId } from "../schema/ids.ts"
import { type StoredRow, table } from "../schema/table.ts"
import { users } from "./user.ts"

export const ranges = table("ranges", {
  id: key(rangeId),
  recordId: unique("ranges_record_unique", recordId),
  number: unique("ranges_number_unique", whole),
  name: text,
  description: text,
  purpose: text,
  /** Name of its picture. */
  thumbnail: optional(text),
  state: oneOf(rangeStates, 32),
  testingMode: declared(oneOf(testingModes), { default: "off" }),
  allowedDomains: texts,
  allowedIps: texts,
  disguises: optional(json(Disguises)),
  lastDeploymentAt: optional(time),
  lastActiveAt: optional(time),
  autoShutdown: optional(text),
  stayOnUntil: optional(time),
  createdBy: optional(reference(() => users.entity, userId, "set null")),
  madeFor: optional(reference(() => users.entity, userId, "set null")),
  createdAt: time,
  updatedAt: time,
  takenOver: declared(flag, { default: false }),
  /** The ID in lower case; undefined for older ranges whose ID differs from another one's only in case. */
  idKey: optional(unique("ranges_id_key_unique", short(255))),
})

const read = ranges.reader({ without: ["idKey"] })

export const toRange = (row: StoredRow): Range => {
  const { testingMode: mode, allowedDomains, allowedIps, ...range } = read(row)
  return { ...range, testing: { mode, allowedDomains, allowedIps } }
}

/** The columns of the given members of a range. */
export const fromRange = ({ testing, ...range }: Partial<Range> & { readonly idKey?: string }) =>
  ranges.write({
    ...range,
    ...(testing && { testingMode: testing.mode, allowedDomains: testing.allowedDomains, allowedIps: testing.allowedIps }),
  })

/** Reference for rows that belong to a range. It leads the key of their table, which serves as its index. */
export const ofRange = key(
  declared(
    reference(() => ranges.entity, rangeId),
    { index: false },
  ),
)
const ofUser = key(reference(() => users.entity, userId))

export const rangeConfigs = table("range_configs", {
  rangeId: ofRange,
  /** UTF-8, byte for byte as it was uploaded. */
  content: bytes,
  /** The same as of the start of the newest deploy. */
  deployed: optional(bytes),
  updatedAt: time,
  /** Who stored it, possibly a deleted user. */
  updatedBy: optional(userId),
})

export const rangeThumbnails = table("range_thumbnails", {
  rangeId: ofRange,
  /** Content type. */
  type: oneOf(pictureTypes, 32),
  content: bytes,
})

export const rangeGrants = table("range_grants", { rangeId: ofRange, userId: ofUser })

/** The last inspection of each range's router. */
export const routerInspections = table("router_inspections", { rangeId: ofRange, at: time, found: json(RouterInspection) })
