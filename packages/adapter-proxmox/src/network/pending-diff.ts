/** Lines that one interface's stanza would lose and gain when a node's pending edits are applied. */
interface StanzaChange {
  readonly removed: string[]
  readonly added: string[]
}

/** For lines of a stanza whose beginning the diff does not show. */
const unnamed = "an interface that the diff does not name"

/**
 * Parses the diff between a node's network configuration and its pending edits, by interface. The server rewrites the whole file in its own
 * order and adds a heading and empty stanzas for idle ports, so moved lines and such additions are not changes.
 */
export const pendingChanges = (diff: string): ReadonlyMap<string, StanzaChange> => {
  const changes = new Map<string, StanzaChange>()
  let stanza: string | undefined
  for (const line of diff.slice(0, 1_000_000).split("\n")) {
    if (line.startsWith("---") || line.startsWith("+++")) continue
    if (line.startsWith("@@")) {
      stanza = undefined
      continue
    }
    const body = line.slice(1).trim()
    stanza = /^(?:auto|iface|allow-\S+)\s+(\S+)/u.exec(body)?.[1] ?? stanza
    const sign = line[0]
    if (body === "" || (sign !== "+" && sign !== "-") || (stanza === undefined && body.startsWith("#"))) continue
    const name = stanza ?? unnamed
    const change = changes.get(name) ?? { removed: [], added: [] }
    changes.set(name, change)
    ;(sign === "+" ? change.added : change.removed).push(body)
  }
  for (const [name, { removed, added }] of changes) {
    const moved = removed.toSorted().join("\n") === added.toSorted().join("\n")
    const idlePort = removed.length === 0 && added.join("\n") === `iface ${name} inet manual`
    if (moved || idlePort) changes.delete(name)
  }
  return changes
}

/** Interfaces with pending edits that are not ours, by name. Ours carry our comment, even in lines that would be removed. */
export const foreignChanges = (
  diff: string,
  ours: ReadonlySet<string>,
  isOurs: (comment: string) => boolean,
): readonly string[] =>
  [...pendingChanges(diff)]
    .filter(([name, { removed }]) => !ours.has(name) && !removed.some((line) => line.startsWith("#") && isOurs(line.slice(1))))
    .map(([name]) => name)
