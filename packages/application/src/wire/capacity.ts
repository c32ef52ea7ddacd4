import * as Schema from "effect/Schema"

/** The capacity of the nodes for a range. */
export const Capacity = Schema.Struct({
  /** How many more such ranges fit into the memory that is left when all existing machines are on. */
  fits: Schema.Int,
  /** What runs out first. */
  limitedBy: Schema.Literals(["memory", "range numbers"]),
  /** What one range takes, including its router. */
  one: Schema.Struct({ machines: Schema.Int, cpus: Schema.Int, memoryMiB: Schema.Int }),
}).annotate({ identifier: "Capacity" })
