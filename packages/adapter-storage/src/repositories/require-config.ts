import type { BlueprintId, RangeId } from "@rangewright/domain"
import { ConfigChanged } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { fromStorable } from "../engine/storable-text.ts"
import type { Transaction } from "../engine/transaction.ts"
import { blueprints } from "../records/blueprint.ts"
import { rangeConfigs } from "../records/range.ts"
import { first, type StoredRow } from "../schema/table.ts"

const readContent = rangeConfigs.reader({ only: ["content"] })
/** The text of a row of range_configs. */
export const configTextOf = (row: StoredRow): string => fromStorable(Buffer.from(readContent(row).content).toString("utf8"))

const readRangeChange = rangeConfigs.reader({ only: ["updatedAt", "updatedBy"] })
const readBlueprint = blueprints.reader({ only: ["config", "configBy", "configAt", "updatedAt"] })

type Replaces = (stored: string) => boolean

/** Fails when a range's configuration is not the one to be replaced. For serialized writes. */
export const requireRangeConfig = (tx: Transaction, id: RangeId, replaces: Replaces) =>
  Effect.gen(function* () {
    const stored = yield* tx((db) =>
      db
        .selectFrom("range_configs")
        .selectAll()
        .where("range_id", "=", id)
        .execute()
        .then(first((row) => ({ text: configTextOf(row), ...readRangeChange(row) }))),
    )
    if (stored !== undefined && !replaces(stored.text))
      return yield* new ConfigChanged({ what: `range ${id}`, by: stored.updatedBy, at: stored.updatedAt })
  })

/** The same for a blueprint. */
export const requireBlueprintConfig = (tx: Transaction, id: BlueprintId, replaces: Replaces) =>
  Effect.gen(function* () {
    const stored = yield* tx((db) =>
      db.selectFrom("blueprints").selectAll().where("id", "=", id).execute().then(first(readBlueprint)),
    )
    if (stored !== undefined && !replaces(stored.config))
      return yield* new ConfigChanged({ what: `blueprint ${id}`, by: stored.configBy, at: stored.configAt ?? stored.updatedAt })
  })
