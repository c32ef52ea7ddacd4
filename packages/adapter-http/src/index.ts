export { httpApp, type HttpApp } from "./http-app.ts"
export { listen, type ConnectionLimits, type Listener, type ListenOptions } from "./listen.ts"
export {
  usualHttpOptions,
  type AnsweredRequest,
  type HttpObserver,
  type HttpOptions,
  type Probes,
  type Runner,
} from "./options.ts"
export { apiDescriptionLayer, openApiDocument, type OpenApiDocument } from "./openapi/document.ts"
export { loadUi, type UiFiles } from "./ui.ts"
export { statusOfKind, type FailureStatus } from "./problem.ts"
export type { TlsPair } from "./share-port.ts"
