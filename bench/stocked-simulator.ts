import { createManualClock, createSimulator, type Simulator } from "@rangewright/pve-simulator"
import { stockedMachines } from "./stock.ts"

/** A simulator with the same machines as the stocked store; `speed` times as fast as real machines. */
export const stockedSimulator = async (speed = 1): Promise<Simulator> => {
  const simulator = createSimulator({ speed })
  simulator.restore(await stockedState())
  return simulator
}

/** Creates them through the API on a manual clock, which takes no time. */
const stockedState = async (): Promise<string> => {
  const clock = createManualClock()
  const simulator = createSimulator({ clock })
  const headers = { authorization: `PVEAPIToken=${simulator.rootToken}`, "content-type": "application/x-www-form-urlencoded" }
  const post = async (path: string, form: Record<string, string> = {}): Promise<void> => {
    const body = new URLSearchParams(form).toString()
    const answer = await simulator.handle({ method: "POST", path: `/api2/json${path}`, headers, body })
    if (answer.status !== 200) throw new Error(`POST ${path}: ${answer.status} ${answer.body}`)
    while (clock.advanceToNext());
  }
  const template = [...simulator.state.guests.values()].find(({ os }) => os?.family === "linux")
  if (template === undefined) throw new Error("the simulator has no Linux template")
  const pools = new Set(stockedMachines.map(({ pool }) => pool ?? ""))
  for (const poolid of pools) await post("/pools", { poolid })
  for (const { vmid, name = "", pool = "", node, power } of stockedMachines) {
    await post(`/nodes/${node}/qemu/${template.vmid}/clone`, { newid: String(vmid), name, pool, full: "0" })
    if (power === "running") await post(`/nodes/${node}/qemu/${vmid}/status/start`)
  }
  return simulator.save()
}
