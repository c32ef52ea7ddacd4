import type { TemplateLogin } from "@rangewright/domain"
import { parse } from "yaml"
import { keyOf, type Read } from "./key.ts"

export type TemplateLogins = ReadonlyMap<string, TemplateLogin>

/** Tools would interpret template markers in a text, and take a second line for another setting. */
const isPlain = (value: unknown): value is string =>
  typeof value === "string" && value !== "" && value.length <= 256 && !/\p{Cc}|\{\{|\{%|\{#/u.test(value)

const problemOf = (template: string, login: unknown): string | undefined => {
  if (typeof login !== "object" || login === null || Array.isArray(login)) return `${template}: user and password are needed`
  const unknown = Object.keys(login).find((name) => name !== "user" && name !== "password")
  if (unknown !== undefined) return `${template}: unknown key ${unknown}; a login has user and password`
  const { user, password } = login as { readonly user?: unknown; readonly password?: unknown }
  if (typeof user !== "string" || !/^[A-Za-z_][A-Za-z0-9._$-]{0,63}$/u.test(user))
    return `${template}: user must be a name of letters, digits, dots, dashes and underscores`
  // the value itself is never shown
  return isPlain(password)
    ? undefined
    : `${template}: password must be one line of text of at most 256 characters, quoted if YAML would read a number, and without {{, {% and {#`
}

const readLogins: Read<TemplateLogins> = (value) => {
  let given = value
  if (typeof value === "string")
    try {
      given = parse(value, { maxAliasCount: 0 }) as unknown
    } catch {
      return { problem: "it is not valid YAML" }
    }
  if (typeof given !== "object" || given === null || Array.isArray(given))
    return { problem: "must be a mapping of templates to user and password" }
  const problem = Object.entries(given).flatMap(([template, login]) => problemOf(template, login) ?? [])[0]
  return problem === undefined ? { value: new Map(Object.entries(given as Record<string, TemplateLogin>)) } : { problem }
}

/** Logins of templates, by template name. */
export const templateLogins = keyOf<TemplateLogins>(readLogins)
