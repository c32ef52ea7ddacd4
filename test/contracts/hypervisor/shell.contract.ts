import { NodeShell } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { type HypervisorUnderTest, onWorld, type World } from "./support/under-test.ts"

/** The tests that every shell on nodes passes; one without access must say so. */
export const shellContract = (hypervisor: HypervisorUnderTest): void => {
  describe(`${hypervisor.name}: commands on nodes`, () => {
    const promises = (title: string, body: (world: World) => Promise<void>) => it(title, onWorld(hypervisor, body))

    promises("a command ends with its exit code and output, or the shell says that there is none", async (world) => {
      const { available, result } = await world.run(
        NodeShell.use((shell) =>
          Effect.map(Effect.result(shell.run(world.node, { program: "pveversion", args: [] })), (result) => ({
            available: shell.available,
            result,
          })),
        ),
      )
      if (available)
        expect(result).toMatchObject({ success: { exitCode: 0, stdout: expect.stringContaining("pve-manager") as string } })
      else expect(result).toMatchObject({ failure: { _tag: "ShellFault" } })
    })
  })
}
