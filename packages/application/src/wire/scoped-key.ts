import type { ScopedKey } from "@rangewright/domain"
import * as Schema from "effect/Schema"

export const ScopedKeyObject = Schema.Struct({
  keyID: Schema.String,
  name: Schema.String,
  scope: Schema.Literals(["read", "range"]),
  /** For scope `range`. */
  rangeID: Schema.optionalKey(Schema.String),
  createdAt: Schema.String,
  expiresAt: Schema.String,
}).annotate({ identifier: "ScopedKeyObject" })

export const scopedKeyObject = ({ id, name, scope, createdAt, expiresAt }: ScopedKey): typeof ScopedKeyObject.Type => ({
  keyID: id,
  name,
  scope: scope.kind,
  ...(scope.kind === "range" ? { rangeID: scope.rangeId } : {}),
  createdAt: createdAt.toISOString(),
  expiresAt: expiresAt.toISOString(),
})
