import type { Simulator } from "@rangewright/pve-simulator"

type Handle = Simulator["handle"]
type Row = Readonly<Record<string, unknown>>

/** How the hypervisor's lists lie. `blind`: the account has lost its rights on VMs, so lists omit them and requests for VMs are refused. */
export type Lie = "truth" | "partial" | "empty" | "stale" | "blind"
export const lies: readonly Lie[] = ["truth", "partial", "empty", "stale", "blind"]

/** mulberry32: small, fast and reproducible. */
export const seeded = (seed: number): (() => number) => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

type Permissions = Readonly<Record<string, Readonly<Record<string, unknown>>>>

const withoutRightsOnVms = (body: string): string => {
  const { data } = JSON.parse(body) as { readonly data: Permissions }
  const left = Object.entries(data).map(
    ([path, held]) => [path, Object.fromEntries(Object.entries(held).filter(([name]) => !name.startsWith("VM.")))] as const,
  )
  return JSON.stringify({ data: Object.fromEntries(left) })
}

/** Stands between the service and a hypervisor: lists of VMs lie at random, answers about single VMs do not. */
export const makeLyingLists = (seed: number) => {
  const random = seeded(seed)
  const seen = new Map<string, (readonly Row[])[]>()
  const stages: string[] = []
  /** The current lie; `told` counts the false lists. */
  const lists = { now: "truth" as Lie, told: 0, stages, change: () => (lists.now = lies[Math.floor(random() * lies.length)]!) }

  const isGuest = (row: Row): boolean => row["type"] === "qemu"
  const bend = (list: string, rows: readonly Row[]): readonly Row[] => {
    const before = seen.get(list) ?? []
    seen.set(list, [...before, rows])
    if (lists.now === "truth") return rows
    lists.told += 1
    switch (lists.now) {
      case "empty":
        return []
      case "blind":
        return rows.filter((row) => !isGuest(row))
      case "stale":
        return before[Math.floor(random() * before.length)] ?? rows
      case "partial": {
        const share = random()
        return rows.filter((row) => !isGuest(row) || random() < share)
      }
    }
  }
  const between =
    (handle: Handle): Handle =>
    async (request) => {
      const path = request.path.replace(/^\/api2\/json/u, "")
      if (lists.now === "blind" && /^\/nodes\/[^/]+\/qemu\/\d+\//u.test(path))
        return {
          status: 403,
          reason: "",
          headers: {},
          body: '{"data":null,"message":"Permission check failed (/vms/1, VM.Audit)\\n"}',
        }
      const answer = await handle(request)
      if (request.method === "POST" && path.endsWith("/agent/exec")) stages.push(`${path} ${String(request.body)}`)
      if (answer.status !== 200) return answer
      if (path.startsWith("/cluster/resources")) {
        const { data } = JSON.parse(answer.body) as { readonly data: readonly Row[] }
        return { ...answer, body: JSON.stringify({ data: bend(path, data) }) }
      }
      if (request.method === "GET" && path.startsWith("/pools?poolid=")) {
        const { data } = JSON.parse(answer.body) as { readonly data: readonly (Row & { readonly members: readonly Row[] })[] }
        const bent = data.map((pool) => ({ ...pool, members: bend(path, pool.members) }))
        return { ...answer, body: JSON.stringify({ data: bent }) }
      }
      if (lists.now === "blind" && path.startsWith("/access/permissions"))
        return { ...answer, body: withoutRightsOnVms(answer.body) }
      return answer
    }
  return { lists, between }
}
