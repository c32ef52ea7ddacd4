import { expect, test } from "vitest"
import type { Simulator } from "../src/index.ts"
import { expectExplained, instant } from "./support/explained.ts"
import { replay } from "./support/recording.ts"
import { hasReference, whenPresent } from "./support/reference.ts"

const complaint = "vmbr9 : error: vmbr9: bridge port eth9 does not exist "

/** How the recorder's machine was set up, and the bridge that it broke and repaired by hand. */
const edits: Readonly<Record<number, (sim: Simulator) => void>> = {
  0: ({ state }) => {
    const node = state.nodes.get("pve")!
    node.interfaces = new Map<string, Record<string, string | number>>([
      ["eth0", { type: "eth", active: 1, exists: 1, method: "manual" }],
      [
        "vmbr0",
        {
          type: "bridge",
          autostart: 1,
          bridge_ports: "",
          bridge_stp: "off",
          bridge_fd: "0",
          cidr: "10.0.0.2/24",
          address: "10.0.0.2",
          netmask: "24",
          priority: 3,
        },
      ],
    ])
  },
  87: ({ faults }) => void faults.add({ kind: "network-reload-fails", node: "pve", text: complaint }),
  96: ({ faults }) => faults.clear(),
}

/** Every exchange that differs, and why that is right. */
const explained: Readonly<Record<string, readonly number[]>> = {
  "of several users of a zone the first is named; the recorded server's order is random": [60],
  "logs do not repeat that the recorder's machine had no syslog socket": [75, 89, 112],
  "the comparison of interface files shows the edit alone, not the whole file": [119],
  "bridges are up after a reload; the recorder's machine made none": [128],
}

test.skipIf(!hasReference)(
  `recorded edits of SDN and node networks are answered as the recorded server did, except where explained${whenPresent}`,
  async () => {
    const { exchanges, differences } = await replay("oracle_sdn.json", { templates: [], nodes: ["pve"], timing: instant }, edits)
    expect(exchanges).toBe(129)
    expectExplained(differences, explained)
  },
)
