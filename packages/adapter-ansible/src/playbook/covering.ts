import { builtinDefaults, type Json, type RangeConfig, secretsOf } from "@rangewright/domain"

/** Shorter ones are words of their own elsewhere. */
const shortestSecret = 4
/** Lines of a longer secret, such as a key, are secrets too where they are long enough to be told from others. */
const shortestSecretLine = 8

const mask = "***"

const asPrinted = (secret: string): readonly string[] => [
  secret,
  JSON.stringify(secret).slice(1, -1),
  ...secret.split(/\r?\n/u).filter((line) => line.length >= shortestSecretLine && line !== secret),
]

/** Covers every secret of a stage's input, and these further ones, in a text: as it is, as JSON writes it, and line by line. */
export const coverOf = (input: Json, further: readonly string[]): ((text: string) => string) => {
  const secrets = [...new Set([...secretsOf(input), ...further].filter((s) => s.length >= shortestSecret).flatMap(asPrinted))]
  const ordered = secrets.toSorted((a, b) => b.length - a.length)
  return (text) => ordered.reduce((rest, secret) => rest.replaceAll(secret, mask), text)
}

/** What roles find in the configuration of their range and nobody else is to read; passwords that every installation has are no secrets. */
export const configSecrets = (config: RangeConfig): readonly string[] => {
  const wellKnown = new Set<unknown>(Object.values(builtinDefaults))
  const { outboundWireguard } = config.router
  return [
    ...secretsOf(JSON.parse(JSON.stringify(config)) as Json),
    ...(outboundWireguard === undefined ? [] : [outboundWireguard.config]),
    ...(config.notify?.urls ?? []),
  ].filter((secret) => !wellKnown.has(secret))
}
