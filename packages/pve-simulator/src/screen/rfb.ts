import { createCipheriv, randomBytes } from "node:crypto"
import { height, paint, press, type Screen, width } from "./screen.ts"

/** A viewer's pixel format: colors in the bits of a number. */
interface PixelFormat {
  readonly bytes: number
  readonly bigEndian: boolean
  readonly max: readonly [number, number, number]
  readonly shift: readonly [number, number, number]
}

const usualFormat = Buffer.from([32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0, 0, 0, 0])

const readFormat = (bytes: Buffer): PixelFormat => ({
  bytes: bytes[0]! / 8,
  bigEndian: bytes[2] !== 0,
  max: [bytes.readUInt16BE(4), bytes.readUInt16BE(6), bytes.readUInt16BE(8)],
  shift: [bytes[10]!, bytes[11]!, bytes[12]!],
})

/** All pixels in the viewer's format. */
const encode = (screen: Screen, { bytes, bigEndian, max, shift }: PixelFormat): Buffer => {
  const at = paint(screen)
  const dots = Buffer.alloc(width * height * bytes)
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) {
      const value = at(x, y).reduce((sum, part, i) => (sum | (Math.round((part * max[i]!) / 255) << shift[i]!)) >>> 0, 0)
      const offset = (y * width + x) * bytes
      if (bigEndian) dots.writeUIntBE(value, offset, bytes)
      else dots.writeUIntLE(value, offset, bytes)
    }
  return dots
}

/** VNC reverses the bits of each byte of its key. */
const mirrored = (byte: number): number => {
  let turned = 0
  for (let bit = 0; bit < 8; bit += 1) turned |= ((byte >> bit) & 1) << (7 - bit)
  return turned
}

/** The answer of a viewer that knows the password to a challenge. */
export const answerOf = (password: string, challenge: Buffer): Buffer => {
  const key = Buffer.alloc(8)
  Buffer.from(password, "latin1")
    .subarray(0, 8)
    .forEach((byte, i) => (key[i] = mirrored(byte)))
  return createCipheriv("des-ede3-ecb", Buffer.concat([key, key, key]), null)
    .setAutoPadding(false)
    .update(challenge)
}

/** The length of a viewer's message in bytes, as far as the received bytes tell it. */
const lengths: Readonly<Record<number, (data: Buffer) => number>> = {
  0: () => 20,
  2: (data) => (data.length < 4 ? 4 : 4 + 4 * data.readUInt16BE(2)),
  3: () => 10,
  4: () => 8,
  5: () => 6,
  6: (data) => (data.length < 8 ? 8 : 8 + data.readUInt32BE(4)),
}

/** Callbacks of a session to its transport. */
interface Carrier {
  readonly write: (bytes: Buffer) => void
  readonly end: () => void
}

/** Maximum length of a message in bytes. */
const longest = 64 * 1024

/**
 * Serves one viewer of a screen like QEMU's VNC server (RFC 6143): RFB 3.8, the password, then the whole picture, raw, whenever the viewer
 * requests it and it has changed. Returns a function that takes the viewer's bytes.
 */
export const rfbSession = (screen: Screen, password: string, { write, end }: Carrier): ((bytes: Buffer) => void) => {
  const challenge = randomBytes(16)
  let stage: "version" | "type" | "answer" | "init" | "running" | "over" = "version"
  let format = readFormat(usualFormat)
  let waiting: Buffer = Buffer.alloc(0)
  let wants = false
  let isNew = true

  const over = () => {
    stage = "over"
    screen.viewers.delete(show)
    end()
  }
  const show = () => {
    isNew = true
    if (!wants) return
    wants = false
    isNew = false
    const head = Buffer.alloc(16)
    head.writeUInt16BE(1, 2)
    head.writeUInt16BE(width, 8)
    head.writeUInt16BE(height, 10)
    write(Buffer.concat([head, encode(screen, format)]))
  }
  const message = (data: Buffer): void => {
    if (data[0] === 0) {
      const asked = readFormat(data.subarray(4))
      if (![1, 2, 4].includes(asked.bytes) || data[7] === 0) return over()
      format = asked
    }
    if (data[0] === 3) {
      wants = true
      if (isNew || data[1] === 0) show()
    }
    if (data[0] === 4 && data[1] !== 0) press(screen, data.readUInt32BE(4))
  }
  /** The length of the next message in bytes; undefined if the viewer uses another protocol. */
  const needed = (): number | undefined => {
    const fixed = { version: 12, type: 1, answer: 16, init: 1 } as const
    return stage === "running" ? lengths[waiting[0]!]?.(waiting) : stage === "over" ? undefined : fixed[stage]
  }
  const part = (data: Buffer): void => {
    switch (stage) {
      case "version":
        if (!/^RFB 003\.00[78]\n$/.test(data.toString("latin1"))) return over()
        stage = "type"
        return write(Buffer.from([1, 2]))
      case "type":
        if (data[0] !== 2) return over()
        stage = "answer"
        return write(challenge)
      case "answer": {
        const isRight = data.equals(answerOf(password, challenge))
        const reason = Buffer.from("Authentication failed")
        if (isRight) stage = "init"
        write(isRight ? Buffer.alloc(4) : Buffer.concat([Buffer.from([0, 0, 0, 1, 0, 0, 0, reason.length]), reason]))
        return isRight ? undefined : over()
      }
      case "init": {
        stage = "running"
        screen.viewers.add(show)
        const name = Buffer.from(`QEMU (${screen.title})`)
        const head = Buffer.alloc(4)
        head.writeUInt16BE(width)
        head.writeUInt16BE(height, 2)
        const length = Buffer.alloc(4)
        length.writeUInt32BE(name.length)
        return write(Buffer.concat([head, usualFormat, length, name]))
      }
      case "running":
        return message(data)
      case "over":
        return undefined
    }
  }
  write(Buffer.from("RFB 003.008\n"))
  return (bytes) => {
    waiting = Buffer.concat([waiting, bytes])
    while (waiting.length > 0 && stage !== "over") {
      const size = needed()
      if (size === undefined || size > longest) return over()
      if (waiting.length < size) return
      const data = waiting.subarray(0, size)
      waiting = waiting.subarray(size)
      part(data)
    }
  }
}
