import { Migration } from "@mikro-orm/migrations"

/** Runs of ranges may wait for a run of the installation. Released: never changed. */
export class M0009WaitingRuns extends Migration {
  override up(): void {
    this.addSql(`alter table runs add column behind text null`)
  }
}
