import { describe, expect, it } from "vitest"
import { isOurNetwork } from "../src/network/mark.ts"
import { foreignChanges, pendingChanges } from "../src/network/pending-diff.ts"

const diff = (...lines: readonly string[]): string =>
  ["--- /etc/network/interfaces\t2026", "+++ /etc/network/interfaces.new\t2026", "@@ -1,9 +1,29 @@", ...lines, ""].join("\n")

const heading = ["+# network interface settings; written by a program", "+# do not edit", "+"]
const ourBridge = ["+auto vmbr1001", "+iface vmbr1001 inet manual", "+\tbridge-ports none", "+#rangewright LAB1", "+"]
const foreign = (text: string): readonly string[] => foreignChanges(text, new Set(["vmbr1001"]), isOurNetwork)

describe("pending edits of a node", () => {
  it("that add our bridge are ours, with the heading that the server writes", () => {
    expect(foreign(diff(...heading, " auto lo", " iface lo inet loopback", " ", ...ourBridge))).toEqual([])
  })

  it("that only move a stanza, or list an idle port, are no edits", () => {
    const moved = [
      "-auto eth1",
      "-iface eth1 inet manual",
      " ",
      "+auto eth1",
      "+iface eth1 inet manual",
      "+iface eth0 inet manual",
    ]
    expect([...pendingChanges(diff(...moved)).keys()]).toEqual([])
  })

  it("of another bridge are named", () => {
    expect(foreign(diff(...ourBridge, "+auto vmbr9", "+iface vmbr9 inet manual", "+\tbridge-ports eno2"))).toEqual(["vmbr9"])
  })

  it("inside another bridge are named by the stanza that contains them", () => {
    expect(foreign(diff(" auto vmbr0", " iface vmbr0 inet static", "-\taddress 10.0.0.2/24", "+\taddress 10.0.0.3/24"))).toEqual([
      "vmbr0",
    ])
  })

  it("whose stanza the diff does not show count as somebody else's", () => {
    expect(foreign(diff(" \tbridge-stp off", "-\tmtu 1500", "+\tmtu 9000"))).toHaveLength(1)
  })

  it("that remove a bridge of ours are ours, also when it is no longer known", () => {
    const removal = ["-auto vmbr1002", "-iface vmbr1002 inet manual", "-\tbridge-ports none", "-#rangewright LAB2"]
    expect(foreign(diff(...removal))).toEqual([])
  })

  it("that remove somebody else's bridge are named", () => {
    expect(foreign(diff("-auto vmbr5", "-iface vmbr5 inet manual", "-\tbridge-ports none", "-#for the printers"))).toEqual([
      "vmbr5",
    ])
  })

  it("there are none in an empty diff", () => {
    expect(foreign("")).toEqual([])
  })
})
