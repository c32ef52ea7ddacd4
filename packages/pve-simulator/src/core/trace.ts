/** A running digest of all events (two independent 32-bit FNV-1a sums), and the last events as text. */
export class Trace {
  #a = 0x811c9dc5
  #b = 0x9e3779b9
  #count = 0
  readonly #recent: string[] = []
  readonly #keep: number

  constructor(keep = 1000) {
    this.#keep = keep
  }

  /** Adds one event; `at` is the simulated time in milliseconds. */
  add(at: number, text: string): void {
    const line = `${at} ${text}`
    for (let i = 0; i < line.length; i += 1) {
      const code = line.charCodeAt(i)
      this.#a = Math.imul(this.#a ^ code, 0x01000193)
      this.#b = Math.imul(this.#b ^ (code + i), 0x01000193)
    }
    this.#count += 1
    this.#recent.push(line)
    if (this.#recent.length > 2 * this.#keep) this.#recent.splice(0, this.#recent.length - this.#keep)
  }

  /** 16 hexadecimal digits: equal for two runs in which the same things happened at the same times. */
  get hash(): string {
    const part = (n: number) => (n >>> 0).toString(16).padStart(8, "0")
    return part(this.#a) + part(this.#b)
  }

  get count(): number {
    return this.#count
  }

  /** The last events, oldest first. */
  get recent(): readonly string[] {
    return this.#recent.slice(-this.#keep)
  }
}
