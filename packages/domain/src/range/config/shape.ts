/**
 * Building blocks to declare what a configuration may contain. One declaration gives the check of a file (`decode.ts`), the JSON Schema
 * for editors (`json-schema.ts`) and the TypeScript type of the decoded value (`Infer`).
 */
import type { Json } from "../../plan/action.ts"
import type { JsonObject } from "./model.ts"
import type { MapNode } from "./node.ts"

export type Shape = TextShape | NumberShape | FlagShape | AnyShape | ListShape | ObjectShape | EitherShape

export interface TextShape {
  readonly kind: "text"
  readonly oneOf?: ReadonlyArray<string>
  readonly pattern?: TextPattern
  readonly maxLength?: number
  /** Never repeated in a message. */
  readonly secret?: boolean
}
/** `allowed` says in words what matches. The expression has the flag `u`, as JSON Schema interprets it. */
export interface TextPattern {
  readonly expression: RegExp
  readonly allowed: string
}
export interface NumberShape {
  readonly kind: "number"
  readonly whole: boolean
  readonly min?: number
  readonly max?: number
  readonly oneOf?: ReadonlyArray<number>
}
export interface FlagShape {
  readonly kind: "flag"
}
export interface AnyShape {
  readonly kind: "any"
}
export interface ListShape {
  readonly kind: "list"
  readonly items: Shape
}
export interface ObjectShape {
  readonly kind: "object"
  readonly keys: Readonly<Record<string, Key>>
  /** Other keys are allowed besides the declared ones. */
  readonly open: boolean
  readonly constraints: ReadonlyArray<Constraint>
}
/** Alternatives of different JSON types: the type of the value picks the alternative. */
export interface EitherShape {
  readonly kind: "either"
  readonly options: ReadonlyArray<Shape>
}

export type Presence = "required" | "optional" | "defaulted"
export interface Key {
  readonly shape: Shape
  readonly presence: Presence
  /** What the key does, for people who write the file. */
  readonly description: string
  /** In the form of the file; present when `presence` is `defaulted`. */
  readonly fallback?: Json
  readonly examples?: ReadonlyArray<Json>
}

/** A rule between the keys of one object, stated twice: for the check and for editors. */
export interface Constraint {
  readonly schema: JsonObject
  readonly check: (node: MapNode) => Violation | undefined
}
export interface Violation {
  readonly code: string
  /** The offending key; absent: the object as a whole. */
  readonly key?: ReadonlyArray<string>
  readonly message: string
  readonly allowed: string
}

/** Carries the type of the decoded value; never present at run time. */
export interface Typed<A> {
  readonly "~value"?: A
}
export type Of<A> = Shape & Typed<A>
export type Infer<S> = S extends Typed<infer A> ? A : never
export type Entry<A, P extends Presence> = Key & { readonly presence: P } & Typed<A>
type Entries = Readonly<Record<string, Key>>
type ObjectValue<K extends Entries> = {
  readonly [N in keyof K as K[N]["presence"] extends "optional" ? never : N]: Infer<K[N]>
} & { readonly [N in keyof K as K[N]["presence"] extends "optional" ? N : never]?: Infer<K[N]> }

export const text = (rules: Omit<TextShape, "kind"> = {}): Of<string> => ({ kind: "text", ...rules })
export const choice = <const A extends string>(...oneOf: ReadonlyArray<A>): Of<A> => ({ kind: "text", oneOf })
export const number = (min: number, max: number): Of<number> => ({ kind: "number", whole: false, min, max })
export const whole = (min?: number, max?: number): Of<number> => ({
  kind: "number",
  whole: true,
  ...(min === undefined ? {} : { min }),
  ...(max === undefined ? {} : { max }),
})
export const wholeOf = (...oneOf: ReadonlyArray<number>): Of<number> => ({ kind: "number", whole: true, oneOf })
export const flag: Of<boolean> = { kind: "flag" }
export const any: Of<Json> = { kind: "any" }
export const list = <A>(items: Of<A>): Of<ReadonlyArray<A>> => ({ kind: "list", items })
export const either = <const S extends ReadonlyArray<Shape>>(...options: S): Of<Infer<S[number]>> => ({ kind: "either", options })
export const object = <const K extends Entries>(
  keys: K,
  rules: { readonly open?: boolean; readonly constraints?: ReadonlyArray<Constraint> } = {},
): ObjectShape & Typed<ObjectValue<K>> => ({
  kind: "object",
  keys,
  open: rules.open ?? false,
  constraints: rules.constraints ?? [],
})

interface KeyNotes {
  readonly examples?: ReadonlyArray<Json>
}
export const required = <A>(shape: Of<A>, description: string, notes: KeyNotes = {}): Entry<A, "required"> => ({
  shape,
  presence: "required",
  description,
  ...notes,
})
export const optional = <A>(shape: Of<A>, description: string, notes: KeyNotes = {}): Entry<A, "optional"> => ({
  shape,
  presence: "optional",
  description,
  ...notes,
})
export const defaulted = <A>(
  shape: Of<A>,
  fallback: A & Json,
  description: string,
  notes: KeyNotes = {},
): Entry<A, "defaulted"> => ({
  shape,
  presence: "defaulted",
  description,
  fallback,
  ...notes,
})
