import { isRunId, type RunId } from "@rangewright/domain"

/** The pool of all templates, from which everybody may clone. */
export const sharedPool = "SHARED"

/** The mark of a build: everything in its pool belongs to it. */
export const poolOf = (id: RunId): string => `rw-build-${id}`
export const accountOf = (id: RunId): string => `build-${id}@pve`
export const tokenName = "build"
export const buildComment = "rangewright build"

const idIn = (pattern: RegExp, text: string): readonly RunId[] => {
  const id = pattern.exec(text)?.[1] ?? ""
  return isRunId(id) ? [id] : []
}
export const idOfPool = (pool: string): readonly RunId[] => idIn(/^rw-build-(.+)$/u, pool)
export const idOfAccount = (account: string): readonly RunId[] => idIn(/^build-(.+)@pve$/u, account)
