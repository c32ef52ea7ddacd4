import { handlerTransport, proxmoxLayer } from "@rangewright/adapter-proxmox"
import { Hypervisor, NodeShell } from "@rangewright/ports"
import { createSimulator } from "@rangewright/pve-simulator"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { describe, expect, it } from "vitest"
import { consoleContract } from "./console.contract.ts"
import { hypervisorContracts } from "./contracts.ts"
import { tokenAuth, worldOf } from "./support/rig.ts"
import { type HypervisorUnderTest, reasonOf, type World } from "./support/under-test.ts"

/** A command on a node may take a minute of simulated time, which is one second on a busy machine. */
const speed = 60

/** The adapter over HTTPS with a pinned certificate, and over SSH with a pinned host key; logged in by password. */
const overSockets = async () => {
  const sim = createSimulator({ speed })
  const [https, ssh] = await Promise.all([sim.listen(), sim.ssh()])
  const options = {
    urls: [https.url],
    auth: { type: "password", username: "root@pam", password: Redacted.make(sim.rootPassword) },
    tls: { fingerprint: https.fingerprint },
    timeScale: speed,
    ssh: {
      username: "root",
      auth: { password: Redacted.make(sim.rootPassword) },
      nodes: { pve: { host: ssh.host, port: ssh.port, hostKey: ssh.hostKey } },
    },
  } as const
  const world = (): World => {
    const layer = proxmoxLayer(options)
    return {
      ...worldOf(sim),
      run: (effect) => Effect.runPromise(Effect.provide(effect, layer, { local: true })),
      restarted: world,
      close: () => sim.close(),
    }
  }
  return { sim, https, ssh, options, world }
}

/** The adapter over a simulator in this process, in real time. */
const inOneProcess = (): World => {
  const sim = createSimulator({ speed })
  const layer = proxmoxLayer({
    urls: [],
    auth: tokenAuth(sim.rootToken),
    transport: handlerTransport(sim.handle, sim.connect),
    timeScale: speed,
  })
  return {
    ...worldOf(sim),
    run: (effect) => Effect.runPromise(Effect.provide(effect, layer, { local: true })),
    restarted: inOneProcess,
    close: () => sim.close(),
  }
}

const sockets: HypervisorUnderTest = { name: "Proxmox over HTTPS and SSH", make: async () => (await overSockets()).world() }
// each test has a world of its own, and waits more than it works
describe.concurrent("in real time", () => {
  hypervisorContracts(sockets)
  // viewers need real time, which the other rigs do not have
  consoleContract(sockets)
  consoleContract({ name: "Proxmox in one process", make: async () => inOneProcess() })
})

const observe = Hypervisor.use((h) => h.observe)

describe("trust", () => {
  it("a certificate other than the pinned one gets no request, and the fault names it", async () => {
    const { sim, https, options } = await overSockets()
    const layer = proxmoxLayer({ ...options, auth: tokenAuth(sim.rootToken), tls: { fingerprint: "AB".repeat(32) } })
    const fault = await Effect.runPromise(Effect.flip(Effect.provide(observe, layer)))
    expect(fault.facts.reason).toBe("away")
    expect(fault.message).toContain(https.fingerprint ?? "no fingerprint")
    expect(sim.calls.counts().total).toBe(0)
    await sim.close()
  })

  it("a certificate of an unknown authority gets no request", async () => {
    const { sim, options } = await overSockets()
    const layer = proxmoxLayer({ ...options, auth: tokenAuth(sim.rootToken), tls: {} })
    expect(await Effect.runPromise(reasonOf(Effect.provide(observe, layer)))).toBe("away")
    expect(sim.calls.counts().total).toBe(0)
    await sim.close()
  })

  it("a host key other than the pinned one gets no password, and the fault names it", async () => {
    const { sim, ssh, options } = await overSockets()
    const nodes = { pve: { ...options.ssh.nodes.pve, hostKey: "SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" } }
    const layer = proxmoxLayer({ ...options, ssh: { ...options.ssh, nodes } })
    const run = NodeShell.use((shell) => shell.run("pve", { program: "pveversion", args: [] }))
    const fault = await Effect.runPromise(Effect.flip(Effect.provide(run, layer)))
    expect(fault.message).toContain(ssh.hostKey)
    await sim.close()
  })
})

describe("several URLs", () => {
  it("the next node is used when one cannot be reached", async () => {
    const { sim, https, options } = await overSockets()
    const layer = proxmoxLayer({ ...options, auth: tokenAuth(sim.rootToken), urls: ["https://127.0.0.1:9", https.url] })
    expect((await Effect.runPromise(Effect.provide(observe, layer))).nodes).toHaveLength(1)
    await sim.close()
  })

  it("each may have a certificate of its own, and any of the pinned ones is accepted", async () => {
    const [gone, { sim, https, options }] = [await overSockets(), await overSockets()]
    await gone.sim.close()
    const fingerprint = [gone.https, https].map((one) => one.fingerprint ?? "")
    const layer = proxmoxLayer({
      ...options,
      auth: tokenAuth(sim.rootToken),
      urls: [gone.https.url, https.url],
      tls: { fingerprint },
    })
    expect((await Effect.runPromise(Effect.provide(observe, layer))).nodes).toHaveLength(1)
    const stranger = proxmoxLayer({ ...options, urls: [https.url], tls: { fingerprint: [gone.https.fingerprint ?? ""] } })
    expect(await Effect.runPromise(reasonOf(Effect.provide(observe, stranger)))).toBe("away")
    await sim.close()
  })

  it("if none can be reached, the fault is `away` and says why", async () => {
    const { sim, options } = await overSockets()
    await sim.close()
    const layer = proxmoxLayer({ ...options, auth: tokenAuth(sim.rootToken) })
    const fault = await Effect.runPromise(Effect.flip(Effect.provide(observe, layer)))
    expect(fault.facts.reason).toBe("away")
    expect(fault.message).toContain("ECONNREFUSED")
  })
})

describe("the shell", () => {
  it("passes each word to the program unchanged, whatever a shell would make of it", async () => {
    const { sim, world } = await overSockets()
    const shell = world()
    const result = await shell.run(
      NodeShell.use((nodes) => nodes.run("pve", { program: "no such; pveversion", args: ["$(pveversion)", "'", "a b"] })),
    )
    expect(result.exitCode).toBe(127)
    expect(result.stdout).not.toContain("pve-manager")
    await sim.close()
  })

  it("fails for a node without SSH access, naming it", async () => {
    const { sim, world } = await overSockets()
    const fault = await world().run(Effect.flip(NodeShell.use((nodes) => nodes.run("elsewhere", { program: "true", args: [] }))))
    expect(fault.message).toContain("elsewhere")
    await sim.close()
  })

  it("uses a new connection if the server closed the idle one", async () => {
    const { sim, ssh, options } = await overSockets()
    const nodes = { pve: { ...options.ssh.nodes.pve } }
    const version = Effect.result(NodeShell.use((shell) => shell.run("pve", { program: "pveversion", args: [] })))
    const body = Effect.gen(function* () {
      const first = yield* version
      yield* Effect.promise(() => ssh.close())
      // refused, or lost before: a failure either way, which does not crash the caller
      const closed = yield* version
      const again = yield* Effect.promise(() => sim.ssh())
      Object.assign(nodes.pve, { port: again.port, hostKey: again.hostKey })
      return [first, closed, yield* version]
    })
    const layer = proxmoxLayer({ ...options, ssh: { ...options.ssh, nodes } })
    expect(await Effect.runPromise(Effect.provide(body, layer))).toMatchObject([
      { success: { exitCode: 0 } },
      { failure: { _tag: "ShellFault" } },
      { success: { exitCode: 0 } },
    ])
    await sim.close()
  })

  it("twenty commands at once all end", async () => {
    const { sim, world } = await overSockets()
    const results = await world().run(
      NodeShell.use((nodes) =>
        Effect.forEach(
          Array.from({ length: 20 }, (_, n) => n),
          () => nodes.run("pve", { program: "pveversion", args: [] }),
          { concurrency: "unbounded" },
        ),
      ),
    )
    expect(results.map(({ exitCode }) => exitCode)).toEqual(Array.from({ length: 20 }, () => 0))
    await sim.close()
  })
})
