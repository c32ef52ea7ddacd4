/** Installed copies of an artifact, and the state derived from them. */
import { satisfiesPin } from "../source/version.ts"
import type { InstalledCopy } from "./installed.ts"
import type { CatalogItem, CatalogScope, InstallScope } from "./source-catalog.ts"

/** Installed copies per scope, by name; the first one wins if several have the same name. */
export type Copies = Readonly<Record<InstallScope, ReadonlyMap<string, InstalledCopy>>>

export const copiesByName = (copies: ReadonlyArray<InstalledCopy>): Copies => {
  const byName = { global: new Map<string, InstalledCopy>(), user: new Map<string, InstalledCopy>() }
  for (const copy of copies) {
    const known = byName[copy.scope]
    if (!known.has(copy.name)) known.set(copy.name, copy)
  }
  return byName
}

/** Copies with any of these names: global ones first, within a scope in the order of the names. */
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
 * The state of one copy against one pin: an upgrade is available if both are known and the copy does not satisfy the pin. A pin that cannot
 * be parsed and is not the same text counts as an upgrade, so that users notice it.
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

/** The fields of an item that describe its copies. The first copy, a global one if there is any, determines the item's state. */
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
