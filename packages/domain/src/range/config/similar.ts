const mostAway = 2

/** The one of `names` that was most likely meant: at most two slips of the keyboard away, and not by replacing most of the word. */
export const similar = (typed: string, names: ReadonlyArray<string>): string | undefined => {
  if (typed.length > 40) return undefined
  const lower = typed.toLowerCase()
  let best: { readonly name: string; readonly away: number } | undefined
  for (const name of names) {
    const most = Math.min(mostAway, Math.floor(name.length / 3))
    if (Math.abs(name.length - lower.length) > most) continue
    const away = distance(lower, name.toLowerCase())
    if (away <= most && (best === undefined || away < best.away)) best = { name, away }
  }
  return best?.name
}

/** Letters added, removed or replaced, and neighbors that changed places. */
const distance = (a: string, b: string): number => {
  let before: readonly number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? (before[j - 2] ?? 0) + 1 : replaced
      next.push(Math.min(replaced, swapped, (next[j - 1] ?? 0) + 1, (row[j] ?? 0) + 1))
    }
    before = row
    row = next
  }
  return row[b.length] ?? a.length
}
