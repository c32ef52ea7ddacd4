import { randomBytes } from "node:crypto"
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { expect } from "vitest"
import type { ApiClient } from "../../e2e/support/client.ts"
import { eventually } from "../../e2e/support/eventually.ts"
import { removeFolders, temporaryFolder } from "../../e2e/support/folder.ts"
import { addUser, deploy, expectSuccess, follow, rangeOf, runEnd, type RunView } from "../../e2e/support/lab.ts"
import { command, endAll } from "../../e2e/support/program.ts"
import { openRealLab, type Ran, type RealLab, run } from "../../e2e/support/real-lab.ts"
import type { Environment, ServiceProcess } from "../../e2e/support/service.ts"
import { openOutsideWorld, type OutsideWorld, programs } from "./outside-world.ts"
import { misleadingNames, type Targets } from "./probes.ts"

/** A user with a range of the same name. */
export interface Tenant {
  readonly id: string
  readonly client: ApiClient
  readonly addRole: (name: string, archive: Buffer) => Promise<void>
  readonly setConfig: (text: string) => Promise<void>
  readonly at: (octet: number) => string
}

/** Two tenants of one service on real hosts, with their surroundings. */
export interface Tenants {
  readonly lab: RealLab
  readonly world: OutsideWorld
  readonly service: () => ServiceProcess
  /** Restarts the service. */
  readonly restart: (more?: Environment) => Promise<void>
  readonly attacker: Tenant
  readonly victim: Tenant
  readonly targets: Targets
  /** Runs a program on the service's host, as its root. */
  readonly onHost: (...words: readonly string[]) => Promise<Ran>
  readonly close: () => Promise<void>
}

const machine = (name: string, octet: number, more = ""): string => `  - vm_name: "{{ range_id }}-${name}"
    hostname: "{{ range_id }}-${name}"
    template: debian-12-x64-server-template
    vlan: 10
    ip_last_octet: ${octet}
    ram_gb: 1
    cpus: 1
    linux: true
${more}`

/** A range of machines in one VLAN, given by their last octets, with further settings for the first one. */
export const rangeOfMachines = (names: readonly string[], ofFirst: object = {}, more: object = {}): string => {
  const lines = Object.entries(ofFirst).map(([key, value]) => `    ${key}: ${JSON.stringify(value)}\n`)
  const rest = Object.entries(more).map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`)
  const machines = names.map((name, at) => machine(name, 11 + at, at === 0 ? lines.join("") : ""))
  return `ludus:\n${machines.join("")}${rest.join("")}`
}

export const openTenants = async (): Promise<Tenants> => {
  // as root, a process that escapes could reach everything that is probed
  const lab = await openRealLab(30, "root")
  const operators = temporaryFolder()
  const world = await openOutsideWorld(lab.id, operators)
  const onHost: Tenants["onHost"] = (...words) => {
    const [program = "", ...before] = lab.place.launcher
    return run(program, ...before, ...words)
  }
  const neighbour = `${lab.id}-neighbour`
  writeFileSync(join(operators, "jump-key"), "the operator's key\n", { mode: 0o600 })
  for (const path of [`/tmp/${neighbour}.txt`, `/dev/shm/${neighbour}`]) writeFileSync(path, "of the host\n")
  const [launcher = "", ...before] = lab.place.launcher
  const beside = command(launcher, [...before, "python3", join(programs, "neighbour.py"), neighbour, operators])
  await beside.says(/ready/u)

  const secret = randomBytes(16).toString("hex")
  // only the service can read it, like every secret in its configuration
  let service = await lab.start({ RANGEWRIGHT_GALAXY_TOKEN: secret })
  const addTenant = async (id: string): Promise<Tenant> => {
    const key = await addUser(service.root, id)
    const second = (await rangeOf(service.as(key), id)).rangeNumber
    return {
      id,
      get client() {
        return service.as(key)
      },
      addRole: async (name, archive) => {
        const form = new FormData()
        form.set("file", new File([new Uint8Array(archive)], `${name}.tar.gz`))
        form.set("force", "true")
        const headers = { "X-API-KEY": key }
        const answer = await fetch(`${service.url}/api/v2/ansible/role/fromtar`, { method: "PUT", headers, body: form })
        expect([answer.status, await answer.text()]).toEqual([201, expect.any(String)])
      },
      setConfig: async (text) => {
        const answer = await service.as(key).upload(`/range/config?rangeID=${id}`, text)
        expect(answer.status, JSON.stringify(answer.body)).toBe(200)
      },
      at: (octet) => `10.${second}.10.${octet}`,
    }
  }
  const attacker = await addTenant("MALLORY")
  const victim = await addTenant("VICTIM")
  const second = victim.at(11).split(".")[1]
  const targets: Targets = {
    machine: victim.at(11),
    routerInside: victim.at(254),
    routerOutside: `192.0.2.${100 + Number(second)}`,
    host: "192.0.2.254",
    service: lab.place.address,
    servicePort: service.port,
    hypervisor: new URL(lab.simulator.url).hostname,
    hypervisorPort: lab.simulator.port,
    pid: service.program.pid,
    data: lab.data,
    victim: victim.id,
    neighbour,
    operators,
    secret,
  }
  await world.name({ ...misleadingNames(targets), "public.example": ["203.0.114.10"] })
  return {
    lab,
    world,
    service: () => service,
    restart: async (more = {}) => {
      await service.crash()
      service = await lab.start({ RANGEWRIGHT_GALAXY_TOKEN: secret, RANGEWRIGHT_PORT: String(targets.servicePort), ...more })
    },
    attacker,
    victim,
    get targets() {
      return { ...targets, pid: service.program.pid }
    },
    onHost,
    close: async () => {
      beside.signal("SIGKILL")
      await world.close()
      lab.simulator.program.signal("SIGTERM")
      await lab.simulator.program.ended
      await endAll()
      removeFolders()
      for (const path of ["/tmp", "/run", "/dev/shm"]) await run("sh", "-c", `rm -f ${path}/${neighbour}*`)
    },
  }
}

/** Deploys a range and waits for its success. */
export const deployed = async ({ client, id }: Tenant): Promise<void> => {
  const runId = await deploy(client, id)
  await follow(client, runId, [])
  await expectSuccess(client, runId)
}

/** Runs the roles of a range again, even if nothing changed; returns the end of the run. */
export const rolesRun = async ({ client, id }: Tenant): Promise<RunView> => {
  const again = { force: true, tags: ["user-defined-roles"] }
  const { runID } = await client.send<{ readonly runID: string }>("POST", `/range/deploy?rangeID=${id}`, again)
  await follow(client, runID, [])
  return runEnd(client, runID)
}

/** Sets this as the only address of a machine; returns when its agent reports it. */
export const wear = async ({ lab }: Tenants, name: string, address: string): Promise<void> => {
  const guest = (await lab.simulator.guests()).find((one) => one.name === name)
  if (guest === undefined) throw new Error(`there is no ${name}`)
  const config = await lab.simulator.read<{ readonly net0: string }>(`/nodes/${guest.node}/qemu/${guest.vmid}/config`)
  const mac = /(?:[0-9A-F]{2}:){5}[0-9A-F]{2}/iu.exec(config.net0)?.[0].toLowerCase() ?? ""
  const namespaces = (await run("ip", "netns", "list")).output.split("\n").map((line) => line.split(" ")[0] ?? "")
  for (const namespace of namespaces.filter((one) => one.startsWith(`${lab.id}-`))) {
    const card = await run("ip", "-n", namespace, "link", "show", "eth0")
    if (!card.output.includes(mac)) continue
    await run("ip", "-n", namespace, "address", "flush", "dev", "eth0")
    await run("ip", "-n", namespace, "address", "add", `${address}/32`, "dev", "eth0")
  }
  await eventually(
    `the address ${address} of ${name}`,
    () => lab.simulator.read(`/nodes/${guest.node}/qemu/${guest.vmid}/agent/network-get-interfaces`),
    (told) => JSON.stringify(told).includes(`"${address}"`),
  )
}

/** Puts files into the service's folder, as installers and earlier runs leave them there. */
export const addFiles = (data: string, folder: string, files: Readonly<Record<string, string>>): void => {
  for (const [path, text] of Object.entries(files)) {
    const file = join(data, folder, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
}
