import * as Effect from "effect/Effect"
import { operation } from "../operation/operation.ts"
import { addTemplate, mostTemplateBytes } from "../template/add-template.ts"
import { TextResult } from "../wire/common.ts"
import { FormBoolean } from "../wire/parameters.ts"
import { diskLimitReached } from "../wire/statuses.ts"

export const addTemplateFromTar = operation({
  id: "addTemplateFromTar",
  route: "PUT /templates",
  group: "Template",
  does: "add a template from a folder",
  summary: "Add a template from an archive of its folder, or replace your own",
  access: "user",
  target: "none",
  recordedFirst: true,
  body: { type: "multipart", fields: { force: FormBoolean }, file: "file", maxBytes: mostTemplateBytes, stored: true },
  output: { type: "json", schema: TextResult },
  statuses: {
    200: "the template can be built; the answer says what its builder file lacks",
    400: "the form is unreadable, force or the file is missing; the archive is damaged or unsafe, or holds more than one folder; the user has a template of this name and force is not set; with force: it is another user's",
    403: `the user is not an administrator, and only administrators may manage templates, or the service itself uses templates of this name; ${diskLimitReached}`,
    413: "the archive is too large",
    500: "there is not exactly one builder file, or no name in it; somebody else has a template of this name; the archive cannot be unpacked at present",
  },
  handle: ({ body, file, user }) =>
    Effect.map(addTemplate(file, user, body.force), ({ name, undeclared }) => ({
      result:
        undeclared.length === 0
          ? `Successfully added template ${name}`
          : `Successfully added template ${name}. Its builder file does not declare ${undeclared.join(", ")}: a build may not find what it needs`,
    })),
})
