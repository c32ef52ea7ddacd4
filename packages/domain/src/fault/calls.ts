/** The commands for the calls that hints mention. Other clients use the HTTP call after the command. */
const commands = {
  "GET /ranges/accessible": "range accessible",
  "POST /user/default-range": "range default set",
  "GET /groups": "groups list",
  "GET /range": "range list",
  "PUT /range/config": "range config set -f FILE",
  "POST /range/deploy": "range deploy",
  "POST /range/abort": "range abort",
  "GET /range/logs": "range logs -f",
  "PUT /range/poweron": "power on -n all",
  "PUT /testing/start": "testing start",
  "DELETE /vm/{vmID}": "vm destroy {vmID}",
  "GET /blueprints": "blueprint list",
  "POST /blueprints/{blueprintID}/apply": "blueprint apply {blueprintID}",
  "GET /sources": "source list",
  "POST /templates": "templates build",
  "GET /sources/{sourceID}/catalog": "source list {sourceID} --catalog",
  "POST /sources/{sourceID}/sync": "source update {sourceID}",
} as const

export type KnownCall = keyof typeof commands
export const knownCalls = Object.keys(commands) as readonly KnownCall[]

/**
 * How to make a call, on the command line and over HTTP: `ludus range abort -r LAB` (POST /range/abort?rangeID=LAB). `values` fill in what
 * the call's path needs; `rangeId` names the range.
 */
export const howTo = (call: KnownCall, values: Readonly<Record<string, string>> = {}, rangeId?: string): string => {
  const filled = (text: string, write = (value: string): string => value): string =>
    text.replace(/\{(\w+)\}/gu, (whole, name: string) => (values[name] === undefined ? whole : write(values[name])))
  const [flag, query] = rangeId === undefined ? ["", ""] : [` -r ${rangeId}`, `?rangeID=${encodeURIComponent(rangeId)}`]
  return `\`ludus ${filled(commands[call])}${flag}\` (${filled(call, encodeURIComponent)}${query})`
}
