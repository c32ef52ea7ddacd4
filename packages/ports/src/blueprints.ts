import type {
  Blueprint,
  BlueprintDraft,
  BlueprintExists,
  BlueprintId,
  BlueprintNotFound,
  BlueprintOrigin,
  BlueprintText,
  DependencyInstallation,
  GroupName,
  GroupNotFound,
  Picture,
  RecordId,
  SnapshotId,
  UserId,
  UserNotFound,
} from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { ConfigChanged, ConfigWrite } from "./config-write.ts"
import type { StorageFault } from "./faults.ts"

/** Whoever makes a blueprint with a bundle pins the snapshot for it before (`holderOfBundle`). */
export interface NewBlueprint extends BlueprintDraft {
  readonly config: string
  /** The text of its `requirements.yml`; undefined: it has none. */
  readonly requirements: string | undefined
  readonly thumbnail: Picture | undefined
}

/** One that a source ships. */
export interface BlueprintFromSource extends NewBlueprint {
  readonly origin: BlueprintOrigin
}

export type RemovedBlueprint = Pick<Blueprint, "id" | "recordId">

/** What one blueprint takes where it is stored. */
export interface BlueprintSize extends Pick<Blueprint, "id" | "recordId"> {
  /** Of its configuration, what it requires and its picture (`blueprintBytes`). */
  readonly bytes: number
  /** Where its files lie. */
  readonly snapshot: SnapshotId | undefined
}

export interface BlueprintFilter {
  /** Those that this user owns, or has directly or by a group. */
  readonly for?: UserId
  /** Those that came from the source with this record. */
  readonly ofSource?: RecordId
}

/** Absent keys keep their value. */
export interface BlueprintChange extends Partial<BlueprintText> {
  /** Undefined: none from now on. */
  readonly thumbnail?: Picture | undefined
}

/**
 * Blueprints, their configurations and with whom they are shared. Unique by id, and those from sources by their origin. Removing a user or
 * a group removes what is shared with them; blueprints outlive their owner.
 */
export class Blueprints extends Context.Service<
  Blueprints,
  {
    readonly find: (id: BlueprintId) => Effect.Effect<Blueprint | undefined, StorageFault>
    readonly findByRecordId: (id: RecordId) => Effect.Effect<Blueprint | undefined, StorageFault>
    /** The last changed first, then ascending by id. */
    readonly list: (filter?: BlueprintFilter) => Effect.Effect<readonly Blueprint[], StorageFault>
    /** The ids of all, or of those that this user owns or has, ascending. Fails when one cannot be read: what no blueprint names may be removed. */
    readonly ids: (filter?: Pick<BlueprintFilter, "for">) => Effect.Effect<readonly BlueprintId[], StorageFault>
    /** What those that this user owns take, ascending by record. Fails when one cannot be read: it must not count as nothing. */
    readonly sizes: (owner: UserId) => Effect.Effect<readonly BlueprintSize[], StorageFault>
    /** `UserNotFound` for an owner that does not exist. */
    readonly create: (blueprint: NewBlueprint) => Effect.Effect<Blueprint, BlueprintExists | UserNotFound | StorageFault>
    readonly change: (id: BlueprintId, change: BlueprintChange) => Effect.Effect<Blueprint, BlueprintNotFound | StorageFault>
    /** The text as it was given; undefined: there is no such blueprint. */
    readonly config: (id: BlueprintId) => Effect.Effect<string | undefined, StorageFault>
    /** What it requires stays, unless another text is given. */
    readonly setConfig: (
      id: BlueprintId,
      text: string,
      requirements?: string,
      write?: ConfigWrite,
    ) => Effect.Effect<void, BlueprintNotFound | ConfigChanged | StorageFault>
    /** The text of its `requirements.yml` as it was given; undefined: it has none, or there is no such blueprint. */
    readonly requirements: (id: BlueprintId) => Effect.Effect<string | undefined, StorageFault>
    /** A blueprint that is gone has no installation. */
    readonly setInstallation: (id: BlueprintId, installation: DependencyInstallation) => Effect.Effect<void, StorageFault>
    /**
     * Makes those whose origin no blueprint has, and gives the others all that is new of them but their id, record, owner, shares and
     * time of making. All or nothing. They changed at `createdAt`. `BlueprintExists` when the id of a new one is that of another
     * blueprint, `UserNotFound` for an owner of a new one that does not exist. In the given order; without those that were removed
     * meanwhile.
     */
    readonly putFromSource: (
      blueprints: readonly BlueprintFromSource[],
    ) => Effect.Effect<readonly Blueprint[], BlueprintExists | UserNotFound | StorageFault>
    /** Removes those that came from the source under these ids, or all of them; says which, ascending by id. */
    readonly removeOfSource: (
      source: RecordId,
      ids: readonly string[] | "all",
    ) => Effect.Effect<readonly RemovedBlueprint[], StorageFault>
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
