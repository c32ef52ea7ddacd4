/** The Blowfish cipher with the expensive key schedule of bcrypt (Provos and Mazières, 1999). Only what verifying a hash needs. */

const rounds = 16
const subkeys = rounds + 2
const boxes = 4 * 256

/**
 * The words that the cipher starts from: the fraction of pi in binary, 32 bits each, by Machin's formula. Computing them takes some
 * milliseconds once, and is shorter and surer than a table of a thousand numbers.
 */
const piWords = (count: number): Uint32Array => {
  const guard = 64n
  const bits = BigInt(count) * 32n + guard
  const one = 1n << bits
  const arctanOfInverse = (n: bigint): bigint => {
    let [power, sum, odd] = [one / n, one / n, 1n]
    for (let sign = -1n; power > 0n; sign = -sign) {
      power /= n * n
      odd += 2n
      sum += (sign * power) / odd
    }
    return sum
  }
  const fraction = (16n * arctanOfInverse(5n) - 4n * arctanOfInverse(239n)) & (one - 1n)
  const hex = (fraction >> guard).toString(16).padStart(count * 8, "0")
  return Uint32Array.from({ length: count }, (_, i) => Number.parseInt(hex.slice(i * 8, i * 8 + 8), 16))
}

let initial: Uint32Array | undefined

/** A cipher whose key is scheduled bit by bit: subkeys first, then the four boxes, in one array. */
export class Blowfish {
  readonly #state: Uint32Array

  constructor() {
    initial ??= piWords(subkeys + boxes)
    this.#state = initial.slice()
  }

  /** Encrypts one block of two words, in place. */
  encrypt(block: Uint32Array, at: number): void {
    const state = this.#state
    let left = block[at]! ^ state[0]!
    let right = block[at + 1]!
    for (let i = 1; i <= rounds; i += 2) {
      right ^= this.#mix(left) ^ state[i]!
      left ^= this.#mix(right) ^ state[i + 1]!
    }
    block[at] = (right ^ state[rounds + 1]!) >>> 0
    block[at + 1] = left >>> 0
  }

  #mix(word: number): number {
    const state = this.#state
    const a = state[subkeys + (word >>> 24)]!
    const b = state[subkeys + 256 + ((word >>> 16) & 0xff)]!
    const c = state[subkeys + 512 + ((word >>> 8) & 0xff)]!
    const d = state[subkeys + 768 + (word & 0xff)]!
    return (((a + b) ^ c) + d) | 0
  }

  /** Mixes a key into the subkeys, and a salt (words of zero: none) into everything. */
  expand(key: Uint32Array, salt: Uint32Array): void {
    const state = this.#state
    for (let i = 0; i < subkeys; i++) state[i] = state[i]! ^ key[i]!
    const block = new Uint32Array(2)
    for (let i = 0; i < state.length; i += 2) {
      block[0] = block[0]! ^ salt[i % 4]!
      block[1] = block[1]! ^ salt[(i + 1) % 4]!
      this.encrypt(block, 0)
      state[i] = block[0]!
      state[i + 1] = block[1]!
    }
  }
}

/** So many words of these bytes, over and over. */
export const cyclicWords = (bytes: Uint8Array, count = subkeys): Uint32Array =>
  Uint32Array.from({ length: count }, (_, i) =>
    [0, 1, 2, 3].reduce((word, j) => ((word << 8) | bytes[(i * 4 + j) % bytes.length]!) >>> 0, 0),
  )
