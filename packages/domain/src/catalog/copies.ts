/** Copies of an artifact, and what they say of its state. */
import { satisfiesPin } from "../source/version.ts"
import type { InstalledCopy } from "./installed.ts"
import type { CatalogItem, CatalogScope, InstallScope } from "./source-catalog.ts"

/** Installed copies of each scope by name: of several of one name the first. */
export type Copies = Readonly<Record<InstallScope, ReadonlyMap<string, InstalledCopy>>>

export const copiesByName = (copies: ReadonlyArray<InstalledCopy>): Copies => {
  const byName = { global: new Map<string, InstalledCopy>(), user: new Map<string, InstalledCopy>() }
  for (const copy of copies) {
    const known = byName[copy.scope]
    if (!known.has(copy.name)) known.set(copy.name, copy)
  }
  return byName
}

/** The copies under any of the names: global ones first, in each scope in the order of the names. */
export const findCopies = (copies: Copies, names: ReadonlyArray<string>): ReadonlyArray<InstalledCopy> => {
  const found: Array<InstalledCopy> = []
  for (const known of [copies.global, copies.user])
    for (const name of names) {
      const copy = known.get(name)
      if (copy !== undefined) found.push(copy)
    }
  return found
}

/**
 * The state of one copy against one pin: an upgrade is available where both are known and the copy does not fit. What is not
 * understood and not the same counts as an upgrade, so that it is seen.
 */
export const copyState = (installed: string | undefined, pin: string | undefined): CatalogScope["state"] =>
  installed === undefined ||
  installed === "" ||
  pin === undefined ||
  pin === "" ||
  installed === pin ||
  satisfiesPin(installed, pin)
    ? "installed"
    : "upgrade_available"

/** The fields of an item that tell of its copies. The first copy, a global one where there is one, speaks for all. */
export const stateOfCopies = (
  copies: ReadonlyArray<InstalledCopy>,
  pin: string | undefined,
): Pick<CatalogItem, "state" | "installedVersion" | "global" | "scopes"> => {
  const [first] = copies
  if (first === undefined) return { state: "not_installed" }
  const scopes = copies.map(({ scope, version }): CatalogScope => ({
    scope,
    ...(version ? { version } : {}),
    state: copyState(version, pin),
  }))
  return {
    state: copyState(first.version, pin),
    ...(first.version ? { installedVersion: first.version } : {}),
    ...(copies.some(({ scope }) => scope === "global") ? { global: true } : {}),
    scopes,
  }
}
