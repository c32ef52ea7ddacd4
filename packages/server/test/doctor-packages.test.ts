import {
  makeMemoryPackages,
  makeMemoryWorld,
  memoryHypervisorLayer,
  memoryPackagesLayer,
  type MemoryPackages,
} from "@rangewright/adapter-memory"
import type { NodePackage } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { expect, it } from "vitest"
import { ConfigurationError, loadConfig } from "../src/config/config.ts"
import { packagesOf } from "../src/config/node-packages.ts"
import { checkPackages } from "../src/doctor/packages-checks.ts"

const pin = `SHA256:${"a".repeat(43)}`
const environment = {
  RANGEWRIGHT_NODE_PACKAGES_FOLDER: "/srv/packages",
  RANGEWRIGHT_NODE_PACKAGES_KEYS: `ed25519:${"A".repeat(43)}=`,
  RANGEWRIGHT_NODE_PACKAGES_NODES: `pve1=10.0.0.11 ${pin}, pve2=host.example:2222 ${pin}, pve3=[2001:db8::3]:22 ${pin}`,
  RANGEWRIGHT_NODE_PACKAGES_SSH_KEY_FILE: "/etc/key",
}
const problems = (more: object) => {
  try {
    loadConfig({ file: undefined, environment: { ...environment, ...more } })
    return []
  } catch (error) {
    return (error as ConfigurationError).problems
  }
}

it("nodes are named with their host and its key", () => {
  expect(packagesOf(loadConfig({ file: undefined, environment: {} }))).toBeUndefined()
  expect(packagesOf(loadConfig({ file: undefined, environment }))?.nodes).toEqual({
    pve1: { host: "10.0.0.11", port: undefined, hostKey: pin },
    pve2: { host: "host.example", port: 2222, hostKey: pin },
    pve3: { host: "2001:db8::3", port: 22, hostKey: pin },
  })
  expect(problems({ RANGEWRIGHT_NODE_PACKAGES_FOLDER: undefined })).toEqual([expect.stringContaining("set all of them or none")])
  expect(problems({ RANGEWRIGHT_NODE_PACKAGES_FOLDER: "packages" })).toEqual([expect.stringContaining("absolute")])
  expect(problems({ RANGEWRIGHT_NODE_PACKAGES_KEYS: "ed25519:short" })).toEqual([expect.stringContaining("32 bytes")])
  for (const node of [
    "pve1=10.0.0.11",
    `pve1 ${pin}`,
    `pve_1=host ${pin}`,
    `pve1=-oProxyCommand=id ${pin}`,
    `pve1=host SHA256:any`,
  ])
    expect([node, problems({ RANGEWRIGHT_NODE_PACKAGES_NODES: node })]).toEqual([node, [expect.stringContaining("NODE=HOST")]])
  expect(problems({ RANGEWRIGHT_NODE_PACKAGES_NODES: `pve1=a ${pin},pve1=b ${pin}` })).toEqual([expect.stringContaining("twice")])
})

const check = (memory: MemoryPackages) =>
  Effect.runPromise(
    Effect.provide(
      checkPackages,
      Layer.merge(memoryPackagesLayer(memory), memoryHypervisorLayer(makeMemoryWorld(["pve1", "pve2", "pve3"]))),
    ),
  )
const qemu = (version: string): NodePackage => ({ name: "pve-qemu-kvm", version, held: false, settled: true, offered: [version] })

it("doctor looks at the folder, and at each node", async () => {
  expect(await check(makeMemoryPackages())).toEqual([])
  const memory = makeMemoryPackages([
    { for: "1", packages: [{ name: "pve-qemu-kvm", version: "1+lab", architecture: "amd64", bytes: 1, sha256: "0".repeat(64) }] },
  ])
  for (const [name, version] of [
    ["pve1", "1"],
    ["pve2", "2"],
    ["pve4", "1"],
  ] as const)
    memory.nodes.set(name, { architecture: "amd64", packages: [qemu(version)], reachable: name !== "pve4", broken: undefined })
  const found = await check(memory)
  expect(found.map(({ level, detail }) => [level, detail])).toEqual([
    ["ok", "signed for pve-qemu-kvm 1"],
    ["warn", "node_packages_nodes does not name pve3"],
    ["warn", "the cluster has no node pve4"],
    ["ok", "pve1: pve-qemu-kvm 1; patched packages are signed for it"],
    ["warn", "pve2: it has pve-qemu-kvm 2, and the signed packages are built for 1"],
    ["fail", expect.stringContaining("nobody answers")],
  ])
  memory.damaged = "none of the trusted keys signed it"
  expect((await check(memory))[0]).toMatchObject({ level: "fail", detail: expect.stringContaining("trusted keys") })
})
