import { failure } from "../core/errors.ts"
import { hasAgent, guestName } from "../core/guest-config.ts"
import { sleep, start, type Routine } from "../core/routine.ts"
import type { Guest, GuestOs } from "../core/state.ts"
import { agentAnswers, networkInterfaces } from "../guest/boot.ts"
import { runCommand } from "../guest/commands.ts"
import { flag, guestOf, optionalText, text, type Call, type Handler, type Routes } from "../http/call.ts"
import { shutDown, turnOff } from "./guest-power.ts"

/** A guest whose agent answers, with its operating system. */
interface Reached {
  readonly guest: Guest
  readonly os: GuestOs
}

/** Finds a guest's agent; the option `agent` only has to be set. If the agent does not answer, the call takes the time of a ping. */
function* reach(call: Call): Routine<Reached> {
  const guest = guestOf(call)
  if (guest.config["agent"] === undefined) throw failure("No QEMU guest agent configured")
  if (guest.status !== "running") throw failure(`VM ${guest.vmid} is not running`)
  if (guest.os === undefined || !hasAgent(guest.config) || !agentAnswers(call.world, guest)) {
    yield* sleep(call.world.clock, call.world.timing.agentPing)
    throw failure("QEMU guest agent is not running")
  }
  return { guest, os: guest.os }
}

/** An agent call whose answer is wrapped in `result`. */
const query =
  (answer: (reached: Reached, call: Call) => unknown): Handler =>
  (call) =>
    (function* (): Routine<unknown> {
      return { result: answer(yield* reach(call), call) }
    })()

const commands =
  "exec exec-status file-read file-write fsfreeze-freeze fsfreeze-status fsfreeze-thaw fstrim get-fsinfo get-host-name get-memory-block-info get-memory-blocks get-osinfo get-time get-timezone get-users get-vcpus info network-get-interfaces ping set-user-password shutdown suspend-disk suspend-hybrid suspend-ram".split(
    " ",
  )

const osInfo = (os: GuestOs) =>
  os.family === "windows"
    ? {
        id: "mswindows",
        name: "Microsoft Windows",
        "pretty-name": os.prettyName,
        version: os.prettyName,
        "version-id": os.version,
        machine: "x86_64",
        "kernel-release": "20348",
        "kernel-version": "10.0",
        variant: "server",
        "variant-id": "server",
      }
    : {
        id: os.id,
        name: os.prettyName,
        "pretty-name": os.prettyName,
        version: os.version,
        "version-id": os.version,
        machine: "x86_64",
        "kernel-release": "6.1.0-21-amd64",
        "kernel-version": "#1 SMP PREEMPT_DYNAMIC",
      }

const info = () => ({
  version: "8.2.2",
  supported_commands: commands.map((name) => ({ name: `guest-${name}`, enabled: true, "success-response": true })),
})

const fsInfo = ({ os }: Reached) => [
  {
    name: os.family === "windows" ? "\\\\?\\Volume{00000000-0000-0000-0000-000000000000}\\" : "sda1",
    mountpoint: os.family === "windows" ? "C:\\" : "/",
    type: os.family === "windows" ? "NTFS" : "ext4",
    disk: [],
    "used-bytes": 4_000_000_000,
    "total-bytes": 20_000_000_000,
  },
]

function* exec(call: Call): Routine<unknown> {
  const { guest } = yield* reach(call)
  const given = call.parameters["command"]
  const command = Array.isArray(given) ? given.map(String) : [String(given)]
  return { pid: runCommand(call.world, guest, command, optionalText(call, "input-data") ?? "").pid }
}

function* execStatus(call: Call): Routine<unknown> {
  const { guest } = yield* reach(call)
  const pid = Number(call.parameters["pid"])
  const found = guest.execs.get(pid)
  if (found === undefined) throw failure(`Agent error: PID ${pid} does not exist`)
  if (!found.exited) return { exited: 0 }
  // the agent returns a result once, and forgets it
  guest.execs.delete(pid)
  return {
    exited: 1,
    exitcode: found.exitcode,
    ...(found.output === "" ? {} : { "out-data": found.output }),
    ...(found.error === "" ? {} : { "err-data": found.error }),
  }
}

function* fileRead(call: Call): Routine<unknown> {
  const { os } = yield* reach(call)
  const path = text(call, "file")
  const content = path === "/etc/hostname" ? `${os.hostname}\n` : Object.hasOwn(os.files, path) ? os.files[path] : undefined
  if (content === undefined) throw failure(`Agent error: failed to open file '${path}' (mode: 'r'): No such file or directory`)
  return { content, "bytes-read": Buffer.byteLength(content) }
}

function* fileWrite(call: Call): Routine<unknown> {
  const { os } = yield* reach(call)
  const content = text(call, "content")
  const encode = call.parameters["encode"] === undefined || flag(call, "encode")
  os.files = { ...os.files, [text(call, "file")]: encode ? content : Buffer.from(content, "base64").toString("utf8") }
  return null
}

function* shutdown(call: Call): Routine<unknown> {
  const { guest } = yield* reach(call)
  const { world } = call
  start(
    shutDown(world, guest, world.timing.shutdownTimeout, false),
    () => undefined,
    () => undefined,
  )
  return { result: {} }
}

/** Suspends the system: it sleeps with its memory until it is resumed, or saves its memory to its own disk and powers off. */
const suspend = (toDisk: boolean): Handler =>
  function* (call: Call): Routine<unknown> {
    const { guest } = yield* reach(call)
    if (toDisk) turnOff(call.world, guest)
    else guest.paused = "asleep"
    return { result: {} }
  }

/** Returns how many file systems were frozen or thawed. */
const freeze = (wanted: boolean): Handler =>
  query(({ guest }) => {
    const changed = (guest.frozen === true) !== wanted
    guest.frozen = wanted
    return changed ? 1 : 0
  })

/** The old form: `POST agent` with the command as a parameter. */
const anyCommand: Handler = (call) => {
  const name = text(call, "command")
  return (
    agentRoutes[`GET /nodes/{node}/qemu/{vmid}/agent/${name}`]?.(call) ??
    agentRoutes[`POST /nodes/{node}/qemu/{vmid}/agent/${name}`]?.(call)
  )
}

const at = (verb: string, name: string): string => `${verb} /nodes/{node}/qemu/{vmid}/agent/${name}`
const empty = query(() => ({}))

/** The guest agent: information about a running guest, and commands in it. */
export const agentRoutes: Routes = {
  "GET /nodes/{node}/qemu/{vmid}/agent": (call) => (guestOf(call), commands.map((name) => ({ name }))),
  "POST /nodes/{node}/qemu/{vmid}/agent": anyCommand,
  [at("POST", "ping")]: empty,
  [at("GET", "info")]: query(info),
  [at("GET", "network-get-interfaces")]: query(({ guest }, call) => networkInterfaces(call.world, guest)),
  [at("GET", "get-osinfo")]: query(({ os }) => osInfo(os)),
  [at("GET", "get-host-name")]: query(({ os, guest }) => ({ "host-name": os.hostname === "" ? guestName(guest) : os.hostname })),
  [at("GET", "get-users")]: query(({ os, guest }) =>
    os.sessions.map((user) => ({ user, "login-time": (guest.startedAt ?? 0) / 1000 })),
  ),
  [at("GET", "get-time")]: query(({ guest }, call) => (call.world.clock.now() - (guest.clockBehind ?? 0)) * 1_000_000),
  [at("GET", "get-timezone")]: query(() => ({ offset: 0, zone: "UTC" })),
  [at("GET", "get-fsinfo")]: query(fsInfo),
  [at("GET", "get-vcpus")]: query(() => [{ "logical-id": 0, online: true, "can-offline": false }]),
  [at("GET", "get-memory-blocks")]: query(() => []),
  [at("GET", "get-memory-block-info")]: query(() => ({ size: 134_217_728 })),
  [at("POST", "fsfreeze-freeze")]: freeze(true),
  [at("POST", "fsfreeze-thaw")]: freeze(false),
  [at("POST", "fsfreeze-status")]: query(({ guest }) => (guest.frozen === true ? "frozen" : "thawed")),
  [at("POST", "fstrim")]: query(() => ({ paths: [] })),
  [at("POST", "set-user-password")]: query(
    ({ os }, call) => (os.users.includes(text(call, "username")) || os.users.push(text(call, "username")), {}),
  ),
  [at("POST", "shutdown")]: shutdown,
  [at("POST", "suspend-ram")]: suspend(false),
  [at("POST", "suspend-hybrid")]: suspend(false),
  [at("POST", "suspend-disk")]: suspend(true),
  [at("POST", "exec")]: exec,
  [at("GET", "exec-status")]: execStatus,
  [at("GET", "file-read")]: fileRead,
  [at("POST", "file-write")]: fileWrite,
}
