import { type Routine, sleep } from "./routine.ts"
import type { World } from "./world.ts"

/** Waits until a guest's backing is idle: files of real hosts are copied in real time. */
export function* untilBacked(world: World, vmid: number): Routine<void> {
  while (world.backing?.isBusy(vmid) === true) yield* sleep(world.clock, 1000)
}
