import { describe, expect, test } from "vitest"
import { roleFacts } from "../src/index.ts"
import { labConfig, labWorld, routerName } from "./plan-lab.ts"
import { inputFor, planned, range } from "./plan-model.ts"

describe("what machines with roles begin with", () => {
  const config = labConfig(
    { ws: { roles: ["agent"], role_vars: { port: 1 } } },
    { router: { roles: ["proxy"], role_vars: { cache: true } }, global_role_vars: { team: "blue" } },
  )

  test("is what each of their roles is given", () => {
    const { steps } = planned(inputFor(labWorld(), config))
    const facts = roleFacts({ range, config })
    expect([...facts.keys()]).toEqual([routerName, "LAB-ws", "LAB-web", "LAB-kali"])
    for (const { action, machine } of steps) {
      if (action.kind !== "guest" || action.stage !== "role") continue
      const { role: _, ...given } = action.input as { readonly role: string }
      expect(facts.get(machine ?? "")).toEqual(given)
    }
    expect(facts.get("LAB-ws")).toMatchObject({ ludus_dc_vm_name: "LAB-dc", vars: { team: "blue", port: 1 } })
  })
})
