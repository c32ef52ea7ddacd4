import { quote } from "../range/config/issue.ts"
import type { KnownTemplate, TemplateState } from "./known-templates.ts"

/** What is known of templates that are not built, by name; one that is not here has no files that it could be built from. */
export type UnbuiltTemplates = ReadonlyMap<string, Exclude<TemplateState, "built">>

export const unbuilt = (known: readonly KnownTemplate[]): UnbuiltTemplates =>
  new Map(known.flatMap(({ name, built, state }) => (built || state === "built" ? [] : [[name, state] as const])))

/** The one call that builds templates. */
export const buildCall = (names: readonly string[]): string => `POST /templates ${JSON.stringify({ templates: names })}`

/** Why machines cannot be cloned from a template of which nothing is built. */
export const missingText = (name: string, known: UnbuiltTemplates): string => {
  const state = known.get(name)
  if (state === undefined) return `there is no template ${quote(name)}`
  return state === "building" ? `the template ${quote(name)} is still being built` : `the template ${quote(name)} is not built`
}

/** What to do so that templates of these names are there. */
export const missingHint = (names: readonly string[], known: UnbuiltTemplates): string => {
  const are = (state: TemplateState | undefined) => [...new Set(names)].filter((name) => known.get(name) === state).toSorted()
  const [absent, toBuild, building] = [are(undefined), are("not_built"), are("building")]
  return [
    ...(toBuild.length === 0 ? [] : [`build with ${buildCall(toBuild)}`]),
    ...(building.length === 0 ? [] : [`wait for the build of ${building.join(", ")}`]),
    ...(absent.length === 0 ? [] : [`add ${absent.map(quote).join(", ")} with PUT /templates or from a source, or use others`]),
  ].join("; ")
}
