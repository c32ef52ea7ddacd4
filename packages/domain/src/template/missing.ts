import { quote } from "../range/config/issue.ts"
import type { KnownTemplate, TemplateState } from "./known-templates.ts"

/** Templates that are not built, by name; for any other name there is nothing to build it from. */
export type UnbuiltTemplates = ReadonlyMap<string, Exclude<TemplateState, "built">>

export const unbuilt = (known: readonly KnownTemplate[]): UnbuiltTemplates =>
  new Map(known.flatMap(({ name, built, state }) => (built || state === "built" ? [] : [[name, state] as const])))

/** The API call that builds these templates. */
export const buildCall = (names: readonly string[]): string => `POST /templates ${JSON.stringify({ templates: names })}`

/** Why machines cannot be cloned from a template that is not built. */
export const missingText = (name: string, known: UnbuiltTemplates): string => {
  const state = known.get(name)
  if (state === undefined) return `there is no template ${quote(name)}`
  return state === "building" ? `the template ${quote(name)} is still being built` : `the template ${quote(name)} is not built`
}

/** How to get templates with these names. */
export const missingHint = (names: readonly string[], known: UnbuiltTemplates): string => {
  const are = (state: TemplateState | undefined) => [...new Set(names)].filter((name) => known.get(name) === state).toSorted()
  const [absent, toBuild, building] = [are(undefined), are("not_built"), are("building")]
  return [
    ...(toBuild.length === 0 ? [] : [`build with ${buildCall(toBuild)}`]),
    ...(building.length === 0 ? [] : [`wait for the build of ${building.join(", ")}`]),
    ...(absent.length === 0 ? [] : [`add ${absent.map(quote).join(", ")} with PUT /templates or from a source, or use others`]),
  ].join("; ")
}
