import { isLit } from "./font.ts"

export const width = 320
export const height = 200

const ground = [0x1e, 0x2a, 0x4a] as const
const bar = [0xe0, 0x7b, 0x1f] as const
const ink = [0xf0, 0xf0, 0xf0] as const
/** Height of the bar at the top, in pixels. */
const barHeight = 24
/** Pixels per dot of a letter, and letters per line. */
const scale = 2
const perLine = Math.floor(width / (6 * scale)) - 1

type Colour = readonly [red: number, green: number, blue: number]

/** The built-in screen of a guest: a bar, the guest's name, and below it the typed text. All viewers share it. */
export interface Screen {
  readonly title: string
  /** The text typed since the guest was turned on. */
  typed: string
  /** Called when the picture has changed. */
  readonly viewers: Set<() => void>
  /** Closes the connections of all viewers. */
  readonly closers: Set<() => void>
}

export const newScreen = (title: string): Screen => ({ title, typed: "", viewers: new Set(), closers: new Set() })

const printable = (keysym: number): boolean => keysym >= 0x20 && keysym <= 0x7e
const backspace = 0xff08
const enter = 0xff0d

/** Handles a pressed key. */
export const press = (screen: Screen, keysym: number): void => {
  if (printable(keysym)) screen.typed += String.fromCharCode(keysym)
  else if (keysym === backspace) screen.typed = screen.typed.slice(0, -1)
  else if (keysym === enter) screen.typed += "\n"
  else return
  // drop text that has scrolled away
  screen.typed = screen.typed.slice(-2_000)
  for (const changed of screen.viewers) changed()
}

/** The visible lines, the newest at the bottom. */
const linesOf = (screen: Screen): readonly string[] => {
  const typed = screen.typed.split("\n").flatMap((line) => line.match(new RegExp(`.{1,${perLine}}`, "gu")) ?? [""])
  return [screen.title.slice(0, perLine), "", ...typed.slice(-8)]
}

/** The color of every pixel, row by row. */
export const paint = (screen: Screen): ((x: number, y: number) => Colour) => {
  const lines = linesOf(screen)
  const lineHeight = 9 * scale
  return (x, y) => {
    if (y < barHeight) return bar
    const row = Math.floor((y - barHeight - scale) / lineHeight)
    const line = lines[row]
    if (line === undefined || x < 6 * scale) return ground
    const column = Math.floor(x / (6 * scale)) - 1
    const dotX = Math.floor((x % (6 * scale)) / scale)
    const dotY = Math.floor(((y - barHeight - scale) % lineHeight) / scale)
    const letter = line[column]
    return letter !== undefined && isLit(letter, dotX, dotY) ? ink : ground
  }
}
