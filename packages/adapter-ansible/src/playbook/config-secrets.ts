import { builtinDefaults, type Json, type RangeConfig, secretsOf } from "@rangewright/domain"

/** Secrets in a range's configuration that roles get but nobody else may read; well-known default passwords are not secrets. */
export const configSecrets = (config: RangeConfig): readonly string[] => {
  const wellKnown = new Set<unknown>(Object.values(builtinDefaults))
  const { outboundWireguard } = config.router
  return [
    ...secretsOf(JSON.parse(JSON.stringify(config)) as Json),
    ...(outboundWireguard === undefined ? [] : [outboundWireguard.config]),
    ...(config.notify?.urls ?? []),
  ].filter((secret) => !wellKnown.has(secret))
}
