export { imageServersLayer } from "./image-servers.ts"
export { notificationsLayer } from "./notifications.ts"
export { internetLayer, nameLookupLayer } from "./layer.ts"
export type { InternetOptions } from "./options.ts"
