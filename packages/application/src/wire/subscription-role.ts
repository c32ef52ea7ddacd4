import { renderLastModified, renderUnixSeconds, type SubscriptionRole as Role } from "@rangewright/domain"
import * as Schema from "effect/Schema"

/** A role that the registry offers (specification 2.4); no member is ever empty. */
export const SubscriptionRole = Schema.Struct({
  role: Schema.String,
  file_count: Schema.Int,
  last_modified: Schema.String,
  last_modified_unix: Schema.String.check(Schema.isPattern(/^[0-9]+$/u)),
  version: Schema.String,
  description: Schema.String,
  package_uuid: Schema.String.annotate({ format: "uuid" }),
  entitlements: Schema.String,
}).annotate({ identifier: "SubscriptionRole" })

export const subscriptionRole = (role: Role): typeof SubscriptionRole.Type => ({
  role: role.role,
  file_count: role.fileCount,
  last_modified: renderLastModified(role.lastModified),
  last_modified_unix: renderUnixSeconds(role.lastModified),
  version: role.version,
  description: role.description,
  package_uuid: role.packageId,
  entitlements: role.entitlements.join(","),
})
