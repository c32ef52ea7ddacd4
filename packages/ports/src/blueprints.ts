import type {
  Blueprint,
  BlueprintExists,
  BlueprintId,
  BlueprintNotFound,
  BlueprintText,
  GroupName,
  GroupNotFound,
  Picture,
  RecordId,
  UserId,
  UserNotFound,
} from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { StorageFault } from "./faults.ts"

export interface NewBlueprint extends BlueprintText {
  readonly id: BlueprintId
  readonly recordId: RecordId
  readonly owner: UserId
  readonly config: string
  readonly thumbnail: Picture | undefined
  readonly createdAt: Date
}

/** Absent keys keep their value. */
export interface BlueprintChange extends Partial<BlueprintText> {
  /** Undefined: none from now on. */
  readonly thumbnail?: Picture | undefined
}

/** Blueprints, their configurations and with whom they are shared. Unique by id. Removing a user or a group removes what is shared with them; blueprints outlive their owner. */
export class Blueprints extends Context.Service<
  Blueprints,
  {
    readonly find: (id: BlueprintId) => Effect.Effect<Blueprint | undefined, StorageFault>
    readonly findByRecordId: (id: RecordId) => Effect.Effect<Blueprint | undefined, StorageFault>
    /** The last changed first, then ascending by id. `for` narrows to those this user owns, or has directly or by a group. */
    readonly list: (filter?: { readonly for?: UserId }) => Effect.Effect<readonly Blueprint[], StorageFault>
    /** `UserNotFound` for an owner that does not exist. */
    readonly create: (blueprint: NewBlueprint) => Effect.Effect<Blueprint, BlueprintExists | UserNotFound | StorageFault>
    readonly change: (id: BlueprintId, change: BlueprintChange) => Effect.Effect<Blueprint, BlueprintNotFound | StorageFault>
    /** The text as it was given; undefined: there is no such blueprint. */
    readonly config: (id: BlueprintId) => Effect.Effect<string | undefined, StorageFault>
    readonly setConfig: (id: BlueprintId, text: string) => Effect.Effect<void, BlueprintNotFound | StorageFault>
    /** The picture of this name of the blueprint with this record; undefined: there is none, or it has another name by now. */
    readonly thumbnail: (id: RecordId, name: string) => Effect.Effect<Picture | undefined, StorageFault>
    readonly remove: (id: BlueprintId) => Effect.Effect<void, StorageFault>
    /** False when it was shared with the user already. */
    readonly shareWithUser: (
      id: BlueprintId,
      userId: UserId,
    ) => Effect.Effect<boolean, BlueprintNotFound | UserNotFound | StorageFault>
    /** False when it was not shared with the user. */
    readonly unshareWithUser: (id: BlueprintId, userId: UserId) => Effect.Effect<boolean, StorageFault>
    /** False when it was shared with the group already. */
    readonly shareWithGroup: (
      id: BlueprintId,
      group: GroupName,
    ) => Effect.Effect<boolean, BlueprintNotFound | GroupNotFound | StorageFault>
    /** False when it was not shared with the group. */
    readonly unshareWithGroup: (id: BlueprintId, group: GroupName) => Effect.Effect<boolean, StorageFault>
  }
>()("rangewright/Blueprints") {}
