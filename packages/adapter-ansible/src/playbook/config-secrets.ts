import { builtinDefaults, type Json, type RangeConfig, secretsOf } from "@rangewright/domain"

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
