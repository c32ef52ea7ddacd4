/** What the catalog compares a source with. */
import type { SourceContent } from "../source/content.ts"
import type { NeededTemplate } from "../template/known-templates.ts"
import type { InstallScope } from "./source-catalog.ts"

/** What a source ships, and what is known of the source itself. */
export interface Shipped {
  readonly source: SourceFacts
  /** `emptyContent` for a source of which nothing was fetched. */
  readonly content: SourceContent
}

export interface SourceFacts {
  readonly id: string
  readonly name: string
  readonly description?: string
  readonly type?: string
  /** When content last came in, as it is to be shown. */
  readonly lastSyncedAt?: string
}

/**
 * What is installed for the viewer: in the scope of the user, and globally. Of two copies of one name in one scope only the first
 * counts, as for a program that searches folders in order.
 */
export interface Installed {
  /** Names of the viewer's templates: their builder files, not built images. */
  readonly templates: ReadonlyArray<string>
  readonly roles: ReadonlyArray<InstalledCopy>
  /** How it is with a template for the viewer; absent where nobody knows. */
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
