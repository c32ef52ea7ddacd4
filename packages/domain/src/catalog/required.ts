/** The union of what blueprints declare under one list of their requirements. */
import { compareNames } from "../source/content.ts"
import { guessCollection } from "../source/names.ts"
import { parseVersion } from "../source/version.ts"
import { type Copies, findCopies, stateOfCopies } from "./copies.ts"
import type { CatalogItem } from "./source-catalog.ts"

/** One declaration: of a role, or of a collection. */
interface Declaration {
  readonly name?: string
  readonly version?: string
  readonly type?: string
}

/** What all blueprints say of one name. */
interface Required {
  /** In the order of the blueprints. */
  readonly by: Array<string>
  /** Pins by blueprint; the last one where a file has several. */
  readonly pins: Map<string, string>
  git: boolean
}
export type Requireds = Map<string, Required>

/** Adds the declarations of a blueprint. Blueprints must come in the order of their ids. */
export const addDeclarations = (requireds: Requireds, blueprint: string, declarations: ReadonlyArray<Declaration>): void => {
  for (const { name, version, type } of declarations) {
    if (name === undefined || name === "") continue
    const required: Required = requireds.get(name) ?? { by: [], pins: new Map(), git: false }
    requireds.set(name, required)
    if (required.by.at(-1) !== blueprint) required.by.push(blueprint)
    if (version !== undefined && version !== "") required.pins.set(blueprint, version)
    required.git ||= type === "git"
  }
}

/** The items sorted by name. Only a collection can be of git. */
export const requiredItems = (requireds: Requireds, copies: Copies): ReadonlyArray<CatalogItem> =>
  [...requireds].toSorted(([a], [b]) => compareNames(a, b)).map(([name, required]) => requiredItem(name, required, copies))

const requiredItem = (name: string, { by, pins, git }: Required, copies: Copies): CatalogItem => {
  // The pin of the first blueprint that has one: pins were added in the order of the blueprints.
  const [pin] = pins.values()
  const fqcn = git ? guessCollection(name) : name
  const found = stateOfCopies(fqcn === undefined ? [] : findCopies(copies, [fqcn]), pin)
  // The pin of a git collection can be a branch or a commit, which says nothing about the version that came of it.
  const unknowable = git && found.state === "upgrade_available" && pin !== undefined && parseVersion(pin) === undefined
  return {
    name,
    ...(pin === undefined ? {} : { version: pin }),
    ...found,
    ...(unknowable ? { state: "installed" } : {}),
    ...(git ? { type: "git" } : {}),
    ...(git && fqcn !== undefined ? { fqcn } : {}),
    requiredBy: by,
    ...(pins.size === 0 ? {} : { versionByBlueprint: Object.fromEntries(pins) }),
  }
}
