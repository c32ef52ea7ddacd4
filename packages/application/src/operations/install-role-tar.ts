import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { installRoleArchive } from "../ansible/install-role-archive.ts"
import { scopeOf } from "../ansible/installed.ts"
import { mayUploadArtifacts } from "../ansible/may-change.ts"
import { operation } from "../operation/operation.ts"
import { TextResult } from "../wire/common.ts"
import { FormBoolean } from "../wire/parameters.ts"
import { diskLimitReached } from "../wire/statuses.ts"

/** Most bytes of an archive: as much as all files of a role may have. */
const mostArchiveBytes = 512 * 1024 * 1024

export const installRoleTar = operation({
  id: "InstallRoleTar",
  route: "PUT /ansible/role/fromtar",
  group: "Ansible",
  does: "install a role from an archive",
  summary: "Install a role from an archive of its folder; the file is named after the role",
  access: "user",
  accessNote: "administrators when global or restricted",
  target: "none",
  recordedFirst: true,
  body: {
    type: "multipart",
    fields: { force: Schema.optionalKey(FormBoolean), global: Schema.optionalKey(FormBoolean) },
    file: "file",
    maxBytes: mostArchiveBytes,
    stored: true,
  },
  output: { type: "json", schema: TextResult, status: 201 },
  statuses: {
    201: "the role is installed; or another copy exists and stays, as the answer says",
    400: "the form is unreadable or the file missing, damaged, unsafe or not a role; the role's name is not valid; force or global is not a boolean",
    403: `role only administrators may make changes; global needs an administrator; ${diskLimitReached}`,
    413: "the archive is too large",
    500: "the archive cannot be unpacked or installed at present",
  },
  handle: ({ body, file, user }) =>
    Effect.gen(function* () {
      const { force = false, global = false } = body
      yield* mayUploadArtifacts(user, { global })
      const { name, placement } = yield* installRoleArchive(file, scopeOf(user, global), force)
      return {
        result:
          placement === "differs"
            ? `Role ${name} is already installed and was left as it is; use force to replace it`
            : "Successfully installed role",
      }
    }),
})
