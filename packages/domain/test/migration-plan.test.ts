import { describe, expect, test } from "vitest"
import {
  type Installation,
  type InstallationVnet,
  type MigrationPlan,
  migrationReport,
  migrationStatus,
  planMigration,
  planReturn,
  renderMigration,
  undoMigration,
} from "../src/index.ts"
import { bridge, card, firstGeneration, keysOf, machine, MigrationModel, node, options, range, zone } from "./migration-model.ts"

const plan = (installation: Installation, more: Partial<typeof options> = {}): MigrationPlan =>
  planMigration(installation, { ...options, ...more })
const blockersOf = (installation: Installation, more: Partial<typeof options> = {}): readonly string[] => {
  const { blockers, steps } = plan(installation, more)
  if (blockers.length > 0) expect(steps).toEqual([])
  return blockers.map(({ message }) => message)
}
const vnet = (name: string, more: Partial<InstallationVnet> = {}): InstallationVnet => ({
  name,
  zone: "ludus",
  tag: 1,
  alias: "rangewright LAB1",
  vlanAware: true,
  state: undefined,
  missingOn: [],
  ...more,
})
const nicsNow = (model: MigrationModel, vmid: number): readonly string[] =>
  model.installation.machines.find((m) => m.vmid === vmid)!.nics!.map(({ text }) => text)

describe("a migration from bridges", () => {
  test("saves the record, creates all VNets, applies once, grants, verifies, moves range by range, and removes bridges last", () => {
    const made = plan(firstGeneration())
    expect(made.blockers).toEqual([])
    expect(keysOf(made)).toEqual([
      "save-record",
      "create-vnet:ludusnat",
      "create-vnet:r1",
      "create-vnet:r2",
      "apply-sdn",
      "grant-vnet:ludusnat",
      "grant-vnet:r1",
      "grant-vnet:r2",
      "verify-networks",
      "move:100",
      "move:111",
      "move:110",
      "move:120",
      "verify-machines:pve1",
      "remove-bridge:pve1/vmbr1001",
      "remove-bridge:pve1/vmbr1002",
      "reload-network:pve1",
    ])
  })

  test("gives the outside network the last VXLAN tag and each range the base plus its number", () => {
    const created = plan(firstGeneration(), { vxlanTagBase: 5000 }).steps.flatMap(({ action }) =>
      action.kind === "create-vnet" ? [[action.vnet.name, action.vnet.tag, action.vnet.alias]] : [],
    )
    expect(created).toEqual([
      ["ludusnat", 16_777_215, "rangewright NAT"],
      ["r1", 5001, "rangewright LAB1"],
      ["r2", 5002, "rangewright LAB2"],
    ])
  })

  test("guards a machine by our mark, and one of the first generation by its pool and name", () => {
    const guards = plan(firstGeneration()).steps.flatMap(({ action }) => (action.kind === "move-nics" ? [action.guard] : []))
    expect(guards.at(-1)).toEqual({ type: "mark", mark: { range: "LAB2", machine: "LAB2-kali" } })
    expect(guards[0]).toEqual({ type: "pool", pool: "ADMIN", name: "ADMIN-share" })
  })

  test("changes nothing but the network of a card, and keeps unknown keys", () => {
    const text =
      "model=virtio,macaddr=BC:24:11:AA:BB:CC,bridge=vmbr1001,firewall=1,queues=4,x-odd=bridge:vmbr1001,tag=10,trunks=2;3,link_down=1"
    const model = new MigrationModel(
      firstGeneration({ machines: [machine(110, { pool: "LAB1", nics: [{ nic: "net0", text }] })] }),
    )
    model.apply(plan(model.installation).steps)
    expect(nicsNow(model, 110)).toEqual([text.replace("bridge=vmbr1001", "bridge=r1")])
  })

  test("moves all 32 cards of a machine in one step", () => {
    const nics = Array.from({ length: 32 }, (_, index) => card(index, index === 0 ? "vmbr1000" : "vmbr1001", `tag=${index + 1}`))
    const model = new MigrationModel(firstGeneration({ machines: [machine(110, { pool: "LAB1", nics })] }))
    const made = plan(model.installation)
    expect(keysOf(made).filter((key) => key.startsWith("move:"))).toEqual(["move:110"])
    model.apply(made.steps)
    expect(model.writes).toHaveLength(32)
    expect(nicsNow(model, 110)[31]).toContain("bridge=r1,tag=32")
  })

  test("does not confuse bridges whose names begin alike", () => {
    const made = plan(
      firstGeneration({
        bridges: [bridge("vmbr1001"), bridge("vmbr10010")],
        machines: [machine(110, { pool: "LAB1", nics: [card(0, "vmbr1001"), card(1, "vmbr10010")] })],
      }),
    )
    expect(made.machines.map(({ nics }) => nics.map(({ nic }) => nic))).toEqual([["net0"]])
    expect(keysOf(made)).not.toContain("remove-bridge:pve1/vmbr10010")
  })

  test("has nothing to do on a single node, or once it is done", () => {
    expect(plan(firstGeneration(), { clusterMode: false })).toMatchObject({ idle: "single-node", steps: [] })
    const model = new MigrationModel(firstGeneration())
    model.apply(plan(model.installation).steps)
    expect(plan(model.installation)).toMatchObject({ idle: "done", steps: [], blockers: [] })
  })

  test("keeps a bridge that has an address, ports or somebody else's machine on it, with a warning", () => {
    const made = plan(
      firstGeneration({
        bridges: [bridge("vmbr1000", { address: "192.0.2.254/24" }), bridge("vmbr1001", { ports: ["eno2"] }), bridge("vmbr1002")],
        machines: [machine(900, { name: "guest", pool: "other", nics: [card(0, "vmbr1002")] })],
      }),
    )
    expect(keysOf(made).filter((key) => key.startsWith("remove") || key.startsWith("move"))).toEqual([])
    expect(made.warnings).toContain("the bridge vmbr1000 on node pve1 stays: the node has the address 192.0.2.254/24 on it")
    expect(made.warnings).toContain("the bridge vmbr1001 on node pve1 stays: it has the ports eno2")
    expect(made.warnings).toContain("the bridge vmbr1002 on node pve1 stays: guest (VM 900 on pve1), not ours, is attached to it")
  })

  test("warns of snapshots and templates that refer to an old bridge", () => {
    const made = plan(
      firstGeneration({
        machines: [
          machine(101, { name: "debian", template: true, pool: "SHARED", nics: [card(0, "vmbr1000")] }),
          machine(110, {
            name: "LAB1-dc",
            pool: "LAB1",
            nics: [card(0, "vmbr1001")],
            snapshots: [
              { name: "clean", nics: [card(0, "vmbr1001")] },
              { name: "other", nics: [card(0, "vmbr0")] },
            ],
          }),
        ],
      }),
    )
    expect(made.warnings.find((w) => w.includes("snapshots"))).toMatch(
      /^LAB1-dc \(VM 110 on pve1\) has snapshots .*: clean \(vmbr1001\)\./,
    )
    expect(made.warnings.find((w) => w.includes("template"))).toContain("debian (VM 101 on pve1) names vmbr1000")
  })

  test("warns of packets that are too large for a VNet", () => {
    const made = plan(
      firstGeneration({ machines: [machine(110, { name: "big", pool: "LAB1", nics: [card(0, "vmbr1001", "mtu=9000")] })] }),
    )
    expect(made.warnings).toContain("net0 of big (VM 110 on pve1) has an MTU of 9000, and will not start on a network with 1450")
  })

  test("applies again when a VNet is missing on a node whose reload failed", () => {
    const model = new MigrationModel(firstGeneration())
    model.apply(plan(model.installation).steps)
    model.change({ vnets: model.installation.vnets.map((v) => (v.name === "r1" ? { ...v, missingOn: ["pve2"] } : v)) })
    expect(keysOf(plan(model.installation))).toEqual(["apply-sdn", "verify-networks"])
  })

  test("moves a machine that came back on an old bridge after the migration", () => {
    const model = new MigrationModel(firstGeneration())
    model.apply(plan(model.installation).steps)
    const late = machine(130, { pool: "LAB2", nics: [card(0, "vmbr1002", "tag=7")] })
    model.change({ machines: [...model.installation.machines, late] })
    expect(keysOf(plan(model.installation))).toEqual(["save-record", "verify-networks", "move:130", "verify-machines:pve1"])
    expect(migrationStatus(model.installation, options).needsMigration).toBe(true)
  })
})

describe("the record of a migration", () => {
  test("keeps what an earlier record says about cards that have moved, and adds what is new", () => {
    const model = new MigrationModel(firstGeneration())
    model.apply(plan(model.installation).steps)
    const second = card(1, "vmbr1002", "tag=3")
    model.change({
      machines: model.installation.machines.map((m) => (m.vmid === 110 ? { ...m, nics: [...m.nics!, second] } : m)),
    })
    model.apply(plan(model.installation).steps)
    expect(model.installation.record?.machines.find(({ vmid }) => vmid === 110)?.nics).toEqual([
      card(0, "vmbr1001", "tag=10", "firewall=1"),
      second,
    ])
    expect(model.installation.record?.bridges.map(({ name }) => name)).toEqual(["vmbr1000", "vmbr1001", "vmbr1002"])
    expect(model.installation.record?.madeVnets).toEqual(["ludusnat", "r1", "r2"])
  })
})

describe("a migration does not begin", () => {
  test("without its zone, and names the one to create", () => {
    const made = plan(firstGeneration({ zones: [] }))
    expect(made.blockers).toEqual([
      {
        code: "zone-missing",
        message: "the SDN zone ludus does not exist",
        hint: "On any node: pvesh create /cluster/sdn/zones --type vxlan --zone ludus --peers 10.0.0.1,10.0.0.2 --mtu 1450 && pvesh set /cluster/sdn (or Datacenter > SDN > Zones); or repeat with createZone=true (--create-zone), which creates this zone.",
      },
    ])
    const [, createZone] = plan(firstGeneration({ zones: [] }), { createZone: true }).steps
    expect(createZone?.action).toEqual({
      kind: "create-zone",
      zone: { name: "ludus", peers: ["10.0.0.1", "10.0.0.2"], mtu: 1450 },
    })
    const strange = plan(firstGeneration({ zones: [], nodes: [node("pve1", "10.0.0.1"), node("pve2", undefined)] })).blockers[0]
    expect(strange?.hint).toContain("the addresses of all nodes as peers, which are 10.0.0.1 and those of pve2")
    expect(blockersOf(firstGeneration({ zones: [], nodes: [node("pve1", undefined)] }), { createZone: true })).toEqual([
      "the zone ludus cannot be created: the addresses of the nodes pve1 are not known",
    ])
  })

  test("in a zone of another type, or one that does not span the machines", () => {
    expect(blockersOf(firstGeneration({ zones: [{ ...zone, type: "simple" }] }))).toEqual([
      "the SDN zone ludus has the type simple, but must be VXLAN",
    ])
    expect(blockersOf(firstGeneration({ zones: [{ ...zone, nodes: ["pve2"] }] }))).toEqual([
      "the SDN zone ludus does not include pve1, where machines are",
    ])
  })

  test("over pending SDN changes of others", () => {
    const [found] = blockersOf(
      firstGeneration({
        zones: [zone, { ...zone, name: "mine", state: "new" }],
        vnets: [vnet("office", { zone: "mine", alias: "", tag: 77, state: "changed" })],
        otherPending: ["subnet mine-10.0.0.0-24 is new"],
      }),
    )
    expect(found).toContain("zone mine is new, VNet office is changed, subnet mine-10.0.0.0-24 is new")
  })

  test("over pending network changes of others, also on a node that has no machine", () => {
    const edited = { ...node("pve2", "10.0.0.2"), pending: [{ name: "vmbr7", change: "added" as const }] }
    expect(blockersOf(firstGeneration({ nodes: [node("pve1", "10.0.0.1"), edited] }))[0]).toContain(
      "node pve2 has pending network changes that are not ours (vmbr7 is added)",
    )
  })

  test("while a reload would cut a machine off", () => {
    const edited = { ...node("pve1", "10.0.0.1"), pending: [{ name: "vmbr1001", change: "removed" as const }] }
    expect(blockersOf(firstGeneration({ nodes: [edited] }))[0]).toContain("vmbr1001 is removed")
  })

  test("with a node offline, without quorum or without SDN's packages", () => {
    const nodes = [
      { ...node("pve1", "10.0.0.1"), missingPackages: ["libpve-network-perl"] },
      { ...node("pve2", "10.0.0.2"), online: false },
    ]
    expect(blockersOf(firstGeneration({ quorate: false, nodes }))).toEqual([
      "the cluster has no quorum, so nothing in it can be changed",
      "node pve1 lacks libpve-network-perl, needed to change its networks",
      "node pve2 is offline, but networks change on every node",
    ])
  })

  test("over a VNet with our name that is not ours, which it names and leaves", () => {
    expect(blockersOf(firstGeneration({ vnets: [vnet("r1", { alias: "accounting" })] }))).toEqual([
      'VNet r1 exists in zone ludus with the tag 1 but is not ours: its alias is "accounting"',
    ])
    expect(blockersOf(firstGeneration({ vnets: [vnet("r1", { alias: "rangewright LAB9" })] }))).toHaveLength(1)
  })

  test("over a VNet of ours that is not as required", () => {
    for (const odd of [{ tag: 9 }, { zone: "other" }, { vlanAware: false }, { state: "deleted" as const }])
      expect(blockersOf(firstGeneration({ vnets: [vnet("r1", odd)] }))[0]).toMatch(/^VNet r1 exists in zone/)
  })

  test("over tags and names that are taken", () => {
    expect(blockersOf(firstGeneration({ vnets: [vnet("office", { alias: "", tag: 2 })] }))).toEqual([
      "the VXLAN tag 2 that VNet r2 needs is used by VNet office in zone ludus",
    ])
    expect(blockersOf(firstGeneration({ bridges: [bridge("r1")] }))).toEqual([
      "VNet r1 cannot be created: node pve1 has a bridge with this name",
    ])
    expect(blockersOf(firstGeneration(), { vxlanTagBase: 16_777_213 })).toEqual([
      "range LAB2 would have the VXLAN tag 16777215, which is not between 1 and 16777214",
    ])
  })

  test("with settings that give two networks one name", () => {
    expect(blockersOf(firstGeneration({ machines: [] }), { natBridge: "vmbr1001" })).toEqual([
      "vmbr1001 would be the network of the outside and range LAB1",
    ])
    expect(blockersOf(firstGeneration(), { natVnet: "vmbr1000" })).toEqual([
      "the VNet of the outside network cannot be named vmbr1000",
      "VNet vmbr1000 cannot be created: node pve1 has a bridge with this name",
    ])
  })

  test("with machines that are locked, cannot be read, or are in the wrong pool", () => {
    const found = blockersOf(
      firstGeneration({
        machines: [
          machine(110, { name: "a", pool: "LAB1", lock: "backup", nics: [card(0, "vmbr1001")] }),
          machine(112, { name: "b", pool: "LAB1", nics: undefined }),
          machine(113, {
            name: "c",
            pool: "LAB1",
            description: `{"rangewright":{"range":"LAB2","machine":"c"}}`,
            nics: [card(0, "vmbr1002")],
          }),
        ],
      }),
    )
    expect(found).toEqual([
      "a (VM 110 on pve1) is locked (backup)",
      "the configuration of b (VM 112 on pve1) in the pool LAB1 cannot be read",
      "c (VM 113 on pve1) is in the pool LAB1 and carries the mark of range LAB2",
    ])
  })
})

describe("what is left to do by hand", () => {
  test("is listed while the node has its address on the old bridge", () => {
    const model = new MigrationModel(firstGeneration())
    model.apply(plan(model.installation).steps)
    expect(plan(model.installation).byHand).toHaveLength(3)
    const bridges = model.installation.bridges.map((b) => (b.name === "vmbr1000" ? bridge("vmbr1000") : b))
    expect(plan(firstGeneration({ bridges })).byHand).toEqual([])
  })

  test("is listed for the way back only when the address had been moved", () => {
    const model = new MigrationModel(firstGeneration())
    model.apply(plan(model.installation).steps)
    expect(planReturn(model.installation, options).byHand).toEqual([])
    model.change({ bridges: model.installation.bridges.filter(({ name }) => name !== "vmbr1000") })
    expect(planReturn(model.installation, options).byHand[0]).toMatch(
      /^On node pve1: give vmbr1000 the address 192\.0\.2\.254\/24, route to the ranges through it, and remove the address from ludusnat/u,
    )
  })
})

describe("the way back", () => {
  test("ends with every card, bridge and VNet as it was before", () => {
    const before = firstGeneration()
    const model = new MigrationModel(before)
    model.apply(plan(before).steps)
    expect(keysOf(planReturn(model.installation, options))).toEqual([
      "create-bridge:pve1/vmbr1001",
      "create-bridge:pve1/vmbr1002",
      "reload-network:pve1",
      "verify-networks",
      "move:100",
      "move:111",
      "move:110",
      "move:120",
      "verify-machines:pve1",
      "remove-vnet:ludusnat",
      "remove-vnet:r1",
      "remove-vnet:r2",
      "apply-sdn",
      "drop-record",
    ])
    model.apply(planReturn(model.installation, options).steps)
    expect(model.installation).toEqual(before)
    expect(planReturn(model.installation, options)).toMatchObject({ idle: "done", steps: [] })
  })

  test("removes a zone that a migration created, and leaves one that existed before", () => {
    const model = new MigrationModel(firstGeneration({ zones: [] }))
    model.apply(plan(model.installation, { createZone: true }).steps)
    model.apply(planReturn(model.installation, options).steps)
    expect(model.installation.zones).toEqual([])
  })

  test("includes ranges that were made since", () => {
    const model = new MigrationModel(firstGeneration())
    model.apply(plan(model.installation).steps)
    const fresh = machine(140, { pool: "LAB7", nics: [card(0, "r7", "tag=10")] })
    model.change({
      ranges: [...model.installation.ranges, range(7)],
      vnets: [...model.installation.vnets, vnet("r7", { tag: 7, alias: "rangewright LAB7" })],
      machines: [...model.installation.machines, fresh],
    })
    const back = planReturn(model.installation, options)
    expect(back.blockers).toEqual([])
    model.apply(back.steps)
    expect(nicsNow(model, 140)).toEqual([card(0, "vmbr1007", "tag=10").text])
    expect(model.installation.vnets).toEqual([])
  })

  test("is blocked for machines that are not on the node of their bridge", () => {
    const model = new MigrationModel(firstGeneration())
    model.apply(plan(model.installation).steps)
    model.change({ machines: model.installation.machines.map((m) => (m.vmid === 110 ? { ...m, node: "pve2" } : m)) })
    expect(planReturn(model.installation, options).blockers).toEqual([
      {
        code: "machine-out-of-reach",
        message: "LAB1-dc (VM 110 on pve2) is not on pve1, where the bridge vmbr1001 is",
        hint: "Migrate VM 110 to node pve1 first.",
      },
    ])
  })

  test("names other people's machines on a VNet, and leaves the VNet", () => {
    const model = new MigrationModel(firstGeneration())
    model.apply(plan(model.installation).steps)
    const guest = machine(900, { name: "guest", pool: "other", nics: [card(0, "r1")] })
    model.change({ machines: [...model.installation.machines, guest] })
    const back = planReturn(model.installation, options)
    expect(keysOf(back)).not.toContain("remove-vnet:r1")
    expect(back.warnings.find((w) => w.startsWith("guest (VM 900 on pve1)"))).toContain("is attached to r1")
  })

  test("needs the record of a migration", () => {
    const model = new MigrationModel(firstGeneration())
    model.apply(plan(model.installation).steps)
    model.change({ record: undefined })
    expect(planReturn(model.installation, options).blockers.map(({ code }) => code)).toEqual(["no-record"])
  })
})

describe("undoing what was prepared", () => {
  test("restores the installation, wherever the preparation ended", () => {
    const before = firstGeneration({ zones: [] })
    const made = plan(before, { createZone: true })
    const prepared = made.steps.filter(({ phase }) => phase === "prepare").length
    for (let ended = 0; ended <= prepared; ended++) {
      const model = new MigrationModel(before)
      const begun = new Set(model.apply(made.steps, ended))
      const undo = undoMigration(made.steps, begun, false)
      model.apply(undo ?? [])
      expect(model.installation).toEqual(before)
    }
  })

  test("is refused once a machine has begun to move", () => {
    const made = plan(firstGeneration())
    expect(undoMigration(made.steps, new Set(["save-record", "move:100"]), false)).toBeUndefined()
  })
})

describe("what people read", () => {
  test("is the same text for the command line and an embedder", () => {
    expect(renderMigration(plan(firstGeneration()))).toMatchInlineSnapshot(`
      "Plan to migrate to SDN networking: 3 networks to create, 4 machines to move, 2 networks to remove, about 14 s
          + Create VNet ludusnat with the tag 16777215
          + Create VNet r1 with the tag 1
          + Create VNet r2 with the tag 2
          ~ Grant VNet ludusnat to the users of the outside network
          ~ Grant VNet r1 to the users of LAB1
          ~ Grant VNet r2 to the users of LAB2
          - Remove bridge vmbr1001 from node pve1
          - Remove bridge vmbr1002 from node pve1
      Machines that move:
          ~ ADMIN-share (VM 100 on pve1): net0 vmbr1000 -> ludusnat
          ~ LAB1-router-debian11-x64 (VM 111 on pve1): net0 vmbr1000 -> ludusnat, net1 vmbr1001 -> r1
          ~ LAB1-dc (VM 110 on pve1): net0 vmbr1001 -> r1
          ~ LAB2-kali (VM 120 on pve1): net0 vmbr1002 -> r2
      Before you start:
          ! each running machine briefly loses its network while it moves, and machines of a range may not reach each other for up to 1 s (range LAB1)
          ! the template debian-template (VM 101 on pve1) names vmbr1000: machines that this service creates from it get their own network, manual copies do not
          ! VNets have an MTU of 1450, bridges usually 1500: machines only notice that when they restart, and until then large packets may be lost between nodes
          ! the bridge vmbr1000 on node pve1 stays: the node has the address 192.0.2.254/24 on it
      By hand, afterwards:
          ! On node pve1: give ludusnat the address 192.0.2.254/24, route to the ranges through it, and remove the address from vmbr1000 (System > Network of the node, or /etc/network/interfaces). Until then, routers cannot reach the outside.
          ! On node pve1, as root:
      dd of=/etc/network/interfaces.d/.rangewright-ludusnat conv=fsync status=none <<'END'
      # Written by Rangewright: the outside network's address of this node, and its routes to ranges.
      auto ludusnat
      iface ludusnat inet static
      	address 192.0.2.254/24
      	post-up ip route replace 192.0.2.101/32 dev ludusnat
      	post-up ip route replace 10.1.0.0/16 via 192.0.2.101 dev ludusnat
      	post-up ip route replace 192.0.2.102/32 dev ludusnat
      	post-up ip route replace 10.2.0.0/16 via 192.0.2.102 dev ludusnat
      END
      mv -f /etc/network/interfaces.d/.rangewright-ludusnat /etc/network/interfaces.d/rangewright-ludusnat
      ip address replace 192.0.2.254/24 dev ludusnat
      ip route replace 192.0.2.101/32 dev ludusnat
      ip route replace 10.1.0.0/16 via 192.0.2.101 dev ludusnat
      ip route replace 192.0.2.102/32 dev ludusnat
      ip route replace 10.2.0.0/16 via 192.0.2.102 dev ludusnat
      rm -f /etc/network/interfaces.d/rangewright-vmbr1000
      ip address flush dev vmbr1000 to 192.0.2.254/32
          ! On node pve1: let its DHCP and name service listen on ludusnat.
      "
    `)
    expect(renderMigration(plan(firstGeneration({ zones: [] })))).toMatch(
      /^Cannot migrate to SDN networking: one thing prevents it, and nothing was changed\n {4}x the SDN zone ludus does not exist\n/,
    )
    expect(renderMigration(plan(firstGeneration(), { clusterMode: false }))).toMatch(/^Not in cluster mode/)
  })

  test("is correct while cards are still on old bridges", () => {
    const model = new MigrationModel(firstGeneration())
    const { steps } = plan(model.installation)
    expect(migrationStatus(model.installation, options)).toMatchObject({ needsMigration: true, natVnetExists: false })
    model.apply(steps, steps.length - 6)
    expect(migrationStatus(model.installation, options)).toMatchObject({ needsMigration: true, natVnetExists: true })
    expect(migrationStatus(model.installation, options).message).toMatch(/^\d machines? (?:is|are) on old bridges/)
    model.apply(plan(model.installation).steps)
    expect(migrationStatus(model.installation, options)).toMatchObject({ needsMigration: false })
    const zoneless = migrationStatus(firstGeneration({ zones: [] }), options)
    expect(zoneless).toMatchObject({ needsZone: true, zoneExists: false })
    expect(zoneless.message).toContain("pvesh create /cluster/sdn/zones --type vxlan --zone ludus --peers 10.0.0.1,10.0.0.2")
  })

  test("names the VNets missing on a node that missed an apply, and plans to apply again", () => {
    const model = new MigrationModel(firstGeneration())
    model.apply(plan(model.installation).steps)
    const vnets = model.installation.vnets.map((one) => (one.name === "r1" ? { ...one, missingOn: ["pve2"] } : one))
    const missed = { ...model.installation, vnets }
    expect(migrationStatus(missed, options)).toMatchObject({ needsMigration: true })
    expect(migrationStatus(missed, options).message).toMatch(/^1 VNet has not been applied on pve2 \(r1\)/u)
    expect(keysOf(plan(missed))).toContain("apply-sdn")
  })

  test("somebody else's VNet with a name of ours blocks, even when no machine moves", () => {
    const model = new MigrationModel(firstGeneration())
    model.apply(plan(model.installation).steps)
    const vnets = model.installation.vnets.map((one) => (one.name === "r2" ? { ...one, alias: "theirs" } : one))
    const taken = { ...model.installation, vnets }
    expect(migrationStatus(taken, options).message).toMatch(/^1 VNet is not as required \(r2\)/u)
    expect(blockersOf(taken)[0]).toMatch(/^VNet r2 exists .* but is not ours/u)
  })

  test("reports each machine before and after", () => {
    const model = new MigrationModel(firstGeneration())
    model.apply(plan(model.installation).steps)
    model.change({ machines: model.installation.machines.filter(({ vmid }) => vmid !== 120) })
    const report = migrationReport(model.installation, options)
    expect(report.map(({ vmid, present, nics }) => [vmid, present, nics.map(({ state }) => state)])).toEqual([
      [100, true, ["moved"]],
      [110, true, ["moved"]],
      [111, true, ["moved", "moved"]],
      [120, false, ["gone"]],
    ])
    expect(report[1]?.nics[0]).toEqual({
      nic: "net0",
      before: card(0, "vmbr1001", "tag=10", "firewall=1").text,
      now: card(0, "r1", "tag=10", "firewall=1").text,
      state: "moved",
    })
  })
})
