import { readFileSync } from "node:fs"
import { expect } from "vitest"
import type { ApiClient, StreamEvent } from "./client.ts"
import { eventually } from "./eventually.ts"
import { repository } from "./program.ts"
import type { ServiceProcess } from "./service.ts"
import type { SimulatorProcess } from "./simulator.ts"

export const adLab = readFileSync(`${repository}examples/ad-lab.yml`, "utf8")

/** The VMs of the example, without the range id before their names. */
export const adLabMachines = ["router-debian11-x64", "dc01", "files01", "ws01", "web01", "kali"] as const

/** A range of a few small machines, which deploys quickly. */
export const smallLab = (machines: number): string =>
  [
    "ludus:",
    ...Array.from({ length: machines }, (_, i) =>
      [
        `  - vm_name: "{{ range_id }}-m${i + 1}"`,
        `    hostname: "{{ range_id }}-m${i + 1}"`,
        "    template: debian-12-x64-server-template",
        "    vlan: 10",
        `    ip_last_octet: ${i + 11}`,
        "    ram_gb: 1",
        "    cpus: 1",
        "    linux: true",
      ].join("\n"),
    ),
    "",
  ].join("\n")

export interface RangeView {
  readonly rangeID: string
  readonly rangeNumber: number
  readonly rangeState: string
  readonly awaySince?: string
  readonly VMs: readonly { readonly name: string; readonly proxmoxID: number; readonly ip: string; readonly poweredOn: boolean }[]
}

export interface RunView {
  readonly id: string
  readonly status: string
  readonly message: string
  readonly waiting?: string
  readonly lastEventID: number
  readonly steps: readonly { readonly key: string; readonly phase: string; readonly failure?: { readonly message: string } }[]
}

/** Creates a user, who gets a range of the same name; returns the user's key. */
export const addUser = async (by: ApiClient, userID: string, isAdmin = false): Promise<string> =>
  (
    await by.send<{ readonly apiKey: string }>("POST", "/user", {
      userID,
      name: userID,
      email: `${userID.toLowerCase()}@lab.example`,
      isAdmin,
    })
  ).apiKey

/** Creates a user and gives their range a configuration; returns a client that acts as the user. */
export const addLab = async (service: ServiceProcess, userID: string, config: string, by = service.root): Promise<ApiClient> => {
  const user = service.as(await addUser(by, userID))
  const uploaded = await user.upload(`/range/config?rangeID=${userID}`, config)
  expect(uploaded.status, JSON.stringify(uploaded.body)).toBe(200)
  return user
}

/** Starts a deploy; returns the run's id. */
export const deploy = async (client: ApiClient, rangeId: string): Promise<string> =>
  (await client.send<{ readonly runID: string }>("POST", `/range/deploy?rangeID=${rangeId}`, {})).runID

/** Waits for the end of a run, successful or not. */
export const runEnd = (client: ApiClient, runId: string): Promise<RunView> =>
  eventually(
    `the end of run ${runId}`,
    () => client.get<RunView>(`/runs/${runId}`),
    (run) => run.status !== "running" && run,
  )

/** Waits for the run's success; if it failed, the error says which steps and why. */
export const expectSuccess = async (client: ApiClient, runId: string): Promise<void> => {
  const { status, message, steps } = await runEnd(client, runId)
  const failed = steps.flatMap(({ key, failure }) => (failure === undefined ? [] : [`${key}: ${failure.message}`]))
  expect({ status, failed }, message).toEqual({ status: "success", failed: [] })
}

export const rangeOf = (client: ApiClient, rangeId: string): Promise<RangeView> => client.get(`/range?rangeID=${rangeId}`)

/** Reads a run's events into `seen`, from after the last one, until one matches or the stream ends; true if one matched. */
export const follow = async (
  client: ApiClient,
  runId: string,
  seen: StreamEvent[],
  wanted: (event: StreamEvent) => boolean = () => false,
): Promise<boolean> => {
  for await (const event of client.events(runId, seen.at(-1)?.id ?? 0)) {
    seen.push(event)
    if (wanted(event)) return true
  }
  return false
}

/** No event is missing or repeated, and a reader who reads everything afterwards sees the same. */
export const expectWholeStream = async (client: ApiClient, runId: string, seen: readonly StreamEvent[]): Promise<void> => {
  expect(seen.map(({ id }) => id)).toEqual(seen.map((_, i) => i + 1))
  const again: StreamEvent[] = []
  await follow(client, runId, again)
  expect(seen).toEqual(again)
  expect(seen.at(-1)?.type).toBe("Ended")
}

/** The range has exactly these machines at the hypervisor, each once and running, and the service shows the same. */
export const expectMachines = async (
  simulator: SimulatorProcess,
  client: ApiClient,
  rangeId: string,
  machines: readonly string[],
): Promise<void> => {
  const names = machines.map((machine) => `${rangeId}-${machine}`).toSorted()
  const own = (await simulator.guests()).filter(({ name, pool }) => pool === rangeId || name.startsWith(`${rangeId}-`))
  expect(own.map(({ name }) => name).toSorted()).toEqual(names)
  expect(own.filter(({ pool, status }) => pool !== rangeId || status !== "running")).toEqual([])
  const shown = await rangeOf(client, rangeId)
  expect(shown.VMs.map(({ name, proxmoxID }) => `${proxmoxID} ${name}`).toSorted()).toEqual(
    own.map(({ name, vmid }) => `${vmid} ${name}`).toSorted(),
  )
}
