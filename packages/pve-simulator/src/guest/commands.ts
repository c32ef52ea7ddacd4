import type { Exec, Guest, GuestOs } from "../core/state.ts"
import type { World } from "../core/world.ts"
import { addressesOf } from "./addresses.ts"
import { factsOf, runStage } from "./stages.ts"

const finish = (exec: Exec, exitcode: number, output: string, error = ""): void => {
  exec.exited = true
  exec.exitcode = exitcode
  exec.output = output
  exec.error = error
}

/** Output of `ip -j addr`, as far as programs use it. */
const ipAddr = (world: World, guest: Guest): string => {
  const loopback = {
    ifindex: 1,
    ifname: "lo",
    operstate: "UNKNOWN",
    addr_info: [{ family: "inet", local: "127.0.0.1", prefixlen: 8, scope: "host", label: "lo" }],
  }
  const byNic = new Map<number, unknown[]>()
  const links = addressesOf(world, guest).map(({ nic, address, prefix }) => {
    const label = `ens${18 + nic.index}`
    const infos = byNic.get(nic.index) ?? []
    infos.push({ family: "inet", local: address, prefixlen: prefix, scope: "global", label })
    byNic.set(nic.index, infos)
    return { ifindex: nic.index + 2, ifname: label, operstate: "UP", address: nic.mac.toLowerCase(), addr_info: infos }
  })
  return `${JSON.stringify([loopback, ...links])}\n`
}

/** The time to which a command sets the guest's clock, in seconds; undefined for other commands. */
const timeSetBy = (family: GuestOs["family"], command: readonly string[]): number | undefined => {
  const text = command.join(" ")
  const set =
    family === "windows"
      ? /^powershell(?:\.exe)? .*-Command Set-Date .*\.AddSeconds\((?<seconds>\d+)\)/u.exec(text)
      : /^date (?:-u )?-s @(?<seconds>\d+)$/u.exec(text)
  return set === null ? undefined : Number(set.groups?.["seconds"])
}

/**
 * Runs a command in a guest. `guest-stage NAME` (JSON on its input) is the stand-in for what a real machine would run to reach a state, and
 * `guest-facts` prints the recorded state. A few real commands work too; others exit with 127.
 */
export const runCommand = (world: World, guest: Guest, command: readonly string[], input: string): Exec => {
  const exec: Exec = {
    pid: guest.nextExec++,
    command,
    input,
    exited: false,
    exitcode: 0,
    output: "",
    error: "",
    endsAt: undefined,
  }
  guest.execs.set(exec.pid, exec)
  const os = guest.os!
  const [program = "", ...args] = command
  const time = timeSetBy(os.family, command)
  if (program === "guest-stage") {
    if (args.length === 1 && /^[a-z][a-z0-9-]{0,63}$/.test(args[0]!)) runStage(world, guest, exec, args[0]!)
    else finish(exec, 2, "", "usage: guest-stage NAME, with its input as JSON\n")
  } else if (program === "guest-facts") finish(exec, 0, JSON.stringify(factsOf(os)))
  else if (time !== undefined) {
    guest.clockBehind = world.clock.now() - time * 1000
    finish(exec, 0, `${new Date(time * 1000).toUTCString()}\n`)
  } else if (program === "hostname" && args.length === 0) finish(exec, 0, `${os.hostname}\n`)
  else if (program === "whoami") finish(exec, 0, os.family === "windows" ? "nt authority\\system\r\n" : "root\n")
  else if (program === "true") finish(exec, 0, "")
  else if (program === "false") finish(exec, 1, "")
  else if (program === "echo") finish(exec, 0, `${args.join(" ")}\n`)
  else if (program === "cat" && args.length === 0) finish(exec, 0, input)
  else if (os.family === "linux" && command.join(" ") === "ip -j addr") finish(exec, 0, ipAddr(world, guest))
  else finish(exec, 127, "", `${program}: not found\n`)
  return exec
}
