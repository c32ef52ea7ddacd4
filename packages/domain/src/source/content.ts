/** What a source ships, read once from a fetched state of it: plain data that never changes. */

/** What the source says of itself. What it does not say is absent. */
export interface SourceManifest {
  readonly name?: string
  readonly description?: string
  readonly homepage?: string
  readonly license?: string
  readonly authors: ReadonlyArray<string>
}

/** A role that a blueprint wants installed. Without a name the catalog cannot speak of it. */
export interface RoleRequirement {
  readonly name?: string
  readonly src?: string
  readonly version?: string
  readonly scm?: string
}

/** A collection that a blueprint wants installed. The name is `<namespace>.<name>`, or the URL where the type is `git`. */
export interface CollectionRequirement {
  readonly name?: string
  readonly version?: string
  readonly source?: string
  readonly type?: string
}

/** What a blueprint's `requirements.yml` declares, in the order of the file. */
export interface Requirements {
  readonly roles: ReadonlyArray<RoleRequirement>
  readonly collections: ReadonlyArray<CollectionRequirement>
  readonly subscriptionRoles: ReadonlyArray<string>
}

/** What a range configuration names, each name once and sorted. Expressions in names are not evaluated. */
export interface ConfigReferences {
  readonly templates: ReadonlyArray<string>
  readonly roles: ReadonlyArray<string>
}

export interface ShippedBlueprint {
  /** Also its path below `blueprints/`. */
  readonly id: string
  readonly name: string
  readonly description?: string
  readonly version: string
  readonly tags: ReadonlyArray<string>
  /** Kept and shown; nothing is refused because of it. */
  readonly minLudusVersion?: string
  readonly config: FileText
  readonly references: ConfigReferences
  /** The file as shipped, where there is one, also when it could not be understood. */
  readonly requirementsFile?: FileText
  readonly requirements: Requirements
  /** Path from the root of the source to the image, where the manifest names one that is there. */
  readonly thumbnail?: string
}

/** A file of the source: path from its root, and text byte for byte. */
export interface FileText {
  readonly path: string
  readonly text: string
}

export interface ShippedTemplate {
  /** Name of the VM that is built, also of the folder it is installed into. */
  readonly name: string
  /** Path from the root of the source. */
  readonly directory: string
  readonly description?: string
  readonly os?: string
  /** Path from the root of the source to the picture, where the builder file names one that is there. */
  readonly icon?: string
}

export interface ShippedRole {
  /** Its canonical name: `<namespace>.<role>` where its metadata say so, else the name of its directory. */
  readonly name: string
  /** Path from the root of the source; configurations may name the role by the last part of it too. */
  readonly directory: string
  readonly description?: string
  readonly version?: string
}

export interface ShippedCollection {
  /** `<namespace>.<name>`. */
  readonly name: string
  /** Path from the root of the source. */
  readonly directory: string
  readonly description?: string
  readonly version?: string
}

/** What a thing that a source ships may be. */
export type ItemKind = "blueprint" | "template" | "role" | "collection"

/** Something that a source ships and that nobody can install. What else the source ships does not suffer for it. */
export interface BrokenItem {
  readonly kind: ItemKind
  /** The one that it has; where it cannot be read or used, that of its directory. Of a blueprint the path below `blueprints/`. */
  readonly name: string
  /** Path from the root of the source. */
  readonly directory: string
  /** `conflict`: one that lies before it has its name · `invalid`: it cannot be read, or would lead elsewhere. */
  readonly state: "conflict" | "invalid"
  /** Why, in a sentence without a full stop. */
  readonly problem: string
}

/** All that one state of a source ships. `readSource` gives the lists sorted by id or name, without duplicates. */
export interface SourceContent {
  readonly manifest: SourceManifest
  readonly blueprints: ReadonlyArray<ShippedBlueprint>
  readonly templates: ReadonlyArray<ShippedTemplate>
  readonly roles: ReadonlyArray<ShippedRole>
  readonly collections: ReadonlyArray<ShippedCollection>
  /** In none of the other lists. Sorted by name, then by directory. */
  readonly broken: ReadonlyArray<BrokenItem>
}

/** Of a source that was never fetched. */
export const emptyContent: SourceContent = {
  manifest: { authors: [] },
  blueprints: [],
  templates: [],
  roles: [],
  collections: [],
  broken: [],
}

/** The name by which a role or template lies in the source: the last part of its directory. */
export const directoryName = (directory: string): string => directory.slice(directory.lastIndexOf("/") + 1)

/** Order of all lists of a source and its catalog: by UTF-16 unit, so that it is the same everywhere. */
export const compareNames = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
