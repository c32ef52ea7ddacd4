import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import { createSimulator, hostsObstacle, makeRealHosts, realGuests, type RealHost, type RealHosts } from "../src/index.ts"
import { run } from "../src/hosts/command.ts"

const obstacle = await hostsObstacle()
const skipNote = obstacle === undefined ? "" : ` (skipped: ${obstacle})`

describe.skipIf(obstacle !== undefined)(`real hosts${skipNote}`, { timeout: 120_000 }, () => {
  let hosts: RealHosts
  beforeAll(async () => {
    hosts = await makeRealHosts({
      password: "lab",
      outer: { vlan: 1, address: "192.0.2.254/24" },
      accounts: [{ name: "ada", password: "lovelace" }],
    })
  }, 120_000)
  afterAll(() => hosts?.remove(), 120_000)

  const reaches = async (from: RealHost, to: string): Promise<boolean> =>
    (await from.run("python3", "-c", `import socket; socket.create_connection(("${to}", 22), 3)`)).code === 0

  it("reach each other on one VLAN and not on another, and have names, files and processes of their own", async () => {
    const spec = (name: string, vlan: number, octet: number) => ({
      name,
      nics: [{ vlan, mac: `02:00:00:00:00:${octet}`, address: `10.9.9.${octet}/24` }],
    })
    const [a, b, c] = await Promise.all([
      hosts.add(spec("a", 10, 11)),
      hosts.add(spec("b", 10, 12)),
      hosts.add(spec("c", 20, 13)),
    ])
    expect(await reaches(a, "10.9.9.12")).toBe(true)
    expect(await reaches(a, "10.9.9.13")).toBe(false)
    await a.run("sh", "-c", "echo hello > /root/mine")
    expect((await b.run("cat", "/root/mine")).code).not.toBe(0)
    expect((await c.run("hostname")).output).toBe("c\n")
    expect((await c.run("pgrep", "-c", "sshd")).output.trim()).toBe("1")
    // the machine's programs are seen and cannot be changed
    expect((await a.run("touch", "/usr/bin/mine")).code).not.toBe(0)
  })

  it("are the only ones that send on their networks: the switch between them has no addresses", async () => {
    const between = hosts.outside.at(-1)?.replace(/-outside$/u, "-switch") ?? ""
    const shown = JSON.parse((await run("ip", ["-n", between, "-j", "address", "show"])).output) as readonly {
      readonly ifname: string
      readonly addr_info: readonly unknown[]
    }[]
    expect(shown.length).toBeGreaterThan(2)
    expect(shown.filter(({ addr_info: addresses }) => addresses.length > 0)).toEqual([])
  })

  it("let root in over SSH from the service's side", async () => {
    await hosts.add({ name: "outer", nics: [{ vlan: 1, mac: "02:00:00:00:01:01", address: "192.0.2.77/24" }] })
    const [program = "", ...args] = hosts.outside
    const options = [
      "-o",
      "StrictHostKeyChecking=no",
      "-o",
      "UserKnownHostsFile=/dev/null",
      "-o",
      "PreferredAuthentications=password",
    ]
    const login = await run(program, [...args, "sshpass", "-p", "lab", "ssh", ...options, "root@192.0.2.77", "hostname"])
    expect(login.output).toBe("outer\n")
    const wrong = await run(program, [...args, "sshpass", "-p", "other", "ssh", ...options, "root@192.0.2.77", "hostname"])
    expect(wrong.code).not.toBe(0)
  })

  it("let people in who become root with their own password", async () => {
    const nics = [{ vlan: 30, mac: "02:00:00:00:02:09", address: "10.9.8.9/24" }]
    const host = await hosts.add({ name: "people", nics })
    const asAda = (password: string) =>
      host.run("su", "-s", "/bin/sh", "ada", "-c", `echo ${password} | sudo --stdin --prompt '' id --user --name`)
    expect((await asAda("lovelace")).output).toBe("root\n")
    expect((await asAda("other")).code).not.toBe(0)
  })

  it("boot as their files say: addresses, files and services are there again after a stop", async () => {
    const host = await hosts.add({ name: "again", nics: [{ vlan: 30, mac: "02:00:00:00:02:01", address: "10.9.8.100/24" }] })
    const changes = [
      "sed -i s/10.9.8.100/10.9.8.5/ /etc/network/interfaces",
      "printf '#!/bin/sh\\necho $1 >/run/served\\n' >/etc/rc2.d/S50own",
      "chmod +x /etc/rc2.d/S50own",
    ]
    expect((await host.run("sh", "-ec", changes.join("\n"))).errors).toBe("")
    await host.stop()
    await host.start()
    expect(await host.addresses()).toEqual(["10.9.8.5"])
    expect((await host.run("cat", "/run/served")).output).toBe("start\n")
  })

  it("get an address by DHCP, and reach programs outside over a link", async () => {
    const own = await makeRealHosts({
      password: "lab",
      outer: { vlan: 1, address: "192.0.2.254/24", leases: ["192.0.2.50", "192.0.2.51"] },
    })
    try {
      const host = await own.add({ name: "asking", nics: [{ vlan: 1, mac: "02:00:00:00:03:01" }] })
      const told = async () => (await host.run("cat", "/var/log/dhclient.log")).output
      while ((await told()) === "") await new Promise((resolve) => setTimeout(resolve, 50))
      const [address = ""] = await host.addresses()
      expect(["192.0.2.50", "192.0.2.51"]).toContain(address)
      expect(await told()).toBe(`BOUND ${address} from 192.0.2.254\n`)
      expect((await host.run("ip", "route", "show", "default")).output).toContain("via 192.0.2.254")

      const { here, there } = await own.link()
      const server = createServer((socket) => socket.end("here")).listen(0, here)
      await once(server, "listening")
      const { port } = server.address() as AddressInfo
      const ask = `import socket; print(socket.create_connection(("${here}", ${port})).recv(9), socket.gethostname())`
      const [program = "", ...args] = own.outside
      expect((await run(program, [...args, "python3", "-c", ask])).output).toContain("here")
      server.close()
      expect((await run("ip", ["-4", "neigh", "show", there])).output).toContain("lladdr")
    } finally {
      await own.remove()
    }
  })

  /** A simulator with a guest that real hosts stand behind, not started yet. */
  const withGuest = async (vmid: number, tag: number) => {
    const guests = realGuests(hosts)
    const simulator = createSimulator({ speed: 100, backing: guests })
    const call = async (method: string, path: string, body = ""): Promise<unknown> => {
      const headers = {
        authorization: `PVEAPIToken=${simulator.rootToken}`,
        "content-type": "application/x-www-form-urlencoded",
      }
      const answer = await simulator.handle({ method, path: `/api2/json${path}`, headers, body })
      if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${answer.body}`)
      return (JSON.parse(String(answer.body)) as { readonly data: unknown }).data
    }
    const until = async (isSo: () => boolean): Promise<void> => {
      while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 20))
    }
    const template = [...simulator.state.guests.values()].find(({ config }) => config["name"] === "debian-12-x64-server-template")
    await call("POST", `/nodes/pve/qemu/${template?.vmid}/clone`, `newid=${vmid}&name=real`)
    await until(() => simulator.guest(vmid) !== undefined && simulator.guest(vmid)?.config["lock"] === undefined)
    await call("PUT", `/nodes/pve/qemu/${vmid}/config`, `net0=${encodeURIComponent(`virtio,bridge=vmbr0,tag=${tag}`)}`)
    return { guests, simulator, call, until }
  }

  it("are rolled back to the files of a snapshot, or to their template's if the snapshot is older than the host", async () => {
    const { guests, simulator, call, until } = await withGuest(702, 60)
    const snapshots = "/nodes/pve/qemu/702/snapshot"
    const task = async (method: string, path: string, body = ""): Promise<void> => {
      const upid = encodeURIComponent(String(await call(method, path, body)))
      await vi.waitFor(
        async () => expect(await call("GET", `/nodes/pve/tasks/${upid}/status`)).toMatchObject({ exitstatus: "OK" }),
        { timeout: 20_000 },
      )
    }
    const take = (name: string) => task("POST", snapshots, `snapname=${name}`)
    const back = async (name: string) => {
      await task("POST", `${snapshots}/${name}/rollback`, "start=1")
      await until(() => guests.addresses(702) !== undefined)
      return guests.host(702)
    }
    await take("never-booted")
    await call("POST", "/nodes/pve/qemu/702/status/start")
    await until(() => guests.addresses(702) !== undefined)
    const host = await guests.host(702)
    await host.run("sh", "-c", "echo good >/root/file; echo mine >/home/ada/own; chown ada /home/ada/own")
    await take("clean")
    await host.run("sh", "-c", "echo bad >/root/file; touch /root/infected; rm /home/ada/own")

    const clean = await back("clean")
    expect((await clean.run("cat", "/root/file")).output).toBe("good\n")
    expect((await clean.run("stat", "-c", "%U", "/home/ada/own")).output).toBe("ada\n")
    expect((await clean.run("ls", "/root/infected")).code).not.toBe(0)
    await clean.run("touch", "/root/infected")
    expect((await (await back("clean")).run("ls", "/root/infected")).code).not.toBe(0)

    const fresh = await back("never-booted")
    expect((await fresh.run("ls", "/root/file")).code).not.toBe(0)
    await task("DELETE", `${snapshots}/clean`)
    await call("POST", "/nodes/pve/qemu/702/status/stop")
    await until(() => guests.addresses(702) === undefined)
    await call("DELETE", "/nodes/pve/qemu/702")
    await until(() => !existsSync(fresh.root))
    await guests.settled()
    expect(existsSync(`${fresh.root}.kept`)).toBe(false)
    await simulator.close()
  })

  it("are cloned with their files, as they are and as a snapshot has them, also from a template and from a clone that never ran", async () => {
    const { guests, simulator, call, until } = await withGuest(710, 70)
    const task = async (method: string, path: string, body = ""): Promise<void> => {
      const upid = encodeURIComponent(String(await call(method, path, body)))
      await vi.waitFor(
        async () => expect(await call("GET", `/nodes/pve/tasks/${upid}/status`)).toMatchObject({ exitstatus: "OK" }),
        { timeout: 20_000 },
      )
    }
    const started = async (vmid: number) => {
      await call("POST", `/nodes/pve/qemu/${vmid}/status/start`)
      await until(() => guests.addresses(vmid) !== undefined)
      return guests.host(vmid)
    }
    const clone = (from: number, to: number, more = "&full=1") =>
      task("POST", `/nodes/pve/qemu/${from}/clone`, `newid=${to}${more}`)
    const host = await started(710)
    await host.run("sh", "-c", "echo first >/etc/made; echo mine >/home/ada/own; chown ada /home/ada/own")
    await task("POST", "/nodes/pve/qemu/710/snapshot", "snapname=before")
    await host.run("sh", "-c", "echo second >/etc/made")
    await clone(710, 711, "&full=1&snapname=before")
    await task("POST", "/nodes/pve/qemu/710/status/stop")
    await task("DELETE", "/nodes/pve/qemu/710/snapshot/before")
    await task("POST", "/nodes/pve/qemu/710/template")
    await clone(710, 712, "")
    await clone(712, 713)
    await call("DELETE", "/nodes/pve/qemu/712")
    const made = async (vmid: number) => (await (await started(vmid)).run("cat", "/etc/made")).output
    expect([await made(711), await made(713)]).toEqual(["first\n", "second\n"])
    const copy = await guests.host(713)
    expect((await copy.run("stat", "-c", "%U", "/home/ada/own")).output).toBe("ada\n")
    await copy.run("sh", "-c", "echo third >/etc/made")
    expect((await (await guests.host(711)).run("cat", "/etc/made")).output).toBe("first\n")
    await simulator.close()
  })

  it("stand behind the simulator's guests: one that starts is a host with its cards, and its agent tells the host's addresses", async () => {
    const { guests, simulator, call, until } = await withGuest(700, 40)
    await call("POST", "/nodes/pve/qemu/700/status/start")
    await until(() => guests.addresses(700) !== undefined)
    const host = await guests.host(700)
    await host.run("ip", "address", "add", "10.7.40.9/24", "dev", "eth0")
    await until(() => guests.addresses(700)?.some(({ address }) => address === "10.7.40.9") === true)
    expect(JSON.stringify(await call("GET", "/nodes/pve/qemu/700/agent/network-get-interfaces"))).toContain("10.7.40.9")
    await call("POST", "/nodes/pve/qemu/700/status/stop")
    await until(() => guests.addresses(700) === undefined)
    await guests.settled()
    await expect(host.run("true")).rejects.toThrow("does not run")
    await call("PUT", "/nodes/pve/qemu/700/config", `net1=${encodeURIComponent("virtio,bridge=vmbr0,tag=41")}`)
    await call("POST", "/nodes/pve/qemu/700/status/start")
    await until(() => guests.addresses(700) !== undefined)
    expect((await host.run("ip", "link", "show", "eth1")).code).toBe(0)
    await call("POST", "/nodes/pve/qemu/700/status/stop")
    await until(() => guests.addresses(700) === undefined)
    await call("DELETE", "/nodes/pve/qemu/700")
    await until(() => !existsSync(host.root))
    await simulator.close()
  })

  it("are created again for a guest that comes up while it is up", async () => {
    const guests = realGuests(hosts)
    const guest = { vmid: 701, name: "anew", nics: [{ mac: "02:00:00:00:04:01", bridge: "vmbr0", tag: 50 }] }
    guests.up(guest)
    const first = await guests.host(701)
    guests.up(guest)
    const second = await guests.host(701)
    expect(second.root).not.toBe(first.root)
    expect([existsSync(first.root), existsSync(second.root)]).toEqual([false, true])
    guests.gone(701)
    await guests.settled()
    expect(existsSync(second.root)).toBe(false)
    expect(guests.addresses(701)).toBeUndefined()
  })

  it("are installed with answers fetched from the machine's place in the network, and have the accounts named there", async () => {
    const outer = { vlan: 1, address: "192.0.2.254/24", leases: ["192.0.2.50", "192.0.2.60"] } as const
    const own = await makeRealHosts({ password: "lab", outer })
    const folder = mkdtempSync(join(tmpdir(), "answers-"))
    writeFileSync(join(folder, "a.cfg"), "d-i passwd/username string grace\nd-i passwd/user-password password hopper\n")
    const [program = "", ...args] = own.outside
    const server = spawn(program, [...args, "python3", "-um", "http.server", "--directory", folder, "8000"])
    try {
      let log = ""
      server.stdout.on("data", (chunk) => (log += String(chunk)))
      server.stderr.on("data", (chunk) => (log += String(chunk)))
      await vi.waitFor(() => expect(log).toContain("Serving HTTP"), { timeout: 20_000 })
      const guests = realGuests(own)
      const guest = { vmid: 720, name: "fresh", nics: [{ mac: "02:00:00:00:05:01", bridge: "vmbr1000", tag: undefined }] }
      const text = await guests.fetch?.(guest, "http://192.0.2.254:8000/a.cfg")
      expect(text).toContain("string grace")
      expect(log).toMatch(/192\.0\.2\.5\d .* "GET \/a\.cfg HTTP\/1\.1" 200/u)
      await expect(guests.fetch?.(guest, "http://192.0.2.254:8001/a.cfg")).rejects.toThrow("was not fetched")
      guests.up({ ...guest, accounts: [{ name: "grace", password: "hopper" }] })
      const host = await guests.host(720)
      const asGrace = ["su", "-s", "/bin/sh", "grace", "-c", "echo hopper | sudo -S -p '' id -un"] as const
      expect((await host.run(...asGrace)).output).toBe("root\n")
      expect((await host.run("id", "ada")).code).not.toBe(0)
    } finally {
      server.kill("SIGKILL")
      await own.remove()
      rmSync(folder, { recursive: true })
    }
  })

  it("are removed without a trace", async () => {
    const own = await makeRealHosts({ password: "lab", outer: { vlan: 1, address: "192.0.2.254/24" } })
    const host = await own.add({ name: "gone", nics: [{ vlan: 10, mac: "02:00:00:00:00:01" }] })
    const name = own.outside.at(-1) ?? ""
    await own.remove()
    expect(existsSync(host.root)).toBe(false)
    expect((await run("ip", ["netns", "list"])).output).not.toContain(name.replace("-outside", ""))
  })
})
