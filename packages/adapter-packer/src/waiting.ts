import type { ApiCall } from "./door.ts"
import type { Fetched } from "./answers.ts"
import type { MachineState } from "./machine-state.ts"

const addressesIn = (body: string): readonly string[] => [
  ...new Set([...body.matchAll(/"ip-address"\s*:\s*"(\d+\.\d+\.\d+\.\d+)"/gu)].flatMap(([, address = ""]) => address)),
]

const minutes = (millis: number): string => `${Math.floor(millis / 60_000)} minutes`
const clock = (millis: number): string => `${new Date(millis).toISOString().slice(11, 19)} UTC`
const reminderMillis = 5 * 60_000

/** What can be seen of the machine: whether it runs, and whether it has an address. */
const shown = (state: MachineState | undefined): string => {
  if (state === undefined) return "its state cannot be determined"
  if (state.power !== "running") return `it is ${state.power}`
  return state.addresses.length === 0
    ? "it is running, and has not used an address that this host can see"
    : `it is running and uses the address ${state.addresses.join(", ")}`
}

export interface WaitingOptions {
  readonly say: (line: string) => void
  /** Checks the VM from outside. */
  readonly look: (node: string, vmid: string) => Promise<MachineState | undefined>
  readonly now?: () => number
}

/**
 * Reports what a build waits for. Packer itself says nothing: it queries the guest agent again and again, and does not log the failures.
 */
export const tellWaiting = ({ say, look, now = Date.now }: WaitingOptions) => {
  let fetched: (Fetched & { readonly at: number }) | undefined
  let typed = 0
  let asked = false
  let address = ""
  let since = 0
  let told = 0

  const why = (): string =>
    typed === 0
      ? "it is booting"
      : fetched === undefined
        ? "it has not fetched its answers yet. Check on its console whether it is installing; if it waits for an address or for the answers, it cannot reach this host"
        : `${fetched.by} fetched ${fetched.path} at ${clock(fetched.at)}, so the installation is running, or has finished and the system has no guest agent`

  /** Logs it with the machine's state, unless the machine has answered meanwhile. */
  const tell = async (node: string, vmid: string, what: string): Promise<void> => {
    const state = await look(node, vmid)
    if (address === "") say(`VM ${vmid} ${what}: ${shown(state)}; ${why()}`)
  }

  return {
    onFetched: (one: Fetched): void => {
      const at = now()
      if (fetched?.path !== one.path || fetched.by !== one.by) say(`${one.by} fetches ${one.path} (${clock(at)})`)
      fetched = { ...one, at }
    },
    onCall: ({ method, path, status, body }: ApiCall): void => {
      if (method === "PUT" && path.endsWith("/sendkey")) typed += 1
      if (status === 403)
        say(`the hypervisor refuses ${method} ${path}: ${/"message"\s*:\s*"([^"]*?)(?:\\n)?"/u.exec(body)?.[1] ?? "no right to"}`)
      const [, node = "", vmid] = /^\/nodes\/([^/]+)\/qemu\/(\d+)\/agent\/network-get-interfaces$/u.exec(path) ?? []
      if (vmid === undefined) return
      if (status !== 200) {
        if (body.includes("No QEMU guest agent configured") && !asked) {
          asked = true
          since = told = now()
          say(
            `VM ${vmid} is configured without a guest agent, so its address cannot be determined: set qemu_agent in the template`,
          )
        } else if (!asked) {
          asked = true
          since = told = now()
          void tell(node, vmid, "has no responding guest agent yet")
        } else if (now() - told >= reminderMillis) {
          told = now()
          void tell(node, vmid, `has had no responding guest agent for ${minutes(now() - since)}`)
        }
        return
      }
      const seen = addressesIn(body)
        .filter((one) => !one.startsWith("127."))
        .join(", ")
      if (seen === address) return
      address = seen
      say(seen === "" ? `the guest agent of VM ${vmid} answers; it has no address yet` : `VM ${vmid} has the address ${seen}`)
    },
  }
}
