import { Failed, renderRemoteDesktopFiles } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { loadNamedHosts } from "../range/hosts.ts"

export const getRdp = operation({
  id: "getRDP",
  route: "GET /range/rdpconfigs",
  group: "Range",
  does: "read the remote desktop files of a range",
  summary: "Remote desktop files for the range's Windows machines, one for each account",
  access: "range-access",
  target: "range",
  /** A machine's name or VMID; absent: all of them. */
  query: { machine: Schema.optionalKey(Schema.String) },
  output: { type: "zip", filename: "rdp.zip" },
  statuses: {
    200: "a zip archive of flat .rdp files",
    404: "the range is unknown, or none is selected; it has no such machine",
    500: "the range, or the machine, has no Windows",
  },
  handle: ({ range, query }) =>
    Effect.gen(function* () {
      const { config, hosts } = yield* loadNamedHosts(range, query.machine)
      const files = config === undefined ? [] : renderRemoteDesktopFiles(range, config, hosts)
      if (files.length === 0)
        return yield* new Failed(
          query.machine === undefined
            ? {
                what: `Range ${range.id} has no remote desktop files: it has no Windows machine`,
                hint: "Deploy a configuration with one; machines appear as soon as they are cloned.",
              }
            : {
                what: `Machine ${query.machine} of range ${range.id} has no remote desktop files: it does not run Windows`,
                hint: "GET /range/sshconfig with the same machine returns its SSH client file.",
              },
        )
      return files
    }),
})
