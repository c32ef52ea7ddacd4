const pattern = /^(?:[A-Za-z0-9]{5}-){4}[A-Za-z0-9]{5}$/u

/** Parses a Windows product key, in capitals; undefined if the text is not one. A key is a secret: no message repeats it. */
export const productKeyIn = (text: string): string | undefined => {
  const key = text.trim()
  return pattern.test(key) ? key.toUpperCase() : undefined
}

export const productKeyForm = "use five groups of five letters and digits, separated by dashes"
