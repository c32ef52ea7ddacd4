import type { ApiCall } from "./door.ts"
import type { Fetched } from "./answers.ts"

const addressesIn = (body: string): readonly string[] => [
  ...new Set([...body.matchAll(/"ip-address"\s*:\s*"(\d+\.\d+\.\d+\.\d+)"/gu)].flatMap(([, address = ""]) => address)),
]

const minutes = (millis: number): string => `${Math.floor(millis / 60_000)} minutes`
const reminderMillis = 5 * 60_000

/**
 * Says what a build waits for. Packer tells nothing of it: it asks for the guest agent again and again, and keeps the refusals to itself.
 */
export const tellWaiting = (say: (line: string) => void, now: () => number = Date.now) => {
  let fetched: Fetched | undefined
  let typed = 0
  let asked = false
  let address = ""
  let since = 0
  let told = 0

  const why = (): string =>
    typed === 0
      ? "it boots"
      : fetched === undefined
        ? "it has not fetched its answers yet. Check on its console whether it is installing; if it waits for an address or for the answers, it cannot reach this host"
        : `it fetched ${fetched.path} from ${fetched.by}, so the installation is running, or has finished and the system has no guest agent`

  return {
    onFetched: (one: Fetched): void => {
      if (fetched?.path !== one.path || fetched.by !== one.by) say(`${one.by} fetches ${one.path}`)
      fetched = one
    },
    onCall: ({ method, path, status, body }: ApiCall): void => {
      if (method === "PUT" && path.endsWith("/sendkey")) typed += 1
      if (status === 403)
        say(`the hypervisor refuses ${method} ${path}: ${/"message"\s*:\s*"([^"]*?)(?:\\n)?"/u.exec(body)?.[1] ?? "no right to"}`)
      const vmid = /\/qemu\/(\d+)\/agent\/network-get-interfaces$/u.exec(path)?.[1]
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
          say(`VM ${vmid} has no guest agent that answers yet: ${why()}`)
        } else if (now() - told >= reminderMillis) {
          told = now()
          say(`VM ${vmid} has had no guest agent that answers for ${minutes(now() - since)}: ${why()}`)
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
