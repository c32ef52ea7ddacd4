import type { Vmid } from "../access/ids.ts"
import { readDescription, writeDescription } from "./mark.ts"

/**
 * The description `live` with the mark and the groups of `planned`, between the notes that people have written in `live`. Undefined if there
 * is nothing to write: only notes differ, or `planned` has no mark. Notes in `planned` do not count: a plan may be hours old.
 */
export const descriptionWith = (planned: string, live: string): string | undefined => {
  const [want, has] = [readDescription(planned), readDescription(live)]
  if (want.mark === undefined) return undefined
  const isThere = has.mark !== undefined && writeDescription(want.mark, want.groups) === writeDescription(has.mark, has.groups)
  return isThere ? undefined : writeDescription(want.mark, want.groups, live)
}

/** The hypervisor accepts no longer description. */
const maxCharacters = 8192

/** Why a description cannot be written, and what to do; undefined if it can. */
export const notesTooLong = (vmid: Vmid, description: string): { readonly detail: string; readonly hint: string } | undefined => {
  const characters = Array.from(description).length
  if (characters <= maxCharacters) return undefined
  return {
    detail: `with the line of this service its notes would have ${characters} characters, and Proxmox accepts ${maxCharacters}`,
    hint: `Shorten the notes of VM ${vmid} in Proxmox and try again.`,
  }
}
