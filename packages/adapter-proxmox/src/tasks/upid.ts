/** A task's name: `UPID:node:pid:pstart:starttime:type:id:user:`. Separated by colons, never by width (facts f). */
export interface Upid {
  readonly text: string
  readonly node: string
  readonly type: string
  readonly id: string
}

/** The task for people: `qmstart 20001 on node pve2`. */
export const taskName = ({ type, id, node }: Upid): string => `${type}${id === "" ? "" : ` ${id}`} on node ${node}`

export const parseUpid = (value: unknown): Upid | undefined => {
  if (typeof value !== "string" || value.length > 1000) return undefined
  const parts = value.split(":")
  const [prefix, node, , , , type, id] = parts
  if (prefix !== "UPID" || parts.length < 8 || node === undefined || !/^[A-Za-z0-9.-]+$/u.test(node)) return undefined
  return { text: value, node, type: type ?? "", id: id ?? "" }
}
