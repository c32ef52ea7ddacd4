/** Pseudo-random numbers, reproducible by their seed. */
export const makeRandom = (seed: number) => {
  let state = seed >>> 0
  /** At least 0 and below 1. */
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (end: number): number => Math.floor(next() * end)
  const one = <T>(items: readonly [T, ...T[]]): T => items[below(items.length)] ?? items[0]
  return { share: next, below, one, chance: (share: number): boolean => next() < share }
}
export type Chance = ReturnType<typeof makeRandom>
