import type { Action, Json } from "./action.ts"

const secretWords = /pass(word|wd|phrase)?|secret|token|credential|api_?key|private_?key/iu

/** Whether a value under this key of a stage's input is taken for a secret. Role variables are users' own, so words decide. */
export const isSecretKey = (key: string): boolean => secretWords.test(key)

const mask = "***"

/** The same input with every secret covered: what logs, events and people see. */
export const maskSecrets = (input: Json): Json => {
  if (typeof input !== "object" || input === null) return input
  if (Array.isArray(input)) return (input as readonly Json[]).map(maskSecrets)
  return Object.fromEntries(Object.entries(input).map(([key, value]) => [key, isSecretKey(key) ? mask : maskSecrets(value)]))
}

/** Every secret text of an input, longest first, so that output of tools can be searched for them. */
export const secretsOf = (input: Json): readonly string[] => {
  const found = new Set<string>()
  const visit = (value: Json, secret: boolean): void => {
    if (typeof value === "string" && secret && value !== "") found.add(value)
    if (typeof value !== "object" || value === null) return
    if (Array.isArray(value)) for (const item of value as readonly Json[]) visit(item, secret)
    else for (const [key, item] of Object.entries(value)) visit(item, secret || isSecretKey(key))
  }
  visit(input, false)
  return [...found].sort((a, b) => b.length - a.length || (a < b ? -1 : 1))
}

/** An action as it may be shown. */
export const maskAction = (action: Action): Action =>
  action.kind === "guest" || action.kind === "work" ? { ...action, input: maskSecrets(action.input) } : action
