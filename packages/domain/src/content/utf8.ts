/** Encodes a text as UTF-8 using only the language itself. Unpaired surrogates become U+FFFD. */
export const utf8 = (text: string): Uint8Array => {
  const escaped = encodeURIComponent(text.toWellFormed())
  const bytes = escaped.replace(/%([0-9A-F]{2})/gu, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Uint8Array.from(bytes, (byte) => byte.charCodeAt(0))
}

/** The size of a text in UTF-8, computed without encoding it, which is much faster. */
export const utf8Length = (text: string): number => {
  let bytes = 0
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x1_0000 ? 3 : 4
  }
  return bytes
}
