import { execFile } from "node:child_process"
import type { Call } from "./rehearsal.ts"

interface Option {
  readonly required?: boolean
  readonly aliases?: readonly string[]
  readonly choices?: readonly unknown[]
}
type Documentation = Readonly<Record<string, { readonly doc: { readonly options?: Readonly<Record<string, Option>> } }>>

/** What the collections of these folders tell of their modules. */
export const readDocumentation = (modules: readonly string[], folders: readonly string[]): Promise<Documentation> =>
  new Promise((resolve, reject) => {
    const env = { ...process.env, ANSIBLE_COLLECTIONS_PATH: folders.join(":"), LC_ALL: "C.UTF-8" }
    execFile("ansible-doc", ["--json", ...modules], { env, maxBuffer: 2 ** 26 }, (error, stdout, stderr) =>
      error === null ? resolve(JSON.parse(stdout) as Documentation) : reject(new Error(stderr)),
    )
  })

/** What a module would not take of what it is asked for. */
export const objections = (documentation: Documentation, call: Call): readonly string[] => {
  const options = documentation[call.module]?.doc.options
  if (options === undefined) return [`there is no module ${call.module}`]
  const given = Object.entries(call.arguments)
  const named = (name: string) => Object.entries(options).find(([own, { aliases }]) => own === name || aliases?.includes(name))
  const known = given.flatMap(([name, value]) => {
    const option = named(name)
    if (option === undefined) return [`${call.module} has no parameter ${name}`]
    const choices = option[1].choices ?? []
    return typeof value !== "string" || choices.length === 0 || choices.includes(value)
      ? []
      : [`${call.module} takes ${choices.join(", ")} for ${name}, not ${value}`]
  })
  const absent = Object.entries(options)
    .filter(([name, { required }]) => required === true && !given.some(([own]) => named(own)?.[0] === name))
    .map(([name]) => `${call.module} needs ${name}`)
  return [...known, ...absent]
}
