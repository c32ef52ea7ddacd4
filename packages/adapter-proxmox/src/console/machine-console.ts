import { readDescription } from "@rangewright/domain"
import { type ConsoleRef, HypervisorFault, MachineConsole } from "@rangewright/ports"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { PveClient } from "../client/client.ts"
import { path } from "../client/form.ts"
import { onItsNode } from "../hypervisor/identity.ts"
import { child, flag, recordOf, text } from "../wire/read.ts"
import { pastSecurity } from "./security.ts"
import { socketChannel } from "./socket-channel.ts"

/** The hypervisor waits ten seconds for a console's viewer; anything longer has failed. */
const patience = "15 seconds"

const privilege = "VM.Console"

export const makeMachineConsole = (client: PveClient): Context.Service.Shape<typeof MachineConsole> => {
  const failure = (doing: string, reason: HypervisorFault["facts"]["reason"], detail: string, hint?: string) =>
    new HypervisorFault({ doing, reason, detail, ...(hint === undefined ? {} : { hint }) })

  /** The node where the machine runs, once it is verified to be the intended one. */
  const running = (machine: ConsoleRef, doing: string) =>
    onItsNode(client, machine, doing, (node) =>
      Effect.gen(function* () {
        const { vmid, range } = machine
        const at = path`/nodes/${node}/qemu/${vmid}`
        const config = recordOf((yield* client.get(`${at}/config`, { current: true }, { doing })).data)
        const name = text(config, "name") ?? "no name"
        if (flag(config, "template"))
          return yield* failure(doing, "not-ours", `VM ${vmid} (${name}) is a template, and has no screen`)
        if (readDescription(text(config, "description") ?? "").mark?.range !== range)
          return yield* failure(doing, "not-ours", `VM ${vmid} (${name}) does not carry the mark of range ${range}`)
        const status = recordOf((yield* client.get(`${at}/status/current`, {}, { doing })).data)
        if (text(status, "status") !== "running")
          return yield* failure(doing, "failed", `VM ${vmid} (${name}) does not run`, "Power it on first.")
        return node
      }),
    )

  const doingFor = ({ vmid }: ConsoleRef): string => `open the console of VM ${vmid}`

  return {
    check: (machine) =>
      Effect.gen(function* () {
        const doing = doingFor(machine)
        yield* running(machine, doing)
        const place = `/vms/${machine.vmid}`
        const held = recordOf((yield* client.get("/access/permissions", { path: place }, { doing })).data)
        if (!Object.hasOwn(child(held, place), privilege))
          return yield* failure(
            doing,
            "forbidden",
            `the service's account lacks ${privilege} on /vms`,
            `Add ${privilege} to its role; docs/guides/install.md lists the commands.`,
          )
      }),
    open: (machine, answer) =>
      Effect.gen(function* () {
        const doing = doingFor(machine)
        const node = yield* running(machine, doing)
        const at = path`/nodes/${node}/qemu/${machine.vmid}`
        // it changes nothing, and a proxy that nobody connects to ends by itself
        const call = { doing, harmless: true }
        const { data, endpoint } = yield* client.post(`${at}/vncproxy`, { websocket: true, "generate-password": true }, call)
        const proxy = recordOf(data)
        const [port, ticket] = [text(proxy, "port"), text(proxy, "ticket")]
        if (port === undefined || ticket === undefined)
          return yield* failure(doing, "failed", "Proxmox gave neither port nor ticket")
        const connect = yield* client.socket(endpoint, `${at}/vncwebsocket`, { port, vncticket: ticket }, call)
        const channel = yield* Effect.mapError(socketChannel(connect), ({ message, hint }) =>
          failure(doing, "failed", message, hint),
        )
        // before 8.0 no password is generated, and the ticket serves as one
        return yield* Effect.mapError(pastSecurity(channel, text(proxy, "password") ?? ticket, answer), (detail) =>
          failure(doing, "failed", detail, "Check that the machine still runs, and try again."),
        )
      }).pipe(
        Effect.timeoutOrElse({
          duration: patience,
          orElse: () => Effect.fail(failure(doingFor(machine), "away", `there was no picture within ${patience}`)),
        }),
      ),
  }
}
