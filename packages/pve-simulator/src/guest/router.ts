import type { Nic } from "../core/guest-config.ts"
import type { GuestOs } from "../core/state.ts"

/** The address of the router's leg in a VLAN, from the input of the stage `router`: `legs: [{"vlan": 10, "address": "10.1.10.254/24"}]`. */
export const routerLeg = (os: GuestOs, nic: Nic): { readonly address: string; readonly prefix: number } | undefined => {
  const stage = os.stages["router"]
  if (typeof stage !== "object" || stage === null || !("legs" in stage) || !Array.isArray(stage.legs)) return undefined
  for (const leg of stage.legs as readonly unknown[]) {
    if (typeof leg !== "object" || leg === null || !("vlan" in leg) || !("address" in leg)) continue
    if (Number(leg.vlan) !== nic.tag || typeof leg.address !== "string") continue
    const [address = "", prefix = "24"] = leg.address.split("/")
    return { address, prefix: Number(prefix) }
  }
  return undefined
}
