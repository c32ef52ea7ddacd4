import { handlerTransport, proxmoxLayer } from "@rangewright/adapter-proxmox"
import { createManualClock, createSimulator, type Simulator } from "@rangewright/pve-simulator"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { afterEach, describe, expect, test } from "vitest"
import { readFileSync } from "node:fs"
import { loadConfig } from "../src/config/config.ts"
import type { Finding } from "../src/doctor/finding.ts"
import { checkHypervisor } from "../src/doctor/hypervisor-checks.ts"
import { bindHypervisor } from "../src/compose/hypervisor.ts"

const open: { readonly close: () => Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

const config = (more: Record<string, string> = {}) => loadConfig({ file: undefined, environment: more })

const findings = (vmStorage: string, prepare: (simulator: Simulator) => void = () => undefined): Promise<readonly Finding[]> => {
  const simulator = createSimulator()
  prepare(simulator)
  return findingsOf(simulator, { RANGEWRIGHT_PROXMOX_VM_STORAGE_POOL: vmStorage })
}
const findingsOf = (simulator: Simulator, environment: Record<string, string>): Promise<readonly Finding[]> => {
  open.push(simulator)
  const [id = "", secret = ""] = simulator.rootToken.split("=")
  const layer = proxmoxLayer({
    urls: [],
    transport: handlerTransport(simulator.handle),
    auth: { type: "token", id, secret: Redacted.make(secret) },
  })
  return Effect.runPromise(checkHypervisor(config(environment)).pipe(Effect.provide(layer)))
}
const cloneStorage = async (vmStorage: string) => (await findings(vmStorage)).find(({ what }) => what === "clone storage")

describe("the doctor's check of proxmox_vm_storage_pool", () => {
  test("accepts a storage for disk images on every node", async () => {
    expect(await cloneStorage("local-lvm")).toMatchObject({ level: "ok", detail: "local-lvm on pve" })
  })
  test("suggests other storages when there is none with the name", async () => {
    const found = await cloneStorage("local-lmv")
    expect(found).toMatchObject({ level: "fail", detail: "there is no storage local-lmv that the token can see" })
    expect(found?.hint).toContain("(local, local-lvm)")
  })
})

describe("the doctor's check of the clock", () => {
  const clock = async (environment: Record<string, string>) => {
    const simulator = createSimulator({ clock: createManualClock(Date.now() + 600_000) })
    return (await findingsOf(simulator, environment)).find(({ what }) => what === "clock")
  }

  test("warns when the hypervisor's clock differs", async () => {
    const found = await clock({
      RANGEWRIGHT_PROXMOX_URL: "https://pve.example:8006",
      RANGEWRIGHT_PROXMOX_TOKEN_ID: "a@pve!b",
      RANGEWRIGHT_PROXMOX_TOKEN_SECRET: "c",
    })
    expect(found).toMatchObject({ level: "warn", hint: "Set up time synchronisation on both hosts." })
  })
  test("accepts that the built-in simulator's clock runs ahead", async () => {
    expect(await clock({ RANGEWRIGHT_SIMULATOR_SPEED: "20" })).toMatchObject({
      level: "ok",
      detail: "the simulator's, which runs 20 times as fast as a real one",
    })
  })
})

describe("the doctor's check of the routers' outer network", () => {
  const network = async (prepare?: (simulator: Simulator) => void) =>
    (await findings("local-lvm", prepare)).find(({ what }) => what === "network")

  test("accepts a VLAN-aware bridge", async () => {
    expect(await network()).toMatchObject({ level: "ok", detail: "vmbr1000 (bridge, VLAN-aware)" })
  })
  test("fails for a plain bridge, on which no router starts, and says how to change it", async () => {
    const found = await network(({ state }) => delete state.nodes.get("pve")!.interfaces.get("vmbr1000")!["bridge_vlan_aware"])
    expect(found).toMatchObject({ level: "fail", detail: "vmbr1000 (bridge) is not VLAN-aware, so routers do not start on it" })
    expect(found?.hint).toContain("bridge-vlan-aware yes")
  })
  test("says that it has to be VLAN-aware where it is missing", async () => {
    const found = await network(({ state }) => state.nodes.get("pve")!.interfaces.delete("vmbr1000"))
    expect(found?.level).toBe("fail")
    expect(found?.hint).toContain("VLAN-aware")
  })
})

describe("the doctor's check of the token's rights", () => {
  /** Whether nodes may download images for builds. */
  let downloads = false
  afterEach(() => {
    downloads = false
  })
  /** The findings for a token that has the documented role on everything, but for these privileges. */
  const lacking = async (...missing: readonly string[]): Promise<readonly Finding[]> => {
    const simulator = createSimulator()
    open.push(simulator)
    const root = async (method: string, path: string, fields: Readonly<Record<string, string>>) => {
      const headers = { authorization: `PVEAPIToken=${simulator.rootToken}` }
      const body = new URLSearchParams(fields).toString()
      const answer = await simulator.handle({ method, path: `/api2/json${path}`, headers, body })
      expect(answer.status, answer.reason).toBe(200)
      return answer.body
    }
    const guide = new URL("../../../docs/guides/install.md", import.meta.url)
    const role = /--privs "([^"]+)"/u.exec(readFileSync(guide, "utf8"))?.[1] ?? ""
    const privs = role.split(" ").filter((name) => !missing.includes(name))
    await root("POST", "/access/users", { userid: "service@pve" })
    const made = JSON.parse(await root("POST", "/access/users/service@pve/token/own", { privsep: "0" })) as {
      readonly data: { readonly value: string }
    }
    await root("POST", "/access/roles", { roleid: "Service", privs: privs.join(",") })
    await root("PUT", "/access/acl", { path: "/", roles: "Service", users: "service@pve" })
    const layer = proxmoxLayer({
      urls: [],
      transport: handlerTransport(simulator.handle),
      auth: { type: "token", id: "service@pve!own", secret: Redacted.make(made.data.value) },
      builds: { diskStorage: "local-lvm", isoStorage: "local", nodeDownloads: downloads, networks: [] },
    })
    const found = await Effect.runPromise(checkHypervisor(config()).pipe(Effect.provide(layer)))
    return found.filter(({ what }) => what === "rights")
  }

  test("accepts the documented role", async () => {
    expect(await lacking()).toMatchObject([{ level: "ok" }])
  })

  test("names what is missing, and which features that blocks", async () => {
    expect(await lacking("VM.Console", "VM.Snapshot.Rollback", "User.Modify")).toMatchObject([
      { level: "warn", detail: "the token lacks VM.Snapshot.Rollback on /vms, which blocks snapshots and testing mode" },
      { level: "warn", detail: "the token lacks VM.Console on /vms, which blocks consoles" },
      { level: "warn", detail: "the token lacks User.Modify on /access/groups, which blocks accounts of users and their rights" },
      { level: "warn", detail: "the token lacks User.Modify on /access/groups, which blocks builds of templates" },
    ])
  })

  test("names what template builds lack, even if nobody has created their roles", async () => {
    expect(await lacking("Datastore.AllocateTemplate")).toMatchObject([
      { level: "warn", detail: "the token lacks Datastore.AllocateTemplate on /storage, which blocks builds of templates" },
    ])
    const roles = "RangewrightBuild, RangewrightBuildDisks, RangewrightBuildImages"
    expect(await lacking("Sys.Modify")).toContainEqual(
      expect.objectContaining({
        level: "warn",
        detail: `the token lacks Sys.Modify on /access (or the roles ${roles}), which blocks builds of templates`,
      }),
    )
  })

  test("names what anti-sandbox mode lacks, and what nodes need to download images", async () => {
    expect(await lacking("VM.Config.Disk", "Mapping.Use")).toMatchObject([
      {
        level: "warn",
        detail: "the token lacks VM.Config.Disk on /vms, which blocks naming the clones that need a template",
      },
      {
        level: "warn",
        detail:
          "the token lacks Mapping.Use on /mapping/cpu, VM.Config.Disk on /vms, which blocks anti-sandbox mode of processors and disks",
      },
    ])
    expect(await lacking("Permissions.Modify")).not.toContainEqual(
      expect.objectContaining({ detail: expect.stringContaining("on /nodes") as string }),
    )
    downloads = true
    expect(await lacking("Permissions.Modify")).toContainEqual(
      expect.objectContaining({
        level: "warn",
        detail: "the token lacks Permissions.Modify on /nodes, which blocks downloads of images by nodes",
      }),
    )
    expect(await lacking("Sys.Modify")).toContainEqual(
      expect.objectContaining({ detail: expect.stringContaining("RangewrightBuildDownload") as string }),
    )
  })

  test("fails when nothing works without them", async () => {
    expect(await lacking("VM.Clone")).toMatchObject([
      { level: "fail", detail: "the token lacks VM.Clone on /vms, which blocks ranges and their machines" },
    ])
  })
})

/** What the service would find of a hypervisor at this address. */
const told = async (url: string, more: Record<string, string> = {}): Promise<Finding> => {
  const real = config({
    RANGEWRIGHT_PROXMOX_URL: url,
    RANGEWRIGHT_PROXMOX_TOKEN_ID: "root@pam!simulator",
    RANGEWRIGHT_PROXMOX_TOKEN_SECRET: "x",
    ...more,
  })
  const [first] = await Effect.runPromise(checkHypervisor(real).pipe(Effect.provide(bindHypervisor(real, undefined).layer)))
  return first!
}

describe("a hypervisor that cannot be connected to", () => {
  const listening = async (tls: boolean) => {
    const simulator = createSimulator()
    open.push(simulator)
    return simulator.listen({ tls })
  }

  test("says of an untrusted certificate how to trust it", async () => {
    const found = await told((await listening(true)).url)
    expect(found.level).toBe("fail")
    expect(found.hint).toMatch(/proxmox_fingerprint .*openssl x509 .*proxmox_ca_file/u)
  })
  test("names the certificate when it is not the pinned one", async () => {
    const { url, fingerprint } = await listening(true)
    const found = await told(url, { RANGEWRIGHT_PROXMOX_FINGERPRINT: "AA".repeat(32) })
    expect(found.detail).toContain(fingerprint)
    expect(found.hint).toContain("set proxmox_fingerprint")
  })
  test("says https:// where a port without TLS is asked for it, and where one with TLS is asked without", async () => {
    const plain = (await listening(false)).url
    expect((await told(plain.replace("http:", "https:"))).hint).toContain("does not use TLS")
    const secure = (await listening(true)).url
    expect((await told(secure.replace("https:", "http:"))).hint).toContain("write https:// in proxmox_url")
  })
  test("says where nothing listens", async () => {
    const { url, close } = await listening(true)
    await close()
    expect((await told(url)).hint).toContain("Nothing listens there: check host and port of proxmox_url")
  })
})
