import type { SchemaChange } from "./schema-change.ts"

/** Machines know the licence of their Windows as it was found. Released: never changed. */
export const m0031Activations: SchemaChange = {
  name: "0031-activations",
  sqlite: ["alter table machines add column activation text null"],
  postgresql: ["alter table machines add column activation text null"],
}
