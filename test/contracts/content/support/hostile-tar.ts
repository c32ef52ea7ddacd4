import { constants, crc32, deflateRawSync, gzipSync } from "node:zlib"
import { tar, type TarEntry } from "./archives.ts"

/** A hostile archive, named after what is wrong with it. */
export interface HostileArchive {
  readonly family: string
  readonly name: string
  /** Its extension gives the format. */
  readonly filename: string
  readonly bytes: () => Uint8Array
  /** Undefined: it may be accepted, as long as it costs little. */
  readonly refused?: true
}

const mebibyte = 1024 * 1024
/** Packed as fast as possible: most of the largest is zeros. */
const gz = (bytes: Uint8Array): Buffer => gzipSync(bytes, { level: 1 })
const honest: readonly TarEntry[] = [
  { name: "tasks/main.yml", content: "- ansible.builtin.ping:\n" },
  { name: "meta/main.yml", content: "galaxy_info: {}\n" },
]
/** Entries without the end marker. */
const entries = (list: readonly TarEntry[]): Buffer => tar(list).subarray(0, -1024)
const end = Buffer.alloc(1024)
const tgz = (...parts: readonly Uint8Array[]): Buffer => gz(Buffer.concat([...parts, end]))

export const paxRecord = (key: string, value: string): string => {
  const rest = Buffer.byteLength(` ${key}=${value}\n`)
  let length = rest
  while (rest + String(length).length !== length) length = rest + String(length).length
  return `${length} ${key}=${value}\n`
}
const pax = (body: string, type = "x"): TarEntry => ({ name: "PaxHeaders/x", type, content: body })
const described = (records: Readonly<Record<string, string>>, entry: TarEntry = { name: "x", content: "x" }) => [
  pax(
    Object.entries(records)
      .map(([key, value]) => paxRecord(key, value))
      .join(""),
  ),
  entry,
]
/** A header with some of its bytes replaced, and its checksum corrected. */
const patched = (entry: TarEntry, at: number, bytes: Uint8Array | string): Buffer => {
  const block = Buffer.from(entries([entry]))
  Buffer.from(bytes).copy(block, at)
  block.fill(0x20, 148, 156)
  const sum = block.subarray(0, 512).reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148)
  return block
}
const many = (count: number, entry: (n: number) => TarEntry): Buffer => entries(Array.from({ length: count }, (_, n) => entry(n)))

/** Deterministic numbers from 0 to 1. */
export const noise = (seed: number) => () => {
  seed = (seed * 1664525 + 1013904223) % 2 ** 32
  return seed / 2 ** 32
}

/** One gzip member of raw deflate data that claims this checksum and length. */
const member = (raw: Uint8Array, sum: number, length: number, flags = 0, more: Uint8Array = Buffer.alloc(0)): Buffer => {
  const trailer = Buffer.alloc(8)
  trailer.writeUInt32LE(sum >>> 0, 0)
  trailer.writeUInt32LE(length, 4)
  return Buffer.concat([Buffer.from([0x1f, 0x8b, 8, flags, 0, 0, 0, 0, 0, 3]), more, raw, trailer])
}

type Case = readonly [name: string, bytes: () => Uint8Array]
const family = (of: string, cases: readonly Case[], { either = false, filename = "x.tar.gz" } = {}): readonly HostileArchive[] =>
  cases.map(([name, bytes]) => ({ family: of, name, filename, bytes, ...(either ? {} : { refused: true as const }) }))

/** Paths that no tree may have. `outside` is a folder that must stay unchanged. */
export const hostilePaths = (outside: string): readonly string[] => [
  "../x",
  "a/../../x",
  "a/b/../../../x",
  "..",
  `${outside}/x`,
  `../../../../../../../..${outside}/x`,
  "//x",
  "a\\..\\..\\x",
  "C:\\x",
  "a//b",
  "a/./b",
]
export const hostileTargets = (outside: string): readonly string[] => [
  "../x",
  outside,
  "/etc/passwd",
  "a/../../x",
  "../".repeat(40),
  `${"../".repeat(20)}${outside.slice(1)}`,
]

const zeros = (): readonly HostileArchive[] =>
  family(
    "zeros",
    [2, 16, 256].flatMap((size): Case[] => [
      [`${size} MiB of them`, () => gz(Buffer.alloc(size * mebibyte))],
      [`${size} MiB of them after a file`, () => gz(Buffer.concat([entries(honest), Buffer.alloc(size * mebibyte)]))],
    ]),
  )

const afterTheEnd = (outside: string): readonly HostileArchive[] => {
  const whole = tar(honest)
  const more: readonly (readonly [string, Uint8Array])[] = [
    ["a second archive", tar([{ name: "b", content: "b" }])],
    ["an entry that climbs", tar([{ name: `..${outside}/x`, content: "x" }])],
    ["text", Buffer.from("hello")],
    ["one byte", Buffer.from([1])],
    ["a byte after padding", Buffer.concat([Buffer.alloc(9000), Buffer.from([1])])],
    ["a gzip", gz(whole)],
  ]
  return [
    ...family(
      "after the end",
      more.map(([name, bytes]): Case => [name, () => gz(Buffer.concat([whole, bytes]))]),
    ),
    ...family(
      "after the end, plain",
      more.map(([name, bytes]): Case => [name, () => Buffer.concat([whole, bytes])]),
      {
        filename: "x.tar",
      },
    ),
    ...family("after one zero block", [["an entry", () => tgz(entries(honest), Buffer.alloc(512), entries([{ name: "b" }]))]]),
  ]
}

const members = (): readonly HostileArchive[] => {
  const [whole, empty] = [gz(tar(honest)), gz(Buffer.alloc(0))]
  const half = Math.floor(tar(honest).length / 2)
  return family("gzip members", [
    ...[2, 3, 16, 100].map((count): Case => [
      `${count} of them`,
      () => Buffer.concat(Array.from({ length: count }, () => whole)),
    ]),
    ["halves", () => Buffer.concat([gz(tar(honest).subarray(0, half)), gz(tar(honest).subarray(half))])],
    ["an empty one first", () => Buffer.concat([empty, whole])],
    ["an empty one last", () => Buffer.concat([whole, empty])],
    ["a thousand empty ones", () => Buffer.concat([whole, ...Array.from({ length: 1000 }, () => empty)])],
    ["64 of 64 MiB of zeros", () => Buffer.concat(Array<Uint8Array>(64).fill(gz(Buffer.alloc(4 * mebibyte))))],
    ["garbage after it", () => Buffer.concat([whole, Buffer.from("garbage")])],
    ["zeros after it", () => Buffer.concat([whole, Buffer.alloc(512)])],
    ["half a header after it", () => Buffer.concat([whole, Buffer.from([0x1f])])],
  ])
}

const gzipForms = (): readonly HostileArchive[] => {
  const plain = tar(honest)
  const raw = deflateRawSync(plain)
  const empties = Buffer.alloc(5 * 400_000)
  for (let at = 0; at < empties.length; at += 5) empties.set([0, 0, 0, 0xff, 0xff], at)
  return [
    ...family("gzip forms", [
      ["a wrong checksum", () => member(raw, crc32(plain) ^ 1, plain.length)],
      ["a wrong length", () => member(raw, crc32(plain), plain.length + 1)],
      ["no trailer", () => member(raw, 0, 0).subarray(0, -8)],
      ["a reserved flag", () => member(raw, crc32(plain), plain.length, 0x20)],
      ["a name without end", () => member(Buffer.alloc(0), 0, 0, 8, Buffer.alloc(mebibyte, "n"))],
      ["an extra field past the end", () => member(raw, crc32(plain), plain.length, 4, Buffer.from([0xff, 0xff]))],
      ["a method that there is not", () => Buffer.from(member(raw, crc32(plain), plain.length)).fill(9, 2, 3)],
      ["empty blocks without end", () => member(empties, 0, 0)],
      ["a distance too far back", () => member(Buffer.from([0x63, 0x60, 0x04, 0xff, 0xff, 0xff]), 0, 0)],
      ["gzip in gzip", () => gz(gz(plain))],
      ["gzip in gzip in gzip of zeros", () => gz(gz(gz(Buffer.alloc(64 * mebibyte))))],
      ["a flood of flushes", () => gz(gzipSync(Buffer.alloc(4 * mebibyte), { level: 0, flush: constants.Z_FULL_FLUSH }))],
    ]),
    ...family("zstd", [["in a gzip", () => gz(Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 0, 0, 0]))]]),
  ]
}

const sizes = (): readonly HostileArchive[] => {
  const base256 = (first: number, rest = 0xff) => Buffer.from([first, ...Array.from({ length: 11 }, () => rest)])
  const texts = ["-1", "-512", "-9999999999", "NaN", "Infinity", "1e3", "0x10", "", " 1", "1 ", "+1", "1.5", "9".repeat(40), "\0"]
  return [
    ...family(
      "PAX sizes",
      texts.map((size): Case => [JSON.stringify(size), () => tgz(entries(described({ size })))]),
    ),
    ...family("PAX sizes that lie", [
      ["a file longer than the archive", () => tgz(entries(described({ size: "1000000" })))],
      ["a file of 2^50 bytes", () => tgz(entries(described({ size: String(2 ** 49) })))],
      ["a link with a content", () => tgz(entries(described({ size: "512" }, { name: "l", type: "2", link: "x" })))],
      ["an entry in the content", () => tgz(entries(described({ size: "0" }, { name: "x", content: entries([{ name: "y" }]) })))],
    ]).map(({ refused, ...one }, n) => (n === 3 ? one : { ...one, refused: refused as true })),
    ...family("header sizes", [
      ["minus one, binary", () => tgz(patched({ name: "x" }, 124, base256(0xff)))],
      ["the least number, binary", () => tgz(patched({ name: "x" }, 124, base256(0x80 | 0x40, 0)))],
      ["the most, binary", () => tgz(patched({ name: "x" }, 124, base256(0x80)))],
      [
        "one, binary",
        () => tgz(patched({ name: "x", content: "x" }, 124, Buffer.concat([base256(0x80, 0).subarray(0, 11), Buffer.from([1])]))),
      ],
      ["minus one, text", () => tgz(patched({ name: "x" }, 124, "-0000000001\0"))],
      ["decimal digits", () => tgz(patched({ name: "x" }, 124, "00000000009\0"))],
      ["text", () => tgz(patched({ name: "x" }, 124, "hello world!"))],
      ["the most in octal", () => tgz(patched({ name: "x" }, 124, "77777777777\0"))],
      ["a NUL between", () => tgz(patched({ name: "x" }, 124, "000\u00000000001\0"))],
    ]),
  ]
}

const descriptions = (): readonly HostileArchive[] =>
  family("descriptions", [
    ["a NUL in a path", () => tgz(entries(described({ path: "a\0b" })))],
    ["a NUL at the end of a path", () => tgz(entries(described({ path: "a\0" })))],
    ["a NUL in the path of a folder", () => tgz(entries(described({ path: "a\0/" }, { name: "a/", type: "5" })))],
    ["a NUL in a link's target", () => tgz(entries(described({ linkpath: "a\0b" }, { name: "l", type: "2", link: "x" })))],
    ["a NUL in a long name", () => tgz(entries([{ name: "L", type: "L", content: "a\0b\0" }, { name: "x" }]))],
    [
      "a NUL in a long target",
      () =>
        tgz(
          entries([
            { name: "K", type: "K", content: "a\0b\0" },
            { name: "l", type: "2", link: "x" },
          ]),
        ),
    ],
    [
      "a path that is no text",
      () => tgz(entries([{ name: "x", type: "x", content: Buffer.from("10 path=\xff\n", "latin1") }, { name: "x" }])),
    ],
    ["two for one entry", () => tgz(entries([pax(paxRecord("path", "a")), pax(paxRecord("path", "b")), { name: "x" }]))],
    ["a path twice in one", () => tgz(entries([pax(paxRecord("path", "a") + paxRecord("path", "b")), { name: "x" }]))],
    [
      "a size twice in one",
      () => tgz(entries([pax(paxRecord("size", "1") + paxRecord("size", "0")), { name: "x", content: "x" }])),
    ],
    ["a long name and a path", () => tgz(entries([{ name: "L", type: "L", content: "a\0" }, ...described({ path: "b" })]))],
    [
      "two long names",
      () => tgz(entries([{ name: "L", type: "L", content: "a\0" }, { name: "L", type: "L", content: "b\0" }, { name: "x" }])),
    ],
    [
      "two long targets",
      () =>
        tgz(
          entries([
            { name: "K", type: "K", content: "a\0" },
            { name: "K", type: "K", content: "b\0" },
            { name: "l", type: "2", link: "x" },
          ]),
        ),
    ],
    ["one of nothing", () => tgz(entries([...honest, pax(paxRecord("path", "a"))]))],
    ["a length too long", () => tgz(entries([pax("99 path=a\n"), { name: "x" }]))],
    ["a length too short", () => tgz(entries([pax("5 path=a\n"), { name: "x" }]))],
    ["a length of zero", () => tgz(entries([pax("0 path=a\n"), { name: "x" }]))],
    ["a length below zero", () => tgz(entries([pax("-9 path=a\n"), { name: "x" }]))],
    ["a length that is no number", () => tgz(entries([pax("ten path=a\n"), { name: "x" }]))],
    ["a record without its end", () => tgz(entries([pax("10 path=ab"), { name: "x" }]))],
    ["a record without a key", () => tgz(entries([pax(paxRecord("", "a")), { name: "x" }]))],
    ["zeros for records", () => tgz(entries([{ name: "x", type: "x", content: Buffer.alloc(512) }, { name: "x" }]))],
    ["more than 64 KiB of one", () => tgz(entries([pax(paxRecord("comment", "c".repeat(70_000))), { name: "x" }]))],
    [
      "more than 64 KiB of a long name",
      () => tgz(entries([{ name: "L", type: "L", content: "n".repeat(70_000) }, { name: "x" }])),
    ],
    ["one that claims gigabytes", () => tgz(patched(pax(""), 124, "77777777777\0"))],
    ["a path for all", () => tgz(entries([pax(paxRecord("path", "../x"), "g"), { name: "x" }]))],
    [
      "a target for all",
      () => tgz(entries([pax(paxRecord("linkpath", "/etc/passwd"), "g"), { name: "l", type: "2", link: "x" }])),
    ],
    ["a size for all", () => tgz(entries([pax(paxRecord("size", "0"), "g"), { name: "x", content: "x" }]))],
    [
      "a sparse file, by its description",
      () => tgz(entries(described({ "GNU.sparse.major": "1", "GNU.sparse.realsize": "1099511627776" }))),
    ],
    ["a sparse file for all", () => tgz(entries([pax(paxRecord("GNU.sparse.name", "x"), "g"), { name: "x" }]))],
  ])

const escapes = (outside: string): readonly HostileArchive[] => {
  const link = { name: "l", type: "2", link: "x" }
  const carriers: readonly (readonly [string, (path: string) => Buffer])[] = [
    ["in its header", (name) => entries([{ name, content: "x" }])],
    ["in a description", (path) => entries(described({ path }))],
    [
      "as a long name",
      (path) =>
        entries([
          { name: "L", type: "L", content: `${path}\0` },
          { name: "x", content: "x" },
        ]),
    ],
    ["as a link", (name) => entries([{ ...link, name }])],
  ]
  const targets: readonly (readonly [string, (target: string) => Buffer])[] = [
    ["in its header", (target) => entries([{ ...link, link: target.slice(0, 100) }])],
    ["in a description", (linkpath) => entries(described({ linkpath }, link))],
    ["as a long target", (target) => entries([{ name: "K", type: "K", content: `${target}\0` }, link])],
    ["behind another link", (target) => entries([{ ...link, name: "m", link: "l" }, ...described({ linkpath: target }, link)])],
  ]
  return [
    ...carriers.flatMap(([how, packed]) =>
      family(
        `paths ${how}`,
        hostilePaths(outside).map((path): Case => [JSON.stringify(path), () => tgz(packed(path))]),
      ),
    ),
    ...targets.flatMap(([how, packed]) =>
      family(
        `targets ${how}`,
        hostileTargets(outside).map((target, n): Case => [
          `${n}: ${JSON.stringify(target.slice(0, 60))}`,
          () => tgz(packed(target)),
        ]),
      ),
    ),
    ...family("through a link", [
      [
        "a file",
        () =>
          tgz(
            entries([
              { name: "l", type: "2", link: outside.slice(0, 100) },
              { name: "l/x", content: "x" },
            ]),
          ),
      ],
      [
        "a file, before the link",
        () =>
          tgz(
            entries([
              { name: "l/x", content: "x" },
              { name: "l", type: "2", link: outside.slice(0, 100) },
            ]),
          ),
      ],
      [
        "a file in its place",
        () =>
          tgz(
            entries([
              { name: "l", type: "2", link: outside.slice(0, 100) },
              { name: "l", content: "x" },
            ]),
          ),
      ],
      [
        "a link in a file's place",
        () =>
          tgz(
            entries([
              { name: "l", content: "x" },
              { name: "l", type: "2", link: "x" },
            ]),
          ),
      ],
      [
        "a circle of links",
        () =>
          tgz(
            entries([
              { name: "a", type: "2", link: "b" },
              { name: "b", type: "2", link: "a" },
            ]),
          ),
      ],
      ["a link without target", () => tgz(entries([{ name: "l", type: "2" }]))],
      [
        "a climb through a link",
        () =>
          tgz(
            entries([{ name: "d/e/x" }, { name: "l", type: "2", link: "d/e" }, { name: "m", type: "2", link: "l/../../../x" }]),
          ),
      ],
      [
        "a target of 2,000 characters",
        () => tgz(entries(described({ linkpath: "a/".repeat(1000) }, { name: "l", type: "2", link: "x" }))),
      ],
    ]),
  ]
}

const kinds = (): readonly HostileArchive[] => [
  ...family(
    "kinds",
    [..."1346SDMVAIXNZ"].map((type): Case => [
      type,
      () => tgz(entries([{ name: "x", type, ...(type === "1" ? { link: "/etc/passwd" } : {}) }])),
    ]),
  ),
  ...family(
    "set-id",
    [0o4755, 0o2755, 0o6755].map((mode): Case => [mode.toString(8), () => tgz(entries([{ name: "s", mode }]))]),
  ),
  ...family("twins", [
    ["in case", () => tgz(entries([{ name: "A" }, { name: "a" }]))],
    ["folders in case", () => tgz(entries([{ name: "A/x" }, { name: "a/y" }]))],
    ["in Unicode form", () => tgz(entries([{ name: "caf\u00e9" }, { name: "cafe\u0301" }]))],
    ["the same", () => tgz(entries([{ name: "a" }, { name: "a" }]))],
    ["the same, otherwise written", () => tgz(entries([{ name: "a" }, { name: "./a" }]))],
    ["a file and a folder", () => tgz(entries([{ name: "a" }, { name: "a/b" }]))],
  ]),
]

const floods = (): readonly HostileArchive[] => {
  const deep = (n: number) => `${Array.from({ length: 30 }, (_, at) => `${n % (at + 7)}${"d".repeat(28)}`).join("/")}/${n}`
  return [
    ...family("floods", [
      ["of empty folders", () => tgz(many(60_000, (n) => ({ name: `d${n}/`, type: "5" })))],
      ["of empty files", () => tgz(many(60_000, (n) => ({ name: `f${n}` })))],
      ["of what is left out", () => tgz(many(60_000, (n) => ({ name: `._${n}` })))],
      [
        "of descriptions of one entry",
        () =>
          tgz(
            many(30_000, () => pax(paxRecord("comment", "c"))),
            entries(honest),
          ),
      ],
      [
        "of descriptions of all entries",
        () =>
          tgz(
            many(30_000, () => pax(paxRecord("comment", "c"), "g")),
            entries(honest),
          ),
      ],
      [
        "of long deep paths",
        () => tgz(Buffer.concat(Array.from({ length: 8_000 }, (_, n) => entries(described({ path: deep(n) }))))),
      ],
      [
        "of folders that all differ",
        () =>
          tgz(
            Buffer.concat(
              Array.from({ length: 6_000 }, (_, n) => entries(described({ path: `${n}${"/abcdefgh".repeat(30)}/x` }))),
            ),
          ),
      ],
      [
        "of characters that combine",
        () =>
          tgz(
            Buffer.concat(
              Array.from({ length: 3_000 }, (_, n) =>
                entries(described({ path: `${n}${"\u0315\u0300\u05ae\u0316".repeat(30)}/${"\u0315\u0300".repeat(60)}` })),
              ),
            ),
          ),
      ],
      [
        "of links with long ways",
        () =>
          tgz(
            Buffer.concat(
              Array.from({ length: 4_000 }, (_, n) =>
                entries(described({ linkpath: `${"d/../".repeat(40)}x` }, { name: `d/l${n}`, type: "2", link: "x" })),
              ),
            ),
          ),
      ],
      [
        "of links through links",
        () => tgz(many(30_000, (n) => ({ name: `l${n}`, type: "2", link: n % 30 === 0 ? "x" : `l${n - 1}` }))),
      ],
    ]).map(({ refused, ...one }) =>
      /left out|descriptions of all|through links/u.test(one.name) ? one : { ...one, refused: refused as true },
    ),
    ...family("bombs", [
      ["a file of 400 MiB of zeros", () => tgz(entries([{ name: "z", content: Buffer.alloc(400 * mebibyte) }]))],
      ["files of 1 MiB of zeros", () => tgz(many(300, (n) => ({ name: `z${n}`, content: Buffer.alloc(mebibyte) })))],
      ["a file that claims 8 GiB", () => tgz(entries([{ name: "z", size: 2 ** 33 - 1 }]))],
    ]),
  ]
}

const damage = (): readonly HostileArchive[] => {
  const plain = tar([
    ...honest,
    { name: "files/x", content: "x".repeat(5000), mode: 0o755 },
    { name: "l", type: "2", link: "files/x" },
  ])
  const random = noise(7)
  const flips = Array.from({ length: 24 }, (_, n): Case => {
    const [at, bit] = [Math.floor(random() * plain.length), 1 << Math.floor(random() * 8)]
    const flipped = () => {
      const bytes = Buffer.from(plain)
      bytes[at] = (bytes[at] ?? 0) ^ bit
      return bytes
    }
    return [`bit ${bit} of byte ${at}, ${n % 2 === 0 ? "packed" : "plain"}`, n % 2 === 0 ? () => gz(flipped()) : flipped]
  })
  const packed = gz(plain)
  return [
    ...flips.flatMap((one, n) => family("one bit", [one], { either: true, filename: n % 2 === 0 ? "x.tar.gz" : "x.tar" })),
    ...family(
      "cut off",
      Array.from({ length: 12 }, (_, n): Case => {
        const length = Math.floor((packed.length * n) / 12)
        return [`after ${length} bytes`, () => packed.subarray(0, length)]
      }),
    ),
    ...family(
      "cut off, plain",
      [0, 1, 100, 511, 513, 600, 1600, 3000].map((length): Case => [`after ${length} bytes`, () => plain.subarray(0, length)]),
      { filename: "x.tar" },
    ),
  ]
}

export const hostileTars = (outside: string): readonly HostileArchive[] => [
  ...zeros(),
  ...afterTheEnd(outside),
  ...members(),
  ...gzipForms(),
  ...sizes(),
  ...descriptions(),
  ...escapes(outside),
  ...kinds(),
  ...floods(),
  ...damage(),
]
