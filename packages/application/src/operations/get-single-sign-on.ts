import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { Settings } from "../settings.ts"

/** Makes no call to the provider: the page shows it even while the provider is unreachable. */
export const getSingleSignOn = operation({
  id: "getSingleSignOn",
  route: "GET /single-sign-on",
  base: "/ui",
  group: "User",
  origin: "ours",
  does: "read whether single sign-on is configured",
  summary: "Whether single sign-on is configured, and the name of its provider",
  access: "anonymous",
  target: "none",
  output: { type: "json", schema: Schema.Struct({ name: Schema.NullOr(Schema.String) }) },
  statuses: { 200: "the name of the provider; null: there is none", 500: "unexpected server failure" },
  handle: () => Effect.map(Settings, ({ singleSignOn }) => ({ name: singleSignOn?.name ?? null })),
})
