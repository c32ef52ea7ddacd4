import * as Schema from "effect/Schema"

/** How much room there is on the nodes. */
export const Capacity = Schema.Struct({
  /** How many more ranges of it fit into the memory that is left when all machines there are on. */
  fits: Schema.Int,
  /** What ends before there is room for another one. */
  limitedBy: Schema.Literals(["memory", "range numbers"]),
  /** What one takes, its router included. */
  one: Schema.Struct({ machines: Schema.Int, cpus: Schema.Int, memoryMiB: Schema.Int }),
}).annotate({ identifier: "Capacity" })
