/** Configuration files made to do harm: each must end in a clear error or a normal result, quickly. */

const machine = (index: number, more = ""): string =>
  `  - vm_name: m${index}\n    hostname: m${index}\n    template: t\n    vlan: ${2 + Math.floor(index / 90)}\n    ip_last_octet: ${1 + (index % 90)}\n` +
  `    ram_gb: 2\n    cpus: 1\n    linux: true\n${more}`

/** A valid file with this many machines. */
export const machines = (count: number, more = ""): string =>
  `ludus:\n${Array.from({ length: count }, (_, index) => machine(index, more)).join("")}`

const most = 524_288
const fill = (unit: string, head = "", tail = ""): string =>
  head + unit.repeat(Math.floor((most - head.length - tail.length) / unit.length)) + tail

const extensions = (lines: ReadonlyArray<string>): string =>
  `ludus: []\nludus_extensions:\n${lines.map((line) => `  ${line}\n`).join("")}`
const levels = (count: number, line: (level: number) => string): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, level) => line(level + 1))
const listBomb = extensions(["a0: &a0 [x, x, x]", ...levels(10, (n) => `a${n}: &a${n} [${`*a${n - 1}, `.repeat(9)}]`)])
const deepAliases = extensions(["a0: &a0 [x]", ...levels(150, (n) => `a${n}: &a${n} [*a${n - 1}]`)])
const mergeBomb = extensions([
  "m0: &m0 {a: 1}",
  ...levels(100, (n) => `m${n}: &m${n} {<<: [*m${n - 1}, *m${n - 1}], k${n}: [*m${n - 1}, *m${n - 1}]}`),
])

const roles = Array.from({ length: 60 }, (_, n) => `role_${n}`).join(", ")
const manyRoles = `ludus:\n${Array.from({ length: 380 }, (_, index) =>
  machine(index, index === 0 ? `    roles: &roles [${roles}]\n` : "    roles: *roles\n"),
).join("")}`

/** With the code of the first issue that each gets, or `accepted`. */
export const hostileFiles: ReadonlyArray<readonly [name: string, outcome: string, text: string]> = [
  ["nothing", "empty", ""],
  ["blanks only", "empty", " \n\t\n"],
  ["comments only", "empty", "# nothing here\n"],
  ["512 KiB of one text", "accepted", fill("x", "ludus: []\nludus_extensions: {t: ", "}\n")],
  ["512 KiB of comments", "too-large", fill("# nothing\n", "ludus: []\n")],
  ["512 KiB of blank lines", "too-large", fill("\n", "ludus: []\n")],
  ["512 KiB of short lines of text", "too-large", fill("    x\n", "ludus: []\nludus_extensions:\n  t: |\n")],
  ["512 KiB of machines", "too-large", machines(3_400)],
  ["512 KiB of opening brackets", "too-deep", fill("[")],
  ["512 KiB of closing brackets", "yaml-syntax", fill("]")],
  ["512 KiB of quotes", "wrong-type", fill("'")],
  ["512 KiB of colons", "too-deep", fill(": ")],
  ["512 KiB of dashes", "too-deep", fill("- ")],
  ["512 KiB of question marks", "too-deep", fill("? ")],
  ["512 KiB of tabs", "yaml-syntax", fill("\t", "ludus:\n")],
  ["512 KiB of anchors", "too-many-anchors", fill("&a ")],
  ["512 KiB of tags", "too-many-anchors", fill("!a ")],
  ["10,000 directives", "too-many-anchors", "%A b\n".repeat(10_000)],
  ["10,000 documents", "several-documents", "---\n".repeat(10_000)],
  ["512 KiB of block text", "accepted", fill(`    ${"x".repeat(60)}\n`, "ludus: []\nludus_extensions:\n  t: |\n    x\n")],
  ["512 KiB of folded text", "accepted", fill(`${"x".repeat(60)}\n\n  `, 'ludus: []\nludus_extensions: {t: "', '"}\n')],
  ["512 KiB of plain text lines", "accepted", fill(`${"x".repeat(60)}\n    `, "ludus: []\nludus_extensions:\n  t: ", "\n")],
  ["1 MiB", "too-large", fill("x") + fill("x")],
  ["5 MiB of machines", "too-large", machines(34_000)],
  ["10,000 lines of comments", "accepted", `ludus: []\n${"# nothing\n".repeat(10_000)}`],
  ["an alias bomb", "too-large", listBomb],
  ["22,800 roles by one alias", "too-large", manyRoles],
  ["aliases 150 levels deep", "too-large", deepAliases],
  ["a merge bomb", "too-large", mergeBomb],
  ["an alias in its own value", "bad-alias", "ludus: &a [*a]\n"],
  ["an alias before its anchor", "bad-alias", "ludus: *a\n"],
  ["10,000 levels of lists", "too-deep", `ludus: ${"[".repeat(10_000)}${"]".repeat(10_000)}\n`],
  ["10,000 levels of objects", "too-deep", `ludus: ${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}\n`],
  ["10,000 levels on one line", "too-deep", `${"- ".repeat(10_000)}a\n`],
  ["500 levels by indentation", "too-deep", Array.from({ length: 500 }, (_, i) => `${" ".repeat(i)}a:\n`).join("")],
  ["100,000 keys", "too-large", Array.from({ length: 100_000 }, (_, i) => `k${i}: 1\n`).join("")],
  ["100,000 keys on one line", "too-large", `{${Array.from({ length: 100_000 }, (_, i) => `k${i}: 1`).join(",")}}`],
  ["3,000 unknown keys", "missing-key", Array.from({ length: 3_000 }, (_, i) => `k${i}: 1\n`).join("")],
  ["2,500 repeated keys", "accepted", `ludus: []\n${"defaults: {}\n".repeat(2_500)}`],
  ["5,000 lines of nested colons", "too-deep", "a: b: c\n".repeat(5_000)],
  ["100,000 keys of one name", "too-large", "ludus: []\n".repeat(100_000)],
  ["a prototype", "forbidden-key", 'ludus: []\nludus_extensions: {"__proto__": {"polluted": true}}\n'],
  ["a prototype at the top", "forbidden-key", "__proto__: {polluted: true}\nludus: []\n"],
  ["a prototype merged in", "forbidden-key", "ludus: []\nludus_extensions: {<<: {__proto__: {polluted: true}}}\n"],
  ["a constructor", "accepted", "ludus: []\nludus_extensions: {constructor: {prototype: {polluted: true}}}\n"],
  ["a NUL", "forbidden-character", "ludus: []\0\n"],
  ["an escaped NUL", "forbidden-character", 'ludus: []\nludus_extensions: {t: "a\\0b"}\n'],
  ["half a character", "forbidden-character", "ludus: []\nludus_extensions: {t: \uD800}\n"],
  ["half a character, escaped", "forbidden-character", 'ludus: []\nludus_extensions: {t: "\\uD800"}\n'],
  ["a byte order mark", "accepted", "\uFEFFludus: []\n"],
  ["carriage returns", "accepted", "ludus: []\r\ndefaults:\r\n  timezone: UTC\r\n"],
  ["a tab for indentation", "yaml-syntax", "ludus:\n\t- vm_name: a\n"],
  ["a key that is an object", "bad-key", "{a: 1}: 2\nludus: []\n"],
  ["unquoted template expression", "yaml-syntax", "ludus:\n  - vm_name: {{ range_id }}-dc\n"],
  ["no end of a quoted text", "yaml-syntax", 'ludus: "\n'],
  ["several documents", "several-documents", "ludus: []\n---\nludus: []\n"],
  ["a list for the file", "wrong-type", "- ludus\n"],
  ["blanks in a template expression", "accepted", machines(1, `    ansible_groups: ["${"{{ ".repeat(20_000)}"]\n`)],
  [
    "commas in a port list",
    "not-allowed",
    `ludus: []\nnetwork: {rules: [{name: a, vlan_src: 2, vlan_dst: 3, protocol: tcp, action: DROP, ports: "${"1 ,".repeat(100_000)}"}]}\n`,
  ],
  ["a long domain", "not-allowed", machines(1, `    domain: {role: member, fqdn: ${"a-".repeat(50_000)}}\n`)],
  ["tuned: tokens at the limit, all wrong", "missing-key", `ludus:\n${"  - {a: 1}\n".repeat(2_300)}`],
  ["tuned: 350 machines", "accepted", machines(350)],
]
