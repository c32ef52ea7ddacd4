import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { LicenseProvider } from "@rangewright/ports"
import { operation } from "../operation/operation.ts"
import { Settings } from "../settings.ts"

export const getIndex = operation({
  id: "index",
  route: "GET /",
  group: "Host",
  does: "read the version of the service",
  summary: "Version of the service",
  access: "user",
  target: "none",
  output: {
    type: "json",
    schema: Schema.Struct({ version: Schema.String, result: Schema.String, serviceVersion: Schema.String }),
  },
  statuses: {
    200: "the version that clients rely on, the service's own version, and a line that describes it",
    400: undefined,
    401: "no valid credentials",
  },
  handle: () =>
    Effect.gen(function* () {
      const { version, peerVersion } = yield* Settings
      const licenses = yield* LicenseProvider
      const license = yield* licenses.current
      return {
        version: `${peerVersion}+rangewright.${version}`,
        serviceVersion: version,
        // clients that only have this line parse the first three numbers in it, or show its last word
        result: `Rangewright (API ${peerVersion}) - ${license.message} - version ${version}`,
      }
    }),
})
