import { Migration } from "@mikro-orm/migrations"

/**
 * IDs of ranges are unique without regard to case. Of ranges that differ only in case already, all stay; the one with the lowest number gets the
 * key. Released: never changed.
 */
export class M0011RangeIdKeys extends Migration {
  override up(): void {
    this.addSql(`alter table ranges add column id_key varchar(255) null`)
    this.addSql(
      `update ranges set id_key = lower(id) where not exists
        (select 1 from ranges older where lower(older.id) = lower(ranges.id) and older.number < ranges.number)`,
    )
    this.addSql(`create unique index ranges_id_key_unique on ranges (id_key)`)
  }
}
