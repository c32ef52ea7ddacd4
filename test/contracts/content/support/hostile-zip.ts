import { crc32, deflateRawSync } from "node:zlib"
import { type HostileArchive, hostilePaths, hostileTargets, noise } from "./hostile-tar.ts"

/** One entry of a zip with both of its headers, down to fields that no packer would write. */
interface Part {
  readonly name: string | Buffer
  readonly content?: Uint8Array | string
  readonly deflated?: boolean
  /** The whole Unix mode, with the file type. */
  readonly mode?: number
  readonly flags?: number
  readonly method?: number
  readonly extra?: Buffer
  readonly sum?: number
  readonly packedSize?: number
  readonly size?: number
  /** Fields in which the local header differs. */
  readonly local?: Partial<Pick<Part, "name" | "flags" | "method" | "extra" | "sum" | "packedSize" | "size">>
  /** Data after the content. */
  readonly descriptor?: Buffer
  /** The offset that the directory claims, instead of the real one. */
  readonly offset?: number
  /** It is only in the directory. */
  readonly ghost?: boolean
}

type Field = readonly [bytes: 2 | 4, value: number]
const numbers = (...fields: readonly Field[]): Buffer => {
  const buffer = Buffer.alloc(fields.reduce((sum, [bytes]) => sum + bytes, 0))
  let at = 0
  for (const [bytes, value] of fields) {
    if (bytes === 2) buffer.writeUInt16LE(value, at)
    else buffer.writeUInt32LE(value, at)
    at += bytes
  }
  return buffer
}

interface End {
  readonly count?: number
  readonly directory?: number
  readonly comment?: Buffer
}

/** Writes a zip by hand, without the library that reads it. */
const zipOf = (parts: readonly Part[], { count, directory, comment = Buffer.alloc(0) }: End = {}): Buffer => {
  const [files, central]: [Buffer[], Buffer[]] = [[], []]
  let at = 0
  for (const part of parts) {
    const content = Buffer.from(part.content ?? "")
    const packed = part.deflated === true ? deflateRawSync(content) : content
    const told = {
      name: part.name,
      flags: part.flags ?? 0,
      method: part.method ?? (part.deflated === true ? 8 : 0),
      extra: part.extra ?? Buffer.alloc(0),
      sum: part.sum ?? crc32(content),
      packedSize: part.packedSize ?? packed.length,
      size: part.size ?? content.length,
    }
    const common = ({ flags, method, sum, packedSize, size, name, extra }: typeof told): Field[] => [
      [2, 20],
      [2, flags],
      [2, method],
      [2, 0],
      [2, 0x21],
      [4, sum],
      [4, packedSize],
      [4, size],
      [2, Buffer.from(name).length],
      [2, extra.length],
    ]
    const local = { ...told, ...part.local }
    const offset = part.offset ?? at
    if (part.ghost !== true) {
      const before = Buffer.concat([numbers([4, 0x04034b50], ...common(local)), Buffer.from(local.name), local.extra])
      files.push(before, packed, part.descriptor ?? Buffer.alloc(0))
      at += before.length + packed.length + (part.descriptor?.length ?? 0)
    }
    const mode = part.mode ?? 0o100644
    central.push(
      numbers([4, 0x02014b50], [2, 0x0314], ...common(told), [2, 0], [2, 0], [2, 0], [4, mode * 65536], [4, offset]),
      Buffer.from(told.name),
      told.extra,
    )
  }
  const list = Buffer.concat(central)
  const entries = count ?? parts.length
  return Buffer.concat([
    ...files,
    list,
    numbers(
      [4, 0x06054b50],
      [2, 0],
      [2, 0],
      [2, entries],
      [2, entries],
      [4, list.length],
      [4, directory ?? at],
      [2, comment.length],
    ),
    comment,
  ])
}

/** The extra field that gives an entry another name, in UTF-8. */
const unicodeName = (raw: string, name: string): Buffer => {
  const text = Buffer.from(name)
  return Buffer.concat([
    numbers([2, 0x7075], [2, 5 + text.length]),
    Buffer.from([1]),
    numbers([4, crc32(Buffer.from(raw))]),
    text,
  ])
}
const zip64 = (...values: readonly bigint[]): Buffer => {
  const body = Buffer.alloc(values.length * 8)
  values.forEach((value, n) => body.writeBigUInt64LE(value, n * 8))
  return Buffer.concat([numbers([2, 1], [2, body.length]), body])
}

const mebibyte = 1024 * 1024
type Case = readonly [name: string, bytes: () => Uint8Array]
const family = (of: string, cases: readonly Case[], either = false): readonly HostileArchive[] =>
  cases.map(([name, bytes]) => ({
    family: `zip: ${of}`,
    name,
    filename: "x.zip",
    bytes,
    ...(either ? {} : { refused: true as const }),
  }))

const x: Part = { name: "x", content: "content of x" }
const one = (part: Partial<Part>): Buffer =>
  zipOf([
    { name: "a", content: "a" },
    { ...x, ...part },
  ])

const twoTales = (): readonly HostileArchive[] => {
  const sum = crc32(Buffer.from("content of x"))
  const behind = (...fields: readonly Field[]) => ({
    flags: 8,
    local: { sum: 0, packedSize: 0, size: 0 },
    descriptor: numbers(...fields),
  })
  return [
    ...family("names differ", [
      ["another", () => one({ local: { name: "y" } })],
      ["one that climbs", () => one({ local: { name: "../x" } })],
      ["one that climbs in the directory", () => one({ name: "../x", local: { name: "x" } })],
      ["in case", () => one({ local: { name: "X" } })],
      ["a longer one", () => one({ local: { name: "x/y" } })],
      ["none", () => one({ local: { name: "" } })],
      ["by an extra field before the content", () => one({ local: { extra: unicodeName("x", "../x") } })],
      ["by an extra field of the directory", () => one({ extra: unicodeName("x", "y"), local: { extra: Buffer.alloc(0) } })],
      ["by what UTF-8 means", () => one({ name: Buffer.from([0xc3, 0xa4]), flags: 0x800, local: { flags: 0 } })],
    ]),
    ...family("headers differ", [
      ["in the method", () => one({ local: { method: 8 } })],
      ["in encryption", () => one({ local: { flags: 1 } })],
      ["in where sizes stand", () => one({ local: { flags: 8 } })],
      ["in the size", () => one({ local: { size: 5 } })],
      ["in the packed size", () => one({ local: { packedSize: 5 } })],
      ["in the checksum", () => one({ local: { sum: 5 } })],
    ]),
    ...family("what stands behind differs", [
      ["in the checksum", () => one(behind([4, 0x08074b50], [4, sum ^ 1], [4, 12], [4, 12]))],
      ["in the packed size", () => one(behind([4, 0x08074b50], [4, sum], [4, 11], [4, 12]))],
      ["in the size", () => one(behind([4, 0x08074b50], [4, sum], [4, 12], [4, 13]))],
      ["in all, without its mark", () => one(behind([4, 1], [4, 2], [4, 3]))],
      ["being absent", () => one({ flags: 8, local: { sum: 0, packedSize: 0, size: 0 } })],
    ]),
    ...family("contents that lie", [
      ["a wrong checksum", () => one({ sum: 1 })],
      ["a size too small", () => one({ deflated: true, size: 3 })],
      ["a size too large", () => one({ deflated: true, size: 300 })],
      ["a packed size past the end", () => one({ packedSize: 100_000, size: 100_000 })],
      ["more than it says, by megabytes", () => one({ content: Buffer.alloc(8 * mebibyte), deflated: true, size: 1 })],
      ["data that is none", () => one({ method: 8 })],
    ]),
  ]
}

const overlaps = (): readonly HostileArchive[] => {
  const kernel: Part = { name: "kernel", content: Buffer.alloc(4 * mebibyte), deflated: true }
  const packed = deflateRawSync(Buffer.alloc(4 * mebibyte)).length
  const sum = crc32(Buffer.alloc(4 * mebibyte))
  /** All entries refer to the same content. */
  const full = (count: number) => () =>
    zipOf([
      kernel,
      ...Array.from({ length: count }, (_, n): Part => ({
        name: `k${String(n).padStart(5, "0")}`,
        ghost: true,
        offset: 0,
        method: 8,
        packedSize: packed,
        size: 4 * mebibyte,
        sum,
      })),
    ])
  /** Each content is the header of the next entry with all that follows, quoted as a stored block. */
  const quoted = (count: number) => () => {
    const inner = deflateRawSync(Buffer.alloc(mebibyte))
    const head = 30 + 5
    const parts: Part[] = []
    let size = mebibyte
    for (let n = count - 1; n >= 0; n -= 1) {
      const length = inner.length + (count - 1 - n) * (head + 5)
      parts.unshift({
        name: `q${String(n).padStart(4, "0")}`,
        ghost: true,
        offset: n * (head + 5),
        method: 8,
        packedSize: length,
        size,
      })
      size += head
    }
    const body = Buffer.alloc(count * (head + 5) + inner.length)
    return Buffer.concat([body, zipOf(parts, { directory: body.length })])
  }
  return family("overlaps", [
    ...[2, 50, 5_000].map((count): Case => [`${count} entries with one content`, full(count)]),
    ...[2, 40, 1_000].map((count): Case => [`${count} entries, each in the one before`, quoted(count)]),
    [
      "by one byte",
      () =>
        zipOf([
          { ...x, packedSize: 13, size: 13 },
          { name: "y", content: "y" },
        ]),
    ],
    ["the same entry twice", () => zipOf([x, { ...x, name: "y", ghost: true, offset: 0 }])],
  ])
}

const forms = (outside: string): readonly HostileArchive[] => {
  const random = noise(11)
  const whole = zipOf([x, { name: "d/y", content: "y".repeat(300), deflated: true }, { name: "l", content: "x", mode: 0o120777 }])
  return [
    ...family(
      "paths",
      hostilePaths(outside).map((name): Case => [JSON.stringify(name), () => one({ name })]),
    ),
    ...family(
      "paths in an extra field",
      hostilePaths(outside).map((name): Case => [JSON.stringify(name), () => one({ extra: unicodeName("x", name) })]),
    ),
    ...family(
      "targets",
      hostileTargets(outside).map((content, n): Case => [
        `${n}: ${JSON.stringify(content.slice(0, 60))}`,
        () => one({ content, mode: 0o120777 }),
      ]),
    ),
    ...family("kinds", [
      ...[0o010644, 0o020644, 0o060644, 0o140644].map((mode): Case => [mode.toString(8), () => one({ mode })]),
      ["a set-id program", () => one({ mode: 0o104755 })],
      ["a NUL in the name", () => one({ name: "a\0b" })],
      [
        "a file through a link",
        () =>
          zipOf([
            { name: "l", content: outside, mode: 0o120777 },
            { name: "l/x", content: "x" },
          ]),
      ],
      [
        "a file in a link's place",
        () =>
          zipOf([
            { name: "l", content: "x", mode: 0o120777 },
            { name: "l", content: "x" },
          ]),
      ],
      ["a target of 8 KiB", () => one({ content: "x".repeat(8192), mode: 0o120777 })],
      ["the same twice", () => zipOf([x, x])],
      ["twins in case", () => zipOf([x, { name: "X", content: "x" }])],
      ["encrypted", () => one({ flags: 1 })],
      ["strongly encrypted", () => one({ flags: 0x41 })],
      ...[1, 6, 9, 12, 14, 93, 99].map((method): Case => [`packed by method ${method}`, () => one({ method })]),
    ]),
    ...family("zip64", [
      ["a size of 2^62", () => one({ size: 0xffffffff, extra: zip64(2n ** 62n) })],
      ["a packed size of 2^40", () => one({ packedSize: 0xffffffff, size: 0xffffffff, extra: zip64(2n ** 40n, 2n ** 40n) })],
      ["an offset past the end", () => one({ offset: 0xffffffff, extra: zip64(2n ** 40n) })],
      ["sizes that are not there", () => one({ size: 0xffffffff, extra: zip64() })],
      ["an extra field past its end", () => one({ extra: numbers([2, 1], [2, 500]) })],
    ]),
    ...family("directories", [
      ["more entries than there are", () => zipOf([x], { count: 3 })],
      ["65,534 entries that are none", () => zipOf([x], { count: 65_534 })],
      ["one past the end", () => zipOf([x], { directory: 2 ** 31 })],
      ["one inside a content", () => zipOf([x], { directory: 5 })],
      ["another end in the comment", () => zipOf([x], { comment: zipOf([{ name: "y" }]) })],
      ["an entry past the end", () => zipOf([x, { name: "y", ghost: true, offset: 10_000 }])],
      ["60,000 empty files", () => zipOf(Array.from({ length: 60_000 }, (_, n): Part => ({ name: `f${n}` })))],
      [
        "names of 60,000 bytes",
        () => zipOf(Array.from({ length: 100 }, (_, n): Part => ({ name: `${n}${"n".repeat(60_000)}` }))),
      ],
    ]),
    ...family(
      "floods",
      [["of empty folders", () => zipOf(Array.from({ length: 60_000 }, (_, n): Part => ({ name: `d${n}/`, mode: 0o040755 })))]],
      true,
    ),
    ...family("bombs", [
      ["400 MiB of zeros", () => zipOf([{ name: "z", content: Buffer.alloc(400 * mebibyte), deflated: true }])],
    ]),
    ...family(
      "cut off",
      Array.from({ length: 10 }, (_, n): Case => {
        const length = Math.floor((whole.length * n) / 10)
        return [`after ${length} bytes`, () => whole.subarray(0, length)]
      }),
    ),
    ...family(
      "one bit",
      Array.from({ length: 24 }, (_, n): Case => {
        const [at, bit] = [Math.floor((whole.length * (n + random())) / 24), 1 << Math.floor(random() * 8)]
        return [
          `bit ${bit} of byte ${at}`,
          () => {
            const bytes = Buffer.from(whole)
            bytes[at] = (bytes[at] ?? 0) ^ bit
            return bytes
          },
        ]
      }),
      true,
    ),
  ]
}

export const hostileZips = (outside: string): readonly HostileArchive[] => [...twoTales(), ...overlaps(), ...forms(outside)]
