import type { TreeEntry } from "@rangewright/domain"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { readFile } from "node:fs/promises"

const Entries = Schema.Array(
  Schema.Union([
    Schema.Struct({ kind: Schema.Literal("file"), path: Schema.String, size: Schema.Number, executable: Schema.Boolean }),
    Schema.Struct({ kind: Schema.Literal("link"), path: Schema.String, target: Schema.String }),
  ]),
)
const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Entries))

/** The list of files that `treeAccount` wrote; undefined: it is damaged. */
export const readListing = async (file: string): Promise<readonly TreeEntry[] | undefined> =>
  Option.getOrUndefined(decode(await readFile(file, "utf8")))
