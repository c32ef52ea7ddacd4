import { HeldAccessJson, MigrationRecordJson, SlotLedgerJson } from "@rangewright/domain"
import * as Schema from "effect/Schema"
import { count, declared, json, key, named, optional, short, text, whole } from "../schema/column.ts"
import { table } from "../schema/table.ts"
import { ofRange } from "./range.ts"

/** The key of a table with a single row. */
const only = key(declared(whole, { autoincrement: false }))

/** The state of the installation before its networks were migrated; one row. */
export const migrationRecords = table("migration_records", { id: key(short(255)), record: json(MigrationRecordJson) })

/** Accounts, groups and rights that the service has put on the hypervisor, or may have; one row. */
export const heldAccess = table("held_access", { id: only, version: whole, held: named("record", json(HeldAccessJson)) })

/** Numbers of the users that a range's router was last configured to let in. */
export const toldRouters = table("told_routers", { rangeId: ofRange, users: json(Schema.Array(Schema.Int)) })

/** The slots of a resource as JSON; empty before the first use. For instances that share a database. */
export const slotLedgers = table("slot_ledgers", { resource: key(short(255)), ledger: json(SlotLedgerJson) })

/** One row. Triggers increment it with every change that the overview of ranges can show. */
export const revision = table("revision", { id: only, value: count })

/** One row: the key that seals the secrets of the other tables. */
export const sealingKeys = table("sealing_key", {
  id: only,
  keyId: short(16),
  /** The key with which API keys are hashed. */
  sealedHashKey: text,
  /** ROOT's API key, for its file; undefined when it is not known. */
  sealedRootKey: optional(text),
})
