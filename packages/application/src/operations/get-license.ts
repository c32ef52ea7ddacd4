import { LicenseProvider } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"

const LicenseDataObject = Schema.Struct({
  entitlements: Schema.Array(Schema.String),
  licensed_to: Schema.String,
  expires_at: Schema.NullOr(Schema.String),
  active: Schema.Boolean,
  message: Schema.String,
}).annotate({ identifier: "LicenseDataObject" })

export const getLicense = operation({
  id: "getLicense",
  route: "GET /license",
  group: "Host",
  does: "read the licence",
  summary: "The licence in force",
  access: "user",
  target: "none",
  output: { type: "json", schema: LicenseDataObject },
  statuses: { 200: "the licence in force", 400: undefined, 401: "no valid credentials" },
  handle: () =>
    Effect.gen(function* () {
      const licenses = yield* LicenseProvider
      const license = yield* licenses.current
      return {
        entitlements: license.entitlements,
        licensed_to: license.licensedTo,
        expires_at: license.expiresAt?.toISOString() ?? null,
        active: license.active,
        message: license.message,
      }
    }),
})
