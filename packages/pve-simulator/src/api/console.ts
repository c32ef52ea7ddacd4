import { realMillis } from "../core/clock.ts"
import { failure, PveError } from "../core/errors.ts"
import { randomHex } from "../core/random.ts"
import { sleep, type Routine } from "../core/routine.ts"
import type { Console } from "../core/world.ts"
import { guestOf, nodeOf, spawn, text, vmidOf, type Call, type Routes } from "../http/call.ts"
import { isVncTicket, makeVncTicket } from "../http/identity.ts"

const FIRST_PORT = 5900
const LAST_PORT = 5999

/** How long a console waits for its viewer, and how often it checks whether the viewer is still connected, in real time. */
const PATIENCE_MS = 10_000
const LOOK_MS = 1000

/** The guest in the path; undefined for the node itself. */
const ownerOf = (call: Call): number | undefined => (call.parameters["vmid"] === undefined ? undefined : vmidOf(call))

const consolePath = (call: Call): string => {
  const vmid = ownerOf(call)
  return vmid === undefined ? `/nodes/${nodeOf(call).name}` : `/vms/${vmid}`
}

const freePort = (call: Call): number => {
  for (let port = FIRST_PORT; port <= LAST_PORT; port += 1) if (!call.world.consoles.has(port)) return port
  throw failure("unable to find free port (5900-5999)")
}

/** Opens a console for ten real seconds: a ticket, a port, and a task that ends if no viewer connects. */
const open =
  (type: "vncproxy" | "termproxy") =>
  (call: Call): unknown => {
    const { world, identity } = call
    const vmid = ownerOf(call)
    if (vmid !== undefined) guestOf(call)
    const port = freePort(call)
    let held: Console
    const upid = spawn(call, vmid === undefined ? "vncshell" : "vncproxy", vmid ?? "", function* (): Routine<void> {
      try {
        yield* sleep(world.clock, realMillis(world.clock, PATIENCE_MS))
        while (held.viewer === "here") yield* sleep(world.clock, realMillis(world.clock, LOOK_MS))
        if (held.viewer === "none") throw failure("connection timed out")
      } finally {
        if (world.consoles.get(port) === held) world.consoles.delete(port)
      }
    })
    const ticket = makeVncTicket(world, identity.authId, consolePath(call), port)
    const login = `${identity.authId}:${ticket}`
    // eight characters: VNC ignores the rest
    const password = type === "vncproxy" ? randomHex(world.state.random, 8) : ""
    held = { upid, vmid, node: nodeOf(call).name, type, login, password, viewer: "none" }
    world.consoles.set(port, held)
    const common = { port: String(port), ticket, upid, user: identity.authId }
    return type === "termproxy" ? common : { ...common, cert: world.certificate, password }
  }

/** Checks the ticket before a web socket is opened; returns the port. */
function* socket(call: Call): Routine<unknown> {
  const { world, identity } = call
  const port = Number(text(call, "port"))
  const held = world.consoles.get(port)
  if (!isVncTicket(world, text(call, "vncticket"), identity.authId, consolePath(call), port)) {
    throw new PveError(401, "permission denied - invalid PVEVNC ticket", { body: false })
  }
  yield* sleep(world.clock, 0)
  if (held === undefined || held.vmid !== ownerOf(call)) throw failure("connection refused")
  return { port: String(port) }
}

/** Consoles: tickets, and the check before a web socket is opened. */
export const consoleRoutes: Routes = {
  "POST /nodes/{node}/termproxy": open("termproxy"),
  "GET /nodes/{node}/vncwebsocket": socket,
  "POST /nodes/{node}/qemu/{vmid}/vncproxy": open("vncproxy"),
  "POST /nodes/{node}/qemu/{vmid}/termproxy": open("termproxy"),
  "GET /nodes/{node}/qemu/{vmid}/vncwebsocket": socket,
}
