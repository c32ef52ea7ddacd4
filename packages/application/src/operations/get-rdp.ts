import { Failed, renderRemoteDesktopFiles } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import { operation } from "../operation/operation.ts"
import { loadHosts } from "../range/hosts.ts"

export const getRdp = operation({
  id: "getRDP",
  route: "GET /range/rdpconfigs",
  group: "Range",
  does: "read the remote desktop files of a range",
  summary: "Remote desktop files for the range's Windows machines, one for each account",
  access: "range-access",
  target: "range",
  output: { type: "zip", filename: "rdp.zip" },
  statuses: { 200: "a zip archive of flat .rdp files", 500: "the range has no Windows machine" },
  handle: ({ range }) =>
    Effect.gen(function* () {
      const { config, hosts } = yield* loadHosts(range)
      const files = config === undefined ? [] : renderRemoteDesktopFiles(range, config, hosts)
      if (files.length === 0)
        return yield* new Failed({
          what: `Range ${range.id} has no remote desktop files: it has no Windows machine`,
          hint: "Deploy a configuration with one; machines appear as soon as they are cloned.",
        })
      return files
    }),
})
