import { type AccessEntry, type AccessSubject, subjectName } from "./model.ts"

/** All rights of one subject at one path. */
export interface FoundRights {
  readonly path: string
  readonly subject: AccessSubject
  /** Role -> whether it propagates below the path. */
  readonly roles: ReadonlyMap<string, boolean>
}

export const foundKey = (path: string, subject: AccessSubject): string => `${path}\n${subjectName(subject)}`

/** Groups the list of rights by path and subject (`foundKey`). */
export const foundRights = (entries: readonly AccessEntry[]): ReadonlyMap<string, FoundRights> => {
  const found = new Map<string, FoundRights & { readonly roles: Map<string, boolean> }>()
  for (const { path, role, subject, propagate } of entries) {
    const key = foundKey(path, subject)
    const rights = found.get(key) ?? { path, subject, roles: new Map<string, boolean>() }
    rights.roles.set(role, propagate)
    found.set(key, rights)
  }
  return found
}
