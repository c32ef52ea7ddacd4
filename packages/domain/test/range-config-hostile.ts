/** Configuration files made to do harm: each must end in a clear error or a normal result, quickly. */

const machine = (index: number, more = ""): string =>
  `  - vm_name: m${index}\n    hostname: m${index}\n    template: t\n    vlan: ${2 + Math.floor(index / 90)}\n    ip_last_octet: ${1 + (index % 90)}\n` +
  `    ram_gb: 2\n    cpus: 1\n    linux: true\n${more}`

/** A valid file with so many machines. */
export const machines = (count: number, more = ""): string =>
  `ludus:\n${Array.from({ length: count }, (_, index) => machine(index, more)).join("")}`

const most = 524_288
const fill = (unit: string, head = "", tail = ""): string =>
  head + unit.repeat(Math.floor((most - head.length - tail.length) / unit.length)) + tail

const bomb = `${["a: &a0 [x,x,x,x,x,x,x,x,x]", ...Array.from({ length: 9 }, (_, i) => `b${i}: &a${i + 1} [${`*a${i},`.repeat(9)}]`)].join("\n")}\nludus: []\n`
const mergeBomb = `ludus_extensions:\n  m0: &m0 {a: 1}\n${Array.from({ length: 300 }, (_, i) => `  m${i + 1}: &m${i + 1} {<<: [*m${i}, *m${i}], k${i}: [*m${i}, *m${i}]}\n`).join("")}ludus: []\n`

export const hostileFiles: ReadonlyArray<readonly [name: string, text: string]> = [
  ["nothing", ""],
  ["blanks only", " \n\t\n"],
  ["comments only", "# nothing here\n"],
  ["512 KiB of one text", fill("x", "ludus: []\nludus_extensions: {t: ", "}\n")],
  ["512 KiB of comments", fill("# nothing\n", "ludus: []\n")],
  ["512 KiB of blank lines", fill("\n", "ludus: []\n")],
  ["512 KiB of machines", machines(3_400)],
  ["512 KiB of opening brackets", fill("[")],
  ["512 KiB of closing brackets", fill("]")],
  ["512 KiB of quotes", fill("'")],
  ["512 KiB of colons", fill(": ")],
  ["512 KiB of dashes", fill("- ")],
  ["512 KiB of question marks", fill("? ")],
  ["512 KiB of tabs", fill("\t", "ludus:\n")],
  ["512 KiB of anchors", fill("&a ")],
  ["512 KiB of tags", fill("!a ")],
  ["512 KiB of directives", fill("%A b\n")],
  ["512 KiB of documents", fill("---\n")],
  ["512 KiB of block text", fill("    x\n", "ludus: []\nludus_extensions:\n  t: |\n    x\n")],
  ["512 KiB of folded text", fill("\n\n  ", 'ludus: []\nludus_extensions: {t: "', '"}\n')],
  ["512 KiB of plain text lines", fill("x\n    ", "ludus: []\nludus_extensions:\n  t: ", "\n")],
  ["1 MiB", fill("x") + fill("x")],
  ["5 MiB of machines", machines(34_000)],
  ["an alias bomb", bomb],
  ["a merge bomb", mergeBomb],
  ["an alias in its own value", "ludus: &a [*a]\n"],
  ["an alias before its anchor", "ludus: *a\n"],
  ["10,000 levels of lists", `ludus: ${"[".repeat(10_000)}${"]".repeat(10_000)}\n`],
  ["10,000 levels of objects", `ludus: ${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}\n`],
  ["10,000 levels on one line", `${"- ".repeat(10_000)}a\n`],
  ["500 levels by indentation", Array.from({ length: 500 }, (_, i) => `${" ".repeat(i)}a:\n`).join("")],
  ["100,000 keys", Array.from({ length: 100_000 }, (_, i) => `k${i}: 1\n`).join("")],
  ["100,000 keys on one line", `{${Array.from({ length: 100_000 }, (_, i) => `k${i}: 1`).join(",")}}`],
  ["5,000 unknown keys", Array.from({ length: 5_000 }, (_, i) => `k${i}: 1\n`).join("")],
  ["5,000 repeated keys", `ludus: []\n${"defaults: {}\n".repeat(5_000)}`],
  ["5,000 lines of nested colons", "a: b: c\n".repeat(5_000)],
  ["100,000 keys of one name", "ludus: []\n".repeat(100_000)],
  ["a prototype", 'ludus: []\nludus_extensions: {"__proto__": {"polluted": true}}\n'],
  ["a prototype at the top", "__proto__: {polluted: true}\nludus: []\n"],
  ["a prototype merged in", "ludus: []\nludus_extensions: {<<: {__proto__: {polluted: true}}}\n"],
  ["a constructor", "ludus: []\nludus_extensions: {constructor: {prototype: {polluted: true}}}\n"],
  ["a NUL", "ludus: []\0\n"],
  ["an escaped NUL", 'ludus: []\nludus_extensions: {t: "a\\0b"}\n'],
  ["half a character", "ludus: []\nludus_extensions: {t: \uD800}\n"],
  ["half a character, escaped", 'ludus: []\nludus_extensions: {t: "\\uD800"}\n'],
  ["a byte order mark", "\uFEFFludus: []\n"],
  ["carriage returns", "ludus: []\r\ndefaults:\r\n  timezone: UTC\r\n"],
  ["a tab for indentation", "ludus:\n\t- vm_name: a\n"],
  ["a key that is an object", "{a: 1}: 2\nludus: []\n"],
  ["unquoted template expression", "ludus:\n  - vm_name: {{ range_id }}-dc\n"],
  ["no end of a quoted text", 'ludus: "\n'],
  ["several documents", "ludus: []\n---\nludus: []\n"],
  ["a list for the file", "- ludus\n"],
  ["blanks in a template expression", machines(1, `    ansible_groups: ["${"{{ ".repeat(20_000)}"]\n`)],
  [
    "commas in a port list",
    `ludus: []\nnetwork: {rules: [{name: a, vlan_src: 2, vlan_dst: 3, protocol: tcp, action: DROP, ports: "${"1 ,".repeat(100_000)}"}]}\n`,
  ],
  ["a long domain", machines(1, `    domain: {role: member, fqdn: ${"a-".repeat(50_000)}}\n`)],
  ["tuned: tokens at the limit, all wrong", `ludus:\n${"  - {a: 1}\n".repeat(2_700)}`],
  ["tuned: 350 machines", machines(350)],
]
