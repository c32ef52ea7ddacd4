import type { SchemaChange } from "./schema-change.ts"

/**
 * Range IDs are unique regardless of case. Existing ranges that differ only in case all stay; the one with the lowest number gets the key.
 * Released: never changed.
 */
export const m0011RangeIdKeys: SchemaChange = {
  name: "0011-range-id-keys",
  sqlite: [
    `alter table ranges add column id_key text null`,
    `update ranges set id_key = lower(id) where not exists
        (select 1 from ranges older where lower(older.id) = lower(ranges.id) and older.number < ranges.number)`,
    `create unique index ranges_id_key_unique on ranges (id_key)`,
  ],
  postgresql: [
    `alter table ranges add column id_key varchar(255) null`,
    `update ranges set id_key = lower(id) where not exists
        (select 1 from ranges older where lower(older.id) = lower(ranges.id) and older.number < ranges.number)`,
    `create unique index ranges_id_key_unique on ranges (id_key)`,
  ],
}
