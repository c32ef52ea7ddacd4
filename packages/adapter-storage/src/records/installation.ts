import { HeldAccessJson, MigrationRecordJson, SlotLedgerJson } from "@rangewright/domain"
import * as Schema from "effect/Schema"
import { count, declared, json, key, named, optional, short, text, whole } from "../schema/column.ts"
import { table } from "../schema/table.ts"
import { ofRange } from "./range.ts"

/** The number of a row in a table that has one. */
const only = key(declared(whole, { autoincrement: false }))

/** What an installation was like before its networks moved; one row. */
export const migrationRecords = table("migration_records", { id: key(short(255)), record: json(MigrationRecordJson) })

/** What the service has put on the hypervisor, or may have; one row. */
export const heldAccess = table("held_access", { id: only, version: whole, held: named("record", json(HeldAccessJson)) })

/** Whom a range's router was last told to let in: numbers of users. */
export const toldRouters = table("told_routers", { rangeId: ofRange, users: json(Schema.Array(Schema.Int)) })

/** Who has what of a scarce thing, as JSON; empty before the first use. For instances that share a database. */
export const slotLedgers = table("slot_ledgers", { resource: key(short(255)), ledger: json(SlotLedgerJson) })

/** One row. Triggers raise it with every change that an overview of ranges can show. */
export const revision = table("revision", { id: only, value: count })

/** One row: the key that sealed what is sealed in the other tables. */
export const sealingKeys = table("sealing_key", {
  id: only,
  keyId: short(16),
  /** What API keys are hashed with. */
  sealedHashKey: text,
  /** ROOT's API key, for its file; undefined where it is not known. */
  sealedRootKey: optional(text),
})
