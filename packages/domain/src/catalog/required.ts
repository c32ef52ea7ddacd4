/** The union of the declarations of all blueprints in one list of their requirements. */
import { compareNames } from "../source/content.ts"
import { guessCollection } from "../source/names.ts"
import { parseVersion } from "../source/version.ts"
import type { SurveyedItem } from "./source-catalog.ts"

/** A declared role or collection. */
interface Declaration {
  readonly name?: string
  readonly version?: string
  readonly type?: string
}

/** All declarations of one name. */
export interface Requirement {
  readonly name: string
  /** In the order of the blueprints. */
  readonly by: Array<string>
  /** Pins by blueprint, in the same order; the last pin if a file has several. */
  readonly pins: Array<[blueprint: string, pin: string]>
  git: boolean
}

/** Adds the declarations of a blueprint. Must be called in the order of blueprint ids. */
export const addDeclarations = (
  requirements: Map<string, Requirement>,
  blueprint: string,
  declarations: ReadonlyArray<Declaration>,
): void => {
  for (const { name, version, type } of declarations) {
    if (name === undefined || name === "") continue
    let requirement = requirements.get(name)
    if (requirement === undefined) requirements.set(name, (requirement = { name, by: [], pins: [], git: false }))
    const { by, pins } = requirement
    if (by.at(-1) !== blueprint) by.push(blueprint)
    if (version !== undefined && version !== "") {
      if (pins.at(-1)?.[0] === blueprint) pins.pop()
      pins.push([blueprint, version])
    }
    requirement.git ||= type === "git"
  }
}

/** The requirements sorted by name, ready to be compared with installed copies. */
export const surveyedRequirements = (requirements: ReadonlyMap<string, Requirement>): ReadonlyArray<SurveyedItem> =>
  [...requirements.values()].toSorted((a, b) => compareNames(a.name, b.name)).map(surveyedRequirement)

const surveyedRequirement = ({ name, by, pins, git }: Requirement): SurveyedItem => {
  // The pin of the first blueprint that has one.
  const pin = pins[0]?.[1]
  const fqcn = git ? guessCollection(name) : name
  return {
    item: {
      name,
      ...(pin === undefined ? {} : { version: pin }),
      ...(git ? { type: "git" } : {}),
      ...(git && fqcn !== undefined ? { fqcn } : {}),
      requiredBy: by,
      ...(pins.length === 0 ? {} : { versionByBlueprint: Object.fromEntries(pins) }),
    },
    copiedAs: fqcn === undefined ? [] : [fqcn],
    pin,
    // The pin of a git collection can be a branch or a commit, which does not tell the version.
    unknowable: git && pin !== undefined && parseVersion(pin) === undefined,
  }
}
