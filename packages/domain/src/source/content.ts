/** What a source ships, read once from a fetched snapshot: immutable plain data. */

/** The source's own description. Missing fields are absent. */
export interface SourceManifest {
  readonly name?: string
  readonly description?: string
  readonly homepage?: string
  readonly license?: string
  readonly authors: ReadonlyArray<string>
}

/** A role that a blueprint requires. Without a name the catalog cannot list it. */
export interface RoleRequirement {
  readonly name?: string
  readonly src?: string
  readonly version?: string
  readonly scm?: string
}

/** A collection that a blueprint requires. The name is `<namespace>.<name>`, or the URL if the type is `git`. */
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

/** Names in a range configuration, sorted and unique. Expressions in names are not evaluated. */
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
  /** Stored and shown, but not enforced. */
  readonly minLudusVersion?: string
  readonly config: FileText
  readonly references: ConfigReferences
  /** The file as shipped, if there is one, even if it could not be parsed. */
  readonly requirementsFile?: FileText
  readonly requirements: Requirements
  /** Path of the image from the root of the source, if the manifest names one that exists. */
  readonly thumbnail?: string
}

/** A file of the source: path from its root, and text byte for byte. */
export interface FileText {
  readonly path: string
  readonly text: string
}

export interface ShippedTemplate {
  /** Name of the VM that is built, and of the folder it is installed into. */
  readonly name: string
  /** Path from the root of the source. */
  readonly directory: string
  readonly description?: string
  readonly os?: string
  /** Path of the picture from the root of the source, if the builder file names one that exists. */
  readonly icon?: string
}

export interface ShippedRole {
  /** Its canonical name: `<namespace>.<role>` if its metadata give one, else the name of its directory. */
  readonly name: string
  /** Path from the root of the source; configurations may also name the role by its last part. */
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

/** The kinds of items that a source ships. */
export type ItemKind = "blueprint" | "template" | "role" | "collection"

/** An item of a source that cannot be installed. It does not affect the other items. */
export interface BrokenItem {
  readonly kind: ItemKind
  /** Its name; if that cannot be read or used, the name of its directory. For a blueprint, the path below `blueprints/`. */
  readonly name: string
  /** Path from the root of the source. */
  readonly directory: string
  /** `conflict`: an item in an earlier directory has the same name · `invalid`: it cannot be read, or is unsafe. */
  readonly state: "conflict" | "invalid"
  /** Why, in a sentence without a full stop. */
  readonly problem: string
}

/** Everything that one state of a source ships. `readSource` returns the lists sorted by id or name, without duplicates. */
export interface SourceContent {
  readonly manifest: SourceManifest
  readonly blueprints: ReadonlyArray<ShippedBlueprint>
  readonly templates: ReadonlyArray<ShippedTemplate>
  readonly roles: ReadonlyArray<ShippedRole>
  readonly collections: ReadonlyArray<ShippedCollection>
  /** Not in any of the other lists. Sorted by name, then by directory. */
  readonly broken: ReadonlyArray<BrokenItem>
}

/** The content of a source that was never fetched. */
export const emptyContent: SourceContent = {
  manifest: { authors: [] },
  blueprints: [],
  templates: [],
  roles: [],
  collections: [],
  broken: [],
}

/** The directory name of a role or template: the last part of its path. */
export const directoryName = (directory: string): string => directory.slice(directory.lastIndexOf("/") + 1)

/** The order of all lists of a source and its catalog: by UTF-16 code unit, independent of locale. */
export const compareNames = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
