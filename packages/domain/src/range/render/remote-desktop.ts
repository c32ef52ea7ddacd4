import { type RangeConfig, renderString } from "../config/index.ts"
import type { Range } from "../range.ts"
import type { RangeHost } from "./host.ts"

/** A file of the archive: flat names. */
export interface RemoteDesktopFile {
  readonly name: string
  readonly content: string
}

interface Account {
  /** Part of the file's name. */
  readonly label: string
  readonly domain: string
  readonly user: string
}

// control characters would begin further settings, or leave the line
const oneLine = (text: string): string => text.replaceAll(/\p{Cc}/gu, "")
const fileNamePart = (text: string): string => text.replaceAll(/[\p{Cc}\\/:*?"<>|]/gu, "_")

const accountsOf = (host: RangeHost, config: RangeConfig, render: (text: string) => string): readonly Account[] => {
  const netbios = host.machine?.domain === undefined ? "" : (render(host.machine.domain.fqdn).split(".", 1)[0] ?? "")
  const ofDomain: readonly Account[] =
    netbios === ""
      ? []
      : [
          { label: "domainuser", domain: netbios, user: render(config.defaults.domainUser) },
          { label: "domainadmin", domain: netbios, user: render(config.defaults.domainAdmin) },
        ]
  const autologon = host.machine?.os.kind === "windows" ? host.machine.os.autologon.user : undefined
  const user = autologon === undefined ? "" : render(autologon)
  return [
    ...ofDomain,
    ...(user === "" ? [] : [{ label: user, domain: netbios, user }]),
    { label: "localuser", domain: host.name, user: "localuser" },
  ]
}

const fileOf = (address: string, { domain, user }: Account): string =>
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
 * Remote desktop files of every Windows host, one for each account that it has (contract B 1.14). A host that has not told its address
 * is written with the configured one. Empty when the range has no Windows host.
 */
export const renderRemoteDesktopFiles = (
  range: Pick<Range, "id" | "number">,
  config: RangeConfig,
  hosts: readonly RangeHost[],
): readonly RemoteDesktopFile[] => {
  const render = (text: string): string => renderString(text, { rangeId: range.id, rangeNumber: range.number }).text
  const files = hosts.flatMap((host) => {
    const address = host.address ?? host.configuredAddress
    if (host.osId !== "windows" || address === undefined) return []
    return accountsOf(host, config, render).map(
      (account) => [`${host.name}-${fileNamePart(account.label)}.rdp`, fileOf(address, account)] as const,
    )
  })
  return [...new Map(files)].map(([name, content]) => ({ name, content }))
}
