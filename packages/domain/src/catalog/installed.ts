/** The installed items that the catalog compares a source with. */
import type { SourceContent } from "../source/content.ts"
import type { NeededTemplate } from "../template/known-templates.ts"
import type { InstallScope } from "./source-catalog.ts"

/** What a source ships, and metadata of the source itself. */
export interface Shipped {
  readonly source: SourceFacts
  /** `emptyContent` for a source that was never fetched. */
  readonly content: SourceContent
}

export interface SourceFacts {
  readonly id: string
  readonly name: string
  readonly description?: string
  readonly type?: string
  /** When content was last fetched, formatted for display. */
  readonly lastSyncedAt?: string
}

/**
 * What is installed for the viewer: in the user's scope, and globally. Of two copies of one name in one scope only the first counts, as for
 * a program that searches folders in order.
 */
export interface Installed {
  /** Names of the viewer's templates: their builder files, not built images. */
  readonly templates: ReadonlyArray<string>
  readonly roles: ReadonlyArray<InstalledCopy>
  /** The status of a template for the viewer; absent if unknown. */
  readonly needed?: (template: string) => NeededTemplate
  /** By `<namespace>.<name>`. */
  readonly collections: ReadonlyArray<InstalledCopy>
}

export interface InstalledCopy {
  readonly name: string
  readonly scope: InstallScope
  /** Absent when unknown. */
  readonly version?: string
}

/** A blueprint that was installed from this source. */
export interface BlueprintRow {
  /** The id in the source's manifest. */
  readonly sourceBlueprintID: string
  readonly version: string
}
