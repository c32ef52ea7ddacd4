import type { RangeConfig } from "../config/index.ts"
import type { Range } from "../range.ts"
import { machineAccounts } from "./accounts.ts"
import type { RangeHost } from "./host.ts"

/** A file of the archive; its name contains no folder. */
export interface RemoteDesktopFile {
  readonly name: string
  readonly content: string
}

// control characters could begin another setting, or leave the line
const oneLine = (text: string): string => text.replaceAll(/\p{Cc}/gu, "")
const fileNamePart = (text: string): string => text.replaceAll(/[\p{Cc}\\/:*?"<>|]/gu, "_")

const fileOf = (address: string, domain: string, user: string): string =>
  [
    "screen mode id:i:1",
    "session bpp:i:32",
    "smart sizing:i:1",
    "redirectclipboard:i:1",
    "authentication level:i:2",
    `full address:s:${address}`,
    `username:s:${oneLine(domain)}\\${oneLine(user)}`,
    "",
  ].join("\r\n")

/**
 * Remote desktop files of every Windows host, one for each of its accounts. A host that has not reported its address gets the configured
 * one. Empty when the range has no Windows host.
 */
export const renderRemoteDesktopFiles = (
  range: Pick<Range, "id" | "number">,
  config: RangeConfig,
  hosts: readonly RangeHost[],
): readonly RemoteDesktopFile[] => {
  const files = hosts.flatMap((host) => {
    const address = host.address ?? host.configuredAddress
    if (host.osId !== "windows" || address === undefined) return []
    return machineAccounts(range, config, host).map(
      ({ label, domain = host.name, user }) =>
        [`${host.name}-${fileNamePart(label)}.rdp`, fileOf(address, domain, user)] as const,
    )
  })
  return [...new Map(files)].map(([name, content]) => ({ name, content }))
}
