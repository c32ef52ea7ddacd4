import { type HostAction, interfacesFolder } from "@rangewright/domain"
import type { NodeShell, ShellCommand, ShellResult } from "@rangewright/ports"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { observeHost, performHost, proveHost } from "../src/migration/host-actions.ts"

/** A node without addresses, routes and files of ours; some programs end otherwise. */
const shellWith = (ends: Readonly<Record<string, Partial<ShellResult>>>): Context.Service.Shape<typeof NodeShell> => ({
  available: true,
  reaches: () => true,
  run: (_, { program, args }: ShellCommand) => {
    const usual = { exitCode: 0, stdout: program === "ip" && args.includes("-json") ? "[]" : "", stderr: "" }
    return Effect.succeed({ ...usual, ...ends[args.includes("-json") ? "look" : program] })
  },
})

const leave: HostAction = { kind: "leave-host", node: "pve1", device: "vmbr1000", address: "192.0.2.254/24" }
const ending = (shell: ReturnType<typeof shellWith>) =>
  Effect.runPromise(
    Effect.match(Effect.andThen(performHost(shell, leave), proveHost(shell, leave)), {
      onSuccess: () => "done",
      onFailure: ({ message }) => message,
    }),
  )

describe("the network of a node", () => {
  it("that has left a device is proven", async () => expect(await ending(shellWith({}))).toBe("done"))

  it.each([
    [
      "whose addresses cannot be read",
      { look: { exitCode: 1, stdout: "", stderr: "Operation not permitted" } },
      "Operation not permitted",
    ],
    ["whose addresses arrive in part", { look: { stdout: '[{"ifname":"vmbr1000","addr_in' } }, "ip printed something else"],
    ["whose files cannot be listed", { find: { exitCode: 1, stderr: "Input/output error" } }, "Input/output error"],
  ])("%s is not taken for one that has left", async (_, ends, why) => {
    expect(await ending(shellWith(ends))).toContain(why)
    expect(await Effect.runPromise(observeHost(shellWith(ends), "pve1"))).toMatchObject({
      type: "silent",
      because: expect.stringContaining(why) as string,
    })
  })

  it("has no files where there is no folder for them", async () => {
    const shell = shellWith({ find: { exitCode: 1, stderr: `find: '${interfacesFolder}': gone` }, test: { exitCode: 1 } })
    expect(await ending(shell)).toBe("done")
    expect(await Effect.runPromise(observeHost(shell, "pve1"))).toEqual({ type: "seen", addresses: [], routes: [], files: {} })
  })
})
