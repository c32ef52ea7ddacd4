export { createManualClock, createRealClock, type Cancel, type ManualClock, type SimClock } from "./core/clock.ts"
export {
  labTemplates,
  readTemplate,
  shippedTemplates,
  TemplateError,
  type TemplateSpec,
  withTemplates,
} from "./core/template-names.ts"
export type { Guest, GuestOs, NodeState, Pool, State, StorageState, TaskRecord } from "./core/state.ts"
export { defaultTiming, type Timing } from "./core/timing.ts"
export type { CallCounts, CallLog, CallRecord } from "./faults/calls.ts"
export type { Fault, FaultPlan, RequestMatch } from "./faults/plan.ts"
export type { BackedGuest, GuestBacking } from "./guest/backing.ts"
export {
  type HostAddress,
  type HostNic,
  hostsObstacle,
  type HostsOptions,
  type HostSpec,
  makeRealHosts,
  type Ran,
  realGuests,
  type RealGuests,
  type RealHost,
  type RealHosts,
} from "./hosts/index.ts"
export { ConnectionReset } from "./http/handle.ts"
export type { SimRequest, SimResponse } from "./http/message.ts"
export { createSimulator, type HttpListener, type ListenOptions, type Simulator, type SimulatorOptions } from "./simulator.ts"
export { qemuObstacle, qemuScreens, type Screens } from "./screen/qemu.ts"
export type { SshListener, SshOptions } from "./ssh/server.ts"
