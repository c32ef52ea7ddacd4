export { type Cgroup, type Cgroups, findCgroups, openCgroup, type RunLimits } from "./cgroups.ts"
export { type Dial, dialDirectly } from "./dial.ts"
export { sizeOf, untilLarger } from "./folder-size.ts"
export { limited, type Limits } from "./limited.ts"
export { connectWithin, interruptWithin, portsWithin } from "./inward.ts"
export { memoised } from "./memoised.ts"
export { placesOf, systemPath, traceOf } from "./places.ts"
export { endProcessesBelow } from "./processes.ts"
export {
  keptAddresses,
  type NamedServer,
  nowhere,
  ownAddresses,
  permission,
  type Permission,
  type Reach,
  type Resolve,
  resolveNamed,
  resolvePublic,
  type Surroundings,
} from "./reach.ts"
export { type AskedOver, bytesOf, requestOver } from "./request-over.ts"
export { removeFolder } from "./remove-folder.ts"
export { openRelay, type RelayOptions } from "./relay.ts"
export { type Command, type OutputStream, type ProcessEnd, runCommand, whyItEnded } from "./run-command.ts"
export { gitReachCommand, type LentNetwork, type Mount, reachCommand } from "./sandbox.ts"
export { sandboxAvailability, type SandboxAvailability, type SandboxChoice, sandboxProblem } from "./sandbox-availability.ts"
export { openToolHost, type PreparedRun, prepareRun, type RunOptions, type ToolHost, type ToolOptions } from "./tool-host.ts"
export { makeTurns, type Turns } from "./turns.ts"
