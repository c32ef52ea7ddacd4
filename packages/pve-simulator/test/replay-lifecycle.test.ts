import { expect, test } from "vitest"
import type { Simulator } from "../src/index.ts"
import { expectExplained, instant } from "./support/explained.ts"
import { replay } from "./support/recording.ts"
import { hasReference, whenPresent } from "./support/reference.ts"

const lock = (name: string | undefined) => (sim: Simulator) => {
  const { config } = sim.guest(100)!
  if (name === undefined) delete config["lock"]
  else config["lock"] = name
}

/** What the recorder wrote into files by hand before the exchange of that number; 0 is how its machine was set up. */
const edits: Readonly<Record<number, (sim: Simulator) => void>> = {
  0: ({ state }) => {
    state.storages.delete("local-lvm")
    state.storages.get("local")!.content.push("rootdir")
    state.pools.clear()
  },
  40: lock("clone"),
  54: lock("snapshot"),
  65: lock("backup"),
  80: lock("migrate"),
  91: lock("create"),
  102: lock("rollback"),
  113: lock("suspended"),
  115: lock(undefined),
}

/** Every exchange that differs, and why that is right. */
const explained: Readonly<Record<string, readonly number[]>> = {
  "qemu-img has its name; the recorder's was called `qemu-img.real`": [211],
  "high availability is managed 0, as the schema wants an object; the recorder had no HA daemon and answered null": [9, 40, 182],
  "nodes and storages are known from the start; the recorder ran no status daemon, so it knew nothing of its node": [15],
  "cloud-init files hold no password hash and no keys: nothing boots from them": [36],
  "a snapshot's configuration hides the password as the current one does; the recorded server shows its hash": [139],
}

test.skipIf(!hasReference)(
  `a recorded VM lifecycle is answered as the recorded server did, except where explained${whenPresent}`,
  async () => {
    const { exchanges, differences } = await replay(
      "oracle_qemu_lifecycle.json",
      { templates: [], nodes: ["pve"], timing: instant },
      edits,
    )
    expect(exchanges).toBe(271)
    expectExplained(differences, explained)
  },
)
