import { failure } from "../core/errors.ts"
import type { World } from "../core/world.ts"
import { optionalText, text, type Call, type Routes } from "../http/call.ts"
import { may } from "../http/permissions.ts"
import { forgetSubject, present } from "./access-entries.ts"

const groupNamed = (world: World, id: string) => {
  const group = world.state.access.groups.get(id)
  if (group === undefined) throw failure(`group '${id}' does not exist`)
  return group
}

const listGroups = (call: Call): unknown[] => {
  const { world, identity } = call
  const rights = ["User.Modify", "Sys.Audit", "Group.Allocate"]
  return [...world.state.access.groups]
    .filter(
      ([id]) =>
        may(world, identity, "/access/groups", rights, true) || may(world, identity, `/access/groups/${id}`, rights, true),
    )
    .map(([groupid, group]) => ({ groupid, users: [...group.members].join(","), ...present("comment", group.comment) }))
}

const createGroup = (call: Call): null => {
  const id = text(call, "groupid")
  const { groups } = call.world.state.access
  if (groups.has(id)) throw failure(`create group failed: group '${id}' already exists`)
  groups.set(id, { comment: optionalText(call, "comment"), members: new Set() })
  return null
}

const deleteGroup = (call: Call): null => {
  const id = text(call, "groupid")
  if (!call.world.state.access.groups.has(id)) throw failure(`delete group failed: group '${id}' does not exist`)
  call.world.state.access.groups.delete(id)
  forgetSubject(call.world, (subject) => subject === `@${id}`)
  return null
}

/** Groups of users. */
export const groupRoutes: Routes = {
  "GET /access/groups": listGroups,
  "POST /access/groups": createGroup,
  "GET /access/groups/{groupid}": (call) => {
    const group = groupNamed(call.world, text(call, "groupid"))
    return { members: [...group.members], ...present("comment", group.comment) }
  },
  "PUT /access/groups/{groupid}": (call) => {
    const id = text(call, "groupid")
    const group = call.world.state.access.groups.get(id)
    if (group === undefined) throw failure(`update group failed: group '${id}' does not exist`)
    group.comment = optionalText(call, "comment") ?? group.comment
    return null
  },
  "DELETE /access/groups/{groupid}": deleteGroup,
}
