import { makeMemoryPackages, type MemoryPackageNode, type MemoryPackages } from "@rangewright/adapter-memory"
import { lookAtPackages } from "@rangewright/application"
import type { NodePackage, PackageSet, User } from "@rangewright/domain"
import { RunJournal } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { labSettings } from "../runs/support/lab.ts"
import { makeRangeService, type RangeService } from "./support/range-service.ts"

const sets: readonly PackageSet[] = [
  {
    for: "10.0.2-4",
    packages: [{ name: "pve-qemu-kvm", version: "10.0.2-4+lab1", architecture: "amd64", bytes: 10, sha256: "0".repeat(64) }],
  },
]

const qemu = (version = "10.0.2-4"): NodePackage => ({
  name: "pve-qemu-kvm",
  version,
  held: false,
  settled: true,
  offered: ["10.1.0-1", "10.0.2-4"],
})
const node = (version?: string): MemoryPackageNode => ({
  architecture: "amd64",
  packages: [qemu(version)],
  reachable: true,
  broken: undefined,
})

let packages: MemoryPackages
let service: RangeService
let root: User
/** The hypervisor has these nodes. */
const onHypervisor = (names: readonly string[]): void => {
  const { nodes } = service.lab.world
  const [one] = nodes.values()
  nodes.clear()
  for (const name of names) nodes.set(name, { ...one!, name })
}
const open = async (nodes: Readonly<Record<string, MemoryPackageNode>>) => {
  packages = makeMemoryPackages(sets)
  for (const [name, one] of Object.entries(nodes)) packages.nodes.set(name, one)
  service = makeRangeService(labSettings, packages)
  onHypervisor(Object.keys(nodes))
  root = await service.addUser("Root", { isAdmin: true })
}
beforeEach(() => open({ pve1: node(), pve2: node(), pve3: node() }))
afterEach(() => service.close())

const resultOf = async (id: string, user = root) => (await service.call(id, user)) as { readonly result: unknown }
const install = () => resultOf("antiSandboxInstallCustom")
const restore = () => resultOf("antiSandboxInstallStandard")
const status = async (user = root) =>
  (await resultOf("antiSandboxStatus", user)).result as { readonly status: string; readonly message: string }
const versions = () => [...packages.nodes.values()].map((one) => one.packages.map(({ version, held }) => [version, held]))
const runs = () => service.run(RunJournal.use((journal) => journal.list({ types: ["installation"], limit: 10 })))

describe("without a configuration", () => {
  it.each(["antiSandboxInstallCustom", "antiSandboxInstallStandard"])(
    "%s says what is missing, and starts nothing",
    async (id) => {
      await open({})
      await expect(service.call(id, root)).rejects.toMatchObject({
        kind: "not-found",
        message: expect.stringContaining("does not manage packages on the nodes"),
        hint: expect.stringMatching(/POST \/antisandbox\/enable.*node_packages_folder/su),
      })
      expect(await status()).toEqual({ status: "unknown", message: expect.stringContaining("POST /antisandbox/enable") })
      expect(await runs()).toEqual([])
    },
  )
})

describe("patched packages", () => {
  it("are installed and held node by node, and restored the same way", async () => {
    expect(await install()).toEqual({
      result: expect.stringMatching(/custom packages are installed on pve1, pve2, pve3\. .*shut down and started again/u),
    })
    expect(packages.changes).toEqual(["install pve1", "install pve2", "install pve3"])
    expect(versions()).toEqual([[["10.0.2-4+lab1", true]], [["10.0.2-4+lab1", true]], [["10.0.2-4+lab1", true]]])
    expect(await status()).toMatchObject({ status: "custom" })
    // the same again
    expect(await install()).toEqual({ result: expect.stringContaining("nothing was changed") })
    expect(await restore()).toEqual({ result: expect.stringContaining("standard packages are installed on pve1, pve2, pve3") })
    expect(versions()).toEqual([[["10.0.2-4", false]], [["10.0.2-4", false]], [["10.0.2-4", false]]])
    expect(await status()).toMatchObject({ status: "standard" })
    expect(await restore()).toEqual({ result: expect.stringContaining("nothing was changed") })
    expect(packages.changes).toHaveLength(6)
  })

  it("stop at the first node that fails, which the status shows, and continue from there", async () => {
    packages.nodes.get("pve2")!.broken = "the disk is full"
    await expect(install()).rejects.toMatchObject({ kind: "failed", message: expect.stringContaining("the disk is full") })
    expect(packages.changes).toEqual(["install pve1"])
    const seen = await status()
    expect(seen.status).toBe("mixed")
    expect(seen.message).toMatch(
      /pve1: custom \(pve-qemu-kvm 10\.0\.2-4\+lab1, held\), seen .*\npve2: standard \(.*\npve3: standard \(/u,
    )
    packages.nodes.get("pve2")!.broken = undefined
    expect(await install()).toEqual({ result: expect.stringContaining("installed on pve2, pve3.") })
    expect(packages.changes).toEqual(["install pve1", "install pve2", "install pve3"])
  })

  it("are installed on no node when one is unreachable, has another version, or the folder does not match its signature", async () => {
    packages.nodes.get("pve3")!.reachable = false
    await expect(install()).rejects.toMatchObject({ kind: "unavailable", message: expect.stringContaining("on node pve3") })
    expect(await status()).toMatchObject({ status: "unknown", message: expect.stringContaining("nobody answers") })
    packages.nodes.set("pve3", node("10.1.0-1"))
    packages.nodes.set("pve2", node("9.0.0-1"))
    await expect(install()).rejects.toMatchObject({
      kind: "conflict",
      message: expect.stringMatching(/node pve2: it has pve-qemu-kvm 9\.0\.0-1.*node pve3: it has pve-qemu-kvm 10\.1\.0-1/u),
      hint: expect.stringContaining("exactly the version"),
    })
    packages.damaged = "none of the trusted keys signed it"
    await expect(install()).rejects.toMatchObject({ kind: "failed", message: expect.stringContaining("trusted keys") })
    expect(packages.changes).toEqual([])
    expect(await runs()).toEqual([])
  })

  it("are restored even if the folder is gone or a node is unreachable, which comes last and is reported", async () => {
    await install()
    packages.changes.length = 0
    packages.damaged = "there is no packages.json"
    packages.nodes.get("pve1")!.reachable = false
    await expect(restore()).rejects.toMatchObject({ kind: "failed", message: expect.stringContaining("on node pve1") })
    expect(packages.changes).toEqual(["restore pve2", "restore pve3"])
    // nothing says any more which version they were built for
    expect(versions().slice(1)).toEqual([[["10.1.0-1", false]], [["10.1.0-1", false]]])
  })

  it("have one signature on all nodes: signing the folder anew meanwhile ends the run", async () => {
    packages.changing = (name) => {
      if (name === "pve1") packages.sets = [{ ...sets[0]!, packages: [{ ...sets[0]!.packages[0]!, sha256: "1".repeat(64) }] }]
    }
    await expect(install()).rejects.toMatchObject({
      message: expect.stringContaining("changed since the run began"),
      hint: expect.stringMatching(/^Start again: .*GET \/runs\//u),
    })
    expect(packages.changes).toEqual(["install pve1"])
  })

  it("that apt reported as installed, and are not, count as a failure", async () => {
    packages.changing = () => {
      for (const one of packages.nodes.values()) Object.defineProperty(one, "packages", { get: () => [qemu()], set: () => {} })
    }
    await expect(install()).rejects.toMatchObject({
      kind: "failed",
      message: expect.stringContaining("apt succeeded, but afterwards pve-qemu-kvm 10.0.2-4"),
    })
  })

  it("are changed by one run at a time", async () => {
    let second: Promise<unknown> = Promise.resolve()
    packages.changing = (name) => {
      if (name === "pve2") second = restore().catch((error: unknown) => error)
    }
    await install()
    expect(await second).toMatchObject({ kind: "conflict", message: expect.stringContaining("the QEMU packages of nodes") })
    expect(packages.changes).toEqual(["install pve1", "install pve2", "install pve3"])
  })
})

describe("the status", () => {
  it("is what the last observation found, and asks no node", async () => {
    expect(await status()).toMatchObject({ status: "unknown", message: expect.stringContaining("pve1: not checked yet") })
    await service.run(lookAtPackages)
    expect(await status()).toMatchObject({ status: "standard" })
    // an update of the node
    packages.nodes.set("pve2", node("10.0.2-4+lab1"))
    expect(await status()).toMatchObject({ status: "standard" })
    packages.nodes.get("pve3")!.reachable = false
    await service.run(Effect.asVoid(lookAtPackages))
    expect(await status()).toMatchObject({ status: "mixed", message: expect.stringContaining("pve3: unknown (Cannot look at") })
  })

  it("is unknown where the cluster has nodes that the configuration does not name", async () => {
    onHypervisor(["pve1", "pve2", "pve3", "pve4"])
    await service.run(lookAtPackages)
    expect(await status()).toMatchObject({
      status: "unknown",
      message: expect.stringMatching(/pve4: unknown \(node_packages_nodes/u),
    })
    onHypervisor(["pve1", "pve2", "pve3"])
    await service.run(lookAtPackages)
    expect(await status()).toMatchObject({ status: "standard" })
  })

  it("names nodes and versions only to administrators", async () => {
    await service.run(lookAtPackages)
    const member = await service.addUser("Member")
    const seen = await status(member)
    expect(seen.status).toBe("standard")
    expect(seen.message).not.toMatch(/pve|10\.0/u)
  })
})
