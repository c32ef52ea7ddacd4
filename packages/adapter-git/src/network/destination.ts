import { type GitUrl, isMeant, mayConnect } from "@rangewright/domain"
import { keptAddresses } from "@rangewright/host-tools"
import { ContentFault } from "@rangewright/ports"
import { realpath } from "node:fs/promises"
import { type Doing, outsideFolders, refused } from "../faults.ts"
import { insideOneOf } from "../folder/roots.ts"
import type { Settings } from "../options.ts"

/** A repository that may be connected to, with the checked addresses: no others may be used. */
export interface Destination {
  readonly url: GitUrl
  readonly addresses: readonly string[]
}

const bare = (host: string): string => host.replace(/^\[|\]$/gu, "")

const addressesOf = async (doing: Doing, url: GitUrl, settings: Settings): Promise<readonly string[]> => {
  const found = await settings.lookup(bare(url.host)).catch((cause: NodeJS.ErrnoException) => {
    throw new ContentFault({
      doing,
      reason: "unreachable",
      detail: `its host cannot be resolved (${cause.code ?? cause.message})`,
    })
  })
  if (found.length === 0) throw new ContentFault({ doing, reason: "unreachable", detail: "its host has no address" })
  // one wrong address is enough: whoever answers for the name could order the addresses at will
  if (!found.every((address) => mayConnect(address, settings.networks)))
    throw refused(
      doing,
      "address",
      "its host is at an address that is not public",
      "The operator can allow networks for sources (source_networks).",
    )
  const isKept = await keptAddresses(async () => (await settings.tools.never?.()) ?? [])
  // only now: what is not public tells nobody whose address it is
  if (found.some((address) => isKept(address) && !isMeant(address, settings.networks)))
    throw refused(
      doing,
      "address",
      "its host is at an address of the service or the hypervisor",
      "The operator can allow single addresses for sources (source_networks).",
    )
  return found
}

/** Applies the policy to a well-formed URL: transport, address, and the folder of local repositories. */
export const destinationOf = async (doing: Doing, url: GitUrl, settings: Settings): Promise<Destination> => {
  if (!settings.schemes.includes(url.scheme))
    throw refused(
      doing,
      "scheme",
      `${url.scheme} is not allowed for sources`,
      `Use ${settings.schemes.join(" or ")}. The operator can allow other transports for sources (source_schemes).`,
    )
  if (url.scheme !== "file") return { url, addresses: await addressesOf(doing, url, settings) }
  const path = await realpath(decodeURIComponent(url.path)).catch(() => undefined)
  // the same answer for both, so that nobody can probe for folders outside
  if (path === undefined || !(await insideOneOf(settings.folders, path))) throw outsideFolders(doing)
  return { url: { ...url, path, remote: `file://${encodeURI(path)}` }, addresses: [] }
}
