/** Characters of the keys of an American keyboard, by QEMU's key names. */
const plain: Readonly<Record<string, string>> = {
  spc: " ",
  minus: "-",
  equal: "=",
  bracket_left: "[",
  bracket_right: "]",
  semicolon: ";",
  apostrophe: "'",
  grave_accent: "`",
  backslash: "\\",
  comma: ",",
  dot: ".",
  slash: "/",
  asterisk: "*",
  tab: "\t",
  less: "<",
  ret: "\n",
  kp_enter: "\n",
}

const shifted: Readonly<Record<string, string>> = {
  "1": "!",
  "2": "@",
  "3": "#",
  "4": "$",
  "5": "%",
  "6": "^",
  "7": "&",
  "8": "*",
  "9": "(",
  "0": ")",
  minus: "_",
  equal: "+",
  bracket_left: "{",
  bracket_right: "}",
  semicolon: ":",
  apostrophe: '"',
  grave_accent: "~",
  backslash: "|",
  comma: "<",
  dot: ">",
  slash: "?",
  less: ">",
}

const silent = new Set(
  "shift shift_r alt alt_r altgr ctrl ctrl_r menu meta_l meta_r esc backspace caps_lock num_lock scroll_lock print sysrq home end pgup pgdn left right up down insert delete pause".split(
    " ",
  ),
)

const modifiers = new Set(["shift", "shift_r", "alt", "alt_r", "altgr", "ctrl", "ctrl_r", "meta_l", "meta_r"])

const isKey = (name: string): boolean =>
  /^(?:[a-z0-9]|f(?:[1-9]|1[0-2])|kp_\w+|0x[0-9a-f]{1,2})$/u.test(name) || Object.hasOwn(plain, name) || silent.has(name)

/** Whether QEMU knows every key of a combination such as `shift-a`. */
export const isCombination = (keys: string): boolean => keys.split("-").every(isKey)

/** The typed text after one more key combination. */
export const typed = (before: string, keys: string): string => {
  const names = keys.split("-")
  const key = names.at(-1)!
  const held = names.slice(0, -1)
  if (key === "backspace") return before.slice(0, -1)
  if (held.some((name) => modifiers.has(name) && !name.startsWith("shift"))) return before
  const shift = held.some((name) => name.startsWith("shift"))
  if (/^[a-z0-9]$/u.test(key)) return before + (shift ? (shifted[key] ?? key.toUpperCase()) : key)
  return before + ((shift ? shifted[key] : undefined) ?? plain[key] ?? "")
}

/** Keys with which a boot menu starts the entered line. */
export const startsBoot = (keys: string): boolean => /^(?:ret|kp_enter|f10|ctrl-x)$/u.test(keys)
