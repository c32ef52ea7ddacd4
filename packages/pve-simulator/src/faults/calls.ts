/** One request with its status; parameters are not kept, because they contain secrets. */
export interface CallRecord {
  /** Simulated milliseconds. */
  readonly at: number
  readonly method: string
  readonly path: string
  /** The schema's path with parameter names; the path itself for an unknown route. */
  readonly route: string
  /** 0 for a dropped connection. */
  readonly status: number
}

/** Numbers of requests. */
export interface CallCounts {
  readonly total: number
  /** POST, PUT and DELETE, without the guest agent and logins. */
  readonly mutating: number
  /** GET, without the guest agent. */
  readonly reads: number
  /** Calls below `/agent/`. */
  readonly agent: number
  /** By `METHOD /path/{param}`. */
  readonly byRoute: Readonly<Record<string, number>>
}

/** Counts and remembers requests, for assertions and statistics. */
export class CallLog {
  #counts = { total: 0, mutating: 0, reads: 0, agent: 0 }
  #byRoute = new Map<string, number>()
  #recent: CallRecord[] = []
  readonly #keep: number

  constructor(keep = 10_000) {
    this.#keep = keep
  }

  add(record: CallRecord): void {
    this.#counts.total += 1
    if (record.route.includes("/agent")) this.#counts.agent += 1
    else if (record.method === "GET") this.#counts.reads += 1
    else if (record.route !== "/access/ticket") this.#counts.mutating += 1
    const key = `${record.method} ${record.route}`
    this.#byRoute.set(key, (this.#byRoute.get(key) ?? 0) + 1)
    this.#recent.push(record)
    if (this.#recent.length > 2 * this.#keep) this.#recent.splice(0, this.#recent.length - this.#keep)
  }

  counts(): CallCounts {
    return { ...this.#counts, byRoute: Object.fromEntries(this.#byRoute) }
  }

  /** The last requests, oldest first. */
  recent(): readonly CallRecord[] {
    return this.#recent.slice(-this.#keep)
  }

  clear(): void {
    this.#counts = { total: 0, mutating: 0, reads: 0, agent: 0 }
    this.#byRoute = new Map()
    this.#recent = []
  }
}
