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

/** Before a blueprint with a bundle is created, its snapshot must be pinned for it (`holderOfBundle`). */
export interface NewBlueprint extends BlueprintDraft {
  readonly config: string
  /** Text of its `requirements.yml`; undefined if it has none. */
  readonly requirements: string | undefined
  readonly thumbnail: Picture | undefined
}

/** A blueprint that a source ships. */
export interface BlueprintFromSource extends NewBlueprint {
  readonly origin: BlueprintOrigin
}

export type RemovedBlueprint = Pick<Blueprint, "id" | "recordId">

/** Space used by one blueprint. */
export interface BlueprintSize extends Pick<Blueprint, "id" | "recordId"> {
  /** Size of its configuration, requirements and picture (`blueprintBytes`). */
  readonly bytes: number
  /** The snapshot with its files. */
  readonly snapshot: SnapshotId | undefined
}

export interface BlueprintFilter {
  /** Blueprints that this user owns, or has directly or through a group. */
  readonly for?: UserId
  /** Blueprints from the source with this record. */
  readonly ofSource?: RecordId
}

/** Absent keys keep their value. */
export interface BlueprintChange extends Partial<BlueprintText> {
  /** Undefined removes it. */
  readonly thumbnail?: Picture | undefined
}

/**
 * Blueprints, their configurations and shares. Unique by id, and those from sources also by origin. Removing a user or a group removes its
 * shares; blueprints outlive their owner.
 */
export class Blueprints extends Context.Service<
  Blueprints,
  {
    readonly find: (id: BlueprintId) => Effect.Effect<Blueprint | undefined, StorageFault>
    readonly findByRecordId: (id: RecordId) => Effect.Effect<Blueprint | undefined, StorageFault>
    /** Most recently changed first, then ascending by id. */
    readonly list: (filter?: BlueprintFilter) => Effect.Effect<readonly Blueprint[], StorageFault>
    /**
     * The ids of all blueprints, or of those that this user owns or has, ascending. Fails if one cannot be read, because whatever no
     * blueprint references may be removed.
     */
    readonly ids: (filter?: Pick<BlueprintFilter, "for">) => Effect.Effect<readonly BlueprintId[], StorageFault>
    /** The sizes of this user's own blueprints, ascending by record. Fails if one cannot be read: it must not count as nothing. */
    readonly sizes: (owner: UserId) => Effect.Effect<readonly BlueprintSize[], StorageFault>
    /** `UserNotFound` for an owner that does not exist. */
    readonly create: (blueprint: NewBlueprint) => Effect.Effect<Blueprint, BlueprintExists | UserNotFound | StorageFault>
    readonly change: (id: BlueprintId, change: BlueprintChange) => Effect.Effect<Blueprint, BlueprintNotFound | StorageFault>
    /** The text as given; undefined if there is no such blueprint. */
    readonly config: (id: BlueprintId) => Effect.Effect<string | undefined, StorageFault>
    /** The requirements stay unless a new text is given. */
    readonly setConfig: (
      id: BlueprintId,
      text: string,
      requirements?: string,
      write?: ConfigWrite,
    ) => Effect.Effect<void, BlueprintNotFound | ConfigChanged | StorageFault>
    /** Text of its `requirements.yml` as given; undefined if it has none, or there is no such blueprint. */
    readonly requirements: (id: BlueprintId) => Effect.Effect<string | undefined, StorageFault>
    /** Does nothing if the blueprint is gone. */
    readonly setInstallation: (id: BlueprintId, installation: DependencyInstallation) => Effect.Effect<void, StorageFault>
    /**
     * Creates blueprints with new origins and updates the others, except for their id, record, owner, shares and creation time. All or
     * nothing. Their time of change is `createdAt`. `BlueprintExists` if the id of a new one is taken, `UserNotFound` for an owner of a new
     * one that does not exist. Returns them in the given order, without those that were removed meanwhile.
     */
    readonly putFromSource: (
      blueprints: readonly BlueprintFromSource[],
    ) => Effect.Effect<readonly Blueprint[], BlueprintExists | UserNotFound | StorageFault>
    /** Removes blueprints that came from the source under these ids, or all of them; returns the removed ones, ascending by id. */
    readonly removeOfSource: (
      source: RecordId,
      ids: readonly string[] | "all",
    ) => Effect.Effect<readonly RemovedBlueprint[], StorageFault>
    /** The picture with this name of the blueprint with this record; undefined if there is none, or its name has changed. */
    readonly thumbnail: (id: RecordId, name: string) => Effect.Effect<Picture | undefined, StorageFault>
    readonly remove: (id: BlueprintId) => Effect.Effect<void, StorageFault>
    /** False if it was already shared with the user. */
    readonly shareWithUser: (
      id: BlueprintId,
      userId: UserId,
    ) => Effect.Effect<boolean, BlueprintNotFound | UserNotFound | StorageFault>
    /** False if it was not shared with the user. */
    readonly unshareWithUser: (id: BlueprintId, userId: UserId) => Effect.Effect<boolean, StorageFault>
    /** False if it was already shared with the group. */
    readonly shareWithGroup: (
      id: BlueprintId,
      group: GroupName,
    ) => Effect.Effect<boolean, BlueprintNotFound | GroupNotFound | StorageFault>
    /** False if it was not shared with the group. */
    readonly unshareWithGroup: (id: BlueprintId, group: GroupName) => Effect.Effect<boolean, StorageFault>
  }
>()("rangewright/Blueprints") {}
