/** A page in a browser that sends requests. */
export interface Page {
  /** `https://lab.example:8080`. */
  readonly origin: string
  /** It is one of the service's own pages, or the operator named its origin. */
  readonly isKnown: boolean
}

/** Facts about a request that handlers seldom need. */
export interface RequestMeta {
  readonly requestId: string
  readonly remote: string
  /** The client's user agent; undefined: none was sent. */
  readonly agent?: string | undefined
  /** `Last-Event-ID` of a reconnecting event stream client. */
  readonly lastEventId: string | undefined
  /** `If-Match`: the version to be changed. */
  readonly ifMatch?: string | undefined
  /** The browser's cookie of a sign-in that it has begun, if the request may complete it. */
  readonly signIn?: string | undefined
  /** Undefined: no page, or one of the service's own that did not have to identify itself. */
  readonly page?: Page | undefined
}
