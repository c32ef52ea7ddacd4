import { Migration } from "@mikro-orm/migrations"

const statements: readonly string[] = [
  `create table sealing_key (
    id integer not null primary key,
    key_id text not null,
    sealed_hash_key text not null,
    sealed_root_key text null
  )`,
]

/** The database knows the key that seals its secrets. Released: never changed. */
export class M0017SealingKey extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}
