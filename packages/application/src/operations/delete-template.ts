import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { type DeletedTemplate, deleteTemplate as remove } from "../template/delete-template.ts"
import { TextResult } from "../wire/common.ts"
import { hypervisorAway } from "../wire/statuses.ts"

const text = (name: string, { unbuilt, stays, definition }: DeletedTemplate): string => {
  const vm = unbuilt > 0 ? `The built template ${name} was removed` : `Template ${name} was not built`
  const left = stays ? ". A VM of this name that somebody else built stays" : ""
  if (definition === "shipped") return `${vm}. Its definition is part of the server and stays${left}`
  return definition === "removed" ? `Template ${name} was deleted${left}` : `${vm}${left}`
}

export const deleteTemplate = operation({
  id: "deleteTemplate",
  route: "DELETE /template/{name}",
  group: "Template",
  does: "delete a template",
  summary: "Delete a template: what was built from it, and its files unless they come with the service",
  access: "user",
  accessNote: "your own files and what was built for you; administrators: all",
  target: "none",
  recordedFirst: true,
  path: { name: Schema.String },
  output: { type: "json", schema: TextResult },
  statuses: {
    200: "what the answer lists was deleted",
    400: "it belongs to another user; several users have one with this name",
    403: "it comes with the service, and the caller is not an administrator",
    404: "there is no such template",
    409: "it is being built; disks of machines are linked to it, which the answer names; the hypervisor refuses",
    500: "the files cannot be removed at present",
    502: hypervisorAway,
  },
  handle: ({ path, user }) => Effect.map(remove(path.name, user), (deleted) => ({ result: text(path.name, deleted) })),
})
