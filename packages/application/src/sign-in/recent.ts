/** A map with a maximum number of entries that evicts the least recently used. */
export interface Recent<K, V> {
  readonly get: (key: K) => V | undefined
  readonly set: (key: K, value: V) => void
}

export const recent = <K, V>(most: number): Recent<K, V> => {
  const entries = new Map<K, V>()
  const set = (key: K, value: V): void => {
    // a map keeps insertion order
    entries.delete(key)
    entries.set(key, value)
    const [oldest] = entries.size > most ? entries.keys() : []
    if (oldest !== undefined) entries.delete(oldest)
  }
  return {
    set,
    get: (key) => {
      const value = entries.get(key)
      if (value !== undefined) set(key, value)
      return value
    },
  }
}
