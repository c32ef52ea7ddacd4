import { utf8Length } from "../content/utf8.ts"

/** Words in the most commonly guessed passwords, in the form of `lettersOf`. */
const common: readonly string[] =
  `password passwort passwd passphrase motdepasse contrasena senha parola secret secrets geheim letmein welcome willkommen bienvenue hello hallo
  admin administrator adminadmin root rootroot toor superuser sysadmin system operator manager user username guest demo test tester testtest testing
  default changeme changeit change temp temporary login logon access qwer qwert qaz wsx qwerty qwertyui qwertyuiop qwertz qwertzuiop azerty azertyuiop asdf asdfgh asdfghjkl
  zxcvbn zxcvbnm qazwsx qazwsxedc qweasd qweasdzxc abc abcabc abcd abcdef abcdefg abcdefgh iloveyou iloveu loveyou love lovely sunshine princess
  princesse monkey dragon football baseball basketball soccer hockey superman batman starwars pokemon master michael jennifer jordan michelle charlie
  daniel ashley jessica thomas nicole andrew joshua matthew shadow whatever trustno computer internet samsung google facebook linkedin microsoft windows
  linux debian ubuntu kali vagrant proxmox ludus rangewright cisco oracle company corporate office server summer winter spring autumn fall monday friday
  january february march april june july august september october november december freedom killer hunter ranger buster cookie chocolate flower butterfly
  liverpool chelsea arsenal barcelona mustang corvette harley diamond blink pass passpass hacker hacked security secure cybersecurity lab labs`.split(
    /\s+/u,
  )

const lookalikes: Readonly<Record<string, string>> = {
  "0": "o",
  "1": "i",
  "3": "e",
  "4": "a",
  "5": "s",
  "7": "t",
  "@": "a",
  $: "s",
  "!": "i",
}

/** The letters of a text, in lower case. */
const lettersOf = (text: string): string => text.toLowerCase().replace(/[^\p{L}]/gu, "")
/** The same, with digits and symbols inside the text read as the letters they resemble. */
const readAsLetters = (text: string): string =>
  lettersOf((/^.*\p{L}/su.exec(text.toLowerCase())?.[0] ?? "").replace(/[013457@$!]/gu, (sign) => lookalikes[sign] ?? sign))

/** Whether each character follows the previous one by the same step of at most one: `12345678`, `hgfedcba`, `aaaaaaaa`. */
const isSequence = (text: string): boolean => {
  const codes = [...text].map((character) => character.codePointAt(0) ?? 0)
  const step = (codes[1] ?? 0) - (codes[0] ?? 0)
  return Math.abs(step) <= 1 && codes.every((code, i) => i === 0 || code - (codes[i - 1] ?? 0) === step)
}

/** A person's names as used in passwords: each one whole, and its parts. */
const wordsOf = (own: readonly string[]): readonly string[] =>
  own.flatMap((name) => [name, ...name.split(/[\s@._-]+/u)].map(lettersOf)).filter((word) => word.length > 1)

/** Up to this many words in a row are easy to guess; a longer phrase is a good password. */
const mostWords = 3

/** Whether the letters are a concatenation of a few of the words. */
const isMadeOf = (letters: string, words: ReadonlySet<string>): boolean => {
  /** Minimum number of words that end at each position. */
  const least = [0]
  for (let end = 1; end <= letters.length; end++) {
    const before = least.flatMap((count, start) => (words.has(letters.slice(start, end)) ? [count + 1] : []))
    least[end] = Math.min(Number.POSITIVE_INFINITY, ...before)
  }
  return letters !== "" && (least[letters.length] ?? 0) <= mostWords
}

/**
 * Why a password is refused, phrased to follow a colon; undefined if it is accepted. 8 to 64 bytes, no control characters, and not easy to
 * guess: no sequences, and not up to three common words or `own` names of the user (id, name, e-mail address), even with digits and symbols
 * around them or in place of letters.
 */
export const passwordProblem = (password: string, own: readonly string[]): string | undefined => {
  const length = utf8Length(password)
  if (length < 8) return `the password has ${length} of at least 8 bytes`
  if (length > 64) return `the password has ${length} bytes, and at most 64 are allowed`
  // oxlint-disable-next-line no-control-regex -- exactly the control characters are meant
  if (/[\u0000-\u001f\u007f]/u.test(password)) return "the password contains control characters"
  if (new Set(password.toLowerCase()).size < 4 || isSequence(password))
    return "the password is a repetition or a sequence, which is easy to guess"
  if (/^\d+$/u.test(password) && length < 12) return "the password is a short number, which is easy to guess"
  const words = new Set([...common, ...wordsOf(own)])
  return [lettersOf(password), readAsLetters(password)].some((letters) => isMadeOf(letters, words))
    ? "the password is made of common words or of the user's own names, which are easy to guess"
    : undefined
}
