/**
 * Messages that a person causes: keys, the pointer, and the buttons that reset or shut down the machine. Not the clipboard: viewers answer
 * programs in the machine that use it.
 */
const inputTypes: ReadonlySet<number> = new Set([4, 5, 250])
/** The type of QEMU's own messages; the second byte says which. */
const qemu = 255
const qemuKey = 0
/** The longest beginning of a message that is needed to know its length. */
const headLength = 9

/** The length of the message with this beginning; undefined: more of it is needed; NaN: it is of an unknown type. */
const lengthOf = (head: Uint8Array): number | undefined => {
  const view = new DataView(head.buffer, head.byteOffset, head.length)
  const from = (needed: number, length: () => number) => (head.length < needed ? undefined : length())
  const [type = 0] = head
  switch (type) {
    case 0:
      return 20
    case 2:
      return from(4, () => 4 + 4 * view.getUint16(2))
    case 3:
    case 150:
      return 10
    case 4:
      return 8
    case 5:
      return 6
    case 6:
      // negative in the extended form
      return from(8, () => 8 + Math.abs(view.getInt32(4)))
    case 248:
      return from(9, () => 9 + view.getUint8(8))
    case 250:
      return 4
    case 251:
      return from(7, () => 8 + 16 * view.getUint8(6))
    case qemu:
      return from(4, () => (view.getUint8(1) === qemuKey ? 12 : view.getUint16(2) === 2 ? 10 : 4))
    default:
      return Number.NaN
  }
}

/**
 * Watches what a viewer sends after the security handshake (RFC 6143, 7.3.1 and 7.5; QEMU's and noVNC's extensions): true if these bytes
 * begin a message that a person causes. Opening the console counts; requests for the picture, which viewers send by themselves, do not.
 * After a message of an unknown type everything counts, because nobody knows where the next one begins.
 */
export const makeInputWatch = (): ((bytes: Uint8Array) => boolean) => {
  let head: Uint8Array = new Uint8Array(0)
  let isLost = false
  // the first byte, which says whether the screen is shared
  let opening = true
  let skip = 0
  return (bytes) => {
    let isInput = opening || isLost
    let at = opening ? 1 : 0
    opening = false
    while (at < bytes.length && !isLost) {
      const skipped = Math.min(skip, bytes.length - at)
      skip -= skipped
      at += skipped
      if (at === bytes.length) break
      const next = new Uint8Array([...head, ...bytes.subarray(at, at + headLength - head.length)])
      const length = lengthOf(next)
      if (length === undefined) {
        at += next.length - head.length
        head = next
        continue
      }
      isLost = Number.isNaN(length)
      isInput ||= isLost || inputTypes.has(next[0] ?? 0) || (next[0] === qemu && next[1] === qemuKey)
      skip = length - head.length
      head = new Uint8Array(0)
    }
    return isInput
  }
}
