import { failure } from "../core/errors.ts"
import type { Config } from "../core/state.ts"
import type { World } from "../core/world.ts"
import { flag, optionalText, text, type Call, type Routes } from "../http/call.ts"

const realmNamed = (world: World, id: string) => {
  const realm = world.state.access.realms.get(id)
  if (realm === undefined) throw failure(`domain '${id}' does not exist`)
  return realm
}

const createRealm = (call: Call): null => {
  const id = text(call, "realm")
  const { realms } = call.world.state.access
  if (realms.has(id)) throw failure(`add auth server failed: authentication domain '${id}' already exists`)
  // passwords are never shown again
  const { realm: _, type: __, comment: ___, default: ____, password: _____, ...options } = call.parameters
  realms.set(id, {
    type: text(call, "type"),
    comment: optionalText(call, "comment") ?? "",
    default: flag(call, "default"),
    options: options as Config,
  })
  return null
}

const getRealm = (call: Call) => {
  const { options, ...realm } = realmNamed(call.world, text(call, "realm"))
  return { ...realm, ...options }
}

/** Realms of users. */
export const realmRoutes: Routes = {
  "GET /access/domains": (call) =>
    [...call.world.state.access.realms].map(([realm, { type, comment }]) => ({ realm, type, comment })),
  "POST /access/domains": createRealm,
  "GET /access/domains/{realm}": getRealm,
  "DELETE /access/domains/{realm}": (call) => (
    realmNamed(call.world, text(call, "realm")),
    call.world.state.access.realms.delete(text(call, "realm")),
    null
  ),
}
