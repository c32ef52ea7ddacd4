import type { ConfigIssue } from "@rangewright/domain"
import * as Schema from "effect/Schema"

/** A finding in a range configuration; lines and columns count from 1. */
export const ConfigIssueObject = Schema.Struct({
  path: Schema.String,
  line: Schema.Int,
  column: Schema.Int,
  /** Stable: programs distinguish findings by it. */
  code: Schema.String,
  message: Schema.String,
  allowed: Schema.optionalKey(Schema.String),
  severity: Schema.Literals(["error", "warning"]),
}).annotate({ identifier: "ConfigIssue" })

/** `line 3, column 5: ludus[0].vlan: …`, for texts that people read. */
export const issueLine = ({ line, column, path, message }: ConfigIssue): string =>
  `line ${line}, column ${column}: ${path}: ${message}`
