import { type ChildProcess, spawn } from "node:child_process"
import { accessSync, constants, mkdtempSync, rmSync } from "node:fs"
import { connect, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import type { Duplex } from "node:stream"
import { setTimeout as pause } from "node:timers/promises"

/** A provider of guest screens that replaces the built-in picture. */
export interface Screens {
  /** Opens a connection to a guest's screen, beginning with the RFB greeting. From then on the screen accepts only this password. */
  readonly open: (vmid: number, password: string) => Promise<Duplex>
  /** Called when the guest is off. */
  readonly end: (vmid: number) => void
  readonly close: () => void
}

const program = "/usr/bin/qemu-system-x86_64"
const keeper = "/usr/bin/setpriv"

const isThere = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Why QEMU screens are not available here; undefined if they are. */
export const qemuObstacle = (): string | undefined => {
  const missing = [program, keeper].find((file) => !isThere(file))
  return missing === undefined ? undefined : `${missing} is not there (Debian's packages: qemu-system-x86, util-linux)`
}

/** Milliseconds that QEMU may take until it listens, and between two attempts. */
const patience = 10_000
const every = 20

interface Machine {
  readonly child: ChildProcess
  readonly vnc: string
  readonly qmp: string
  /** Monitor commands are sent one after another. */
  turn: Promise<unknown>
}

/** Connects as soon as QEMU listens. */
const reach = async (path: string, child: ChildProcess): Promise<Socket> => {
  const until = performance.now() + patience
  for (;;) {
    const socket = connect(path)
    const failure = await new Promise<Error | undefined>((resolve) => {
      socket.once("connect", () => resolve(undefined)).once("error", resolve)
    })
    if (failure === undefined) return socket
    if (child.exitCode !== null || performance.now() > until)
      throw new Error(`QEMU gives no screen: ${failure.message}`, { cause: failure })
    await pause(every)
  }
}

/** Sends QEMU one command over its monitor. */
const order = async ({ qmp, child }: Machine, execute: string, parameters: object): Promise<void> => {
  const socket = await reach(qmp, child)
  try {
    const say = (message: object) => socket.write(`${JSON.stringify(message)}\n`)
    // the greeting, the answer to `qmp_capabilities`, and the answer to the command; events may come in between
    let answers = 0
    for await (const line of createInterface({ input: socket })) {
      const said = JSON.parse(line) as {
        readonly QMP?: unknown
        readonly return?: unknown
        readonly error?: { readonly desc: string }
      }
      if (said.error !== undefined) throw new Error(`QEMU refused ${execute}: ${said.error.desc}`)
      if (said.QMP !== undefined) say({ execute: "qmp_capabilities" })
      if (said.return === undefined) continue
      answers += 1
      if (answers === 2) return
      say({ execute, arguments: parameters })
    }
    throw new Error(`QEMU ended before it did ${execute}`)
  } finally {
    socket.destroy()
  }
}

/** QEMU's own screens: a QEMU without a disk for each guest that is viewed, ended when the guest is off or this process ends. */
export const qemuScreens = (): Screens => {
  const folder = mkdtempSync(join(tmpdir(), "pve-screens-"))
  const machines = new Map<number, Machine>()
  const start = (vmid: number): Machine => {
    const [vnc, qmp] = [join(folder, `${vmid}.vnc`), join(folder, `${vmid}.qmp`)]
    const own = ["-name", `VM ${vmid}`, "-accel", "tcg", "-m", "64", "-nodefaults", "-vga", "std", "-display", "none"]
    const doors = ["-vnc", `unix:${vnc},password=on`, "-qmp", `unix:${qmp},server=on,wait=off`]
    const child = spawn(keeper, ["--pdeathsig", "KILL", program, ...own, ...doors], { stdio: "ignore" })
    const machine: Machine = { child, vnc, qmp, turn: Promise.resolve() }
    const gone = () => {
      if (machines.get(vmid) === machine) machines.delete(vmid)
    }
    child.once("exit", gone).once("error", gone)
    machines.set(vmid, machine)
    return machine
  }
  const end = (vmid: number): void => {
    machines.get(vmid)?.child.kill("SIGKILL")
    machines.delete(vmid)
  }
  return {
    open: async (vmid, password) => {
      const machine = machines.get(vmid) ?? start(vmid)
      const ordered = machine.turn.then(() => order(machine, "set_password", { protocol: "vnc", password }))
      machine.turn = ordered.catch(() => undefined)
      await ordered
      return reach(machine.vnc, machine.child)
    },
    end,
    close: () => {
      for (const vmid of machines.keys()) end(vmid)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
