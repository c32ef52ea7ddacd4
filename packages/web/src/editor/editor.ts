import {
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
  closeBrackets,
  completionKeymap,
  startCompletion,
} from "@codemirror/autocomplete"
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands"
import { yaml } from "@codemirror/lang-yaml"
import { HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language"
import { type Diagnostic, forceLinting, lintGutter, linter, lintKeymap } from "@codemirror/lint"
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search"
import { EditorState, type Text } from "@codemirror/state"
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  hoverTooltip,
  keymap,
  lineNumbers,
  type Tooltip,
} from "@codemirror/view"
import { tags } from "@lezer/highlight"
import type { ConfigIssueAnswer } from "@rangewright/application/wire"
import { plain } from "../parts/format.ts"
import { entry, placeAt } from "./place.ts"
import { factsOf, isBlock, keysOf, type Schema, type SchemaTexts, schemasAt, valuesOf } from "./schema.ts"

/** What completion and help are based on. */
export interface Knowledge {
  readonly schema: Schema
  /** Values that exist on the service, by the key that refers to them: its templates. */
  readonly values: Readonly<Record<string, readonly string[]>>
}

export interface EditorOptions {
  readonly parent: HTMLElement
  readonly text: string
  readonly label: string
  readonly texts: SchemaTexts
  readonly knowledge: Promise<Knowledge>
  /** Asks the service for the issues of a text. */
  readonly check: (text: string) => Promise<readonly ConfigIssueAnswer[]>
  readonly onChange: (text: string) => void
}

export interface Editor {
  readonly replace: (text: string) => void
  readonly goTo: (line: number, column: number) => void
  readonly close: () => void
}

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--accent)", fontWeight: "600" },
  { tag: tags.comment, color: "var(--muted)", fontStyle: "italic" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--ok)" },
  { tag: [tags.separator, tags.punctuation, tags.meta], color: "var(--muted)" },
])

const look = EditorView.theme({
  "&": { height: "100%", color: "var(--text)", backgroundColor: "var(--surface)", fontSize: "13px" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "20px" },
  ".cm-content": { caretColor: "var(--text)", padding: "8px 0" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--surface)", color: "var(--muted)", border: "0" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in oklab, var(--sunken), transparent 40%)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "color-mix(in oklab, var(--accent), transparent 75%)",
  },
  ".cm-tooltip": {
    border: "1px solid var(--line)",
    borderRadius: "6px",
    backgroundColor: "var(--surface)",
    color: "var(--text)",
    boxShadow: "var(--shadow)",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "3px 8px", fontFamily: "var(--mono)" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent-fill)", color: "#fff" },
  ".cm-completionInfo, .docs": { maxWidth: "24rem", padding: "8px 12px", font: "13px/1.5 system-ui, sans-serif" },
  ".docs p": { margin: "0" },
  ".docs p + p": { marginTop: "4px", color: "var(--muted)" },
  ".cm-diagnostic": { padding: "5px 10px", font: "13px/1.5 system-ui, sans-serif" },
  ".cm-diagnostic-error": { borderLeft: "3px solid var(--bad)" },
  ".cm-diagnostic-warning": { borderLeft: "3px solid var(--warn)" },
  ".cm-panels": { backgroundColor: "var(--sunken)", color: "var(--text)", borderColor: "var(--line)" },
  ".cm-panels input, .cm-panels button": {
    backgroundImage: "none",
    backgroundColor: "var(--surface)",
    color: "var(--text)",
    border: "1px solid var(--edge)",
    borderRadius: "4px",
  },
  ".cm-searchMatch": { backgroundColor: "var(--warn-soft)", outline: "1px solid var(--warn)" },
})

/** An element whose content is set as text only, never as HTML. */
const docs = (lines: readonly string[]): HTMLElement => {
  const element = document.createElement("div")
  element.className = "docs"
  for (const line of lines) element.append(Object.assign(document.createElement("p"), { textContent: plain(line) }))
  return element
}

/** The text after a new key: a space for a value, or a new line where a nested block begins. */
const blockAfter = (of: Schema, column: number): string =>
  isBlock(of) ? `\n${" ".repeat(column + 2)}${of.type === "array" ? "- " : ""}` : " "

const complete =
  ({ knowledge, texts }: EditorOptions) =>
  async (context: CompletionContext): Promise<CompletionResult | null> => {
    const place = placeAt(context.state.doc.toString(), context.pos)
    if (place === undefined) return null
    const from = context.state.doc.lineAt(context.pos).from + place.column
    if (!context.explicit && place.typed === "" && place.kind === "key") return null
    const known = await knowledge
    const here = schemasAt(known.schema, place.path)
    const last = place.path.findLast((segment) => segment !== entry)
    const values = [...new Set([...(last === undefined ? [] : (known.values[last] ?? [])), ...valuesOf(here)])]
    const keys = place.kind === "value" ? [] : keysOf(here).filter(([key]) => !place.siblings.includes(key))
    const options: readonly Completion[] = [
      ...keys.map(([key, of, isRequired]): Completion => ({
        label: key,
        type: "property",
        boost: isRequired ? 10 : 0,
        apply: `${key}:${blockAfter(of, place.column)}`,
        info: () => docs(factsOf(of, texts)),
      })),
      ...(keys.length > 0 ? [] : values.map((label): Completion => ({ label, type: "constant" }))),
    ]
    return options.length === 0 ? null : { from, options: [...options], validFor: /^[^\s:#]*$/u }
  }

const hover =
  ({ knowledge, texts }: EditorOptions) =>
  async (view: EditorView, position: number): Promise<Tooltip | null> => {
    const line = view.state.doc.lineAt(position)
    const found = /^\s*(?:-\s+)*([\w-]+)\s*:/u.exec(line.text)
    const key = found?.[1]
    if (key === undefined) return null
    const end = line.from + line.text.indexOf(key) + key.length
    if (position > end) return null
    const place = placeAt(view.state.doc.toString(), end)
    const { schema } = await knowledge
    const schemas = place?.kind === "key" ? schemasAt(schema, [...place.path, key]) : []
    const lines = schemas[0] === undefined ? [] : factsOf(schemas[0], texts)
    return lines.length === 0 ? null : { pos: end - key.length, end, above: true, create: () => ({ dom: docs(lines) }) }
  }

const positionOf = (doc: Text, line: number, column: number): number => {
  const at = doc.line(Math.min(Math.max(1, line), doc.lines))
  return Math.min(at.from + Math.max(0, column - 1), at.to)
}

const diagnosticOf =
  (doc: Text) =>
  ({ line, column, path, message, allowed, severity }: ConfigIssueAnswer): Diagnostic => {
    const from = positionOf(doc, line, column)
    const rest = doc.sliceString(from, doc.lineAt(from).to)
    const to = from + (/^[^\s:#]+/u.exec(rest)?.[0].length ?? 0)
    const text = [path === "" ? message : `${path}: ${message}`, ...(allowed === undefined ? [] : [allowed])].join("\n")
    return { from, to, severity, message: plain(text) }
  }

/** The line ends of a text: Windows' only where all are. The editor knows one kind, and what is not edited is to stay as it is. */
const lineEndOf = (text: string): string => (/\r\n/u.test(text) && !/(?:^|[^\r])\n|\r(?:[^\n]|$)/u.test(text) ? "\r\n" : "\n")

/** An editor in a shadow root: there it can add its styles as style sheets, since the page's policy allows no style elements. */
export const openEditor = (options: EditorOptions): Editor => {
  const host = document.createElement("div")
  host.className = "editor-host"
  options.parent.append(host)
  const root = host.attachShadow({ mode: "open" })
  const parent = document.createElement("div")
  parent.style.height = "100%"
  root.append(parent)
  let lineEnd = lineEndOf(options.text)
  const textOf = (doc: Text): string => doc.sliceString(0, doc.length, lineEnd)
  const lint = linter(
    async (view) => {
      const { doc } = view.state
      return (await options.check(textOf(doc))).map(diagnosticOf(doc))
    },
    { delay: 300 },
  )
  const view = new EditorView({
    parent,
    root,
    state: EditorState.create({
      doc: options.text,
      extensions: [
        lineNumbers(),
        highlightActiveLine(),
        highlightActiveLineGutter(),
        history(),
        drawSelection(),
        // invisible ones could hide text, or change the order in which it is read
        highlightSpecialChars(),
        indentOnInput(),
        indentUnit.of("  "),
        closeBrackets(),
        highlightSelectionMatches(),
        search({ top: true }),
        yaml(),
        syntaxHighlighting(colours),
        look,
        lint,
        lintGutter(),
        hoverTooltip(hover(options)),
        autocompletion({ override: [complete(options)], icons: false }),
        keymap.of([
          { key: "Ctrl-Space", run: startCompletion },
          ...completionKeymap,
          ...searchKeymap,
          ...historyKeymap,
          ...lintKeymap,
          ...defaultKeymap,
        ]),
        EditorView.contentAttributes.of({ "aria-label": options.label, spellcheck: "false", autocapitalize: "none" }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) options.onChange(textOf(update.state.doc))
        }),
      ],
    }),
  })
  // without a mouse it is scrolled with the cursor, which needs focus
  view.scrollDOM.tabIndex = 0
  forceLinting(view)
  return {
    replace: (text) => {
      lineEnd = lineEndOf(text)
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } })
    },
    goTo: (line, column) => {
      const at = positionOf(view.state.doc, line, column)
      view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) })
      view.focus()
    },
    close: () => {
      view.destroy()
      host.remove()
    },
  }
}
