import type { TreeEntry } from "@rangewright/domain"
import * as Schema from "effect/Schema"
import { readFile } from "node:fs/promises"

const Entries = Schema.Array(
  Schema.Union([
    Schema.Struct({ kind: Schema.Literal("file"), path: Schema.String, size: Schema.Number, executable: Schema.Boolean }),
    Schema.Struct({ kind: Schema.Literal("link"), path: Schema.String, target: Schema.String }),
  ]),
)
const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Entries))

/** The list of files that `treeAccount` wrote. */
export const readListing = async (file: string): Promise<readonly TreeEntry[]> => decode(await readFile(file, "utf8"))
