/** The bytes of a text, with nothing but the language itself. What is no character becomes U+FFFD. */
export const utf8 = (text: string): Uint8Array => {
  const escaped = encodeURIComponent(text.toWellFormed())
  const bytes = escaped.replace(/%([0-9A-F]{2})/gu, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Uint8Array.from(bytes, (byte) => byte.charCodeAt(0))
}
