import { type Json, packetFilter, parseRangeConfig, renderIptablesRestore } from "@rangewright/domain"
import type { RealHost } from "@rangewright/pve-simulator"
import * as Result from "effect/Result"
import { execFileSync, spawn } from "node:child_process"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Lab, openLab, rangeNumber, routerInput, routerName } from "./support/lab.ts"
import { obstacle, patience, skipNote } from "./support/obstacle.ts"

const config = (network: string): string => `ludus:
  - {vm_name: "{{ range_id }}-web", hostname: web, template: debian-12-x64-server-template, vlan: 10, ip_last_octet: 10, ram_gb: 2, cpus: 2, linux: true}
network: ${network}
`
const client = "198.51.100.4"

/** What the stage of the router's filter is given. */
const firewall = (network: string, isGranted: boolean): Json => {
  const parsed = parseRangeConfig(config(network))
  if (Result.isFailure(parsed)) throw new Error(JSON.stringify(parsed.failure))
  const grants = isGranted ? [{ userId: "bob", userNumber: 4 }] : []
  const filter = packetFilter({ rangeNumber, network: parsed.success.config.network, grants, hostAddresses: [] })
  return { interface: 0, placeholder: "outside", rules: renderIptablesRestore(filter, "outside") ?? "" }
}

/** In the machine: writes what comes over one connection into a file, and says something when it is told to. */
const server = `import os, socket, threading, time
s = socket.create_server(("", 5000))
open("/tmp/heard", "w").close()
c, _ = s.accept()
def listen():
    with open("/tmp/heard", "a") as file:
        while data := c.recv(4096): print(data.decode(), end="", file=file, flush=True)
threading.Thread(target=listen, daemon=True).start()
while not os.path.exists("/tmp/speak"): time.sleep(0.05)
c.sendall(b"from the machine\\n")
time.sleep(3600)`

/** In the VPN: sends the lines that it is given. */
const user = `import socket, sys
c = socket.create_connection(("10.7.10.10", 5000), 20, ("${client}", 0))
for line in sys.stdin: c.sendall(line.encode())`

const until = async (isSo: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 50))
}

describe.skipIf(obstacle !== undefined)(`a grant that is revoked${skipNote(obstacle)}`, { timeout: patience }, () => {
  let lab: Lab
  let router: RealHost
  const load = (network: string, isGranted: boolean) =>
    lab.perform(lab.task(routerName, "firewall", firewall(network, isGranted)))
  const outside = (...command: readonly string[]) => {
    const [program = "", ...args] = [...lab.hosts.outside, ...command]
    execFileSync(program, args)
  }
  /** Packets that the router has not let through. */
  const refused = async (): Promise<number> => {
    const { output } = await router.run("iptables", "-t", "filter", "-L", "-v", "-n", "-x")
    return output
      .split("\n")
      .reduce(
        (sum, line) =>
          sum + (/^\s*(\d+)\s+\d+\s+(?:REJECT|DROP)\b/u.exec(line) === null ? 0 : Number(line.trim().split(/\s+/u)[0])),
        0,
      )
  }

  beforeAll(async () => {
    lab = await openLab()
    await lab.setConfig(config("{}"))
    router = await lab.addRouter([10])
    await lab.addMachine({ name: "LAB-web", vlan: 10, octet: 10 })
    outside("ip", "address", "add", `${client}/32`, "dev", "lo")
    const set = await lab.perform(lab.task(routerName, "router", routerInput))
    expect(set).toMatchObject({ fault: "", ok: true })
  }, patience)
  afterAll(() => lab?.close(), patience)

  for (const [what, network] of [
    ["", "{}"],
    [" although machines may speak to the VPN by themselves", "{wireguard_vlan_default: ACCEPT}"],
  ] as const)
    it(`ends the connections that are open by it${what}`, async () => {
      expect(await load(network, true)).toMatchObject({ fault: "", ok: true })
      const web = lab.host("LAB-web")
      await web.run("rm", "-f", "/tmp/heard", "/tmp/speak")
      const serving = web.run("python3", "-c", server)
      const heard = async () => (await web.run("cat", "/tmp/heard")).output
      await until(async () => (await web.run("test", "-e", "/tmp/heard")).code === 0)
      const [program = "", ...inFront] = lab.hosts.outside
      const speaker = spawn(program, [...inFront, "python3", "-c", user], { stdio: ["pipe", "inherit", "inherit"] })
      speaker.stdin.write("first\n")
      await until(async () => (await heard()) === "first\n")

      expect(await load(network, false)).toMatchObject({ fault: "", ok: true, changed: true })
      await web.run("touch", "/tmp/speak")
      await until(async () => (await refused()) > 0)
      const before = await refused()
      speaker.stdin.write("second\n")
      await until(async () => (await refused()) > before + 1)
      expect(await heard()).toBe("first\n")
      speaker.kill("SIGKILL")
      await web.run("pkill", "-KILL", "-f", "create_server")
      await serving
    })

  it("fails where connections cannot be ended, also when it is tried again, until they can", async () => {
    await router.run("mount", "--bind", "/usr/bin/false", "/usr/sbin/conntrack")
    for (const _ of [1, 2]) {
      const { ok, fault } = await load("{}", true)
      expect(ok).toBe(false)
      expect(fault).toContain("connections that the old rules allowed are still open, because conntrack -F failed")
    }
    await router.run("umount", "/usr/sbin/conntrack")
    expect(await load("{}", true)).toMatchObject({ fault: "", ok: true, changed: true })
    expect(await load("{}", true)).toMatchObject({ fault: "", ok: true, changed: false })
  })

  it("fails where the router has no program to end them and cannot get it, and names the package", async () => {
    // a file that is no program
    await router.run("mount", "--bind", "/etc/hostname", "/usr/sbin/conntrack")
    const { ok, fault } = await load("{}", false)
    expect(ok).toBe(false)
    expect(fault).toContain("the router lacks conntrack, and the packages conntrack cannot be installed")
    await router.run("umount", "/usr/sbin/conntrack")
    expect(await load("{}", false)).toMatchObject({ fault: "", ok: true, changed: true })
  })
})
