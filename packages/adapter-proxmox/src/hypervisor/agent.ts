import { type GuestSystem, type MachineRef, readGuestSystem, type Vmid } from "@rangewright/domain"
import { HypervisorFault, monotonicMillis } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { PveClient } from "../client/client.ts"
import { path } from "../client/form.ts"
import { type Fields, list, recordOf, text } from "../wire/read.ts"
import { onItsNode } from "./identity.ts"
import type { MachineContext } from "./machine-kind.ts"

export interface AgentWait {
  readonly ref: MachineRef
  /** Guests of one kind boot alike: the OS type in the configuration. */
  readonly kind: string
  /** When it was started, in milliseconds of the monotonic clock. */
  readonly startedAt: number
  readonly seconds: number
}

/** A booting guest is nearly always on, so its state is only queried occasionally. */
const stateEverySeconds = 60

const hint = "Check in Proxmox what turned it off: the VM's task log, and the memory of its node."

/** Waits until the guest agent answers, which ends the boot. Fails early when the VM is off again, so that it can be started once more. */
export const awaitAgent = Effect.fnUntraced(function* (
  { client, identity, bootTimes }: Pick<MachineContext, "client" | "identity" | "bootTimes">,
  { ref, kind, startedAt, seconds }: AgentWait,
): Effect.fn.Return<void, HypervisorFault> {
  const doing = `wait for the guest agent of VM ${ref.vmid} (${ref.mark.machine})`
  const ping = identity.at(ref, doing, ({ node }) =>
    client.guest.post(path`/nodes/${node}/qemu/${ref.vmid}/agent/ping`, {}, { doing, harmless: true }).pipe(
      Effect.as(true),
      Effect.catchTag("GuestSilent", () => Effect.succeed(false)),
    ),
  )
  const stillOn = identity
    .at(ref, doing, ({ node }) => client.get(path`/nodes/${node}/qemu/${ref.vmid}/status/current`, {}, { doing }))
    .pipe(
      Effect.flatMap((reply) =>
        text(recordOf(reply.data), "status") === "stopped"
          ? Effect.fail(new HypervisorFault({ doing, reason: "unknown-effect", detail: "the VM stopped while it booted", hint }))
          : Effect.void,
      ),
    )
  const elapsed = Effect.map(monotonicMillis, (now) => now - startedAt)
  const boot = bootTimes(kind, startedAt)
  const waitForAnswer = Effect.gen(function* () {
    let stateSeenAt = 0
    for (;;) {
      const now = yield* elapsed
      if (now > seconds * 1000) return false
      const due = boot.next() - now
      if (due > 0) {
        yield* Effect.sleep(Math.ceil(Math.min(due, 1000)))
        continue
      }
      if (yield* ping) {
        boot.answered(now)
        return true
      }
      const until = yield* elapsed
      boot.missed(now, until)
      if (until - stateSeenAt < stateEverySeconds * 1000) continue
      stateSeenAt = until
      yield* stillOn
    }
  })
  if (yield* Effect.ensuring(waitForAnswer, Effect.sync(boot.end))) return
  return yield* new HypervisorFault({
    doing,
    reason: "failed",
    detail: `no answer within ${Math.round(seconds / 60)} min`,
    hint: "Check the VM's console: it may hang while booting, or its template lacks the guest agent.",
  })
})

const usableAddress = (address: string): boolean => {
  const octets = address.split(".").map((part) => (/^\d{1,3}$/u.test(part) ? Number(part) : 256))
  return octets.length === 4 && octets.every((octet) => octet < 256) && !/^(?:0|127|169\.254)\./u.test(address)
}

/** The `result` of a guest agent command, on whichever node the VM is; undefined while the guest does not answer. */
const askGuest = (
  client: PveClient,
  machine: Pick<MachineRef, "node" | "vmid">,
  command: string,
  doing: string,
): Effect.Effect<Fields | undefined, HypervisorFault> =>
  onItsNode(client, machine, doing, (node) =>
    client.guest.get(path`/nodes/${node}/qemu/${machine.vmid}/agent/${command}`, {}, { doing }).pipe(
      Effect.map((reply): Fields | undefined => recordOf(reply.data)),
      Effect.catchTag("GuestSilent", () => Effect.succeed(undefined)),
    ),
  )

/** IPv4 addresses of all interfaces, except loopback and link-local; empty while the guest does not answer. */
export const guestAddresses = (client: PveClient, node: string, vmid: Vmid): Effect.Effect<readonly string[], HypervisorFault> =>
  askGuest(client, { node, vmid }, "network-get-interfaces", `read the addresses of VM ${vmid}`).pipe(
    Effect.map((told = {}) => {
      const found = list(told, "result")
        .slice(0, 64)
        .flatMap((port) => list(port, "ip-addresses").slice(0, 64))
        .flatMap((entry) => text(entry, "ip-address") ?? [])
        .filter(usableAddress)
      return [...new Set(found)]
    }),
  )

/** Names of logged-in users; undefined when no agent answers. */
export const guestSessions = (
  client: PveClient,
  node: string,
  vmid: Vmid,
): Effect.Effect<readonly string[] | undefined, HypervisorFault> =>
  askGuest(client, { node, vmid }, "get-users", `read the sessions of VM ${vmid}`).pipe(
    Effect.map(
      (told) =>
        told && [
          ...new Set(
            list(told, "result")
              .slice(0, 1000)
              .flatMap((row) => text(row, "user") ?? []),
          ),
        ],
    ),
  )

/** The operating system as the guest reports it; undefined while it does not answer or reports nothing useful. */
export const guestSystem = (
  client: PveClient,
  node: string,
  vmid: Vmid,
): Effect.Effect<GuestSystem | undefined, HypervisorFault> =>
  askGuest(client, { node, vmid }, "get-osinfo", `read the operating system of VM ${vmid}`).pipe(
    Effect.map((told) => (told === undefined ? undefined : readGuestSystem(recordOf(told["result"])))),
  )
