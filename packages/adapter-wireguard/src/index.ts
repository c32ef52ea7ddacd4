export { localShell } from "./local-shell.ts"
export { isInterfaceName, type WireguardOptions } from "./options.ts"
export { wireguardServer } from "./server.ts"
