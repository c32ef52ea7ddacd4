/** Selects the requests that a fault is for; absent members match everything. */
export interface RequestMatch {
  readonly method?: string
  /** A path such as `/nodes/pve1/qemu/100/config`; `*` stands for one segment, `**` for any number. */
  readonly path?: string
  /** Only the n-th matching call (from 1), counted since the fault was added. */
  readonly nth?: number
}

/** When a fault strikes: before the call has its effect, or after. */
export type When = "before" | "after"

/** A fault of a request. */
export type RequestFault =
  /** Answers with this status and text (and a 400 with errors by parameter). */
  | {
      readonly kind: "respond"
      readonly match?: RequestMatch
      readonly when: When
      readonly status: number
      readonly message?: string
      readonly errors?: Readonly<Record<string, string>>
    }
  /** Drops the connection: in-process callers get a rejection with code ECONNRESET. */
  | { readonly kind: "drop"; readonly match?: RequestMatch; readonly when: When }
  /** Answers 200 with a malformed body. */
  | { readonly kind: "garbage"; readonly match?: RequestMatch; readonly when: When; readonly body?: string }
  /** Delays the request by this many simulated milliseconds. */
  | { readonly kind: "delay"; readonly match?: RequestMatch; readonly ms: number }

/** A fault of a task. */
export type TaskFault =
  /** The task ends with this text, before or after its effect. */
  | {
      readonly kind: "fail-task"
      readonly type?: string
      readonly id?: string
      readonly nth?: number
      readonly text: string
      readonly when: When
    }
  /** The task is forgotten: its UPID is unknown. Its work is done only with `after`. */
  | { readonly kind: "vanish-task"; readonly type?: string; readonly id?: string; readonly nth?: number; readonly when: When }

/** A fault inside a guest. */
export type GuestFault =
  /** The agent of a guest (or of all) does not answer. */
  | { readonly kind: "silent-agent"; readonly vmid?: number }
  /** A stage ends with exit code 1 and this text on its error output. */
  | { readonly kind: "fail-stage"; readonly stage?: string; readonly vmid?: number; readonly nth?: number; readonly text: string }

/** A lasting state of the cluster. */
export type ClusterFault =
  /** The node is unreachable, but keeps running. */
  | { readonly kind: "node-down"; readonly node: string }
  /** The node has no power. */
  | { readonly kind: "node-off"; readonly node: string }
  | { readonly kind: "storage-full"; readonly storage: string }
  | { readonly kind: "quorum-lost" }
  /** Reloading a node's network fails with this error. */
  | { readonly kind: "network-reload-fails"; readonly node: string; readonly text: string }

/** A fault, and how often it strikes: by default once; cluster faults and `silent-agent` last until they are removed. */
export type Fault = (RequestFault | TaskFault | GuestFault | ClusterFault) & { readonly times?: number | "always" }

interface Entry {
  readonly id: number
  readonly fault: Fault
  seen: number
  left: number
}

const lasting = new Set(["node-down", "node-off", "storage-full", "quorum-lost", "network-reload-fails", "silent-agent"])

const pathMatches = (pattern: string, path: string): boolean => {
  const wanted = pattern.split("/")
  const given = path.split("/")
  const from = (i: number, j: number): boolean => {
    if (i === wanted.length) return j === given.length
    if (wanted[i] === "**") return from(i + 1, j) || (j < given.length && from(i, j + 1))
    return j < given.length && (wanted[i] === "*" || wanted[i] === given[j]) && from(i + 1, j + 1)
  }
  return from(0, 0)
}

/** The number of the matching call or task that a fault is for; undefined: any. */
const nthOf = (fault: Fault): number | undefined => {
  if ("nth" in fault) return fault.nth
  return "match" in fault ? fault.match?.nth : undefined
}

/** The planned faults. Each strikes as often as it says, in the order in which they were added. */
export class FaultPlan {
  #entries: Entry[] = []
  #next = 1
  #onChange: () => void = () => undefined

  /** Calls back after each change of the plan. */
  onChange(listener: () => void): void {
    this.#onChange = listener
  }

  /** Adds a fault; returns its number. */
  add(fault: Fault): number {
    const times = fault.times ?? (lasting.has(fault.kind) ? "always" : 1)
    const id = this.#next++
    this.#entries.push({ id, fault, seen: 0, left: times === "always" ? Number.POSITIVE_INFINITY : times })
    this.#onChange()
    return id
  }

  /** Removes a fault; false if it is unknown or has struck for the last time. */
  remove(id: number): boolean {
    const before = this.#entries.length
    this.#entries = this.#entries.filter((entry) => entry.id !== id)
    this.#onChange()
    return this.#entries.length < before
  }

  clear(): void {
    this.#entries = []
    this.#onChange()
  }

  /** The faults that can still strike. */
  list(): readonly { readonly id: number; readonly fault: Fault; readonly seen: number; readonly left: number | "always" }[] {
    return this.#entries.map(({ id, fault, seen, left }) => ({ id, fault, seen, left: Number.isFinite(left) ? left : "always" }))
  }

  /** The fault for this request, if one strikes. */
  takeRequestFault(method: string, path: string): RequestFault | undefined {
    if (this.#entries.length === 0) return undefined
    return this.#take((fault): fault is RequestFault & Fault => {
      if (fault.kind !== "respond" && fault.kind !== "drop" && fault.kind !== "garbage" && fault.kind !== "delay") return false
      const { match } = fault
      return (match?.method ?? method) === method && (match?.path === undefined || pathMatches(match.path, path))
    })
  }

  /** The fault for a task that starts now, if one strikes. */
  takeTaskFault(task: { readonly type: string; readonly id: string }): TaskFault | undefined {
    if (this.#entries.length === 0) return undefined
    return this.#take((fault): fault is TaskFault & Fault => {
      if (fault.kind !== "fail-task" && fault.kind !== "vanish-task") return false
      return (fault.type ?? task.type) === task.type && (fault.id ?? task.id) === task.id
    })
  }

  /** The fault for a stage that starts now, if one strikes. */
  takeStageFault(stage: string, vmid: number): Extract<GuestFault, { kind: "fail-stage" }> | undefined {
    if (this.#entries.length === 0) return undefined
    return this.#take(
      (fault): fault is Extract<GuestFault, { kind: "fail-stage" }> & Fault =>
        fault.kind === "fail-stage" && (fault.stage ?? stage) === stage && (fault.vmid ?? vmid) === vmid,
    )
  }

  isNodeDown(node: string): boolean {
    return this.#holds((fault) => (fault.kind === "node-down" || fault.kind === "node-off") && fault.node === node)
  }

  isNodeOff(node: string): boolean {
    return this.#holds((fault) => fault.kind === "node-off" && fault.node === node)
  }

  isStorageFull(storage: string): boolean {
    return this.#holds((fault) => fault.kind === "storage-full" && fault.storage === storage)
  }

  isQuorumLost(): boolean {
    return this.#holds((fault) => fault.kind === "quorum-lost")
  }

  isAgentSilent(vmid: number): boolean {
    return this.#holds((fault) => fault.kind === "silent-agent" && (fault.vmid ?? vmid) === vmid)
  }

  /** The error of the node's network reload that ends now, if it fails. */
  takeReloadComplaint(node: string): string | undefined {
    return this.#take(
      (fault): fault is Extract<ClusterFault, { kind: "network-reload-fails" }> & Fault =>
        fault.kind === "network-reload-fails" && fault.node === node,
    )?.text
  }

  #holds(test: (fault: Fault) => boolean): boolean {
    return this.#entries.some(({ fault }) => test(fault))
  }

  #take<F extends Fault>(matches: (fault: Fault) => fault is F): F | undefined {
    for (const entry of this.#entries) {
      const { fault } = entry
      if (!matches(fault)) continue
      entry.seen += 1
      const nth = nthOf(fault)
      if (nth !== undefined && entry.seen !== nth) continue
      entry.left -= 1
      if (entry.left <= 0 || nth !== undefined) this.remove(entry.id)
      return fault
    }
    return undefined
  }
}
