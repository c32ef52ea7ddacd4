import { badParameter, failure, forbidden, PveError, wrapped } from "../core/errors.ts"
import { randomHex } from "../core/random.ts"
import type { World } from "../core/world.ts"
import { optionalText, text, type Call, type Routes } from "../http/call.ts"
import { hashSecret, isPassword, makeCsrfToken, makeTicket, ticketUser } from "../http/identity.ts"
import { may, pathsInPools, rightsOn, rightsWithPropagation } from "../http/permissions.ts"
import { splitList } from "../schema/formats.ts"

const fullName = (call: Call): string => {
  const name = text(call, "username")
  const realm = optionalText(call, "realm")
  return realm === undefined || name.endsWith(`@${realm}`) ? name : `${name}@${realm}`
}

/** The sections of a ticket's capabilities, with their privileges. */
const sections: Readonly<Record<string, RegExp>> = {
  access: /^(?:User\.|Group\.|Permissions\.Modify)/u,
  dc: /^(?:Sys\.Audit|Sys\.Modify|SDN\.)/u,
  mapping: /^(?:Mapping\.|Permissions\.Modify)/u,
  nodes: /^(?:Sys\.|Permissions\.Modify)/u,
  sdn: /^(?:SDN\.|Permissions\.Modify)/u,
  storage: /^(?:Datastore\.|Permissions\.Modify)/u,
  vms: /^(?:VM\.|Permissions\.Modify)/u,
}

/** The capabilities in a ticket, for user interfaces that hide what is not allowed: a right on any path counts. */
const capabilities = (world: World, user: string): Record<string, Record<string, number>> => {
  const found: Record<string, Set<string>> = Object.fromEntries(Object.keys(sections).map((name) => [name, new Set()]))
  const required = ["/", "/access/groups", "/mapping", "/nodes", "/sdn", "/storage", "/vms"]
  for (const path of new Set([...required, ...world.state.access.acl.keys()])) {
    const top = path === "/" ? "dc" : path.split("/")[1]!
    const into = top === "pool" ? ["vms", "storage"] : [top]
    for (const privilege of rightsOn(world, user, path))
      for (const name of into) if (sections[name]?.test(privilege) === true) found[name]!.add(privilege)
  }
  return Object.fromEntries(
    Object.entries(found).map(([name, held]) => [name, Object.fromEntries([...held].toSorted().map((each) => [each, 1]))]),
  )
}

const ticket = (call: Call) => {
  const { world } = call
  const user = fullName(call)
  const password = text(call, "password")
  const valid = ticketUser(world, password) === user || isPassword(world, user, password)
  if (!valid) throw new PveError(401, "authentication failure")
  const path = optionalText(call, "path")
  if (path !== undefined) checkPrivileges(world, user, path, splitList(optionalText(call, "privs") ?? ""))
  return {
    username: user,
    ticket: makeTicket(world, user),
    CSRFPreventionToken: makeCsrfToken(world, user),
    cap: capabilities(world, user),
    ...(world.state.nodes.size > 1 && rightsOn(world, user, "/").has("Sys.Audit")
      ? { clustername: world.state.clusterName }
      : {}),
  }
}

const checkPrivileges = (world: World, user: string, path: string, wanted: readonly string[]): void => {
  const rights = rightsOn(world, user, path)
  for (const privilege of wanted) if (!rights.has(privilege)) throw forbidden(`${path}, ${privilege}`)
}

/** Stores a password as a salted hash. */
export const hashPassword = (world: World, password: string): { salt: string; hash: string } => {
  const salt = randomHex(world.state.random, 16)
  return { salt, hash: hashSecret(salt, password) }
}

const password = (call: Call): null => {
  const { world, identity } = call
  const userid = text(call, "userid")
  const user = world.state.access.users.get(userid)
  if (user === undefined) throw failure(`no such user ('${userid}')`)
  const self = userid === identity.user
  if (!self && !identity.isRoot && !may(world, identity, "/access/groups", ["User.Modify"]))
    throw forbidden("/access/groups, User.Modify")
  const confirmation = optionalText(call, "confirmation-password")
  if (!identity.isRoot || self) {
    if (confirmation === undefined) throw badParameter({ "confirmation-password": "This is required." })
    if (!isPassword(world, identity.user, confirmation)) throw new PveError(401, "authentication failure")
  }
  if (userid.endsWith("@pam") && userid !== "root@pam")
    throw wrapped("change password failed", failure(`user '${userid.split("@")[0]}' does not exist`))
  user.password = hashPassword(world, text(call, "password"))
  return null
}

const ordinaryPaths = [
  "/",
  "/access",
  "/access/groups",
  "/access/realm",
  "/mapping",
  "/nodes",
  "/pool",
  "/sdn",
  "/storage",
  "/vms",
]

const permissions = (call: Call) => {
  const { world, identity } = call
  const subject = optionalText(call, "userid") ?? identity.authId
  if (subject !== identity.authId && subject.split("!")[0] !== identity.user && !may(world, identity, "/access", ["Sys.Audit"])) {
    throw forbidden("/access, Sys.Audit")
  }
  const path = optionalText(call, "path")
  const paths =
    path === undefined ? [...new Set([...ordinaryPaths, ...world.state.access.acl.keys(), ...pathsInPools(world)])] : [path]
  const out: Record<string, Record<string, number>> = {}
  for (const each of paths) {
    const rights = rightsWithPropagation(world, subject, each)
    if (rights.size > 0 || path !== undefined)
      out[each] = Object.fromEntries([...rights].map(([privilege, propagates]) => [privilege, propagates ? 1 : 0]))
  }
  return out
}

const children = ["users", "groups", "roles", "acl", "domains", "openid", "tfa", "ticket", "password", "permissions"].map(
  (subdir) => ({ subdir }),
)

/** Login, passwords and the caller's permissions. */
export const ticketRoutes: Routes = {
  "GET /access": () => children,
  "GET /access/ticket": () => null,
  "POST /access/ticket": ticket,
  "PUT /access/password": password,
  "GET /access/permissions": permissions,
}
