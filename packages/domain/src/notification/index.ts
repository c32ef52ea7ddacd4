export * from "./deploy-end.ts"
export {
  type Notification,
  type NotificationDestination,
  notificationServices,
  notifiedAtMost,
  readDestination,
  type UnusableDestination,
} from "./destination.ts"
export type { NotificationMail } from "./mail.ts"
export type { NotificationRequest } from "./services.ts"
