/** Seeded random numbers (mulberry32); `state` is plain data, so a restored simulator continues the same sequence. */
export interface RandomState {
  state: number
}

/** A sequence that starts from a seed. */
export const seededRandom = (seed: number): RandomState => ({ state: seed >>> 0 })

/** The next number in [0, 1). */
export const nextRandom = (random: RandomState): number => {
  random.state = (random.state + 0x6d2b79f5) >>> 0
  let t = random.state
  t = Math.imul(t ^ (t >>> 15), t | 1)
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
  return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
}

/** `length` random hexadecimal digits, lower case. */
export const randomHex = (random: RandomState, length: number): string => {
  let out = ""
  while (out.length < length) {
    out += Math.floor(nextRandom(random) * 0x1_0000_0000)
      .toString(16)
      .padStart(8, "0")
  }
  return out.slice(0, length)
}

/** A random version 4 UUID. */
export const randomUuid = (random: RandomState): string => {
  const hex = randomHex(random, 32)
  const variant = ((Number.parseInt(hex[16]!, 16) & 3) | 8).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`
}

/** A MAC address with a prefix of whole bytes; the default has three. */
export const randomMac = (random: RandomState, prefix: string): string => {
  const start = prefix
    .toUpperCase()
    .split(":")
    .filter((part) => part !== "")
  const rest = randomHex(random, 12 - 2 * start.length).toUpperCase()
  return [...start, ...(rest.match(/../g) ?? [])].join(":")
}
