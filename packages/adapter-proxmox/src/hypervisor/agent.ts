import type { MachineRef, Vmid } from "@rangewright/domain"
import { HypervisorFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { PveClient } from "../client/client.ts"
import { path } from "../client/form.ts"
import { lookUntil } from "../tasks/settlement.ts"
import { list, recordOf, text } from "../wire/read.ts"

/**
 * Waits until the guest agent answers, which ends the boot. A silent guest costs the node 3 s a call (facts c13), so the pauses grow with the
 * time waited. Ends early when the VM is off again.
 */
export const awaitAgent = Effect.fnUntraced(function* (
  client: PveClient,
  node: string,
  ref: MachineRef,
  seconds: number,
): Effect.fn.Return<void, HypervisorFault> {
  const doing = `wait for the guest agent of VM ${ref.vmid} (${ref.mark.machine})`
  const at = path`/nodes/${node}/qemu/${ref.vmid}`
  const ping = client.guest.post(`${at}/agent/ping`, {}, { doing, harmless: true }).pipe(
    Effect.map(() => true as const),
    Effect.catchTag("GuestSilent", () => Effect.succeed(undefined)),
  )
  const stillOn = client
    .get(`${at}/status/current`, {}, { doing })
    .pipe(
      Effect.flatMap((reply) =>
        text(recordOf(reply.data), "status") === "stopped"
          ? Effect.fail(new HypervisorFault({ doing, reason: "failed", detail: "the VM went off while it booted" }))
          : Effect.void,
      ),
    )
  /** The state is asked for now and then only: a guest that boots is on nearly always. */
  let stateChecks = 0
  const look = (waited: number) =>
    Effect.tap(ping, (answered) => {
      if (answered === true || waited < 60 * (stateChecks + 1)) return Effect.void
      stateChecks += 1
      return stillOn
    })
  if ((yield* lookUntil(look, { seconds, fastest: 1, slowest: 10 })) !== undefined) return
  return yield* new HypervisorFault({
    doing,
    reason: "failed",
    detail: `no answer within ${Math.round(seconds / 60)} min`,
    hint: "Look at the VM's console: it may hang while booting, or its template lacks the guest agent.",
  })
})

const usableAddress = (address: string): boolean => {
  const octets = address.split(".").map((part) => (/^\d{1,3}$/u.test(part) ? Number(part) : 256))
  return octets.length === 4 && octets.every((octet) => octet < 256) && !/^(?:0|127|169\.254)\./u.test(address)
}

/** IPv4 addresses of all interfaces, without loopback and link-local; empty while the guest does not answer. */
export const guestAddresses = (client: PveClient, node: string, vmid: Vmid): Effect.Effect<readonly string[], HypervisorFault> =>
  client.guest
    .get(path`/nodes/${node}/qemu/${vmid}/agent/network-get-interfaces`, {}, { doing: `read the addresses of VM ${vmid}` })
    .pipe(
      Effect.map((reply) => {
        const found = list(recordOf(reply.data), "result")
          .slice(0, 64)
          .flatMap((port) => list(port, "ip-addresses").slice(0, 64))
          .flatMap((entry) => text(entry, "ip-address") ?? [])
          .filter(usableAddress)
        return [...new Set(found)]
      }),
      Effect.catchTag("GuestSilent", () => Effect.succeed([])),
    )

/** Names of users that are logged in; undefined when no agent answers. */
export const guestSessions = (
  client: PveClient,
  node: string,
  vmid: Vmid,
): Effect.Effect<readonly string[] | undefined, HypervisorFault> =>
  client.guest.get(path`/nodes/${node}/qemu/${vmid}/agent/get-users`, {}, { doing: `read the sessions of VM ${vmid}` }).pipe(
    Effect.map((reply): readonly string[] | undefined => [
      ...new Set(
        list(recordOf(reply.data), "result")
          .slice(0, 1000)
          .flatMap((row) => text(row, "user") ?? []),
      ),
    ]),
    Effect.catchTag("GuestSilent", () => Effect.succeed(undefined)),
  )
