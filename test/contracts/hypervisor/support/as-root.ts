import type { Simulator } from "@rangewright/pve-simulator"

/** Calls the simulator as its root, without the adapter; returns the body of the answer. */
export const asRoot = async (sim: Simulator, method: string, path: string, form = ""): Promise<string> => {
  const answer = await sim.handle({
    method,
    path: `/api2/json${path}`,
    headers: { authorization: `PVEAPIToken=${sim.rootToken}`, "content-type": "application/x-www-form-urlencoded" },
    ...(form === "" ? {} : { body: form }),
  })
  if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${answer.body}`)
  return answer.body
}
