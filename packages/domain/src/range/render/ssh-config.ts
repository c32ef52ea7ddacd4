import { guestLoginOf } from "./guest-login.ts"
import type { RangeHost } from "./host.ts"
import { shortNameOf } from "./hosts-file.ts"

/**
 * A file for `ssh -F`, with one block for each host that is reached over SSH and has an address. Host keys are neither checked nor kept: a
 * lab machine that is deployed again has the same address and another key.
 */
export const renderSshConfig = (hosts: readonly RangeHost[]): string =>
  hosts
    .flatMap((host) => {
      const login = guestLoginOf(host)
      if (host.address === undefined || host.osId === "windows") return []
      return [
        [
          `Host ${[...new Set([host.name, shortNameOf(host.name)])].join(" ")}`,
          `  HostName ${host.address}`,
          ...(login === undefined ? [] : [`  User ${login.user}`]),
          "  StrictHostKeyChecking no",
          "  UserKnownHostsFile /dev/null",
          "  LogLevel ERROR",
          "",
        ].join("\n"),
      ]
    })
    .join("\n")
