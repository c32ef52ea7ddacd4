import type { TreeEntry } from "@rangewright/domain"
import * as Schema from "effect/Schema"
import { readFile, writeFile } from "node:fs/promises"

const Entries = Schema.Array(
  Schema.Union([
    Schema.Struct({ kind: Schema.Literal("file"), path: Schema.String, size: Schema.Number, executable: Schema.Boolean }),
    Schema.Struct({ kind: Schema.Literal("link"), path: Schema.String, target: Schema.String }),
  ]),
)
const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Entries))

/** The list of a snapshot's files lies beside them, so that no folder is walked again. */
export const writeListing = (file: string, entries: readonly TreeEntry[]): Promise<void> =>
  writeFile(file, JSON.stringify(entries), { flag: "wx", mode: 0o400 })

export const readListing = async (file: string): Promise<readonly TreeEntry[]> => decode(await readFile(file, "utf8"))
